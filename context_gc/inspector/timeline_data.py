"""Timeline data: how the context grew and what each pass did to it, as plain values for the charts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..budget import Budget
from ..timeline import Point
from .rows import Row
from .say import count, signed, tokens
from .summary import growth

#: what a pass was made for, as people say it
MOMENTS = {
    "compact": "at the low threshold",
    "emergency": "at the high threshold",
    "cold": "with a cold cache",
    "asked": "when a scope ended",
    "needed": "when a result came late",
}


@dataclass(frozen=True, slots=True)
class Mark:
    """One pass on the timeline. `tip` is told in our words and figures alone."""

    number: int
    turn: int
    before: int  #: tokens of the prompt
    after: int
    tip: str
    event_id: str | None  #: the first event whose text in the prompt changed; None when nothing did

    @property
    def drawn(self) -> dict[str, Any]:
        """What the charts are given: no text of the trace."""
        told = {"number": self.number, "turn": self.turn, "before": self.before, "after": self.after, "tip": self.tip}
        return told | {"gains": self.event_id is not None}


@dataclass(frozen=True, slots=True)
class Course:
    """Context over turns."""

    full: list[tuple[int, int]]  #: (turn, tokens of the full history)
    sent: list[tuple[int, int]]  #: (turn, tokens of the prompt); a pass is two points in one turn
    marks: list[Mark]
    thresholds: list[tuple[str, int]]  #: (what it is called, tokens)


def course(rows: Sequence[Row], points: Sequence[Point], passes: Sequence[dict[str, Any]], at: Budget) -> Course:
    """Under a budget what was sent at each turn; without one what now stands of each turn's history."""
    told = [(f"{name} {100 * part:.4g} %", int(part * at.window)) for name, part in
            (("low", at.threshold_low), ("high", at.threshold_high))]  # fmt: skip
    if not points:
        grown = growth(rows)
        return Course([(turn, full) for turn, full, _ in grown], [(turn, after) for turn, _, after in grown], [], told)
    marks = [_mark(each, rows[each["size"] - 1].turn if each["size"] else 1) for each in passes]
    sent: list[tuple[int, int]] = []
    for point in points:
        here = [mark for mark in marks if mark.turn == point.turn and mark.before != mark.after]
        sizes = [size for mark in here for size in (mark.before, mark.after)] or [point.tokens]
        sent += [(point.turn, size) for size in sizes]
    return Course([(point.turn, point.full) for point in points], sent, marks, told)


def _mark(told: dict[str, Any], turn: int) -> Mark:
    number, before, after = told["number"], told["tokens_before"], told["tokens_after"]
    lines = [f"Pass {number}, {told['moment']}: turn {turn}, {MOMENTS[told['moment']]}"]
    if told["first_changed"] is None:
        lines.append(f"nothing could be freed at {tokens(before)} tokens")
        return Mark(number, turn, before, after, "\n".join(lines), None)
    lines.append(f"{signed(after - before)} tokens: {tokens(before)} → {tokens(after)}")
    cut, clipped, evicted = len(told["pruned_ids"]), len(told["clipped_ids"]), told["evicted"]
    whole = f"{count(cut, 'event')} cut" + (f", {evicted:,} of them live" if evicted else "")
    lines.append(whole + (f"; {clipped:,} clipped" if clipped else ""))
    if told["restored_ids"]:
        lines.append(f"{count(len(told['restored_ids']), 'event')} brought back")
    even = told["break_even"]
    lines.append("N*: it never pays with a warm cache" if even is None else f"N*: pays after {even:,.1f} model calls")
    return Mark(number, turn, before, after, "\n".join(lines), told["first_changed"])
