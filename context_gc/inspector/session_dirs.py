"""Session directories: the run directories below the folder that is open, and the one guard of every path in them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from ..errors import SessionError
from ..session import SESSION

DEPTH = 5  #: folders below the one that is open
LISTED = 200  #: run directories
LOOKED = 20_000  #: entries of folders that are looked at


@dataclass(frozen=True, slots=True)
class Listing:
    """What is below a folder."""

    root: Path  #: with every link in it followed
    directories: dict[str, Path]  #: path below the root ("." for itself) -> run directory, the newest first
    whole: bool  #: whether all was looked at, as deep as DEPTH

    def directory(self, key: str) -> Path:
        """The run directory with a key. Raises SessionError for any other text, whatever it leads to."""
        if key not in self.directories:
            raise SessionError(key, "this run directory is not in the folder that is open", "choose one below")
        return self.directories[key]


def listing(root: Path) -> Listing:
    """The folders at and below `root` that hold a session file. Links to folders are not followed, and folders
    whose name begins with a dot are left out, as is what lies in a run directory."""
    root = root.resolve()
    found: list[tuple[int, str]] = []
    todo, looked, whole = [(root, 0)], 0, True
    while todo:
        folder, depth = todo.pop()
        entries = {entry.name: entry for entry in islice(_entries(folder), LOOKED)}
        looked += len(entries)
        if SESSION in entries:
            found.append((-_changed(entries[SESSION]), folder.relative_to(root).as_posix()))
        elif depth < DEPTH:
            inner = [name for name in sorted(entries, reverse=True) if _is_folder(entries[name])]
            todo += [(folder / name, depth + 1) for name in inner]
        if todo and (looked >= LOOKED or len(found) >= LISTED):
            whole = False
            break
    return Listing(root, {key: root / key for _, key in sorted(found)}, whole)


def own_file(directory: Path, *names: str) -> Path:
    """A file of a run directory by the names that lead to it, every link in which must stay inside.

    Raises:
        SessionError: a link leads out, there is no such file, or it is no regular one.
    """
    path, shown = directory.joinpath(*names), "/".join(names)
    if not is_inside(path, directory):
        raise SessionError(shown, "a link leads out of the run directory", "it is not followed")
    if not path.is_file():
        fault = "it is no regular file" if path.exists() else "there is no such file"
        raise SessionError(shown, fault, "ContextGC.save writes it")
    return path


def is_inside(path: Path, directory: Path) -> bool:
    """Whether a path, with every link in it followed, stays in a directory whose own links are followed."""
    try:
        return path.resolve().is_relative_to(directory.resolve())
    except (OSError, RuntimeError):  # a ring of links
        return False


def stamp(directory: Path, *names: str) -> tuple[int, int]:
    """When a file was changed and its size: stands for its contents. (0, 0) when there is none."""
    try:
        told = directory.joinpath(*names).stat()
        return told.st_mtime_ns, told.st_size
    except OSError:
        return 0, 0


def _entries(folder: Path) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            yield from entries
    except OSError:  # gone meanwhile, or not ours to read
        return


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _changed(entry: os.DirEntry[str]) -> int:
    try:
        return entry.stat(follow_symlinks=False).st_mtime_ns
    except OSError:
        return 0
