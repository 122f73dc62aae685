"""Cluster: batches on dask's workers, here or elsewhere; a batch whose worker dies is done again by another."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..errors import ContextGCError
from .parquet import needs
from .source import Unit
from .work import Order, Row, failed, swept

PATIENCE = 5.0  #: seconds for which a scheduler may stay silent
DEATHS = 1  #: of workers here, after which a batch is not given to a third
MOST_UNITS, MOST_BYTES = 16, 4 << 20  #: of a batch


@contextmanager
def local(workers: int | None = None) -> Iterator[Any]:
    """A client of as many processes on this machine; default one for each core. They end with the block.

    Raises:
        ContextGCError: dask is not installed.
    """
    distributed = _distributed()
    with (
        _dask().config.set({"distributed.scheduler.allowed-failures": DEATHS}),
        distributed.LocalCluster(
            n_workers=workers or os.cpu_count() or 1,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",  # any free port: without the package bokeh it serves next to nothing
            silence_logs=logging.CRITICAL,  # a worker that dies is told by what it could not do
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@contextmanager
def remote(address: str) -> Iterator[Any]:
    """A client of a scheduler that runs already.

    Raises:
        ContextGCError: dask is not installed; nothing answers there within seconds, or it has no worker.
    """
    distributed = _distributed()
    try:
        client = distributed.Client(address, timeout=PATIENCE)
    except (OSError, ValueError) as error:  # TimeoutError is an OSError
        told = " ".join(str(error).split()) or "no answer"
        raise ContextGCError(address, f"the scheduler cannot be reached: {told}", "write tcp://host:port") from error
    with client:
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except OSError as error:
            raise ContextGCError(address, "the scheduler has no worker", f"dask worker {address}") from error
        yield client


def batches(units: Sequence[Unit], workers: int) -> Iterator[list[Unit]]:
    """The units in order, some at a time: few enough that every worker has several turns."""
    most = max(1, min(MOST_UNITS, len(units) // (8 * workers)))
    batch: list[Unit] = []
    held = 0
    for unit in units:
        size = unit.size if unit.kind in ("file", "group", "line") else 0
        if batch and (len(batch) == most or held + size > MOST_BYTES):
            yield batch
            batch, held = [], 0
        batch.append(unit)
        held += size
    if batch:
        yield batch


def run(client: Any, units: Sequence[Unit], order: Order, keep: Callable[[Sequence[Unit], list[Row]], None]) -> None:
    """Sweep all units; `keep` hears of each once, with others, in the order in which they are done.

    What was on workers that died again and again is swept at the end, one unit at a time: so the one that takes
    its worker down is known, and becomes a row with that error.

    Raises:
        ContextGCError: the workers cannot run this library.
    """
    distributed = _distributed()
    workers = max(1, len(client.nthreads()))
    waiting = {client.submit(swept, batch, order, pure=False): batch for batch in batches(units, workers)}
    suspects: list[Unit] = []
    for future in distributed.as_completed(list(waiting)):
        batch = waiting.pop(future)
        rows = _rows(future)
        if rows is None:
            suspects += batch
        else:
            keep(batch, rows)
    for unit in suspects:
        rows = _rows(client.submit(swept, [unit], order, pure=False))
        what = "every worker that read it died, as for want of memory"
        keep([unit], rows or [failed(unit, ContextGCError(unit.key, what, "sweep it alone"))])


def _rows(future: Any) -> list[Row] | None:
    """What a task gave; None when its workers died."""
    try:
        rows: list[Row] = future.result()
    except _distributed().KilledWorker:
        return None
    except Exception as error:
        told = f"a worker cannot do its work: {type(error).__name__}: {error}"
        raise ContextGCError("fleet", told, _SAME) from error
    finally:
        future.release()
    return rows


_SAME = "the workers need this version of context-gc, and to see the source under the same path"


def _dask() -> Any:
    import dask

    return dask


def _distributed() -> Any:
    try:
        import distributed
    except ImportError as error:
        raise needs("dask[distributed]") from error
    return distributed
