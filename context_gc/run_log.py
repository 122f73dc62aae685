"""RunLog: what a bus carried during a run, one JSON object a line in its folder."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any

from .canonical import readable
from .context_bus import ContextBus
from .errors import SessionError

NAME = "bus.jsonl"


class RunLog:
    """Writes every event of a bus into `<run folder>/bus.jsonl` as it comes, until closed.

    A line is `{"at": time in ISO 8601 UTC, "event_type": …, "data": …}`. What is no JSON in a payload is
    written as its text. Raises SessionError when the file cannot be written.
    """

    def __init__(self, bus: ContextBus, folder: str | os.PathLike[str]) -> None:
        self.path = Path(folder) / NAME
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._file = os.fdopen(os.open(self.path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600), "ab")
        except OSError as error:
            raise SessionError(str(self.path), f"cannot be written: {error.strerror}", "check the folder") from error
        if _ends_within_a_line(self.path):  # a process was killed there
            self._file.write(b"\n")
        self._bus, self._lock = bus, Lock()
        bus.subscribe("*", self._write)

    def _write(self, data: dict[str, Any]) -> None:
        data = dict(data)
        told = {"at": datetime.now(UTC).isoformat(timespec="milliseconds"), "event_type": data.pop("event_type", "")}
        with self._lock:
            if not self._file.closed:
                self._file.write((_text(told | {"data": data}) + "\n").encode())
                self._file.flush()

    def close(self) -> None:
        """Stop writing."""
        self._bus.unsubscribe("*", self._write)
        with self._lock:
            self._file.close()

    def __enter__(self) -> RunLog:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def read_log(folder: str | os.PathLike[str]) -> Iterator[dict[str, Any]]:
    """The lines of a run's log, in order; one that is damaged is given as `{"event_type": "", "data": {}}` with
    its `problem`. No log: nothing. Raises SessionError when it cannot be read."""
    path = Path(folder) / NAME
    if not path.is_file():
        return
    try:
        with open(path, "rb") as file:
            for number, text in enumerate(file, start=1):
                yield read_line(text, number)
    except OSError as error:
        raise SessionError(str(path), f"cannot be read: {error.strerror}", "check the folder") from error


def read_line(text: bytes, number: int) -> dict[str, Any]:
    """One line of a log, as `read_log` gives it; `number` is what a `problem` calls it."""
    try:
        told = json.loads(text)
        if not isinstance(told, dict) or not isinstance(told.get("data"), dict):
            raise ValueError("no object with data")
    except (ValueError, RecursionError) as error:
        return {"event_type": "", "data": {}, "problem": f"line {number}: {error}"}
    return told


def _ends_within_a_line(path: Path) -> bool:
    with open(path, "rb") as file:
        return file.seek(0, os.SEEK_END) > 0 and file.seek(-1, os.SEEK_END) >= 0 and file.read(1) != b"\n"


def _text(value: Any) -> str:
    try:
        return readable(value, ascii_only=True)
    except TypeError:
        return json.dumps(value, default=str)
