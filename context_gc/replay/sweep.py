"""Sweep: many policies over many traces, in processes of their own, as one table."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from ..policy import Policy
from ..tokens import COUNTERS, Counter, family_of
from ..trace import Trace
from .baselines import FULL
from .calibration import Calibration, calibrate
from .cost import bill, paybacks
from .grid import Cell
from .measures import Measures
from .prices import Prices, prices_of
from .prompts import Method, readings, replay
from .reading import Reading


@dataclass(frozen=True, slots=True)
class Row:
    """One method over all traces of a sweep. Money is dollars; `cost` and `floor` are relative to full history."""

    method: str
    values: Mapping[str, Any]  #: what sets it apart in the grid; {} for a baseline
    policy: Policy | None
    cost: float  #: of the prompts, breakpoints "ideal"; 1.0 for the full history
    floor: float  #: of the prompts, breakpoints "floor"
    dollars: float  #: of everything, "ideal"
    tokens: int  #: sum over calls
    peak: int  #: tokens of the longest prompt
    calls: int
    passes: int
    paid: int  #: passes that won more than they cost
    measures: Measures

    def to_dict(self) -> dict[str, Any]:
        """The row as JSON values, measures as ratios."""
        told = self.measures
        return {
            "method": self.method, **{f"grid.{key}": value for key, value in self.values.items()},
            "cost": self.cost, "floor": self.floor, "dollars": self.dollars, "tokens": self.tokens, "peak": self.peak,
            "calls": self.calls, "passes": self.passes, "paid": self.paid,
            "M1": told.recall.ratio, "M2": told.sole_source.ratio, "M3": told.recovered,
            "M4": told.artifacts.ratio, "M5": told.instructions.ratio, "M6": told.faults.total(),
            "M7": told.extending.ratio, "M9": told.quotes.ratio,
        }  # fmt: skip


@dataclass(slots=True)
class Sums:
    """What a row is made of; of several traces it adds up. Money is dollars."""

    prompts: float = 0.0  #: of the prompts, breakpoints "ideal"
    floor: float = 0.0  #: of the prompts, breakpoints "floor"
    total: float = 0.0  #: of everything, "ideal"
    full_prompts: float = 0.0  #: the same three of the full history
    full_floor: float = 0.0
    full_total: float = 0.0
    peak: int = 0
    calls: int = 0
    passes: int = 0
    paid: int = 0
    measures: Measures = field(default_factory=Measures)

    def __iadd__(self, other: Sums) -> Sums:
        for each in fields(self):
            if each.name not in ("peak", "measures"):
                setattr(self, each.name, getattr(self, each.name) + getattr(other, each.name))
        self.peak = max(self.peak, other.peak)
        self.measures += other.measures
        return self

    def row(self, cell: Cell | Method) -> Row:
        """The row of the cell that lived these."""
        method = cell.method if isinstance(cell, Cell) else cell
        values = cell.values if isinstance(cell, Cell) else {}
        cost, floor = _ratio(self.prompts, self.full_prompts), _ratio(self.floor, self.full_floor)
        return Row(
            method.name, values, getattr(method, "policy", None), cost, floor, self.total,
            self.measures.prompt_tokens, self.peak, self.calls, self.passes, self.paid, self.measures,
        )  # fmt: skip


@dataclass(slots=True)
class Prepared:
    """A trace ready to be replayed many times."""

    readings: list[Reading]
    counter: Counter
    prices: Prices
    calibration: Calibration
    full: tuple[float, float, float] = (0.0, 0.0, 0.0)  #: ideal, floor, dollars of the full history


def prepare(trace: Trace, prices: Prices | None = None) -> Prepared:
    """What all replays of a trace share. Raises InvalidPolicy for a model without prices where none are given."""
    found = readings(trace)
    counter = _Remembered(COUNTERS[family_of(trace.model)])
    told = prices or prices_of(trace.model)
    full = replay(found, FULL, counter, told.ttl, measure=False)
    fit = calibrate(full)
    ideal, floor = (bill(full, told, how, fit) for how in ("ideal", "floor"))
    return Prepared(found, counter, told, fit, (ideal.prompts, floor.prompts, ideal.total))


def sweep(
    traces: Sequence[Trace | Prepared],
    cells: Sequence[Cell | Method],
    prices: Prices | None = None,
    processes: int | None = None,
    told: Callable[[int, int], None] | None = None,
) -> list[Row]:
    """One row for each cell, in order. `told(done, of)` hears of progress.

    `prices`: default those of each trace's own model. `processes`: default one for each core; 1 stays in this one.

    Raises:
        TraceError, InvalidPolicy: a trace has no model call, or its model no prices.
    """
    prepared = [each if isinstance(each, Prepared) else prepare(each, prices) for each in traces]
    workers = min(processes or os.cpu_count() or 1, len(cells))
    rows: dict[int, Row] = {}
    for at, row in _in_turn(prepared, cells) if workers <= 1 else _in_processes(prepared, cells, workers):
        rows[at] = row
        if told is not None:
            told(len(rows), len(cells))
    return [rows[at] for at in range(len(cells))]


def row(prepared: Iterable[Prepared], cell: Cell | Method) -> Row:
    """One cell of a sweep."""
    sums = Sums()
    for each in prepared:
        sums += lived(each, cell)
    return sums.row(cell)


def lived(each: Prepared, cell: Cell | Method) -> Sums:
    """One cell on one trace."""
    done = replay(each.readings, cell.method if isinstance(cell, Cell) else cell, each.counter, each.prices.ttl)
    ideal, floor = (bill(done, each.prices, how, each.calibration) for how in ("ideal", "floor"))
    found = paybacks(done, each.prices)
    paid = sum(back.paid for back in found)
    return Sums(
        ideal.prompts, floor.prompts, ideal.total, *each.full, done.peak, len(done.calls), len(found), paid,
        done.measures,
    )  # fmt: skip


def _in_turn(prepared: Sequence[Prepared], cells: Sequence[Cell | Method]) -> Iterator[tuple[int, Row]]:
    for at, cell in enumerate(cells):
        yield at, row(prepared, cell)


def _in_processes(
    prepared: Sequence[Prepared], cells: Sequence[Cell | Method], workers: int
) -> Iterator[tuple[int, Row]]:
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from multiprocessing import get_context

    method = "fork" if os.name == "posix" else "spawn"
    with ProcessPoolExecutor(workers, get_context(method), _begin, (prepared,)) as pool:
        waiting = {pool.submit(_cell, cell): at for at, cell in enumerate(cells)}
        for future in as_completed(waiting):
            yield waiting[future], future.result()


_SHARED: list[Prepared] = []  # of a worker process


def _begin(prepared: Sequence[Prepared]) -> None:
    _SHARED[:] = prepared


def _cell(cell: Cell | Method) -> Row:
    return row(_SHARED, cell)


def _ratio(cost: float, full: float) -> float:
    return cost / full if full else 1.0


class _Remembered:
    """A counter that counts each text once: most lines are the same under every policy."""

    def __init__(self, counter: Counter) -> None:
        self.name = counter.name
        self._counter = counter
        self._known: dict[str, int] = {}

    def count(self, text: str) -> int:
        known = self._known.get(text)
        if known is None:
            known = self._known[text] = self._counter.count(text)
        return known
