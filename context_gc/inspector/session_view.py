"""Session view: the run directories, the runs of one, and what a page of them looks at."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any, NoReturn

import pandas as pd
import streamlit as st

from ..errors import SessionError
from ..render import sendable
from ..session import RUNS, SESSION, TRACE
from . import session_dirs as dirs
from . import session_runs as runs
from . import settings
from .diff_data import shown
from .launch import OPEN
from .notice import notice
from .rows import short
from .say import count, share
from .session_dirs import Listing, stamp
from .session_html import sentence
from .session_log import moment
from .session_runs import STATE, Directory, Run
from .session_table import table

LISTED = 200  #: runs of one directory, the newest
FIGURES = 12  #: of these whose figures are worked out unasked
PROBLEMS = 5  #: sentences that are shown at once

_CSS = files(__package__).joinpath("session_view.css").read_text("utf-8")
_STATE = "sessions"  # session key: what is chosen on this page
_START = {"directory": "", "run": "", "section": "Passes"}  # those that an address has
_FORGOTTEN = {"directory": ("run", "find", "found", "change", "kinds"), "run": ("found", "change", "kinds")}
_HOW = """from context_gc import ContextBus, ContextGC, RunLog

bus = ContextBus()
client = ContextGC(bus=bus, run_id="first")
with RunLog(bus, "DIR/runs/first"):    # records what the bus carries
    ...                                # the agent runs
client.save("DIR")                     # events, receipts, policy and state"""


@dataclass(frozen=True, slots=True)
class Inspection:
    """A run directory and the run in it that are looked at."""

    key: str  #: of the directory, below the folder that is open
    directory: Directory
    run: Run

    @property
    def path(self) -> Path:
        """The run directory."""
        return self.directory.path

    @property
    def folder(self) -> Path:
        """The run's own folder."""
        return self.path / RUNS / self.run.run_id


def state() -> dict[str, Any]:
    """What is chosen on this page in this browser session; the address is read when it begins."""
    if _STATE not in st.session_state:
        asked = {key: st.query_params.get(key, value) for key, value in _START.items()}
        st.session_state[_STATE] = asked
    found: dict[str, Any] = st.session_state[_STATE]
    return found


def put(key: str, value: Any) -> None:
    """Change what is chosen; what depended on it is forgotten."""
    now = state()
    if now.get(key) != value:
        for other in _FORGOTTEN.get(key, ()):
            now.pop(other, None)
        now[key] = value


def mirror() -> None:
    """Write what is chosen to the address, so that a link reproduces the view."""
    now = state()
    told = {key: now.get(key, "") for key in _START}
    kept = {key: value for key, value in told.items() if value and value != _START[key] and value == sendable(value)}
    st.query_params.from_dict({**settings.query(), **kept})


def choose_run() -> Inspection:
    """Choose a run directory and a run in it. Where there is none the page says how to make one, and ends."""
    st.html(f"<style>{_CSS}</style>")
    found = _listing()
    if not found.directories:
        where = f"{found.root}, {dirs.DEPTH} folders deep"
        _nothing(f"There is no run directory in {where}. One is made by a client that is saved:")
    key, directory = _directory(found)
    known = _ordered(directory)
    name = state().get("run") or (known[0] if known else "")
    run = _read(directory.path, name) if name in known else None
    _header(key, directory)
    with st.container(key="split"):
        left, right = st.columns([2, 3], gap="medium") if len(found.directories) > 1 else (None, st.container())
    if left is not None:
        with left:
            _directories(found, key)
    with right:
        _runs(directory, known, name)
    _problems(directory.problems)
    if run is None:
        _stop(
            f"run {shown(name)!r}: there is none with this id in this run directory (choose one above)" if name else "",
            "This session has no runs yet: ContextGC.save adds one.",
        )
    return Inspection(key, directory, run)


def _listing() -> Listing:
    start = os.environ.get(OPEN, "")
    if not start or not Path(start).is_dir():
        what = f"{Path(start).name} is a file" if start else "No folder is open"
        _nothing(
            f"{what}: run directories are looked for in the folder that the inspector is started with. Start it with "
            "context-gc inspect FOLDER. A run directory is made by a client that is saved:"
        )
    return _list(start)


def _directory(found: Listing) -> tuple[str, Directory]:
    key = state().get("directory") or next(iter(found.directories))
    try:
        path = found.directory(key)
    except SessionError as error:
        _header("", None)
        notice(shown(str(error)), "error")
        _directories(found, "")
        mirror()
        st.stop()
    return key, _look(path)


def _ordered(directory: Directory) -> list[str]:
    """The runs that are listed, the newest first."""
    return list(directory.run_ids[::-1][:LISTED])


