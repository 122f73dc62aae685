"""Terminal report: what one trace amounts to, as lines of styled text that fit a terminal.

All text from the trace is shown as `terminal.printable` gives it, and styles are told beside the text, never in it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .compactor import compact_events
from .inspector.rows import Row, rows
from .inspector.say import count, share, signed, tokens, words
from .inspector.summary import Slice, answer, largest_gone, reported, slices
from .policy import Policy
from .terminal import printable
from .trace import Trace, Window

NARROWEST = 40  #: columns below which lines may be longer than the terminal is wide
DEAD, LIVE, HEAD, FAINT, WARN = "red", "green", "bold", "dim", "yellow"  #: styles, as rich names them

Line = list[tuple[str, str]]  #: pieces of text, each with its style or ""

_MOST = 10  # problems, and largest dead events
_BAR = 60  # columns of a bar


@dataclass(frozen=True, slots=True)
class Told:
    """One window, compacted."""

    number: int
    window: Window
    rows: tuple[Row, ...]
    before: int  #: tokens of the full history
    after: int
    warnings: Sequence[str]

    @property
    def turns(self) -> int:
        """How many turns it has."""
        return self.rows[-1].turn if self.rows else 0


def report(trace: Trace, policy: Policy, width: int, chosen: int | None = None) -> Iterator[Line]:
    """The report on a trace, and in detail on one window (from 1; default the last), at most `width` columns wide."""
    width = max(width, NARROWEST)
    told = [_told(trace, number, window, policy) for number, window in enumerate(trace.windows, 1)]
    detail = told[-1 if chosen is None else chosen - 1]
    title = [printable(trace.title) or printable(trace.source) or "trace", trace.format, printable(trace.model)]
    yield from _wrapped(" · ".join(part for part in title if part), width, HEAD)
    if len(told) > 1:
        yield from _wrapped(f"context window {detail.number} of {len(told)}", width, FAINT)
    yield []
    yield from _wrapped(answer(detail.rows, detail.turns, detail.before, detail.after), width)
    for by, title_of in (("tool", "Tokens by tool"), ("type", "Tokens by type")):
        yield from _section(title_of, _bars(slices(detail.rows, by), width))
    yield from _section("Dead, by stage", _stages(detail, width))
    yield from _section("Largest dead", _largest(detail.rows, width))
    yield from _section("Context windows", _windows(told, width))
    yield from _section("Provider's report", _usage(trace, detail, width))
    yield from _section("Problems", _problems(trace, detail, width))


def _told(trace: Trace, number: int, window: Window, policy: Policy) -> Told:
    result = compact_events(trace.events[window.start : window.stop], policy)
    found = rows(trace, window, result)
    return Told(number, window, found, result["tokens_before"], result["tokens_after"], result["warnings"])


def _section(title: str, lines: Iterator[Line]) -> Iterator[Line]:
    """A title with its lines; nothing where there are none."""
    found = list(lines)
    if found:
        yield []
        yield [(title, HEAD)]
        yield from found


def _bars(parts: Sequence[Slice], width: int) -> Iterator[Line]:
    """A bar for each part, as long as its tokens: what is live, then what is dead."""
    whole = sum(part.whole for part in parts)
    parts = [part for part in parts if part.whole]
    if not parts:
        return
    figures = [f"{tokens(part.whole)} {share(part.whole, whole):>7}" for part in parts]
    size = max(map(len, figures))
    names = min(max(cells(printable(part.name)) for part in parts), width // 3)
    room = min(max(width - names - size - 3, 4), _BAR)
    largest = max(part.whole for part in parts)
    for part, figure in zip(parts, figures, strict=True):
        full = max(1, round(room * part.whole / largest))
        gone = min(full, max(round(room * part.gone / largest), 1 if part.gone else 0))
        bar: Line = [("█" * (full - gone), LIVE), ("░" * gone, DEAD), (" " * (room - full + 1), "")]
        yield [(padded(printable(part.name), names) + " ", ""), *bar, (figure.rjust(size), FAINT)]
    if any(part.gone for part in parts):
        yield [("█", LIVE), (" in the prompt  ", FAINT), ("░", DEAD), (" dead", FAINT)]


def _stages(detail: Told, width: int) -> Iterator[Line]:
    sums: dict[str, list[int]] = {}
    for row in detail.rows:
        if row.has_receipt:
            both = sums.setdefault(row.stage, [0, 0])
            both[0] += 1
            both[1] += row.gone
    for stage, (events, gone) in sorted(sums.items(), key=lambda pair: -pair[1][1]):
        told = (
            f"{words(printable(stage))}: {tokens(gone)} tokens ({share(gone, detail.before)}), {count(events, 'event')}"
        )
        yield from _wrapped(told, width)


def _largest(found: Sequence[Row], width: int) -> Iterator[Line]:
    dead = largest_gone([row for row in found if not row.is_evicted], _MOST)
    if not dead:
        return
    size = max(len(tokens(row.gone)) for row in dead)
    place = max(len(f"#{row.number}") for row in dead)
    for row in dead:
        start = f"{tokens(row.gone):>{size}} {f'#{row.number}':<{place}} "
        room = width - len(start)
        label = cut(printable(row.label), room)
        yield [(start, FAINT), (label, "")]
        yield [(" " * len(start), ""), (cut(printable(f"{words(row.stage)}: {row.reason}"), room), DEAD)]


def _windows(told: Sequence[Told], width: int) -> Iterator[Line]:
    if len(told) < 2:
        return
    for each in told:
        opened = "" if each.window.opened_by == "start" else f", opened by compaction ({each.window.opened_by})"
        size = f"{tokens(each.before)} -> {tokens(each.after)} tokens ({signed(each.after - each.before)})"
        seen = each.window.tokens_before
        reported_before = f"; {tokens(seen)} reported before it" if seen is not None else ""
        line = f"{each.number}. {count(each.turns, 'turn')}, {size}{printable(opened)}{reported_before}"
        yield from _wrapped(line, width, indent=3)


def _usage(trace: Trace, detail: Told, width: int) -> Iterator[Line]:
    inside = {row.id for row in detail.rows}
    found = [usage for usage in trace.usage if usage.event_id in inside]
    if not found:
        return
    last = reported(trace, detail.window)
    told = f"{tokens(last)} prompt tokens at the last call of this window; its events are estimated at "
    yield from _wrapped(
        told + f"{tokens(detail.before)}: the rest is system prompt and tools, or the estimate's error.", width
    )
    read, write = sum(each.cache_read for each in found), sum(each.cache_write for each in found)
    plain, out = sum(each.input_tokens for each in found), sum(each.output_tokens for each in found)
    whole = read + write + plain
    told = f"{count(len(found), 'call')}: {tokens(whole)} tokens in, of which {tokens(read)} ({share(read, whole)}) "
    yield from _wrapped(
        told + f"read from the cache and {tokens(write)} written to it; {tokens(out)} tokens out.", width
    )


def _problems(trace: Trace, detail: Told, width: int) -> Iterator[Line]:
    for problem in trace.problems[:_MOST]:
        where = f"line {problem.line:,}: " if problem.line else ""
        yield from _wrapped(printable(where + problem.text), width, WARN, indent=2)
    if len(trace.problems) > _MOST:
        yield from _wrapped(f"… and {len(trace.problems) - _MOST:,} more (see context-gc validate)", width, WARN)
    for line in detail.warnings[:_MOST]:
        yield from _wrapped(printable(line), width, WARN, indent=2)


# columns


def cells(text: str) -> int:
    """How many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    return sum(_cells(each) for each in text)


def _cells(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def cut(text: str, size: int) -> str:
    """A text of at most `size` columns; one that is longer ends in an ellipsis."""
    if len(text) <= size and cells(text) <= size:
        return text
    taken = 0
    for place, character in enumerate(text):
        taken += _cells(character)
        if taken > size - 1:
            return text[:place] + "…"
    return text


def padded(text: str, size: int) -> str:
    """A text of exactly `size` columns."""
    shown = cut(text, size)
    return shown + " " * (size - cells(shown))


def _wrapped(text: str, width: int, style: str = "", indent: int = 0) -> Iterator[Line]:
    """A text in lines of at most `width` columns, broken at spaces; later lines are indented."""
    room, line = width, ""
    for word in text.split():
        start = "" if not line else f"{line} "
        if cells(start + word) <= room:
            line = start + word
            continue
        if line:
            yield [(line, style)]
        line = " " * indent + word
        while cells(line) > width:
            part = line[: max(len(cut(line, width)) - 1, 1)]
            yield [(part, style)]
            line = " " * indent + line[len(part) :]
    if line:
        yield [(line, style)]
