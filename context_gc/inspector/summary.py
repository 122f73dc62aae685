"""Summary: what one window amounts to: the sentence with the answer, where tokens go, the largest dead items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..trace import Trace, Window
from .rows import Row
from .say import count, share, tokens, words


@dataclass(frozen=True, slots=True)
class Slice:
    """A group of events and its tokens in the full history."""

    name: str
    live: int
    gone: int  #: out of the prompt

    @property
    def whole(self) -> int:
        """All tokens of the group."""
        return self.live + self.gone


def answer(rows: Sequence[Row], turns: int, before: int, after: int) -> str:
    """The finding in a sentence: how much there is, how much of it is dead and why, what that saves."""
    start = f"{count(turns, 'turn')}, {tokens(before)} tokens. "
    dead = [row for row in rows if row.has_receipt and not row.is_evicted]
    evicted = sum(row.gone for row in rows if row.is_evicted)
    waiting = sum(row.tokens for row in rows if row.status == "waiting")
    if not dead and not evicted and waiting:
        return start + f"Nothing is cut yet; {tokens(waiting)} are found dead and wait for the next pass."
    if not dead and not evicted:
        return start + "None of them are dead under the stages that are on."
    by_stage: dict[str, int] = {}
    for row in dead:
        by_stage[row.stage] = by_stage.get(row.stage, 0) + row.gone
    stages = sorted(by_stage.items(), key=lambda pair: -pair[1])
    total, told = sum(by_stage.values()), []
    if dead:
        why = ", ".join(f"{tokens(size)} in {words(stage)}" for stage, size in stages)
        why = f"all in {words(stages[0][0])}" if len(stages) == 1 else why
        told.append(f"{tokens(total)} of them ({share(total, before)}) are dead: {why}. ")
    if evicted:
        told.append(f"{tokens(evicted)} ({share(evicted, before)}) were live and made room. ")
    stubs = after - before + total + evicted
    if stubs > 0:
        told.append(f"{tokens(after)} are left in the prompt, {tokens(stubs)} of them stubs. ")
    if waiting:
        told.append(f"{tokens(waiting)} more are found dead and wait for the next pass. ")
    return start + "".join(told) + "Everything can be recovered."


def reported(trace: Trace, window: Window) -> int:
    """Prompt tokens that the provider reported for the last call in a window; 0 when it reported none."""
    inside = {event["id"] for event in trace.events[window.start : window.stop]}
    found = [usage for usage in trace.usage if usage.event_id in inside]
    return found[-1].input_tokens + found[-1].cache_read + found[-1].cache_write if found else 0


def slices(rows: Sequence[Row], by: str, most: int = 12) -> list[Slice]:
    """Tokens by "tool", "type" or "file", the largest first; what is small goes into one rest."""
    sums: dict[str, list[int]] = {}
    for row in rows:
        name = {"tool": row.tool or row.kind, "type": row.type, "file": row.path or "(no file)"}[by]
        both = sums.setdefault(name, [0, 0])
        both[0] += row.tokens - row.gone
        both[1] += row.gone
    found = sorted((Slice(name, *both) for name, both in sums.items()), key=lambda each: -each.whole)
    if len(found) <= most:
        return found
    rest = found[most - 1 :]
    return [*found[: most - 1], Slice(f"({len(rest):,} others)", sum(r.live for r in rest), sum(r.gone for r in rest))]


def largest_gone(rows: Sequence[Row], most: int = 10) -> list[Row]:
    """The events with the most tokens out of the prompt."""
    return sorted((row for row in rows if row.gone), key=lambda row: -row.gone)[:most]


def growth(rows: Sequence[Row]) -> list[tuple[int, int, int]]:
    """(turn, full, after) at the end of each turn: tokens of the history so far, and of what of it stands now."""
    points: dict[int, tuple[int, int]] = {}
    full = after = 0
    for row in rows:
        full += row.tokens
        after += row.tokens + row.impact
        points[row.turn] = full, after
    return [(turn, *both) for turn, both in points.items()]
