"""Tune worker: a sweep in a process of its own, so that the inspector's server stays free: `python -m` this.

It reads one pickled `Order` from its standard input and writes pickled messages to its standard output:
("done", n, of), then ("rows", rows, left out) or ("fault", text).
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, BinaryIO

from ..errors import ContextGCError
from ..replay.advice import recommend
from ..replay.grid import Cell
from ..replay.prices import Prices
from ..replay.prompts import Method
from ..replay.sweep import Prepared, Row, prepare, sweep
from ..trace import Trace


@dataclass(frozen=True, slots=True)
class Order:
    """A sweep that is asked for."""

    traces: Sequence[tuple[str, Trace, Prices | None]]  #: name, trace, prices; None: there are none
    cells: Sequence[Cell | Method]
    processes: int | None = None


def work(order: Order, out: BinaryIO) -> None:
    """Sweep, telling how far it is."""
    prepared: list[Prepared] = []
    left_out: list[str] = []
    for name, trace, prices in order.traces:
        try:
            prepared.append(prepare(trace, prices))
        except ContextGCError as error:
            left_out.append(f"{name}: {error}")
    if not prepared:
        _tell(out, ("fault", left_out[0] if left_out else "there is no trace"))
        return
    rows = sweep(prepared, order.cells, processes=order.processes, told=lambda done, of: _tell(out, ("done", done, of)))
    _tell(out, ("rows", lighter(rows), left_out))


def lighter(rows: Sequence[Row]) -> list[Row]:
    """The rows without the lists of what was lost, except those of the recommended ones."""
    best = {id(recommend(rows, floor=floor).best) for floor in (False, True)}
    return [each if id(each) in best else replace(each, measures=replace(each.measures, lost=[])) for each in rows]


def _tell(out: BinaryIO, message: tuple[Any, ...]) -> None:
    pickle.dump(message, out)
    out.flush()


def _end() -> None:
    """End this process and those that it started, at once: whoever asked is gone."""
    if os.name == "posix" and os.getsid(0) == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


if __name__ == "__main__":
    try:
        work(pickle.load(sys.stdin.buffer), sys.stdout.buffer)
    except BrokenPipeError:
        _end()
