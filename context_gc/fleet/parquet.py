"""Parquet as a source: which rows a file has, and a row as JSON values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from ..errors import ContextGCError, TraceError
from ..importers.files.collection import printable


def needs(package: str) -> ContextGCError:
    """What to say when a package of the extra is missing."""
    return ContextGCError("fleet", f"{package} is not installed", "pip install 'context-gc[fleet]'")


def parquet_rows(path: str, column: str, columns: Sequence[str]) -> Iterator[tuple[int, range, str]]:
    """For each row group its number, its rows from 1 and the column that holds the trace.

    Raises:
        TraceError: it is no Parquet file, or it has no such column.
    """
    file = _file(path)
    names = file.schema_arrow.names
    chosen = next((name for name in ((column,) if column else columns) if name in names), "")
    if not chosen:
        told = f"there is no column {column!r}" if column else "no column is known to hold a trace"
        raise TraceError(printable(path), told, f"name one with --column; it has: {', '.join(names[:20])}")
    first = 1
    for group in range(file.num_row_groups):
        rows = file.metadata.row_group(group).num_rows
        yield group, range(first, first + rows), chosen
        first += rows


def parquet_row(path: str, group: int, row: int, size: int) -> dict[str, Any]:
    """A row, from 1 over a file of so many bytes; what is null in it is left out. Raises TraceError."""
    file = _file(path)
    before = sum(file.metadata.row_group(each).num_rows for each in range(group))
    table = _group(path, group, size)
    (found,) = table.slice(row - 1 - before, 1).to_pylist()
    told: dict[str, Any] = _told(found)
    return told


def _file(path: str) -> Any:
    try:
        import pyarrow
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise needs("pyarrow") from error
    try:
        return ParquetFile(path)
    except (pyarrow.ArrowException, OSError) as error:
        raise TraceError(printable(path), f"the Parquet file cannot be read: {error}", "get the whole file") from error


@lru_cache(maxsize=1)
def _group(path: str, group: int, size: int) -> Any:
    """Remembered, as the rows of a batch mostly stand in one; `size` tells a file from another of its name."""
    return _file(path).read_row_group(group)


def _told(value: Any) -> Any:
    """Without the nulls by which Arrow fills up structs that differ."""
    if isinstance(value, dict):
        return {key: _told(inner) for key, inner in value.items() if inner is not None}
    return [_told(each) for each in value] if isinstance(value, list) else value
