"""Tune sweep: sweeps that run beside the server, one process each, and what they found; the same one never twice."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryFile
from threading import Lock, Thread
from time import monotonic
from typing import Any

import streamlit as st

from ..replay.sweep import Row
from .tune_worker import Order

KEPT = 8  #: sweeps that the server keeps
TOLD = 2_000  #: characters of what a process said when it failed


@dataclass(slots=True)
class Run:
    """One sweep, running or done. Its own thread writes it, pages read it."""

    key: str
    scope: str  #: the traces that it is about
    of: int  #: policies and baselines
    told: str  #: what it was made with
    started: float = field(default_factory=monotonic)
    done: int = 0
    rows: Sequence[Row] = ()
    left_out: Sequence[str] = ()
    fault: str = ""
    seconds: float = 0.0  #: how long it took
    process: subprocess.Popen[bytes] | None = None
    thread: Thread | None = None

    @property
    def is_running(self) -> bool:
        """Whether it goes on."""
        return not self.seconds

    @property
    def left(self) -> float | None:
        """Seconds until it is done, by what it has done; None at first."""
        return (monotonic() - self.started) * (self.of - self.done) / self.done if self.done > 2 else None


def start(order: Order, scope: str, told: str) -> Run:
    """Begin a sweep, or give the one that was begun with the same order and did not fail."""
    data = pickle.dumps(order)
    key = sha256(scope.encode() + _digest(order)).hexdigest()[:16]
    with _lock():
        kept = runs()
        found = kept.get(key)
        if found is not None and not found.fault:
            return found
        for old in [name for name, run in kept.items() if not run.is_running][: max(0, len(kept) - KEPT + 1)]:
            del kept[old]
        run = kept[key] = Run(key, scope, len(order.cells), told)
        run.thread = Thread(target=_follow, args=(run, data), daemon=True)
        run.thread.start()
    return run


def stop(run: Run) -> None:
    """End a sweep before it is done. It is forgotten, so that it can be begun anew."""
    with _lock():
        runs().pop(run.key, None)
    run.fault = run.fault or "stopped"
    if run.process is not None and run.is_running:
        _kill(run.process)


@st.cache_resource(show_spinner=False)
def runs() -> dict[str, Run]:
    """The sweeps of this server by key."""
    return {}


@st.cache_resource(show_spinner=False)
def _lock() -> Lock:
    return Lock()


def _follow(run: Run, data: bytes) -> None:
    """Begin the process, feed it and take its messages until it ends."""
    command, said = [sys.executable, "-m", "context_gc.inspector.tune_worker"], ""
    try:
        with (
            TemporaryFile() as log,
            subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, env=_environment(),
                start_new_session=os.name == "posix",
            ) as process,
        ):  # fmt: skip
            run.process = process
            if run.fault:  # stopped before it began
                _kill(process)
            _talk(run, process, data)
            process.wait()
            log.seek(0)
            said = log.read()[-TOLD:].decode("utf-8", "replace").strip()
    except (OSError, pickle.UnpicklingError) as error:
        said = str(error)
    if not run.rows:
        run.fault = run.fault or said or "the process ended without a result"
    run.seconds = max(monotonic() - run.started, 1e-9)


def _talk(run: Run, process: subprocess.Popen[bytes], data: bytes) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(data)
    process.stdin.close()
    with suppress(EOFError):
        while True:
            _take(run, pickle.load(process.stdout))


def _take(run: Run, message: tuple[Any, ...]) -> None:
    match message:
        case ("done", int(done), int(of)):
            run.done, run.of = done, of
        case ("rows", rows, left_out):
            run.rows, run.left_out = rows, left_out
        case ("fault", str(text)):
            run.fault = text


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a process that `start` began, and those that it began: they are a session of their own."""
    if os.name != "posix":
        process.kill()
    elif process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)


def _digest(order: Order) -> bytes:
    """What an order asks for besides its traces, which `scope` stands for."""
    told = [repr([(name, prices) for name, _, prices in order.traces])]
    told += [repr(getattr(getattr(cell, "method", cell), "policy", cell)) for cell in order.cells]
    return "\n".join(told).encode("utf-8", "surrogatepass")


def _environment() -> dict[str, str]:
    """The process has to find this very package, wherever the server found it."""
    home = str(Path(__file__).resolve().parents[2])
    known = os.environ.get("PYTHONPATH", "")
    return {**os.environ, "PYTHONPATH": f"{home}{os.pathsep}{known}" if known else home}
