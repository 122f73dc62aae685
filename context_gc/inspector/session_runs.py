"""Session runs: what a run directory holds, run by run, as it was saved; nothing is written and no pass is made."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from ..budgeted import live_of
from ..compaction import Compaction, Live
from ..engine import Engine
from ..errors import ContextGCError, SessionError
from ..load import load_trace
from ..passes import BudgetState, Pass
from ..policy import Policy
from ..render import sendable
from ..saved import POLICY, Saved
from ..semantics import path_of
from ..session import RUNS, SESSION, TRACE, Session, run_name
from ..trace import Trace
from .diff_data import shown
from .rows import label
from .session_dirs import is_inside, own_file

STATE = "state.json"


@dataclass(frozen=True, slots=True)
class Directory:
    """A run directory: its session, where that could be read, and the runs that can be named."""

    path: Path
    session: Session | None
    run_ids: tuple[str, ...]  #: as the session lists them, then folders that it does not list
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PassRow:
    """A pass as it is shown. Tokens are of the prompt."""

    number: int
    moment: str
    before: int
    after: int
    freed: int
    pays: str  #: N*: calls until it has paid
    first: str  #: the first event whose text changed; text of the trace
    cut: int
    evicted: int
    clipped: int
    restored: int
    unreachable: str  #: what holds the space, where the target could not be reached


@dataclass(frozen=True, slots=True)
class Figures:
    """What became of a run's events, and how its window stands."""

    pruned: int
    clipped: int
    before: int  #: tokens of the full history
    after: int
    budget: BudgetState | None
    passes: tuple[PassRow, ...]


@dataclass(frozen=True, slots=True)
class Run:
    """One run. What could not be read is None, and `problems` say why."""

    run_id: str
    events: int | None
    figures: Figures | None
    policy: Policy | None
    ended: tuple[str, ...]  #: scopes of `retain_until`
    pinned: tuple[str, ...]  #: ids of events that were restored
    problems: tuple[str, ...]


def read_directory(path: Path) -> Directory:
    """The session of a run directory and the names of its runs."""
    problems: list[str] = []
    session: Session | None = None
    try:
        session = Session.load(own_file(path, SESSION))
    except ContextGCError as error:
        problems.append(told(error, path))
    known = list(session.run_ids) if session else []
    for name in _folders(path):
        if not _is_run_name(name):
            problems.append(f"{RUNS}/{name!a}: this is no name of a run (it is left out)")
        elif name not in known:
            known.append(name)
            problems += [f"{RUNS}/{name}: the session does not list this run (add_run does)"] if session else []
    return Directory(path, session, tuple(known), tuple(problems))


def read_run(directory: Path, run_id: str) -> Run:
    """One run as it was saved. Without a good state: what its trace and the directory's policy tell."""
    try:
        for name in (TRACE, STATE):
            own_file(directory, RUNS, run_name(run_id), name)
        return _saved(directory, run_id)
    except ContextGCError as error:
        return _unsaved(directory, run_id, told(error, directory))
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        # a state is read as it stands: a value of a wrong type shows only where it is used
        what = f"it is damaged: {type(error).__name__}: {error}"
        fault = shown(f"{RUNS}/{run_id}/{STATE}: {what[:200]} (the events are in {TRACE} beside it)")
        return _unsaved(directory, run_id, fault)


def read_trace(directory: Path, run_id: str) -> Trace | None:
    """The trace of a run; None for one without events. Raises SessionError or TraceError."""
    file = own_file(directory, RUNS, run_name(run_id), TRACE)
    return load_trace(file, f"{RUNS}/{run_id}/{TRACE}") if file.stat().st_size else None


def told(error: ContextGCError, directory: Path) -> str:
    """An error in its house form, with paths as they are in the run directory."""
    return shown(str(error).replace(f"{directory}{os.sep}", ""))


def _saved(directory: Path, run_id: str) -> Run:
    saved = Saved(directory, run_id, existing=True)
    live = live_of(Engine(saved.graph(), saved.policy))
    saved.revive(live)
    live.look()
    guard, events = live.engine.guard, live.engine.graph.events
    pinned = tuple(events[seq]["id"] for seq in sorted(guard.pinned))
    return Run(run_id, len(events), _figures(live), saved.policy, tuple(map(str, guard.ended)), pinned, ())


def _figures(live: Live) -> Figures:
    result, state = Compaction(live, private=True), live.state
    gone = len(result["pruned_ids"])
    clipped = sum(each["clipped"] and each["kept"] is None for each in result["decisions"])
    passes = tuple(_pass(each, live) for each in state.passes) if state else ()
    return Figures(gone, clipped, result["tokens_before"], result["tokens_after"], state, passes)


def _pass(told: Pass, live: Live) -> PassRow:
    even = told.break_even
    pays = "never, cache warm" if even is None else f"{even:,.1f} calls"
    return PassRow(
        number=int(told.number), moment=str(told.moment), before=int(told.tokens_before), after=int(told.tokens_after),
        freed=int(told.gain), pays=pays if told.first_changed is not None else "",
        first=_first(told.first_changed, live), cut=len(told.pruned_ids), evicted=int(told.evicted),
        clipped=len(told.clipped_ids), restored=len(told.restored_ids), unreachable=str(told.unreachable or ""),
    )  # fmt: skip


def _first(event_id: str | None, live: Live) -> str:
    seq = None if event_id is None else live.engine.graph.seq(event_id)
    if seq is None:
        return ""
    events = live.engine.graph.events
    lead = events[live.engine.view.units.lead(seq)]
    return f"#{seq + 1} {shown(label(events[seq], lead, sendable(path_of(lead, '') or '')))}"


def _unsaved(directory: Path, run_id: str, fault: str) -> Run:
    problems = [fault]
    events, policy = None, None
    try:
        trace = read_trace(directory, run_id)
        events = len(trace.events) if trace else 0
    except (ContextGCError, OSError) as error:
        problems.append(told(error, directory) if isinstance(error, ContextGCError) else str(error.strerror))
    try:
        policy = Policy.load(own_file(directory, POLICY))
    except ContextGCError as error:
        problems.append(told(error, directory))
    return Run(run_id, events, None, policy, (), (), tuple(dict.fromkeys(problems)))


def _folders(directory: Path) -> list[str]:
    runs = directory / RUNS
    if not is_inside(runs, directory):
        return []
    try:
        return sorted(name for name in os.listdir(runs) if name[0] != "." and (runs / name).is_dir())
    except OSError:  # no run has begun, or the problems of the runs say it
        return []


def _is_run_name(name: str) -> bool:
    try:
        return run_name(name) == name
    except SessionError:
        return False
