"""Fleet: a sweep over thousands of traces on dask, that can be interrupted and loses none of them.

`sweep_fleet` finds the units of a source, has workers sweep those that the table lacks, and adds up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ..canonical import readable
from ..errors import StoreError
from ..replay.advice import Advice, recommend
from ..replay.grid import Cell
from ..replay.measures import Measures, Share
from ..replay.prices import as_of
from ..replay.prompts import Method
from ..replay.sweep import Prepared, Sums
from ..replay.sweep import Row as SweepRow
from .cluster import local, remote, run
from .source import Source, Unit, find
from .table import Table, fingerprint
from .work import MONEY, SHARES, Order, Row, traces_of

__all__ = ["Fleet", "Order", "examples", "find", "local", "remote", "sweep_fleet"]

FORMAT = 1  #: of the table


@dataclass(frozen=True, slots=True)
class Fleet:
    """What a fleet came to."""

    rows: list[SweepRow]  #: one for each cell, baselines first; without the list of what each loses
    advice: Advice
    traces: int  #: that were swept
    faults: list[tuple[str, str]]  #: (unit, error) of what could not be
    others: int  #: files of no known format
    problems: list[str]  #: what was left out of the source
    before: int  #: units that an earlier run had done


def sweep_fleet(
    source: Source,
    order: Order,
    out: str,
    client: Callable[[], Any],
    limit: int | None = None,
    force: bool = False,
    floor: bool = False,
    told: Callable[[int, int], None] | None = None,
) -> Fleet:
    """Sweep what `out` lacks of the source, and add up all that is in it.

    `client`: a context manager that gives one of dask's, asked only when there is work; see `local` and `remote`.
    `limit`: only the first units. `told(done, of)` hears of progress, in units.

    Raises:
        StoreError: `out` holds something else, or the source has changed since.
        InvalidPolicy: the grid contradicts itself.
        ContextGCError: there are no workers.
    """
    methods = [_named(cell) for cell in order.cells(1)]
    table = Table(out)
    _apart(source, table)
    asked = source.units[:limit]
    with table.begun(_settings(source, order), force):
        known = table.known()
        _unchanged(table, known, asked)
        left = [unit for unit in asked if unit.key not in known]
        if left:
            done = len(asked) - len(left)

            def keep(units: Sequence[Unit], rows: Sequence[Row]) -> None:
                nonlocal done
                table.add(units, rows)
                done += len(units)
                if told is not None:
                    told(done, len(asked))

            with client() as workers:
                run(workers, left, order, keep)
        found = table.totals(methods)
        faults, others = table.faults()
    rows = list(_rows(found, order))
    traces = found[0]["traces"] if found else 0
    advice = recommend(rows, floor=floor)
    return Fleet(rows, advice, traces, faults, others, source.problems, len(asked) - len(left))


def examples(source: Source, order: Order) -> Iterator[tuple[str, Prepared]]:
    """The first traces that can be swept, by name, for pictures."""
    for unit in source.units:
        with suppress(Exception):  # its row tells what is wrong with it
            for number, trace in enumerate(traces_of(unit), 1):
                yield (unit.key if number == 1 else f"{unit.key}, trace {number}"), order.prepared(trace)


def _settings(source: Source, order: Order) -> dict[str, Any]:
    """What a second run has to ask for alike, as JSON values."""
    return {
        "format": FORMAT,
        "context-gc": _version(),
        "source": str(Path(source.name).absolute()),
        "column": source.column,
        "model": order.model,
        "window": order.max_tokens,
        "policy": order.policy.to_toml() if order.policy is not None else None,
        "prices": [as_of(), fingerprint(order.prices or {})],
        "grid": {key: list(value) if isinstance(value, tuple) else value for key, value in order.grid.items()},
    }


def _version() -> str:
    try:
        return version("context-gc")
    except PackageNotFoundError:
        return ""


def _named(cell: Cell | Method) -> tuple[str, str]:
    return (cell.method.name, readable(dict(cell.values))) if isinstance(cell, Cell) else (cell.name, "{}")


def _apart(source: Source, table: Table) -> None:
    out, root = table.path.absolute(), Path(source.name).absolute()
    if out == root or root in out.parents:
        raise StoreError(str(table.path), "it is inside the source", "name a folder elsewhere")


def _unchanged(table: Table, known: Mapping[str, int], units: Sequence[Unit]) -> None:
    other = [unit for unit in units if known.get(unit.key, unit.size) != unit.size]
    if other:
        what = f"{len(other):,} of the traces that it holds have changed since, the first is {other[0].key}"
        raise StoreError(str(table.path), what, "name another folder, or start anew with --force")


def _rows(totals: Sequence[Row], order: Order) -> Iterator[SweepRow]:
    """The totals as rows of a sweep, so that the advice is the same as that on a few traces."""
    if totals:
        methods = order.cells(min(each["window"] for each in totals))
        for each in totals:
            measures = Measures()
            for name in SHARES:
                setattr(measures, name, Share(each[f"{name}_kept"], each[f"{name}_of"]))
            for name in ("common", "recovered", "recovered_tokens", "prompt_tokens", "stale_tokens", "stub_tokens"):
                setattr(measures, name, each[name])
            measures.faults.update({"any": each["faults"]} if each["faults"] else {})
            money = {name: each[name] for name in MONEY}
            counts = {name: each[name] for name in ("peak", "calls", "passes", "paid")}
            yield Sums(**money, **counts, measures=measures).row(methods[each["cell"]])
