"""Pages: long text in pieces of a bounded size, each saying which piece it is and how to get the next."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import ContextGCError

PAGE = 20_000  #: characters of a page, without the lines that say which one it is


def page_of(parts: Sequence[tuple[str, str]], page: int, where: str) -> tuple[str, int, list[str]]:
    """(the text of a page, how many pages there are, the names of the parts that it has something of).

    `parts`: names and texts, a text a line or several. Raises ContextGCError when there is no such page.
    """
    size = sum(len(text) + 1 for _, text in parts) - 1
    pages = max(1, -(-size // PAGE))
    if page > pages:
        what = f"there is no page {page:,}: it has {pages:,} page{'s' if pages > 1 else ''}"
        raise ContextGCError(where, what, f"give a page from 1 to {pages:,}")
    start, stop, at = (page - 1) * PAGE, page * PAGE, 0
    cut: list[str] = []
    names: list[str] = []
    for name, text in parts:
        end = at + len(text) + 1
        if end > start and at < stop:
            cut.append((text + "\n")[max(0, start - at) : stop - at])
            names.append(name)
        at = end
    return "".join(cut).removesuffix("\n"), pages, names


def shortened(text: str, size: int) -> str:
    """Text on one line of at most `size` characters."""
    flat = " ".join(text[: 4 * size].split())
    return flat if len(flat) <= size and len(text) <= 4 * size else flat[: size - 1] + "…"


def bounded(text: str, size: int = PAGE) -> str:
    """Text of at most `size` characters, and what was left off."""
    return text if len(text) <= size else f"{text[:size]}\n… ({len(text) - size:,} more characters)"


def sendable(text: str) -> str:
    """Text that has a UTF-8 form: a lone surrogate is shown as its escape."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def some(count: int, name: str) -> str:
    """A number with its noun: 1 run, 2 runs."""
    return f"{count:,} {name}{'' if count == 1 else 's'}"
