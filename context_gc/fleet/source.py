"""Source: a folder, an archive, a file or a data set of traces as units of work, each found again by its key."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..errors import ContextGCError, TraceError
from ..importers import IMPORTERS, Grouping
from ..importers.files.collection import Collection, archive, folder, printable
from ..importers.files.decode import EMPTY_ZIP, LARGEST, ZIP
from ..importers.files.document import HEAD
from .parquet import parquet_rows

#: where the trace stands in a row of a data set, unless the user names it; the first that is there
COLUMNS = ("trace", "trajectory", "traj", "messages", "conversation", "conversations", "events", "history")
PARQUET = b"PAR1"
LONGEST_ROW = 256 << 20  #: bytes of one line of JSON
GLANCE = 20  #: rows that tell a data set from a log whose rows repeat each other

#: formats of which each row is a trace of its own, so that rows may be read apart
_BY_ROW = frozenset(
    "native openai-chat openai-responses anthropic-messages tau-bench openhands openhands-v1 swe-agent"
    " mini-swe-agent".split()
)


@dataclass(frozen=True, slots=True)
class Unit:
    """What is read at once: a file, files that belong together, a member of an archive, or a row of a data set."""

    root: str  #: the file or folder to open
    files: tuple[str, ...] = ()  #: in that folder or archive, relative
    kind: str = "file"  #: "file", "group", "member", "members", "line" or "row"
    row: int | None = None  #: of the data set, from 1
    start: int = 0  #: of a line its first byte; of a row its row group
    size: int = 0  #: bytes that it is read from; a change of it is a change of the source
    column: str = ""  #: of a row or line
    format: str = ""  #: of a group, its importer

    @property
    def source(self) -> str:
        """What messages call it, without the row: relative to what was named."""
        return " + ".join(self.files) or os.path.basename(self.root)

    @property
    def key(self) -> str:
        """What sets it apart from all others of its source."""
        return self.source if self.row is None else f"{self.source}#{self.row}"


@dataclass(slots=True)
class Source:
    """All units, in order, and what was left out."""

    name: str
    units: list[Unit]
    problems: list[str] = field(default_factory=list)
    column: str = ""  #: that was asked for


def find(path: str, column: str = "") -> Source:
    """The units of a folder, a zip archive, a Parquet or JSONL data set, or any file of traces.

    `column`: which column of a data set holds the trace; default the first of `COLUMNS`.

    Raises:
        TraceError: nothing is there to be swept, or no column holds a trace; it says which there are.
    """
    name = printable(path)
    if os.path.isdir(path):
        found = _in_folder(path, column)
    else:
        try:
            with open(path, "rb") as file:
                head, size = file.read(4), os.fstat(file.fileno()).st_size
        except OSError as error:
            what = f"it cannot be read: {(error.strerror or str(error)).lower()}"
            raise TraceError(name, what, "check the path") from error
        if head in (ZIP, EMPTY_ZIP):
            found = _in_archive(path, size)
        else:
            found = Source(name, list(_in_file(os.path.abspath(path), (), column, head, size)))
    found.column = column
    if not found.units:
        told = "; ".join(found.problems[:3]) or "it is empty"
        raise TraceError(name, f"there is no trace in it: {told}", "name a folder, an archive or a data set of traces")
    return found


def _in_folder(path: str, column: str) -> Source:
    collection = folder(path)
    found = Source(collection.name, [], [problem.text for problem in collection.problems])
    root = os.path.abspath(path)
    left = list(collection.files)
    for unit in _groups(left, root, "group"):
        try:
            size = sum(os.path.getsize(os.path.join(root, each)) for each in unit.files)
        except OSError as error:
            found.problems.append(f"{unit.source}: {error.strerror} (left out)")
        else:
            found.units.append(replace(unit, size=size))
    for each in left:
        try:
            with open(os.path.join(root, each), "rb") as file:
                head, size = file.read(4), os.fstat(file.fileno()).st_size
            found.units += _in_file(root, (each,), column, head, size)
        except (OSError, ContextGCError) as error:
            found.problems.append(f"{error} (left out)")
    return found


def _in_archive(path: str, size: int) -> Source:
    collection = opened(path, size)
    found = Source(collection.name, [], [problem.text for problem in collection.problems])
    root, left = os.path.abspath(path), list(collection.files)
    found.units += (replace(unit, size=size) for unit in _groups(left, root, "members"))
    found.units += (Unit(root, (each,), "member", size=size) for each in left)
    return found


def opened(path: str, size: int) -> Collection:
    """A zip archive. Raises TraceError when it cannot be read."""
    if size > LARGEST:
        raise TraceError(printable(path), f"the archive is larger than {LARGEST:,} bytes", "unpack it")
    try:
        return archive(Path(path).read_bytes(), os.path.basename(printable(path)))
    except OSError as error:
        raise TraceError(printable(path), f"it cannot be read: {error.strerror}", "check the path") from error


def _groups(left: list[str], root: str, kind: str) -> Iterator[Unit]:
    """Files that belong together; they are taken out of `left`."""
    for importer in IMPORTERS:
        if isinstance(importer, Grouping):
            for group in importer.groups(left):
                taken = set(group)
                left[:] = [path for path in left if path not in taken]
                yield Unit(root, tuple(group), kind, format=importer.name)


def _in_file(root: str, files: tuple[str, ...], column: str, head: bytes, size: int) -> Iterator[Unit]:
    path = os.path.join(root, *files)
    if head == PARQUET:
        for group, rows, chosen in parquet_rows(path, column, COLUMNS):
            for row in rows:
                yield Unit(root, files, "row", row, group, size, chosen)
        return
    chosen = _column_of_lines(path, column) if head[:1] in (b"{", b"\xef") else ""
    if not chosen:
        yield Unit(root, files, size=size)
        return
    start = 0
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                yield Unit(root, files, "line", number, start, len(line), chosen)
            start += len(line)


def _column_of_lines(path: str, column: str) -> str:
    """The column that makes a data set of a JSONL file; "" for a file that is one trace, or a log of requests."""
    with open(path, "rb") as file:
        line = file.readline(LONGEST_ROW)
        if not column and not file.peek(1):
            return ""
        first = _row(line)
        if first is None:
            return ""
        chosen = next((name for name in ((column,) if column else COLUMNS) if name in first), "")
        if column and not chosen:
            what = f"there is no column {column!r} in its first row"
            raise TraceError(printable(path), what, f"it has: {', '.join(list(first)[:20])}")
        if column or not chosen:
            return chosen
        values = [first[chosen]]
        while len(values) < GLANCE and (line := file.readline(LONGEST_ROW)):
            values.append((_row(line) or {}).get(chosen))
        file.seek(0)
        head = file.read(HEAD)
    claims = {each.name for each in IMPORTERS if each.sniff(head)}
    return "" if claims - _BY_ROW or _repeats(values) else chosen


def _row(line: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line.removeprefix(b"\xef\xbb\xbf"))
    except (ValueError, RecursionError):
        return None
    return value if type(value) is dict else None


def _repeats(values: Sequence[Any]) -> bool:
    """Whether a row continues one before it, as the requests of one conversation do."""
    lists = [value for value in values if type(value) is list and value]
    return any(
        len(later) > len(earlier) and later[: len(earlier)] == earlier
        for at, later in enumerate(lists)
        for earlier in lists[:at]
    )
