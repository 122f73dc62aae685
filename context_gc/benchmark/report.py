"""Report: `benchmark_report.md`, the whole benchmark as one file that names what was not run."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ..atomic import write_atomically
from ..replay.grid import DEFAULT
from ..replay.prices import as_of
from . import chapters, grading, peers, replaying, sessions, speed
from .methods import COUNTER
from .scenarios import SIZES

PATH = Path(__file__).with_name("benchmark_report.md")


@dataclass(frozen=True, slots=True)
class Scope:
    """How much is run; a test runs less."""

    lengths: Sequence[str] = tuple(SIZES)
    runs: int = grading.RUNS
    processes: bool = True  #: whether two processes are compared
    grid: Mapping[str, Any] = field(default_factory=lambda: DEFAULT)
    compacted: Sequence[int] = speed.SIZES[:-1]  #: events
    looped: Sequence[int] = speed.LOOPS
    replayed: int = replaying.EVENTS


def report(paths: Sequence[str] = (), scope: Scope | None = None, told: Callable[[str], None] = print) -> str:
    """The report as Markdown; sessions are named by their files alone. `told` hears of progress."""
    chosen = scope or Scope()
    timed = speed.report(chosen.compacted, chosen.looped)  # first: a child inherits the peak of this process
    found, left = sessions.opened(paths)
    graded = grading.grades(chosen.lengths, chosen.runs, chosen.processes, told)
    parts = [
        *_head(paths, found, left, chosen),
        *chapters.made_up(graded, found, chosen.lengths),
        *chapters.recorded(found, chosen.grid, told),
        *_speed(timed, found, chosen),
    ]
    return "\n".join(parts) + "\n"


def write(path: str, paths: Sequence[str]) -> None:
    """Make the report and write it; what goes on is told on stderr. Ends the program where it cannot be written."""
    text = report(paths, told=lambda line: print(line, file=sys.stderr, flush=True))
    try:
        write_atomically(path, text.encode(), mode=0o644)
    except OSError as error:
        sys.exit(f"error: {path}: it cannot be written: {error.strerror} (name another file with --out)")


def _head(paths: Sequence[str], found: Sequence[sessions.Session], left: Sequence[str], scope: Scope) -> Iterator[str]:
    yield "# Benchmark report"
    yield ""
    names = " ".join(Path(path).name for path in paths)
    yield (
        "Made by `" + f"python -m context_gc.benchmark report {names}".rstrip() + "`; every figure is made anew by it."
    )
    yield ""
    yield (
        f"context-gc {_version('context-gc')}, {platform.python_implementation()} {platform.python_version()},"
        f" {os.cpu_count()} cores, prices of {as_of()}. Tokens are the estimate `{COUNTER.name}` in part A, and in"
        " part B that of each session's model family, fitted to the provider's reports where it has them. Times are"
        " noisy; compare the ratios."
    )
    yield ""
    yield "## What was not run"
    yield ""
    lines = [f"- {each}" for each in (*grading.missing(), *left)]
    if not found:
        lines.append("- Part B, recorded sessions: none was named on the command line, or none could be replayed")
    if tuple(scope.lengths) != tuple(SIZES):
        lines.append(f"- Lengths other than {', '.join(scope.lengths)}")
    if found:
        lines.append("- The peers' packages on recorded sessions: they are in part A alone")
    lines.append("- A model: nothing here shows what an agent would have done with another prompt")
    lines.append(f"- The speed of more than {max(scope.compacted):,} events (`python -m context_gc.benchmark speed`)")
    yield from lines
    ran = [f"{each.package} {each.version}" for each in peers.PEERS if each.version is not None]
    if ran:
        yield ""
        yield f"Peers that were run: {', '.join(dict.fromkeys(ran))}."
    yield ""


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "from source"


def _speed(compaction: str, found: Sequence[sessions.Session], scope: Scope) -> Iterator[str]:
    yield "## C. Speed"
    yield ""
    yield "### Compaction against `json.loads`"
    yield ""
    yield compaction
    yield ""
    yield "### Replay and sweep"
    yield ""
    yield (
        f"Goals: a replay of {replaying.EVENTS:,} events with all measures within {replaying.GOAL_REPLAY:.0f} s, a"
        f" sweep of 27 cells over it within {replaying.GOAL_SWEEP:.0f} s on two cores (two processes)."
    )
    yield ""
    own = replaying.made_up(scope.replayed)
    timed = [(own.source, own), *replaying.large([(each.name, each.trace) for each in found])]
    yield from replaying.table(timed)
