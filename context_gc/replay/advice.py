"""Advice: of the policies of a sweep the cheapest that loses nothing which matters, and what each condition costs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from .measures import Measures
from .sweep import Row

#: name -> (what it measures, the least that is accepted); DESIGN §5
CONDITIONS: Mapping[str, tuple[Callable[[Measures], float], float]] = {
    "M1": (lambda told: told.recall.ratio, 0.995),
    "M2": (lambda told: told.sole_source.ratio, 0.97),
    "M5": (lambda told: told.instructions.ratio, 1.0),
    "M6": (lambda told: 1.0 if not told.faults.total() else 0.0, 1.0),
    "M9": (lambda told: told.quotes.ratio, 0.98),
}


@dataclass(frozen=True, slots=True)
class Advice:
    """What to ship. Costs are relative to full history."""

    best: Row | None  #: the cheapest that meets every condition; None when none does
    runners_up: tuple[Row, ...]  #: the next cheapest that do
    price_of: Mapping[str, float | None]  #: condition -> what it costs: best cost less the best without it
    failing: Mapping[str, int]  #: condition -> how many policies miss it


def recommend(rows: Sequence[Row], runners_up: int = 4, floor: bool = False) -> Advice:
    """The least cost subject to M5 = 1, M6 = 0, M1 >= 0.995, M2 >= 0.97, M9 >= 0.98; ties: fewer passes, then order.

    `floor`: by the cost where only the system prompt survives a change.
    """
    tuned = [each for each in rows if each.policy is not None and each.values]
    ranked = sorted(tuned, key=lambda each: (_cost(each, floor), each.passes))
    good = [each for each in ranked if not misses(each)]
    price_of: dict[str, float | None] = {}
    for name in CONDITIONS:
        without = next((each for each in ranked if misses(each) <= {name}), None)
        price_of[name] = None if without is None or not good else _cost(good[0], floor) - _cost(without, floor)
    failing = {name: sum(name in misses(each) for each in tuned) for name in CONDITIONS}
    return Advice(good[0] if good else None, tuple(good[1 : 1 + runners_up]), price_of, failing)


def misses(row: Row) -> set[str]:
    """The conditions that a policy does not meet."""
    return {name for name, (value, least) in CONDITIONS.items() if value(row.measures) < least}


def _cost(row: Row, floor: bool) -> float:
    return row.floor if floor else row.cost
