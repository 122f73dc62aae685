"""Diff data: what the diff component is given to draw, as JSON values of bounded size.

Long stretches of one fate are folded, long texts are clipped; the component asks for what it opens. Text
of the trace is data here and nothing else: the component shows it through `textContent` alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from .diff_rows import CLIPPED, CUT, GONE, MARKED, NEW, SAME, Change, Diff, DiffRow, Part, clipped_parts, parts
from .say import signed

CONTEXT = 3  #: unchanged events that stay around a change
FOLD_FROM = 6  #: fewer unchanged events than this are not folded
CUT_SHOWN = 12  #: cut events of one run that are drawn before the rest is folded
DRAWN = 1_000  #: rows in one answer; what follows is one fold that opens
CHARS = 700_000  #: characters of text in one answer
LISTED = 1_000  #: changes in the list at the left
CLIP, CLIP_LINES, CLIP_LEAST = 700, 10, 100  #: a text longer than CLIP or CLIP_LINES is clipped by CLIP_LEAST or more
OPENED = 200_000  #: characters of one text that can be opened in the diff; the event's own panel has all of it

_HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


class Stretch(NamedTuple):
    """Adjacent places of one fate: drawn one by one, or folded."""

    start: int
    stop: int
    change: int | None  #: number of the change that it is part of
    folded: bool


class Clip(NamedTuple):
    """The start of a text, and how many characters are behind it."""

    text: str
    more: int


def shown(text: str) -> str:
    """A text that every transport takes and that reads as it stands.

    Lone surrogates, control characters but tab and newline, and marks that turn the direction of writing
    (which can make a text look like another one) are written as escapes.
    """
    return _HIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def clip(text: str, chars: int = CLIP, lines: int = CLIP_LINES) -> Clip:
    """The first lines of a text, unless what would be left out is hardly anything."""
    end = 0
    for _ in range(lines):
        end = text.find("\n", end) + 1
        if not end or end > chars:
            break
    end = min(end - 1 if end else len(text), chars)
    return Clip(text, 0) if len(text) - end < CLIP_LEAST else Clip(text[:end], len(text) - end)


def stretches(diff: Diff, start: int, stop: int, focus: int | None = None) -> Iterator[Stretch]:
    """Every place from `start` to before `stop`, in order, each in one stretch; `focus` is never folded."""
    at, number = start, diff.next_change(start)
    while at < stop:
        change = diff.changes[number] if number < len(diff.changes) else None
        until = min(stop, change.start) if change else stop
        if at < until:
            yield from _unchanged(diff, at, until, focus)
        at = until
        if change and at < stop:
            end = min(change.stop, stop)
            yield from _cut(at, end, number, focus)
            at, number = end, number + 1


def answer(diff: Diff, start: int, stop: int, focus: int | None = None) -> dict[str, Any]:
    """What to draw in place of the fold over [start, stop): around `focus`, or from its beginning."""
    number = diff.next_change(start)
    inside = number < len(diff.changes) and diff.changes[number].start < stop
    if not inside:
        return {"start": start, "stop": stop, "items": _window(diff, start, stop, None, focus)}
    change = diff.changes[number]
    if change.start <= start and stop <= change.stop:
        return {"start": start, "stop": stop, "items": _window(diff, start, stop, number, focus)}
    return {"start": start, "stop": stop, "items": _drawn(diff, start, stop, focus)}


def page(diff: Diff) -> dict[str, Any]:
    """The diff as the component first draws it: as much as fits, nothing folded where nothing changed."""
    size = len(diff.rows)
    items = _drawn(diff, 0, size, None) if diff.changes else _window(diff, 0, size, None, None)
    listed = [_listed(diff, number) for number in range(min(len(diff.changes), LISTED))]
    return {
        "items": items,
        "changes": listed,
        "count": f"{len(diff.changes):,}",
        "unlisted": len(diff.changes) - len(listed),
        "before": f"{diff.tokens_before:,}",
        "after": f"{diff.tokens_after:,}",
        "change": signed(diff.tokens_after - diff.tokens_before),
        "empty": "Nothing is cut: the prompt is the full history." + _waiting(diff),
    }


def _waiting(diff: Diff) -> str:
    found = sum(row.waits for row in diff.rows)
    return f" {found:,} event{'s wait' if found > 1 else ' waits'} for the next pass: ◌." if found else ""


def whole(row: DiffRow) -> str:
    """All of an event's text that the diff opens at once."""
    text = shown(row.before if row.fate in (CUT, CLIPPED) else row.after or row.before)
    rest = len(text) - OPENED
    return text if rest <= 0 else f"{text[:OPENED]}\n… {rest:,} more characters: the event's own panel has them"


# folding


def _unchanged(diff: Diff, start: int, stop: int, focus: int | None) -> Iterator[Stretch]:
    first = start + CONTEXT if start else 0
    last = stop - CONTEXT if stop < len(diff.rows) else stop
    if last - first < FOLD_FROM:
        yield Stretch(start, stop, None, False)
        return
    cuts = [(first, last)]
    if focus is not None and first <= focus < last:
        cuts = [(first, max(first, focus - CONTEXT)), (min(last, focus + CONTEXT + 1), last)]
    at = start
    for low, high in cuts:
        if high - low < FOLD_FROM:
            continue
        if at < low:
            yield Stretch(at, low, None, False)
        yield Stretch(low, high, None, True)
        at = high
    if at < stop:
        yield Stretch(at, stop, None, False)


def _cut(start: int, stop: int, number: int, focus: int | None) -> Iterator[Stretch]:
    end = start + CUT_SHOWN
    if focus is not None and start <= focus < stop:
        end = max(end, focus + CONTEXT)
    if stop - end < FOLD_FROM:
        end = stop
    yield Stretch(start, end, number, False)
    if end < stop:
        yield Stretch(end, stop, number, True)


