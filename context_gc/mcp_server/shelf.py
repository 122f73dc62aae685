"""Shelf: the runs and receipts in the directory that a server was started for, and nothing outside of it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ..compactor import ContextGC
from ..errors import ContextGCError, StoreError
from ..receipt_store import ReceiptStore
from ..recovered import note
from ..saved import RECEIPTS
from ..session import RUNS, SESSION, TRACE, Session

MOST = 500  #: run directories of a directory that are looked into, those written to last
LOADED = 12  #: runs that are loaded and kept so, and that are looked into for what no receipts file has

_STATE = "state.json"


@dataclass(frozen=True, slots=True)
class Run:
    """One run: what is saved of it, or only its receipts."""

    name: str  #: what people and agents call it: `folder/run_id`, without the folder where there is one only
    run_id: str
    folder: Path  #: the run directory, or the folder of the receipts file
    receipts: Path | None  #: the receipts file, if there is one


class Shelf:
    """A run directory, a receipts file, or a directory of run directories, looked at anew for every question.

    Nothing is written but the journal of what was recovered (see `recovered`). Links that lead out of it are not
    followed; in a directory of run directories only those directly in it count. Blind spot: a link that is put
    there between the check and the reading.

    Raises:
        StoreError: there is nothing of that kind at the path.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        given = Path(path)
        try:
            found = given.resolve(strict=True)
        except (OSError, ValueError, RuntimeError) as error:
            reason = (getattr(error, "strerror", None) or str(error)).lower()
            raise StoreError(str(given), f"it cannot be opened: {reason}", "name a run directory") from None
        self.name = str(given)  #: what messages call it
        self._file = found if found.is_file() else None
        self._root = found.parent if self._file else found
        if self._file is not None:
            ReceiptStore.open_read_only(self._file).close()
        elif not found.is_dir():
            raise StoreError(self.name, "this is neither a folder nor a regular file", "name a run directory")
        self._noted: set[tuple[Path, str, str]] = set()
        self._clients: dict[tuple[Path, str], tuple[object, ContextGC]] = {}

    def runs(self, wanted: str = "") -> list[Run]:
        """The runs, the newest first. `wanted`: of this name, this run id or this folder only; "" for all.

        Raises StoreError when there is no such run.
        """
        found = [run for run in self._runs() if wanted in ("", run.name, run.run_id, run.name.partition("/")[0])]
        if wanted and not found:
            raise StoreError(f"run {wanted!r}", "there is no run of this name", "context_report names them")
        return found

    def client(self, run: Run) -> ContextGC | None:
        """The client of a run as it was saved last; None where only receipts are there, or what is there is damaged."""
        folder, key = run.folder / RUNS / run.run_id, (run.folder, run.run_id)
        parts = (run.folder / SESSION, folder / _STATE, folder / TRACE)
        if self._file is not None or not all(part.is_file() and self._is_inside(part) for part in parts):
            return None
        known = self._clients.pop(key, None)
        try:
            stamp = tuple((facts.st_mtime_ns, facts.st_size) for facts in map(os.stat, parts[1:]))
            if known is None or known[0] != stamp:
                known = stamp, ContextGC.load(run.folder, run.run_id)
                known[1].look()  # before that it knows no receipts
        except (ContextGCError, OSError):  # it is being written: what was there before still holds
            if known is None:
                return None
        self._clients[key] = known
        while len(self._clients) > LOADED:
            del self._clients[next(iter(self._clients))]
        return known[1]

    def store(self, run: Run) -> ReceiptStore | None:
        """The receipts file of a run, opened for reading; None when there is none."""
        return None if run.receipts is None else ReceiptStore.open_read_only(run.receipts)

    def note(self, run: Run, receipt_ids: Iterable[str]) -> None:
        """Note that receipts of a run were asked back. Raises StoreError when it cannot be written."""
        keys = {(run.folder, run.run_id, name): name for name in receipt_ids}
        new = {key: name for key, name in keys.items() if key not in self._noted}
        if new:
            note(run.folder, run.run_id, new.values())
            self._noted.update(new)

    def _runs(self) -> Iterator[Run]:
        if self._file is not None:
            yield from self._of_store(self._file, self._root, "")
            return
        for folder in self._folders():
            prefix = "" if folder == self._root else f"{folder.name}/"
            receipts: Path | None = folder / RECEIPTS
            if not (folder / RECEIPTS).is_file() or not self._is_inside(folder / RECEIPTS):
                receipts = None
            told = dict.fromkeys(reversed(self._listed(folder)))
            stored = {} if receipts is None else {run.run_id: run for run in self._of_store(receipts, folder, prefix)}
            for run_id in [*told, *(name for name in stored if name not in told)]:
                yield Run(prefix + run_id, run_id, folder, receipts)

    def _folders(self) -> list[Path]:
        """The run directories, those written to last first."""
        if _is_run_directory(self._root):
            return [self._root]
        found: list[tuple[int, Path]] = []
        with os.scandir(self._root) as entries:
            for entry in entries:
                folder = Path(entry.path)
                if entry.is_dir(follow_symlinks=False) and entry.name.isprintable() and _is_run_directory(folder):
                    found.append((_written(folder), folder))
        return [folder for _, folder in sorted(found, reverse=True)[:MOST]]

    def _listed(self, folder: Path) -> list[str]:
        if not (folder / SESSION).is_file() or not self._is_inside(folder / SESSION):
            return []
        try:
            return Session.load(folder).run_ids
        except ContextGCError:
            return []

    def _of_store(self, file: Path, folder: Path, prefix: str) -> Iterator[Run]:
        try:
            with ReceiptStore.open_read_only(file) as store:
                names = store.run_ids()
        except StoreError:
            if self._file is not None:
                raise
            return
        for run_id in reversed(names):
            yield Run(prefix + run_id, run_id, folder, file)

    def _is_inside(self, path: Path) -> bool:
        try:
            return path.resolve().is_relative_to(self._root)
        except (OSError, RuntimeError):  # a ring of links
            return False


def _is_run_directory(folder: Path) -> bool:
    return (folder / RECEIPTS).is_file() or (folder / SESSION).is_file()


def _written(folder: Path) -> int:
    times = [0]
    for name in (RECEIPTS, SESSION, RECEIPTS + "-wal"):
        try:
            times.append(os.stat(folder / name).st_mtime_ns)
        except OSError:
            continue
    return max(times)
