"""The command `fleet`: a sweep over thousands of recorded runs."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from itertools import islice
from pathlib import Path
from typing import Any

from .atomic import write_atomically
from .cli_replay import advised
from .errors import ContextGCError, StoreError
from .fleet import Fleet, Order, examples, find, local, remote, sweep_fleet
from .policy import Policy
from .replay.grid import DEFAULT, load
from .replay.prices import load_overrides
from .replay.report import MOST_CURVES, report
from .terminal import printable

SHOWN = 5  #: traces that could not be swept


def add_commands(commands: Any) -> None:
    """Add `fleet` to the command line."""
    about = "Try many policies on thousands of recorded runs, in processes here or on a dask cluster, and go on later."
    sub = commands.add_parser("fleet", help="Tune on thousands of recorded runs.", description=about)
    sub.add_argument("source", metavar="SOURCE", help="a folder, a zip archive, or a Parquet or JSONL data set")
    sub.add_argument("--out", required=True, metavar="DIR", help="where results go; what is there is not done again")
    sub.add_argument("--column", default="", metavar="NAME", help="of a data set: what holds the trace")
    sub.add_argument("--grid", metavar="FILE", help="lists of values to try, in TOML (default: a grid of our own)")
    sub.add_argument("--policy", metavar="FILE", help="what the grid changes (default: the default policy)")
    sub.add_argument("--model", default="", metavar="NAME", help="whose prices and tokens count (default: each own)")
    sub.add_argument("--prices", metavar="FILE", help="prices of one's own, in TOML")
    sub.add_argument("--max-tokens", type=_positive, metavar="N", help="the window (default: that of each model)")
    sub.add_argument("--scheduler", metavar="ADDRESS", help="of a dask cluster, as tcp://host:8786")
    sub.add_argument("--workers", type=_positive, metavar="N", help="processes here (default: one for each core)")
    sub.add_argument("--limit", type=_positive, metavar="N", help="only the first files or rows")
    sub.add_argument("--floor", action="store_true", help="rank by what costs where only the system prompt survives")
    sub.add_argument("--report", metavar="FILE", help="write a report, one HTML file")
    sub.add_argument("--force", action="store_true", help="drop what --out holds, and start anew")
    sub.set_defaults(run=_fleet)


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return number


def _fleet(arguments: argparse.Namespace) -> int:
    if arguments.scheduler and arguments.workers:
        raise ContextGCError("fleet", "--workers is of this machine, --scheduler of another", "give one of them")
    order = Order(
        load(arguments.grid) if arguments.grid else DEFAULT,
        Policy.load(arguments.policy) if arguments.policy else None,
        arguments.model,
        arguments.max_tokens,
        load_overrides(arguments.prices) if arguments.prices else None,
    )

    def client() -> AbstractContextManager[Any]:
        return remote(arguments.scheduler) if arguments.scheduler else local(arguments.workers)

    source = find(arguments.source, arguments.column)
    _list(source.problems, "more that was left out")
    done = sweep_fleet(
        source, order, arguments.out, client, arguments.limit, arguments.force, arguments.floor, _progress
    )
    _complain(done, arguments.out)
    if not done.traces:
        first = f": {done.faults[0][1]}" if done.faults else ""
        raise ContextGCError(arguments.source, f"no trace could be swept{first}", "try --model, or another SOURCE")
    print(f"{done.traces:,} traces, {done.rows[0].calls:,} model calls; rows and totals in {arguments.out}")
    for line in advised(done.rows, done.advice):
        print(line)
    if arguments.report:
        shown = list(islice(examples(source, order), MOST_CURVES))
        _write(Path(arguments.report), report(done.rows, done.advice, shown, done.traces))
    best = done.advice.best
    if best is None or best.policy is None:
        return 1
    _write(Path(arguments.out, "policy.toml"), best.policy.to_toml())
    return 0


def _write(path: Path, text: str) -> None:
    try:
        write_atomically(path, text.encode("utf-8", "replace"), 0o644)
    except OSError as error:
        raise StoreError(str(path), f"it cannot be written: {error.strerror}", "name another file") from error


def _complain(done: Fleet, out: str) -> None:
    if done.before:
        print(f"context-gc: {done.before:,} files or rows were there already", file=sys.stderr)
    if done.others:
        files = "file" if done.others == 1 else "files"
        print(f"context-gc: {done.others:,} {files} of no known format (left out)", file=sys.stderr)
    lines = [error if error.startswith(unit) else f"{unit}: {error}" for unit, error in done.faults]
    _list(lines, f"more that could not be swept: see {out}/rows")


def _list(lines: Sequence[str], more: str) -> None:
    for line in lines[:SHOWN]:
        print(f"context-gc: {printable(line)}", file=sys.stderr)
    if len(lines) > SHOWN:
        print(f"context-gc: and {len(lines) - SHOWN:,} {more}", file=sys.stderr)


def _progress(done: int, of: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{done:,} of {of:,} files or rows", end="\n" if done == of else "", file=sys.stderr, flush=True)
