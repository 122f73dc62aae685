"""Compare data: two replays side by side: the answer in a sentence, their curves and their figures."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..render import line
from ..tokens import Counter
from .replay_data import Costs, dollars
from .replay_steps import Step, Steps
from .say import count, share, signed, tokens
from .tune_data import measures

_FIGURE = re.compile(r"([\d,]+(?:\.\d+)?)( %|)")


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two replays. `name` is ours: no trace text."""

    name: str
    steps: Steps
    costs: Costs
    counter: Counter

    @property
    def brief(self) -> str:
        """Its name where there is little room: in force, defaults."""
        return self.name.removeprefix("the ").removeprefix("policy ").removeprefix("documented ")

    def at(self, call: int) -> Step:
        """The call with a number; of a shorter run its last one."""
        return self.steps.step(min(call, len(self.steps.steps)))

    def size(self, window: int, seq: int, text: str | None) -> int:
        """Tokens of what stands at a place."""
        if not text:
            return 0
        own = text == line(self.steps.stretches[window].events[seq])
        return self.steps.tokens[window][seq] if own else self.counter.count(text + "\n")

    @property
    def sent(self) -> int:
        """Tokens of all prompts together."""
        return sum(step.row.tokens for step in self.steps.steps)


class Figure(NamedTuple):
    """One line of the table of figures, as text."""

    name: str
    one: str
    two: str
    change: str
    meaning: str


def sentence(one: Side, two: Side, runs: bool) -> str:
    """The answer, before any picture."""
    calls = len(one.steps.steps), len(two.steps.steps)
    told = f"{one.name[:1].upper()}{one.name[1:]} sends {tokens(one.sent)} tokens in {count(calls[0], 'model call')}, "
    told += f"{two.name} {tokens(two.sent)}" + (f" in {calls[1]:,}: " if runs else ": ")
    told += "no difference" if one.sent == two.sent else f"{signed(one.sent - two.sent)} ({_ratio(one.sent, two.sent)})"
    if one.costs.each and two.costs.each:
        told += f". It costs {dollars(one.costs.total)} instead of {dollars(two.costs.total)}"
    return told + "."


def curves(one: Side, two: Side, runs: bool) -> dict[str, Any]:
    """The curves of both over the calls. Of one trace the full history is drawn once."""
    series: list[dict[str, Any]] = []
    if not runs:
        series.append({"name": "full history", "style": "full", "values": [step.row.full for step in one.steps.steps]})
    series.append({"name": two.name, "style": "other", "values": [step.row.tokens for step in two.steps.steps]})
    series.append({"name": one.name, "style": "sent", "values": [step.row.tokens for step in one.steps.steps]})
    steps = one.steps.steps
    windows = [step.number for at, step in enumerate(steps) if not at or steps[at - 1].row.window != step.row.window]
    marks = [
        {"call": step.number, "value": step.row.full if not runs else step.row.tokens, "style": style}
        for side, style in ((two, "other"), (one, ""))
        for step in side.steps.steps
        if step.row.passed is not None and step.row.passed.first_changed is not None
    ]
    most = max(len(one.steps.steps), len(two.steps.steps))
    return {"count": most, "series": series, "windows": windows, "marks": marks}


def figures(one: Side, two: Side) -> list[Figure]:
    """Tokens, cost, passes and the measures of both."""
    sides = one, two
    first = [
        _number("model calls", [len(side.steps.steps) for side in sides], ""),
        _number("tokens sent", [side.sent for side in sides], "all prompts together"),
        _number("longest prompt", [side.steps.replay.peak for side in sides], "tokens"),
        _number("passes", [len(side.steps.replay.passes) for side in sides], "of a budget"),
    ]
    if one.costs.each and two.costs.each:
        paid = [side.costs.total for side in sides]
        meaning = f"dollars for prompts and output, prices of {one.costs.prices.as_of}" if one.costs.prices else ""
        change = "0" if paid[0] == paid[1] else f"{'+' if paid[0] > paid[1] else ''}{dollars(paid[0] - paid[1])}"
        first.append(Figure("cost", dollars(paid[0]), dollars(paid[1]), change, meaning))
    told = [[each for each in measures(side.steps.replay.measures, None) if each.name != "M8"] for side in sides]
    return first + [
        Figure(mine.name, mine.value, other.value, _apart(mine.value, other.value), mine.meaning)
        for mine, other in zip(*told, strict=True)
    ]


def _number(name: str, values: Sequence[int], meaning: str) -> Figure:
    one, two = values
    change = signed(one - two) + (f" ({_ratio(one, two)})" if two and one != two else "")
    return Figure(name, tokens(one), tokens(two), change, meaning)


def _ratio(one: float, two: float) -> str:
    """By how much one is more or less than two: −12.3 %."""
    return f"{'+' if one > two else '−'}{share(abs(one - two), two)}"


def _apart(one: str, two: str) -> str:
    """How far two figures that are written alike are apart, in their own unit: −0.17 %."""
    if one == two:
        return "same"
    found = [_FIGURE.fullmatch(told) for told in (one, two)]
    if found[0] is None or found[1] is None or found[0][2] != found[1][2]:
        return "not comparable"
    change = round(float(found[0][1].replace(",", "")) - float(found[1][1].replace(",", "")), 2)
    return f"{'+' if change > 0 else '−'}{abs(change):,g}{found[0][2]}" if change else "less than 0.01"
