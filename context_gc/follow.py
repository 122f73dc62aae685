"""Follow: read a trace that is still being written, each time as far as it is whole."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from .canonical import canonical
from .collector import collector_paused
from .errors import TraceError
from .events import Event
from .importers import IMPORTERS
from .importers.files.decode import BINARY, GZIP, decode
from .importers.files.document import HEAD
from .importers.files.growing import Lines, is_one_value, is_whole, whole_part
from .load import named, read_document
from .trace import Trace

GLANCE = 4 << 10  #: bytes before the new ones, and of the file's start, that must be what they were
RACY = 100_000_000  #: nanoseconds: a file changed so shortly before it was read may change again unseen
PATIENCE = 5.0  #: seconds that a half written file is waited for before it is read as it is
LOOK = 5.0  #: seconds between looks for a newer trace in a folder
SUFFIXES = (".jsonl", ".json", ".ndjson", ".md", ".log", ".txt", ".traj")  #: of files in a folder that may be traces
MOST, SNIFFED = 20_000, 20  #: files of a folder that are looked at, and that are opened to find a trace


@dataclass(frozen=True, slots=True)
class Change:
    """One trace beside what it was at the update before. `events[:kept]` are the very same objects."""

    kept: int  #: events that are as they were, from the first one on
    before: int  #: events that there were

    @property
    def is_append(self) -> bool:
        """Whether nothing that was there is different: then `events[kept:]` is all that is new."""
        return self.kept == self.before


@dataclass(frozen=True, slots=True)
class Update:
    """What a poll brought. Never changed afterwards."""

    traces: Sequence[Trace]  #: all of the file's, whole; at least one
    changes: Sequence[Change]  #: one for each trace
    anew: str  #: why the file was begun anew: "rewritten", "truncated", "replaced"; "" when it only grew
    data: bytes  #: what `traces` was read from


class Follower:
    """Follows one file: `poll` reads what was appended and gives the traces when they changed.

    A last line that is not whole is kept back. A file that was rewritten, truncated or replaced is begun anew;
    one that was replaced by a longer copy of itself only grew. A file of one JSON value is read again when it
    changes; while half of it is written the last whole state stands. In a folder the newest trace at the first
    poll is followed, and `newer` names one that appears later. Lines are parsed once; events are built again
    from them at each change. Blind spot: bytes changed in the middle while the file grows are not noticed.

    `told` says in one sentence what is waited for or wrong, "" when nothing is; `traces` is what stands.
    """

    def __init__(
        self, path: str | os.PathLike[str], format: str | None = None, name: str | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        """`name` is what messages and `Trace.source` call the file; `clock`: seconds, for what is waited for.

        Raises:
            UnknownFormat: there is no format of that name.
        """
        self.path, self._name = Path(path), name
        self.told = ""
        self.newer: Path | None = None
        self.traces: Sequence[Trace] = ()
        self._format, self._clock = format, clock
        if format:
            named(format, self.name)
        self._folder: Path | None = None
        self._looked = float("-inf")
        self._seen: tuple[int, int, int, int] | None = None  # device, inode, size, time of change
        self._is_racy = self._is_half = self._refused = False
        self._since = 0.0  # when the file last changed, by the clock
        self._anew = ""
        self._data = b""  # all that was read
        self._lines = Lines()

    @property
    def name(self) -> str:
        """What messages call the file."""
        return self._name or str(self.path)

    def poll(self) -> Update | None:
        """Look at the file: the traces when they changed, else None. Without new bytes it costs one stat.

        Raises:
            TraceError: it is of a kind that cannot be followed, such as a gzip file.
        """
        if not self._is_found():
            return None
        try:
            state = os.stat(self.path)
            now = state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns
            if now == self._seen and not self._is_racy:
                return self._waited()
            with open(self.path, "rb") as file:
                is_new = self._read(file, now)
        except OSError as error:
            gone = "the file is gone" if self.traces else "the file does not exist yet"
            absent = isinstance(error, FileNotFoundError)
            self.told = gone if absent else f"the file cannot be read: {(error.strerror or '').lower()}"
            self._seen = None
            return None
        self._is_racy = time.time_ns() - now[3] < RACY
        is_back, self._seen = self._seen is None, now
        if not is_new and not is_back:
            return self._waited()
        self._since = self._clock()
        return self._update()

    def _is_found(self) -> bool:
        """Whether there is a file to look at: in a folder the newest trace is looked for."""
        if self._folder is None and not self._data and self.path.is_dir():
            self._folder = self.path
        if self._folder is None or self._clock() - self._looked < LOOK:
            return self.path != self._folder
        self._looked = self._clock()
        found = newest(self._folder)
        if found is None:
            self.told = self.told or "no trace is in this folder so far"
            return self.path != self._folder
        if self.path == self._folder:
            self.path, self.told = found, ""
        self.newer = found if found != self.path else None
        return True

    def _read(self, file: BinaryIO, now: tuple[int, int, int, int]) -> bool:
        """Read what is new, and tell whether anything is; a file that is another one now is begun anew."""
        known, size = len(self._data), now[2]
        if self._seen is not None and now[:2] == self._seen[:2] and size > known > 0:
            start = max(0, known - GLANCE)
            is_same = file.read(min(GLANCE, known)) == self._data[:GLANCE]
            file.seek(start)
            if is_same and (tail := file.read()).startswith(self._data[start:]):
                self._data += tail[known - start :]
                return True
            file.seek(0)
        data = file.read()
        if not data.startswith(self._data[: self._lines.ended or known]):
            replaced = self._seen is None or now[:2] != self._seen[:2]
            self._anew = "replaced" if replaced else "truncated" if len(data) < known else "rewritten"
            self._lines = Lines()
        is_new, self._data = data != self._data, data
        return is_new

    def _update(self, as_it_is: bool = False) -> Update | None:
        """The traces as far as the file is whole, or of what is half written as well, where it is not."""
        data, told = self._data, self.told
        self.told, self._is_half = "", False
        self._refused = data.startswith((GZIP, *BINARY))
        if self._refused:
            return self._waited()
        if not data.strip():
            self.told = "the file is empty" if self.traces else "the file is empty so far"
            return None
        one = is_one_value(data)
        try:
            if one and not as_it_is and not is_whole(data):
                self.told, self._is_half = "the file is half written so far", True
                return None
            read = data if one else whole_part(data)
            if held := len(data) - len(read):
                self.told = f"the last line is not whole: {held:,} bytes are kept back"
            if not read.strip():
                return None
            with collector_paused():
                document = decode(read, self.name)
                traces = read_document(document if one else self._lines.grown(document, read), self._format)
        except TraceError as error:
            self.told = str(error)
            return None
        if as_it_is:
            self.told = told
        return self._settled(traces, read, one)

    def _settled(self, traces: list[Trace], read: bytes, one: bool) -> Update | None:
        old = self.traces
        known = [each.events for each in old] if one or not self._anew else []
        changes = []
        for place, trace in enumerate(traces):
            kept = _keep(trace, known[place], one) if place < len(known) else 0
            changes.append(Change(kept, len(old[place].events) if place < len(old) else 0))
        anew = self._anew if old and not any(change.kept for change in changes) else ""
        self._anew = ""
        if not anew and list(old) == traces:
            return None
        self.traces = tuple(traces)
        return Update(self.traces, tuple(changes), anew, read)

    def _waited(self) -> Update | None:
        """Nothing is new: what has been half written for long is read as it is, once."""
        if self._refused:
            raise TraceError(self.name, "a packed file cannot be followed", "unpack it, or open it as it is")
        waited = self._clock() - self._since
        if not self._is_half or waited < PATIENCE:
            return None
        self.told = f"the file ends in the middle and has not changed for {waited:.0f} s"
        return self._update(as_it_is=True)


def newest(folder: str | os.PathLike[str]) -> Path | None:
    """The trace below a folder that was changed last, by the first lines of files; hidden ones are left out."""
    found: list[tuple[int, str]] = []
    for path in _below(str(folder)):
        try:
            found.append((os.stat(path).st_mtime_ns, path))
        except OSError:
            continue
    for _, path in sorted(found, reverse=True)[:SNIFFED]:
        try:
            with open(path, "rb") as file:
                head = file.read(HEAD)
        except OSError:
            continue
        if any(importer.sniff(head) for importer in IMPORTERS):
            return Path(path)
    return None


def _below(folder: str) -> Iterator[str]:
    looked = 0
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            looked += 1
            if looked > MOST:
                return
            if name.lower().endswith(SUFFIXES) and not name.startswith("."):
                yield os.path.join(here, name)


def _keep(trace: Trace, known: list[Event], read_again: bool) -> int:
    """Put the events that there were in the place of those that are the same; gives how many."""
    kept = 0
    for one, other in zip(trace.events, known, strict=False):
        if one != other or (read_again and canonical(one) != canonical(other)):  # 1 == True
            break
        kept += 1
    trace.events[:kept] = known[:kept]
    return kept