def _header(key: str, directory: Directory | None) -> None:
    session = directory.session if directory else None
    facts = []
    if session is not None:
        facts = [f"session {short(session.session_id, 40)}", f"started {moment(session.started_at)[:16]} UTC"]
        facts += [short(session.user, 60)] if session.user else []
    facts += [count(len(directory.run_ids), "run")] if directory else []
    name = directory.path.name if key == "." and directory else key
    st.html(
        f'<div class="cg-head"><h1>Sessions</h1><span class="t">{escape(shown(name))}</span>'
        f'<span class="f">{escape(" · ".join(shown(each) for each in facts))}</span></div>'
    )


def _directories(found: Listing, key: str) -> None:
    keys = list(found.directories)
    looked = [_look(found.directories[each]) for each in keys]
    sessions = [each.session for each in looked]
    columns = {
        "run directory": [
            _flag(each.session is None, each.problems) + shown(found.root.name if key == "." else key)
            for key, each in zip(keys, looked, strict=True)
        ],
        "started (UTC)": [moment(each.started_at)[:16] if each else "" for each in sessions],
        "user": [shown(each.user or "") if each else "" for each in sessions],
        "runs": [len(each.run_ids) for each in looked],
    }
    widths = {"run directory": 150, "started (UTC)": 120, "user": 70, "runs": 46}
    table("directories", columns, keys, key, partial(put, "directory"), widths, "Run directories")
    more = "" if found.whole else f" There are more: the search ends at {dirs.LISTED} of them."
    st.html(f"<small>{escape(count(len(keys), 'run directory', 'run directories') + '.' + more)}</small>")


def _runs(directory: Directory, known: list[str], name: str) -> None:
    read = {each: _read(directory.path, each) for place, each in enumerate(known) if place < FIGURES or each == name}
    figures = [run.figures if (run := read.get(each)) else None for each in known]
    columns = {
        "run": [_flag(each in read and read[each].figures is None, ()) + shown(each) for each in known],
        "events": _numbers(read[each].events if each in read else None for each in known),
        "pruned": _numbers(each and each.pruned for each in figures),
        "before": _numbers(each and each.before for each in figures),
        "after": _numbers(each and each.after for each in figures),
        "passes": _numbers(each and len(each.passes) for each in figures),
        "window": [_window(each) for each in figures],
    }
    widths = {"run": 124, "events": 56, "pruned": 58, "before": 70, "after": 66, "passes": 58}
    table("runs", columns, known, name, partial(put, "run"), widths, "Runs of this session")
    told = count(len(directory.run_ids), "run") + ", the newest first. Before and after are tokens."
    if len(directory.run_ids) > LISTED:
        told = f"The {LISTED} newest of {len(directory.run_ids):,} runs."
    if len(known) > FIGURES:
        told += f" Figures of the {FIGURES} newest; choose another run to have its own."
    st.html(f"<small>{told}</small>")


def _window(figures: runs.Figures | None) -> str:
    if figures is None:
        return ""
    budget = figures.budget
    if budget is None:
        return "no budget"
    return f"{share(budget.tokens, budget.max_tokens)}, {budget.level}"


def _flag(damaged: bool, problems: Sequence[str]) -> str:
    return "✕ " if damaged else "! " if problems else ""


def _numbers(given: Any) -> Any:
    return pd.array(list(given), dtype="Int64")


def _problems(problems: Sequence[str]) -> None:
    for problem in problems[:PROBLEMS]:
        notice(problem, "error")
    if len(problems) > PROBLEMS:
        notice(f"{len(problems) - PROBLEMS:,} more problems of this kind.", "error")


def _nothing(told: str) -> NoReturn:
    _header("", None)
    st.html(sentence(shown(told)))
    st.code(_HOW, language="python")
    mirror()
    st.stop()


def _stop(fault: str, told: str) -> NoReturn:
    notice(fault or told, "error" if fault else "info")
    mirror()
    st.stop()


@st.cache_data(ttl=5, show_spinner=False)
def _list(start: str) -> Listing:
    return dirs.listing(Path(start))


def _look(path: Path) -> Directory:
    return _looked(str(path), stamp(path, SESSION), stamp(path, RUNS))


@st.cache_resource(max_entries=2 * dirs.LISTED, show_spinner=False)
def _looked(path: str, session: tuple[int, int], folders: tuple[int, int]) -> Directory:
    return runs.read_directory(Path(path))


def _read(path: Path, run_id: str) -> Run:
    changed = [stamp(path, RUNS, run_id, name) for name in (TRACE, STATE)]
    return _run(str(path), run_id, tuple(changed))


@st.cache_resource(max_entries=128, show_spinner="Reading a run…")
def _run(path: str, run_id: str, changed: tuple[tuple[int, int], ...]) -> Run:
    return runs.read_run(Path(path), run_id)
