"""Model calls of a trace: what each prompt covered, what the model wrote to it, when, and what was reported."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..events import Event
from ..trace import Trace, Usage
from ..turns import is_written, turn_numbers


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One call of the model in a window. Places are indexes into the window's events."""

    number: int  #: from 1, over the whole trace
    start: int  #: the prompt covers events[:start]
    stop: int  #: behind the last event of its turn
    written: tuple[int, ...]  #: places of what the model wrote, the first of them `start`
    time: int  #: milliseconds of the first event that it wrote; 0 where the trace has no times
    usage: Usage | None  #: what the provider reported


@dataclass(frozen=True, slots=True)
class Stretch:
    """One context window of a trace as it can be replayed: its events, each with parents before it."""

    number: int  #: from 1
    events: tuple[Event, ...]
    calls: tuple[ModelCall, ...]


def stretches(trace: Trace) -> list[Stretch]:
    """The windows of a trace with their model calls, numbered through. What was never sent is left out."""
    found: list[Stretch] = []
    count = 0
    for number, window in enumerate(trace.windows, 1):
        events = in_order(event for event in trace.events[window.start : window.stop] if not event.get("unsent"))
        calls = model_calls(events, trace.usage, count)
        count += len(calls)
        found.append(Stretch(number, events, tuple(calls)))
    return found


def in_order(events: Iterable[Event]) -> tuple[Event, ...]:
    """Events as an agent added them: a parent that has not come yet, or stands outside, is none."""
    known: set[str] = set()
    ordered: list[Event] = []
    for event in events:
        parent = event.get("parent_id")
        ordered.append(event if parent is None or parent in known else {**event, "parent_id": None})
        known.add(event["id"])
    return tuple(ordered)


def model_calls(events: Sequence[Event], usage: Iterable[Usage] = (), before: int = 0) -> list[ModelCall]:
    """The calls in a stretch of events; `before`: how many there were earlier.

    Events that stand in a turn before anything was written belong to its prompt, as does what a compaction
    kept and a window repeats. A turn in which the model wrote nothing is no call.
    """
    reports = {report.event_id: report for report in usage}
    calls: list[ModelCall] = []
    turns = turn_numbers(events)
    start = 0
    for seq in range(1, len(events) + 1):
        if seq < len(events) and turns[seq] == turns[start]:
            continue
        places = range(start, seq)
        written = tuple(place for place in places if is_written(events[place]) and "repeats" not in events[place])
        if written:
            found = [reports[name] for place in places if (name := events[place]["id"]) in reports]
            time = events[written[0]]["timestamp"]
            calls.append(ModelCall(before + len(calls) + 1, written[0], seq, written, time, _sum(found)))
        start = seq
    return calls


def _sum(reports: Sequence[Usage]) -> Usage | None:
    """What was reported for one call; of several reports for one turn the last one's prompt and all the output."""
    if not reports:
        return None
    last = reports[-1]
    output = sum(report.output_tokens for report in reports)
    return Usage(last.event_id, last.input_tokens, output, last.cache_read, last.cache_write)
