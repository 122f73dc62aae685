"""Work: one unit of a fleet under every cell of the grid, as rows. Runs in a worker; whatever fails is a row."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import replace as changed
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..canonical import readable
from ..collector import collector_paused
from ..errors import ContextGCError, TraceError, UnknownFormat
from ..importers import IMPORTERS, Grouping
from ..importers.files.collection import Collection
from ..importers.files.decode import decode
from ..load import load_traces, read_document
from ..policy import Policy
from ..replay.baselines import BASELINES
from ..replay.grid import Cell, cells
from ..replay.prices import prices_of
from ..replay.prompts import Method
from ..replay.sweep import Prepared, Sums, lived, prepare
from ..trace import Trace
from ..windows import window_of
from .parquet import parquet_row
from .source import Unit, opened

DONE, FAILED, NO_TRACE = "done", "failed", "no trace"
SHARES = ("recall", "sole_source", "rereads", "artifacts", "instructions", "extending", "quotes")
_NAMES = ("trace_id", "session_id", "instance_id", "id")  # columns that name a row's trace
_MODELS = ("model", "model_name", "model_id")

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be swept with: the same for every unit of a fleet."""

    grid: Mapping[str, Any]
    policy: Policy | None = None
    model: str = ""  #: whose prices and tokens count; "": each trace's own
    max_tokens: int | None = None  #: the window; None: of each trace's model
    prices: Mapping[str, Mapping[str, Any]] | None = None  #: overrides

    def cells(self, window: int) -> list[Cell | Method]:
        """Baselines first, then the grid, in the same order for every window. Raises InvalidPolicy."""
        return [*BASELINES, *cells(self.grid, self.policy, None if "max_tokens" in self.grid else window)]

    def prepared(self, trace: Trace) -> Prepared:
        """A trace ready to be replayed. Raises TraceError and InvalidPolicy as `prepare` does."""
        told = changed(trace, model=self.model) if self.model else trace
        return prepare(told, prices_of(told.model, self.prices))

    def window(self, model: str) -> int:
        """The context window, in tokens. Raises InvalidPolicy for a model that is not known."""
        return self.max_tokens or window_of(self.model or model)


def swept(units: Sequence[Unit], order: Order) -> list[Row]:
    """The rows of a batch: one for each trace and cell; for what could not be swept one with its error."""
    return [row for unit in units for row in _of_unit(unit, order)]


def failed(unit: Unit, error: BaseException, number: int = 0, trace: Trace | None = None) -> Row:
    """The row of a trace, or of a whole unit, that could not be swept."""
    told = str(error) if isinstance(error, ContextGCError) else f"{type(error).__name__}: {error}"
    state = NO_TRACE if isinstance(error, UnknownFormat) and unit.row is None else FAILED
    return {**_about(unit, number, trace), "state": state, "error": " ".join(told.split())[:1_000] or "it failed"}


def _of_unit(unit: Unit, order: Order) -> Iterator[Row]:
    try:
        with collector_paused():
            traces = list(traces_of(unit))
    except Exception as error:  # one bad trace never ends a fleet, whatever is wrong with it
        yield failed(unit, error)
        return
    for number, trace in enumerate(traces, 1):
        try:
            rows = list(_of_trace(unit, number, trace, order))
        except Exception as error:  # nor does a fault of ours
            rows = [failed(unit, error, number, trace)]
        yield from rows


def _of_trace(unit: Unit, number: int, trace: Trace, order: Order) -> Iterator[Row]:
    window = order.window(trace.model)
    prepared = order.prepared(trace)
    about = {**_about(unit, number, trace), "state": DONE, "window": window, "model": order.model or trace.model}
    for at, cell in enumerate(order.cells(window)):
        values = cell.values if isinstance(cell, Cell) else {}
        name = (cell.method if isinstance(cell, Cell) else cell).name
        yield {**about, "cell": at, "method": name, "grid": readable(dict(values)), **columns(lived(prepared, cell))}


def columns(sums: Sums) -> Row:
    """What a trace came to under a cell, in numbers that add up."""
    told = sums.measures
    found: Row = {name: getattr(sums, name) for name in SUMMED if hasattr(sums, name)}
    found["peak"] = sums.peak
    for name in SHARES:
        share = getattr(told, name)
        found[f"{name}_kept"], found[f"{name}_of"] = share.kept, share.of
    found["faults"] = told.faults.total()
    for name in ("recovered", "recovered_tokens", "prompt_tokens", "stale_tokens", "stub_tokens", "common"):
        found[name] = getattr(told, name)
    return found


