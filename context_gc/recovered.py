"""Recovered: a journal beside a receipt store of what an agent asked back, so that a client keeps it in the prompt.

A line is `{"at": time in ISO 8601 UTC, "run_id": …, "receipt_id": …}`. Lines that are none are passed over.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from .canonical import readable
from .errors import StoreError

NAME = "recovered.jsonl"

_MOST = 1_000_000  # bytes of a journal that are read at once


class Recovered:
    """What is in the journal of a folder about one run, as it grows."""

    def __init__(self, folder: str | os.PathLike[str], run_id: str) -> None:
        self._path, self._run_id, self._read = Path(folder) / NAME, run_id, 0

    def new(self) -> list[str]:
        """The receipt ids that were asked back since the last time, each once. No journal, or a broken one: none."""
        found: dict[str, None] = {}
        try:
            descriptor = os.open(self._path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
            with os.fdopen(descriptor, "rb") as file:
                if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                    return []
                file.seek(self._read)
                while lines := file.readlines(_MOST):
                    if not lines[-1].endswith(b"\n"):
                        lines.pop()  # it is being written
                        if not lines:
                            break
                    self._read += sum(map(len, lines))
                    found.update(dict.fromkeys(name for line in lines if (name := self._id_in(line))))
        except OSError:
            return list(found)
        return list(found)

    def _id_in(self, line: bytes) -> str:
        try:
            told = json.loads(line)
        except (ValueError, RecursionError):
            return ""
        if type(told) is not dict or told.get("run_id") != self._run_id:
            return ""
        name = told.get("receipt_id")
        return name if type(name) is str else ""


def note(folder: str | os.PathLike[str], run_id: str, receipt_ids: Iterable[str]) -> None:
    """Add to the journal of a folder that receipts were asked back. A link is not written through.

    Raises:
        StoreError: it cannot be written.
    """
    path = Path(folder) / NAME
    told = {"at": datetime.now(UTC).isoformat(timespec="milliseconds"), "run_id": run_id}
    lines = "".join(readable(told | {"receipt_id": name}, ascii_only=True) + "\n" for name in receipt_ids)
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        descriptor = os.open(path, flags, 0o600)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise StoreError(str(path), "this is no regular file", "remove it")
            os.write(descriptor, lines.encode())
        finally:
            os.close(descriptor)
    except OSError as error:
        raise StoreError(str(path), f"cannot be written: {error.strerror}", "check the folder") from error