def _drawn(diff: Diff, start: int, stop: int, focus: int | None) -> list[dict[str, Any]]:
    """Items of a mixed range, folded; with a focus they begin shortly before it."""
    begin = start if focus is None else max(start, focus - DRAWN // 4)
    at = diff.change_at(begin)
    if at is not None:
        begin = max(start, diff.changes[at].start)
    items = [_fold(diff, start, begin, "rest")] if start < begin else []
    room = _Room()
    open_change: int | None = None
    for part in stretches(diff, begin, stop, focus):
        if part.change != open_change and room.is_full and part.stop < stop:
            return [*items, _fold(diff, part.start, stop, "rest")]
        drawn = _stretch(diff, part, room)
        if part.change is not None and part.change == open_change:
            items[-1]["rows"] += drawn
        elif part.change is not None:
            items.append(_change(diff, part.change, drawn))
        else:
            items += drawn
        open_change = part.change
    return items


def _window(diff: Diff, start: int, stop: int, number: int | None, focus: int | None) -> list[dict[str, Any]]:
    """Items of a range of one fate, opened: as many rows as fit, folds before and behind them."""
    begin = start if focus is None else max(start, focus - DRAWN // 4)
    what = SAME if number is None else CUT
    items = [_fold(diff, start, begin, what)] if start < begin else []
    room = _Room()
    for seq in range(begin, stop):
        if room.is_full and stop - seq >= FOLD_FROM:
            return [*items, _fold(diff, seq, stop, what)]
        items.append(_row(diff, seq, room))
    return items


# values


class _Room:
    """How much of one answer is used up."""

    def __init__(self) -> None:
        self.rows, self.chars = DRAWN, CHARS

    def take(self, text: str) -> Clip:
        """A text as it is drawn: clipped."""
        clipped = clip(shown(text))
        self.rows, self.chars = self.rows - 1, self.chars - len(clipped.text)
        return clipped

    @property
    def is_full(self) -> bool:
        return self.rows <= 0 or self.chars <= 0


def _stretch(diff: Diff, part: Stretch, room: _Room) -> list[dict[str, Any]]:
    if part.folded:
        return [_fold(diff, part.start, part.stop, SAME if part.change is None else CUT)]
    return [_row(diff, seq, room) for seq in range(part.start, part.stop)]


def _row(diff: Diff, seq: int, room: _Room) -> dict[str, Any]:
    row = diff.rows[seq]
    clipped = room.take(row.before)
    value = {"seq": seq, "number": f"#{diff.number(seq)}", "id": shown(row.id), "kind": row.kind, "fate": row.fate}
    value |= {"text": clipped.text} | ({"more": clipped.more} if clipped.more else {})
    value |= {"note": shown(row.reason)} if row.reason else {}
    value |= {} if row.witness is None else _witness(diff, row.witness)
    value |= {"tokens": signed(row.impact)} if row.fate != SAME else {}
    if row.fate == MARKED:
        value["parts"] = [_part(part, SAME if row.before else NEW) for part in parts(row.before, row.after or "")]
    elif row.fate == CLIPPED:
        value["parts"] = [_part(part, GONE) for part in clipped_parts(row.before, row.after or "")]
    return value | ({"waits": True} if row.waits else {})


def _part(part: Part, long: str = SAME) -> tuple[str, str]:
    """A piece of a marked or clipped event; where a `long` one tells nothing new, its middle is left out."""
    text = shown(part.text)
    if part.what != long or len(text) <= CLIP + CLIP_LEAST:
        return part.what, text[:OPENED]
    head, tail = clip(text, CLIP // 2).text, text[-CLIP // 2 :]
    tail = tail[tail.find("\n") + 1 :]
    return part.what, f"{head}\n… {len(text) - len(head) - len(tail):,} more characters …\n{tail}"


def _fold(diff: Diff, start: int, stop: int, what: str) -> dict[str, Any]:
    count = stop - start
    noun = "event" if count == 1 else "events"
    if what == SAME:
        return {"fold": [start, stop], "fate": SAME, "label": f"… {count:,} unchanged {noun}"}
    if what == CUT:
        return {"fold": [start, stop], "fate": CUT, "label": f"… {count:,} more removed {noun}"}
    first = diff.next_change(start)
    changes = diff.next_change(stop - 1) - first + (diff.change_at(stop - 1) is not None)
    return {"fold": [start, stop], "fate": SAME, "label": f"… {count:,} more {noun} with {changes:,} changes"}


def _change(diff: Diff, number: int, rows: list[dict[str, Any]]) -> dict[str, Any]:
    change = diff.changes[number]
    stub = clip(shown(change.stub)).text
    witness = {} if change.witness is None else _witness(diff, change.witness)
    return {"change": number, "fate": change.fate, "stub": stub, "rows": rows} | _figures(change) | witness


def _listed(diff: Diff, number: int) -> dict[str, Any]:
    change = diff.changes[number]
    return {"seq": change.start, "fate": change.fate} | _figures(change)


def _witness(diff: Diff, seq: int) -> dict[str, Any]:
    return {"witness": seq, "witnessed": f"#{diff.number(seq)}"}


def _figures(change: Change) -> dict[str, Any]:
    count = change.stop - change.start
    stage, reason, _ = change.reasons[0]
    kinds = len(change.reasons)
    more = f" and {kinds - 1:,} other reason{'s' if kinds > 2 else ''}" if kinds > 1 else ""
    return {
        "tokens": signed(change.tokens),
        "grows": change.tokens > 0,
        "stage": stage.replace("-", " "),
        "reason": shown(reason)[:200] + more,
        "events": f"{count:,} event{'' if count == 1 else 's'}",
    }