MONEY = ("prompts", "floor", "total", "full_prompts", "full_floor", "full_total")
COUNTS = (
    "calls", "passes", "paid", *(f"{name}_{part}" for name in SHARES for part in ("kept", "of")),
    "recovered", "recovered_tokens", "faults", "prompt_tokens", "stale_tokens", "stub_tokens",
)  # fmt: skip
SUMMED = (*MONEY, "common", *COUNTS)  #: columns whose sum over traces means something


def _about(unit: Unit, number: int, trace: Trace | None) -> Row:
    about: Row = {"unit": unit.key, "source": unit.source, "row": unit.row, "size": unit.size, "trace": number}
    if trace is not None:
        about |= {"format": trace.format, "model": trace.model, "events": len(trace.events)}
        about |= {"title": trace.title[:200], "problems": len(trace.problems)}
    return about


# reading a unit


def traces_of(unit: Unit) -> Iterator[Trace]:
    """The traces of a unit.

    Raises:
        ContextGCError: there is none that can be read.
    """
    if unit.kind in ("line", "row"):
        yield from _of_row(unit)
    elif unit.kind == "file":
        yield from load_traces(os.path.join(unit.root, *unit.files), unit.source)
    elif unit.kind == "member":
        yield from load_traces(_members(unit).data(unit.files[0]), unit.source)
    else:
        importer = next(each for each in IMPORTERS if each.name == unit.format)
        if isinstance(importer, Grouping):
            yield from importer.read_group([_document(unit, each) for each in unit.files])


def _document(unit: Unit, path: str) -> Any:
    if unit.kind == "members":
        return _members(unit).document(path)
    try:
        return decode(Path(unit.root, path).read_bytes(), path)
    except OSError as error:
        raise TraceError(path, f"the file cannot be read: {error.strerror}", "check the path") from error


def _members(unit: Unit) -> Collection:
    known = _archive(unit.root, unit.size)
    return Collection(known.name, known.files, [], known.most)


@lru_cache(maxsize=1)
def _archive(path: str, size: int) -> Collection:
    return opened(path, size)


def _of_row(unit: Unit) -> list[Trace]:
    """A row as a trace: the whole of it where a format claims that, else what stands in its column."""
    path = os.path.join(unit.root, *unit.files)
    row = parquet_row(path, unit.start, unit.row or 0, unit.size) if unit.kind == "row" else _line(path, unit)
    value = row.get(unit.column)
    if value is None:
        raise TraceError(unit.key, f"there is nothing in the column {unit.column!r}", "leave the row out")
    for shape in _shapes(row, value, unit.column):
        try:
            traces = read_document(decode(shape, unit.key))
        except UnknownFormat as error:
            fault = error
            continue
        named = next((str(row[name]) for name in _NAMES if type(row.get(name)) in (str, int)), "")
        model = next((row[name] for name in _MODELS if type(row.get(name)) is str), "")
        return [changed(each, title=named or each.title, model=each.model or model) for each in traces]
    raise TraceError(unit.key, f"the column {unit.column!r} holds no trace: {fault.what}", fault.todo)


def _shapes(row: Row, value: Any, column: str) -> Iterator[bytes]:
    """What a row may be read as."""
    text = value if isinstance(value, str) else None
    try:
        inner = json.loads(text) if text is not None else value
    except (ValueError, RecursionError):
        inner = None
    if inner is not None:
        yield _bytes({**row, column: inner})
    yield text.encode("utf-8", "replace") if text is not None else _bytes(value)
    if isinstance(inner, list):
        yield _bytes({"messages": inner})


def _bytes(value: Any) -> bytes:
    return json.dumps(value, default=str).encode()


def _line(path: str, unit: Unit) -> Row:
    try:
        with open(path, "rb") as file:
            file.seek(unit.start)
            data = file.read(unit.size)
    except OSError as error:
        raise TraceError(unit.key, f"the file cannot be read: {error.strerror}", "check the path") from error
    try:
        value = json.loads(data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace"))
    except (ValueError, RecursionError) as error:
        raise TraceError(unit.key, f"the row is not JSON: {error}", "get the whole file") from error
    if type(value) is not dict:
        raise TraceError(unit.key, "the row is no JSON object", "write one object a line")
    return value
