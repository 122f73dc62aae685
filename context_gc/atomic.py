"""Atomic files: a new version is there whole or not at all, and two processes can take turns."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

PREVIOUS = ".previous"  #: what is added to a file's name for the version before it


def write_atomically(path: str | os.PathLike[str], data: bytes, mode: int = 0o600, keep_previous: bool = False) -> None:
    """Give a file new contents: after a kill or a power loss at any moment it holds the old or the new ones.

    A symbolic link is replaced, never written through. With `keep_previous` the version before stays beside
    it as `<name>.previous`. Blind spot: a process that is killed may leave a file `.<name>….tmp` behind.

    Raises:
        OSError: it could not be written; the file is as it was, and no temporary file is left.
    """
    target = Path(path)
    with _temporary(target) as temporary:
        with open(temporary, "wb") as file:
            file.write(data)
            file.flush()
            os.chmod(temporary, mode)
            os.fsync(file.fileno())
        if keep_previous and target.is_file():
            _keep(target)
        os.replace(temporary, target)
    sync_folder(target.parent)


def sync_folder(folder: str | os.PathLike[str]) -> None:
    """Make a new name in a folder last through a power loss, where the system can do that."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def locked(path: str | os.PathLike[str]) -> Iterator[None]:
    """Keep all others out who lock the same path, in this process and in others, until the block ends.

    The lock is on the file `<name>.lock` beside it, which stays; a process that is killed lets it go.
    Waits as long as it takes. Not reentrant: a second `locked` of the same path inside the block never returns.

    Raises:
        OSError: the lock file cannot be made.
    """
    target = Path(path)
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(target.with_name(target.name + ".lock"), flags, 0o600)
    try:
        _lock(descriptor)
        yield
    finally:
        os.close(descriptor)


if sys.platform == "win32":

    def _lock(descriptor: int) -> None:
        while True:
            with contextlib.suppress(OSError):  # it gives up after ten seconds
                msvcrt.locking(descriptor, msvcrt.LK_LOCK, 1)
                return

else:

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX)


@contextmanager
def _temporary(target: Path) -> Iterator[str]:
    """The name of a new empty file beside the target; at the end it is removed unless it was renamed."""
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name[:50]}.", suffix=".tmp", dir=target.parent)
    os.close(descriptor)
    try:
        yield name
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)


def _keep(target: Path) -> None:
    """Give the present version a second name, so that there is no moment without one."""
    with _temporary(target) as temporary:
        os.unlink(temporary)
        try:
            os.link(target, temporary)
        except OSError:  # a file system without hard links
            shutil.copy2(target, temporary)
        os.replace(temporary, target.with_name(target.name + PREVIOUS))
