"""Session log: the end of what a run's bus carried, and the contexts that compactions left; of bounded size."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..canonical import readable
from ..errors import SessionError
from ..run_log import NAME, read_line
from .detail import indented
from .diff_data import shown
from .rows import short
from .say import count

EVENTS = 500  #: newest events that are kept
COMPACTIONS = 50  #: newest compactions of a context that are kept
BYTES = 64_000_000  #: of the lines that are kept, for each of the two
BRIEF, CHARS = 150, 3_000  #: characters of a payload on one line, and opened

COMPACTED = "context.compacted"
_MARK = b'"context.compacted"'
_HEAD = 400  # bytes of a line in which its type stands


@dataclass(frozen=True, slots=True)
class LogEvent:
    """One line of the log; all of it is untrusted text that can be sent."""

    number: int  #: of its line, from 1
    at: str
    kind: str
    brief: str
    payload: str
    more: int  #: characters of the payload beyond CHARS
    problem: str  #: why the line cannot be read; "" when it can


@dataclass(frozen=True, slots=True)
class ContextChange:
    """One compaction of a context, as the bus told it. Its values may be anything."""

    number: int
    at: str
    before: dict[str, Any]
    after: dict[str, Any]
    told: dict[str, Any]  #: the rest of the payload


@dataclass(frozen=True, slots=True)
class Log:
    """The newest part of a log."""

    lines: int
    events: tuple[LogEvent, ...]
    compactions: int
    changes: tuple[ContextChange, ...]


def read(folder: Path) -> Log:
    """The log in a run's folder, oldest event first. Raises SessionError when it cannot be read."""
    events, changes = _Newest(EVENTS), _Newest(COMPACTIONS)
    number = compactions = 0
    try:
        with open(folder / NAME, "rb") as file:
            for number, line in enumerate(file, start=1):
                events.add(number, line)
                if _MARK in line[:_HEAD]:
                    compactions += 1
                    changes.add(number, line)
    except OSError as error:
        raise SessionError(NAME, f"it cannot be read: {error.strerror}", "check the folder") from error
    return Log(number, tuple(_events(events.kept, folder.name)), compactions, tuple(_changes(changes.kept)))


def moment(given: object) -> str:
    """A time of the log in UTC, to the millisecond; what is no time is shown as it is."""
    try:
        return datetime.fromisoformat(_text(given)).astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
    except (ValueError, OverflowError):
        return short(shown(_text(given)), 24)


class _Newest:
    """The newest lines, so many and of so many bytes; the very last is kept whatever its size."""

    def __init__(self, most: int) -> None:
        self.kept: deque[tuple[int, bytes]] = deque()
        self._most, self._size = most, 0

    def add(self, number: int, line: bytes) -> None:
        self.kept.append((number, line))
        self._size += len(line)
        while len(self.kept) > self._most or (self._size > BYTES and len(self.kept) > 1):
            self._size -= len(self.kept.popleft()[1])


def _events(lines: Iterable[tuple[int, bytes]], run_id: str) -> Iterable[LogEvent]:
    for number, line in lines:
        found = read_line(line, number)
        if problem := found.get("problem", ""):
            yield LogEvent(number, "", "", "", "", 0, shown(str(problem)))
            continue
        payload = indented(found["data"])
        brief = short(shown(_brief(found["data"], run_id)), BRIEF)
        kind = short(shown(_text(found.get("event_type"))), 60) or "(no type)"
        more = max(0, len(payload) - CHARS)
        yield LogEvent(number, moment(found.get("at")), kind, brief, shown(payload[:CHARS]), more, "")


def _changes(lines: Iterable[tuple[int, bytes]]) -> Iterable[ContextChange]:
    for number, line in lines:
        found = read_line(line, number)
        data = found["data"]
        before, after = data.get("before"), data.get("after")
        if found.get("event_type") == COMPACTED and type(before) is dict and type(after) is dict:
            rest = {key: value for key, value in data.items() if key not in ("before", "after")}
            yield ContextChange(number, moment(found.get("at")), before, after, rest)


def _brief(data: dict[str, Any], run_id: str) -> str:
    """A payload in a few words: what is short as it is, of the rest how much there is."""
    told: list[str] = []
    for key, value in data.items():
        if key == "run_id" and value == run_id:
            continue
        is_open = isinstance(value, dict | list)
        text = count(len(value), "key" if isinstance(value, dict) else "item") if is_open else _text(value)[:BRIEF]
        told.append(f"{key}: {text}")
        if len(told) == 20:
            break
    return ", ".join(told)


def _text(value: object) -> str:
    return value if isinstance(value, str) else readable(value)
