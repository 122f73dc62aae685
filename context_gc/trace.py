"""Traces: what a file gave. `context_gc.load` reads them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .events import Event


@dataclass(frozen=True, slots=True)
class Problem:
    """Something in a file that could not be read as it stood; what was good around it was kept."""

    line: int | None  #: line number in the file, from 1; None when it concerns the whole file
    text: str  #: what is wrong (what was done about it)
    records: int = 1  #: how many records it keeps out; 0 where it concerns the file, or a part of a record that is read


@dataclass(frozen=True, slots=True)
class Window:
    """The events between two compaction boundaries of the recorded agent: events[start:stop]."""

    start: int
    stop: int
    opened_by: str = "start"  #: "start", or what made the boundary: "auto", "manual", "rewind", "unknown"
    tokens_before: int | None = None  #: tokens the provider reported just before this boundary


@dataclass(frozen=True, slots=True)
class Usage:
    """What the provider reported for one model call (all in tokens). `event_id` is the call's last event."""

    event_id: str
    input_tokens: int  #: prompt tokens that were neither read from nor written to the cache
    output_tokens: int
    cache_read: int = 0
    cache_write: int = 0


@dataclass(slots=True)
class Trace:
    """An ordered list of events and where they came from. `events` are valid and in trace order."""

    events: list[Event]
    format: str
    source: str = ""  #: the file's name, for people; never opened again
    problems: list[Problem] = field(default_factory=list)
    windows: list[Window] = field(default_factory=list)  #: at least one, also for an empty trace
    usage: list[Usage] = field(default_factory=list)
    title: str = ""  #: a session id, or what the format calls the run
    model: str = ""
    cwd: str = ""
    records_read: int = 0  #: how many records the events come from
    ignored: dict[str, int] = field(default_factory=dict)  #: kind of record -> how many were left out on purpose
    extra: dict[str, Any] = field(default_factory=dict)
