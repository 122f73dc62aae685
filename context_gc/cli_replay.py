"""The commands about recorded runs under another policy: `replay` and `tune`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace as changed
from pathlib import Path
from typing import Any

from .atomic import write_atomically
from .errors import ContextGCError, TraceError
from .load import load_traces
from .policy import Policy
from .replay import context_at, replay
from .replay.advice import CONDITIONS, Advice, recommend
from .replay.baselines import BASELINES
from .replay.cost import bill
from .replay.grid import DEFAULT, Cell, cells, load
from .replay.prices import load_overrides, prices_of
from .replay.prompts import Method
from .replay.report import report
from .replay.sweep import Prepared, Row, prepare, sweep
from .trace import Trace
from .windows import window_of

SHOWN = 12  #: policies that `tune` prints


def add_commands(commands: Any) -> None:
    """Add `replay` and `tune` to the command line."""
    told = "Print how the context of a recorded run would have grown under a policy, call by call."
    sub = commands.add_parser("replay", help="Live a recorded run again under a policy.", description=told)
    sub.add_argument("trace", metavar="TRACE", help="a trace file of any known format")
    sub.add_argument("--trace", type=int, default=1, dest="number", metavar="N", help="which trace of the file (1)")
    sub.add_argument("--policy", metavar="FILE", help="a policy in TOML")
    sub.add_argument("--at", type=int, metavar="K", help="print the prompt of model call K, from 1")
    _add_prices(sub)
    sub.set_defaults(run=_replay)
    told = "Try many policies on recorded runs, and recommend the cheapest that loses nothing which matters."
    sub = commands.add_parser("tune", help="Find the thresholds to ship.", description=told)
    sub.add_argument("traces", nargs="+", metavar="TRACE", help="trace files or folders of any known format")
    sub.add_argument("--grid", metavar="FILE", help="lists of values to try, in TOML (default: a grid of our own)")
    sub.add_argument("--policy", metavar="FILE", help="what the grid changes (default: the default policy)")
    sub.add_argument("--max-tokens", type=int, metavar="N", help="the model's window (default: by the model's name)")
    sub.add_argument("--processes", type=int, metavar="N", help="at a time (default: one for each core)")
    sub.add_argument("--floor", action="store_true", help="rank by what costs where only the system prompt survives")
    sub.add_argument("--out", metavar="FILE", help="write the recommended policy, in TOML")
    sub.add_argument("--report", metavar="FILE", help="write a report, one HTML file")
    _add_prices(sub)
    sub.set_defaults(run=_tune)


def _add_prices(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--model", metavar="NAME", help="whose prices and tokens count (default: the trace's own)")
    sub.add_argument("--prices", metavar="FILE", help="prices of one's own, in TOML")


def _replay(arguments: argparse.Namespace) -> int:
    traces = load_traces(arguments.trace)
    if not 1 <= arguments.number <= len(traces):
        raise TraceError(arguments.trace, f"there is no trace {arguments.number}", f"1 to {len(traces)}")
    trace = _of_model(traces[arguments.number - 1], arguments.model)
    policy = Policy.load(arguments.policy) if arguments.policy else Policy()
    if arguments.at is not None:
        print(context_at(trace, arguments.at, policy))
        return 0
    prepared = _prepared(trace, arguments)
    done = replay(prepared.readings, policy, prepared.counter, prepared.prices.ttl)
    charges = bill(done, prepared.prices, calibration=prepared.calibration).charges
    print(f"{'call':>6} {'full':>9} {'prompt':>9} {'cached':>9} {'written':>9} {'stubs':>5} {'$':>9}  what happened")
    for each, charge in zip(done.calls, charges, strict=True):
        notes = []
        if each.passed is not None:
            notes.append(f"pass {each.passed.number} ({each.passed.moment}) frees {each.passed.gain:,}")
        if each.cold:
            notes.append("the cache is cold")
        print(
            f"{each.call.number:>6} {each.full:>9,} {each.tokens:>9,} {charge.cached:>9,.0f} {charge.written:>9,.0f}"
            f" {each.stubs:>5} {charge.cost:>9.4f}  {'; '.join(notes)}".rstrip()
        )
    told = done.measures
    print(
        f"TOTAL {len(done.calls):,} calls | ${sum(each.cost for each in charges):,.4f} at the prices of"
        f" {prepared.prices.model}, {prepared.prices.as_of or 'own'} | M1 {told.recall.ratio:.2%}"
        f" | M2 {told.sole_source.ratio:.2%} | M4 {told.artifacts.ratio:.2%} | M5 {told.instructions.ratio:.2%}"
        f" | M6 {told.faults.total()} | M7 {told.extending.ratio:.2%} | M9 {told.quotes.ratio:.2%}"
    )
    return 0


def _tune(arguments: argparse.Namespace) -> int:
    prepared: list[tuple[str, Prepared]] = []
    windows: list[int] = []
    for name in arguments.traces:
        for number, trace in enumerate(load_traces(name), 1):
            label = f"{Path(name).name}, trace {number}" if number > 1 else Path(name).name
            try:
                prepared.append((label, _prepared(_of_model(trace, arguments.model), arguments)))
                windows.append(arguments.max_tokens or window_of(arguments.model or trace.model))
            except ContextGCError as error:
                print(f"context-gc: {label}: {error} (left out)", file=sys.stderr)
    if not prepared:
        raise TraceError("tune", "no trace can be replayed", "name recorded runs of an agent; give --model")
    grid = load(arguments.grid) if arguments.grid else DEFAULT
    policy = Policy.load(arguments.policy) if arguments.policy else None
    tried = cells(grid, policy, None if "max_tokens" in grid else min(windows))
    methods: list[Cell | Method] = [*BASELINES, *tried]
    rows = sweep([each for _, each in prepared], methods, processes=arguments.processes, told=_progress)
    advice = recommend(rows, floor=arguments.floor)
    for line in advised(rows, advice):
        print(line)
    if arguments.report:
        _write(arguments.report, report(rows, advice, prepared))
    if advice.best is None or advice.best.policy is None:
        return 1
    if arguments.out:
        _write(arguments.out, advice.best.policy.to_toml())
    return 0


def advised(rows: Sequence[Row], advice: Advice) -> list[str]:
    """What `tune` prints: baselines, the recommended policy and the runners-up, and what the conditions cost."""
    lines = [f"{'cost':>7} {'floor':>7} {'M1':>7} {'M2':>7} {'M9':>7} {'passes':>6}  policy"]
    chosen = [each for each in rows if not each.values]
    chosen += [each for each in (advice.best, *advice.runners_up) if each is not None]
    for each in chosen[: SHOWN + len(BASELINES)]:
        told = each.measures
        mark = "*" if each is advice.best else " "
        lines.append(
            f"{each.cost:>7.1%} {each.floor:>7.1%} {told.recall.ratio:>7.2%} {told.sole_source.ratio:>7.2%}"
            f" {told.quotes.ratio:>7.2%} {each.passes:>6} {mark}{each.method}"
        )
    if advice.best is None:
        missed = ", ".join(f"{name} {count:,}" for name, count in advice.failing.items() if count)
        lines.append(f"No policy meets the conditions; they miss {missed}. Try higher limits or fewer stages.")
    else:
        costs = [f"{name} {price:.1%}" for name, price in advice.price_of.items() if price]
        lines.append(f"What the conditions cost: {', '.join(costs) or 'nothing'} (of {', '.join(CONDITIONS)}).")
    return lines


def _write(path: str, text: str) -> None:
    try:
        write_atomically(path, text.encode("utf-8", "replace"), mode=0o644)
    except OSError as error:
        raise TraceError(path, f"it cannot be written: {error.strerror}", "name another file") from error


def _progress(done: int, of: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{done:,} of {of:,} policies", end="\n" if done == of else "", file=sys.stderr, flush=True)


def _of_model(trace: Trace, model: str | None) -> Trace:
    return changed(trace, model=model) if model else trace


def _prepared(trace: Trace, arguments: argparse.Namespace) -> Prepared:
    overrides = load_overrides(arguments.prices) if arguments.prices else None
    return prepare(trace, prices_of(trace.model, overrides))
