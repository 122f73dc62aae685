"""Table: the results of a fleet as a folder: a manifest, Parquet files of rows, and at the end their totals.

fleet.json            what was swept with what; a second run must ask for the same
rows/part-*.parquet   one row for each trace and cell, each file there whole or not at all
totals.parquet        one row for each cell
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from ..atomic import locked, write_atomically
from ..canonical import readable
from ..errors import StoreError
from .parquet import needs
from .source import Unit
from .work import COUNTS, MONEY, NO_TRACE, SUMMED, Row

MANIFEST, ROWS, TOTALS = "fleet.json", "rows", "totals.parquet"
_PARTS = "part-*.parquet"
_TEXTS = ("unit", "source", "format", "model", "title", "state", "error", "method", "grid")
_WHOLE = ("row", "size", "trace", "events", "problems", "window", "cell", "peak", *COUNTS)


class Table:
    """The folder that a fleet writes to."""

    def __init__(self, path: str) -> None:
        self.path = Path(path)

    @contextmanager
    def begun(self, asked: Mapping[str, Any], force: bool = False) -> Iterator[None]:
        """Make the folder, or go on with it; a second run on it waits until the block ends.

        `force`: drop the sweep that is in it, and start anew.

        Raises:
            StoreError: it holds something else, or a sweep with other settings; these are named.
        """
        self._manifest()
        with ExitStack() as until:
            try:
                (self.path / ROWS).mkdir(parents=True, exist_ok=True)
                until.enter_context(locked(self.path / MANIFEST))
                self._begin(asked, force)
            except OSError as error:
                raise self._fault(f"it cannot be written: {error.strerror}", "name another folder") from error
            yield

    def _begin(self, asked: Mapping[str, Any], force: bool) -> None:
        found = self._manifest()
        if found is not None and force:
            for path in [*self._parts(), self.path / TOTALS]:
                path.unlink(missing_ok=True)
            found = None
        if found is None:
            write_atomically(self.path / MANIFEST, (json.dumps(asked, indent=1) + "\n").encode(), 0o644)
        elif found != asked:
            other = ", ".join(key for key in sorted({*found, *asked}) if found.get(key) != asked.get(key))
            what = f"it holds a sweep with another {other}"
            raise self._fault(what, "name another folder, or start anew with --force")

    def known(self) -> dict[str, int]:
        """The units that are there, each with the size it was read at. Raises StoreError."""
        seen: dict[str, tuple[int, str]] = {}
        for part, table in self._tables(["unit", "size"]):
            for each in table.group_by(["unit", "size"]).aggregate([]).to_pylist():
                if each["unit"] in seen:
                    what = f"{each['unit']} stands in {part} and in {seen[each['unit']][1]}"
                    raise self._fault(what, "delete one of them; what is lacking then is swept again")
                seen[each["unit"]] = each["size"], part
        return {unit: size for unit, (size, _) in seen.items()}

    def add(self, units: Sequence[Unit], rows: Sequence[Row]) -> None:
        """Keep the rows of some units, all of them or none. Raises StoreError."""
        pyarrow, _ = _arrow()
        name = fingerprint([unit.key for unit in units])
        rows = pyarrow.Table.from_pylist(list(rows), schema=_schema())
        self._write(self.path / ROWS / f"part-{name}.parquet", rows)

    def totals(self, methods: Sequence[tuple[str, str]]) -> list[Row]:
        """The sums over all traces, one for each cell in order, also kept as Parquet.

        `methods`: name and values of each cell. Raises StoreError.
        """
        pyarrow, _ = _arrow()
        table = self._read(["unit", "trace", "window", "cell", "peak", *SUMMED])
        table = table.filter(pyarrow.compute.is_valid(table["cell"]))
        table = table.sort_by([(name, "ascending") for name in ("cell", "unit", "trace")])  # so floats add up alike
        asked = [("unit", "count"), ("window", "min"), ("peak", "max"), *((name, "sum") for name in SUMMED)]
        summed = table.group_by("cell", use_threads=False).aggregate(asked).sort_by("cell")
        names = {"unit_count": "traces"} | {f"{name}_{how}": name for name, how in asked if name != "unit"}
        summed = summed.rename_columns([names.get(name, name) for name in summed.column_names])
        for at, name in enumerate(("method", "grid")):
            texts = [methods[cell][at] for cell in summed["cell"].to_pylist()]
            summed = summed.add_column(1 + at, name, pyarrow.array(texts, pyarrow.string()))
        self._write(self.path / TOTALS, summed)
        found: list[Row] = summed.to_pylist()
        return found

    def faults(self) -> tuple[list[tuple[str, str]], int]:
        """What could not be swept, as (unit, error) in order, and how many files were of no known format."""
        pyarrow, _ = _arrow()
        table = self._read(["unit", "state", "error"])
        bad = table.filter(pyarrow.compute.is_valid(table["error"])).to_pylist()
        told = sorted((each["unit"], each["error"]) for each in bad if each["state"] != NO_TRACE)
        return told, len(bad) - len(told)

    # inside

    def _manifest(self) -> Any:
        path = self.path / MANIFEST
        try:
            if path.is_file():
                return json.loads(path.read_text("utf-8"))
            if self.path.exists() and (not self.path.is_dir() or any(self._others())):
                what = "it holds something else" if self.path.is_dir() else "it is no folder"
                raise self._fault(what, "name a new folder")
        except (OSError, ValueError) as error:
            raise self._fault(f"its {MANIFEST} cannot be read: {error}", "name another folder") from error
        return None

    def _others(self) -> Iterator[Path]:
        return (each for each in self.path.iterdir() if each.name not in (f"{MANIFEST}.lock", ROWS))

    def _parts(self) -> list[Path]:
        return sorted((self.path / ROWS).glob(_PARTS))

    def _read(self, columns: Sequence[str]) -> Any:
        pyarrow, _ = _arrow()
        schema = _schema()
        empty = pyarrow.schema([schema.field(name) for name in columns]).empty_table()
        return pyarrow.concat_tables([empty, *(table for _, table in self._tables(columns))])

    def _tables(self, columns: Sequence[str]) -> Iterator[tuple[str, Any]]:
        pyarrow, parquet = _arrow()
        for path in self._parts():
            try:
                with parquet.ParquetFile(path) as file:
                    table = file.read(columns=list(columns)).select(list(columns))
            except (pyarrow.ArrowException, OSError) as error:
                what = f"{path.name} is damaged: {error}"
                raise self._fault(what, "delete it; what stood in it is swept again") from error
            yield path.name, table

    def _write(self, path: Path, table: Any) -> None:
        pyarrow, parquet = _arrow()
        sink = pyarrow.BufferOutputStream()
        parquet.write_table(table, sink)
        try:
            write_atomically(path, sink.getvalue().to_pybytes(), 0o644)
        except OSError as error:
            raise self._fault(f"it cannot be written: {error.strerror}", "make room; what is there stays") from error

    def _fault(self, what: str, todo: str) -> StoreError:
        return StoreError(str(self.path), what, todo)


def _schema() -> Any:
    pyarrow, _ = _arrow()
    kinds = {
        **dict.fromkeys(_TEXTS, pyarrow.string()),
        **dict.fromkeys(_WHOLE, pyarrow.int64()),
        **dict.fromkeys((*MONEY, "common"), pyarrow.float64()),
    }
    return pyarrow.schema(list(kinds.items()))


def _arrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.compute
        from pyarrow import parquet
    except ImportError as error:
        raise needs("pyarrow") from error
    return pyarrow, parquet


def fingerprint(value: Any) -> str:
    """Tells one grid, policy or table of prices from another."""
    return hashlib.sha256(readable(value).encode("utf-8", "replace")).hexdigest()[:16]
