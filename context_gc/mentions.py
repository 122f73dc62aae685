"""Mentions: what a stub still tells of what is in it: live work that had to make room, and what failed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .events import Event
from .outcomes import first_error_line, text_of
from .render import escape, line
from .semantics import Command, FileEdit, FileRead, Search, Status, semantics

MOST = 10  #: mentions in one stub, files aside; the rest is behind its receipt
FILES = 30  #: files that one stub tells of
LENGTH = 72  #: characters of one mention
PATH = 240  #: characters of a path, which says nothing when it is cut

FOUND, DID, LOOKED = range(3)  #: what only this could tell; what was changed or run; what can be asked again


Unit = tuple[Event, Sequence[Event]]  #: a lead and its results


def mentions(units: Iterable[Unit]) -> list[str]:
    """One line for each unit (its lead and its results), without repetition, escaped; of a file the last act.

    Where there are too many, what can be asked again gives way first, then the oldest.
    """
    found: dict[str, tuple[int, str]] = {}  # by the file, else by the line itself
    files: set[str] = set()
    for lead, results in units:
        rank, text, path = _mention(lead, results)
        if text := _short(text, PATH if path else LENGTH):
            key = path or text
            found.pop(key, None)
            found[key] = rank, text
            files.update((path,) if path else ())
    told = {key: at for at, key in enumerate(found)}
    ranked = sorted(told, key=lambda key: (found[key][0], -told[key]))
    kept = {*[key for key in ranked if key in files][:FILES], *[key for key in ranked if key not in files][:MOST]}
    return [escape(text) for key, (_, text) in found.items() if key in kept]


def failures(units: Iterable[Unit]) -> list[str]:
    """The first error line of each failure, with how many times it came."""
    found: dict[str, int] = {}
    for lead, results in units:
        text = first_error_line(text_of(results[0] if results else lead), LENGTH) or "failed"
        found[text] = found.get(text, 0) + 1
    return [escape(text if times == 1 else f"{text} ×{times}") for text, times in found.items()][-MOST:]


def _mention(lead: Event, results: Sequence[Event]) -> tuple[int, str, str]:
    """How hard it would be to come by again, what is told of it, and the file that it is about."""
    fact = semantics(lead)
    if isinstance(fact, FileEdit):
        return DID, f"edited {fact.path}", fact.path
    if isinstance(fact, FileRead):
        return LOOKED, f"read {fact.path}", fact.path
    if isinstance(fact, Command):
        return DID, f"ran {fact.text}", ""
    if isinstance(fact, Search):
        return LOOKED, f"searched {fact.query}", ""
    if isinstance(fact, Status):
        return LOOKED, "", ""
    if lead["type"] == "tool_call":
        told = line(results[0]).removeprefix("RESULT ") if results else ""
        return FOUND, f"{lead['tool_name']}: {told}", ""
    if lead["type"] == "set_var":
        return FOUND, line(lead), ""
    return LOOKED, "", ""


def _short(text: str, length: int) -> str:
    flat = " ".join(text[: 4 * length].split())
    return flat if len(flat) <= length else flat[: length - 1].rsplit(" ", 1)[0] + "…"
