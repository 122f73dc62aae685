"""Replaying: how long a replay and a sweep take, against `json.loads` of the same events."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from statistics import median
from time import perf_counter

from ..budget import Budget
from ..policy import Policy
from ..replay.grid import cells
from ..replay.prices import prices_of
from ..replay.prompts import replay
from ..replay.sweep import prepare, sweep
from ..trace import Trace, Window
from .methods import LOSSLESS
from .scenarios import Script
from .scenarios.coding import coding

EVENTS = 1_300
GOAL_REPLAY, GOAL_SWEEP = 1.0, 20.0  #: seconds, of one replay of 1,300 events, and of a sweep of 27 cells over it
WINDOW = 200_000
POLICY = Policy(stages=LOSSLESS, budget=Budget(WINDOW, max_prompt_tokens=100_000, min_gain=10_000))
GRID = {
    "stages": ["default", "lossless", "all"],
    "max_prompt_tokens": [60_000, 100_000, None],
    "min_gain": [5_000, 10_000, 20_000],
}


def made_up(events: int = EVENTS) -> Trace:
    """A session of a coding agent of about this many events."""
    script = Script(f"coding {events}")
    coding(script, events)
    whole = len(script.events)
    return Trace(script.events, "native", f"made up, {whole:,} events", windows=[Window(0, whole)])


def table(traces: Iterable[tuple[str, Trace]], processes: int = 2, runs: int = 3) -> list[str]:
    """Markdown: a row a session; medians of a replay with all measures, one sweep of 27 cells."""
    rows = [
        "| session | events | calls | json.loads s | prepare s | replay s | × json.loads | sweep cells | sweep s"
        " | × json.loads | policies a second |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    return [*rows, *(_row(name, trace, processes, runs) for name, trace in traces)]


def _row(name: str, trace: Trace, processes: int, runs: int) -> str:
    text = json.dumps(trace.events)
    loads = median(_timed(lambda: json.loads(text)) for _ in range(runs))
    prices = prices_of("claude-sonnet-4-5")
    start = perf_counter()
    ready = prepare(trace, prices)
    prepared = perf_counter() - start
    took = median(_timed(lambda: replay(ready.readings, POLICY, ready.counter)) for _ in range(runs))
    calls = sum(len(reading.stretch.calls) for reading in ready.readings)
    tried = cells(GRID, max_tokens=WINDOW)
    start = perf_counter()
    sweep([ready], tried, processes=processes)
    swept = perf_counter() - start
    return (
        f"| {name} | {len(trace.events):,} | {calls:,} | {loads:.4f} | {prepared:.2f} | {took:.2f} | {took / loads:.0f}"
        f" | {len(tried)} | {swept:.1f} | {swept / loads:.0f} | {len(tried) / swept:.1f} |"
    )


def _timed(run: Callable[[], object]) -> float:
    start = perf_counter()
    run()
    return perf_counter() - start


def large(traces: Sequence[tuple[str, Trace]], least: int = 1_000) -> list[tuple[str, Trace]]:
    """Those that are long enough to be timed."""
    return [(name, trace) for name, trace in traces if len(trace.events) >= least]
