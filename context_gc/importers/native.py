"""The native format: events of the documented schema as JSONL, as an array, or as {"events": [...]}.

In JSONL a line `{"trace": {"version": 1, …}}` begins a trace: it holds what one has beside its events, as
`context_gc.exporters.native` writes it. Without such a line the file is one trace. Records are events and such lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ..errors import InvalidEvent, TraceError
from ..events import FIELDS, Event, validate_event
from ..trace import Problem, Trace, Usage, Window
from .files.document import BLANK, Document, kind_of, objects, parse_at
from .files.fields import count, items, mapping
from .files.json_roots import first_objects

name = "native"

MOST_FAULTS = 1_000  #: of one list that are told; to find out where each stands takes time

_OPEN = re.compile(r"\{\s*")
_LIST = re.compile(r"\s*:\s*\[")
_VALUE = re.compile(r"\s*:\s*")
_NEXT = re.compile(r"\s*,\s*")
_RESUME = re.compile(r"\n[ \t]*(?=\{)|\}[ \t]*,[ \t]*(?=\{)")


def sniff(head: bytes) -> bool:
    """Whether one of the first objects looks like an event, or the file is {"events": [...]} without any."""
    text = head.decode("utf-8", "replace").lstrip(BLANK)
    wrapped = _wrapped(text, 0)
    if wrapped:
        found = [value for _, value, _ in _elements(text, wrapped, 5)]
        return any(map(_looks_like_event, found)) or "".join(text[wrapped:].split()) == "]}"
    shown = (*objects(text, 50), *first_objects(head)[:1])  # the latter of a cut line
    if any(_looks_like_event(each) or is_heading(each) for each in shown):
        return True
    return any(_looks_like_event(value) for _, value, _ in _elements(text, int(text.startswith("[")), 5))


def is_heading(value: Any) -> bool:
    """Whether an object is the line that begins a trace."""
    inner = value.get("trace") if type(value) is dict and len(value) == 1 else None
    return type(inner) is dict and type(inner.get("version")) is int


def read(document: Document) -> list[Trace]:
    """The file's traces. Events that break the schema or repeat an id of their trace are skipped and reported.

    A missing parent is kept as it is. Blind spot: an array of damaged one-line JSON is taken up again
    at the next object, which may be an inner one; it is then reported and skipped as no event.

    Raises:
        TraceError: not one event is whole.
    """
    first = Trace([], name, document.name)
    traces = [first]
    headings: list[tuple[int, dict[str, Any]]] = [(0, {})]
    problems: list[Problem] = []
    seen: set[str] = set()
    found = 0
    for line, place, event, fault in _candidates(document, first, problems):
        if is_heading(event):
            if first.events or headings[0][0]:
                traces.append(Trace([], name, document.name))
                headings.append((line, event["trace"]))
            else:
                headings[0] = (line, event["trace"])
            traces[-1].records_read += 1
            seen = set()
            continue
        found += 1
        fault = fault or _fault(event, seen)
        if fault:
            problems.append(Problem(line, f"{place}{fault} (skipped)"))
        else:
            seen.add(event["id"])
            traces[-1].events.append(event)
            traces[-1].records_read += 1
    if found and not any(trace.events for trace in traces):
        problems.sort(key=lambda problem: problem.line or 0)
        told = "; ".join(f"line {problem.line}: {problem.text}" for problem in problems[:3])
        raise TraceError(document.name, f"none of its {found} events is whole: {told}", "see the event schema")
    for trace, (line, heading) in zip(traces, headings, strict=True):
        trace.windows = [Window(0, len(trace.events))]
        problems += _head(trace, heading, line) if line else ()
    first.problems = sorted(problems, key=lambda problem: problem.line or 0)
    return traces


def _candidates(document: Document, trace: Trace, problems: list[Problem]) -> Iterator[tuple[int, str, Any, str]]:
    """Line, place in words, value, what is wrong with it as JSON. Fills in a wrapper's own fields."""
    first = document.first_line
    text = "" if first and not _wrapped(first, 0) else document.text  # JSONL is never one text: that takes memory
    start = len(text) - len(text.lstrip(BLANK))
    wrapped = _wrapped(text, start)
    if wrapped or _is_array(text, start):
        yield from _numbered(text, wrapped or start + 1)
        if wrapped:
            _describe(text, start, trace)
    elif _is_spread(text, start):
        yield from _numbered(text, start)
    else:
        records, damaged = document.records()
        problems += damaged
        for line, value in records:
            yield line, "", value, ""


def _wrapped(text: str, start: int) -> int:
    """Where the elements of {…, "events": [ … begin; 0 where the text is no such wrapper."""
    begin = _OPEN.match(text, start)
    at = begin.end() if begin else -1
    while at >= 0 and text.startswith('"', at):
        try:
            key, at = parse_at(text, at)
            if key == "events" and (opened := _LIST.match(text, at)):
                return opened.end()
            value = _VALUE.match(text, at)
            at = parse_at(text, value.end())[1] if value else -1
        except ValueError:
            return 0
        further = _NEXT.match(text, at) if at >= 0 else None
        at = further.end() if further else -1
    return 0


def _is_array(text: str, start: int) -> bool:
    """Whether the whole text is one list, also when damaged, and not JSONL whose first line is a list."""
    if not text.startswith("[", start):
        return False
    first, _, rest = text[start:].partition("\n")
    try:
        _, end = parse_at(first)
    except ValueError:
        return True
    return not first[end:].strip(BLANK) and not rest.strip(BLANK)


def _is_spread(text: str, start: int) -> bool:
    """Whether the first value is whole and goes over several lines, as pretty-printed JSON does."""
    try:
        _, end = parse_at(text, start)
    except ValueError:
        return False
    return "\n" in text[start:end]


def _numbered(text: str, start: int) -> Iterator[tuple[int, str, Any, str]]:
    line, at = 1, 0
    for index, (place, value, fault) in enumerate(_elements(text, start)):
        line, at = line + text.count("\n", at, place), place
        yield line, f"element {index}: ", value, fault


def _elements(text: str, at: int, limit: int = 1 << 62) -> Iterator[tuple[int, Any, str]]:
    """Place, value and fault of the values from a place on, up to the list's end or the last fault that is told."""
    faults = 0
    while limit > 0:
        while at < len(text) and (text[at] in BLANK or text[at] == ","):
            at += 1
        if at >= len(text) or text[at] == "]":
            return
        limit -= 1
        try:
            value, end = parse_at(text, at)
            yield at, value, ""
        except ValueError as error:
            faults += 1
            if faults > MOST_FAULTS:
                yield at, None, f"the list is damaged in more than {MOST_FAULTS:,} places (the rest was left out)"
                return
            yield at, None, f"not JSON: {error}"
            further = _RESUME.search(text, at + 1)
            if further is None:
                return
            end = further.end()
        at = end


def _describe(text: str, start: int, trace: Trace) -> None:
    try:
        wrapper, _ = parse_at(text, start)
    except ValueError:
        return
    for field in ("title", "model", "cwd"):
        if isinstance(wrapper.get(field), str):
            setattr(trace, field, wrapper[field])


def _head(trace: Trace, told: Mapping[str, Any], line: int) -> Iterator[Problem]:
    """Put what the line before a trace's events tells into it; gives what of it is wrong."""
    for field in ("title", "model", "cwd"):
        if type(told.get(field)) is str:
            setattr(trace, field, told[field])
    extra = told.get("extra")
    trace.extra |= extra if type(extra) is dict else {}
    if type(told.get("converted_from")) is str:
        trace.extra["converted_from"] = told["converted_from"]
    places = {event["id"]: place for place, event in enumerate(trace.events)}
    starts: list[Window] = []
    faults = 0
    for each in items(told.get("windows")):
        first, before = mapping(each).get("first", ""), mapping(each).get("tokens_before")
        place = len(trace.events) if first is None else places.get(first, -1) if type(first) is str else -1
        if place < (starts[-1].start if starts else 0):
            faults += 1
        else:
            opened_by = mapping(each).get("opened_by")
            opened_by = opened_by if type(opened_by) is str else "unknown"
            starts.append(Window(place, place, opened_by, before if type(before) is int else None))
    if starts and starts[0].start == 0:
        stops = [each.start for each in starts[1:]] + [len(trace.events)]
        trace.windows = [replace(each, stop=stop) for each, stop in zip(starts, stops, strict=True)]
    elif starts:
        faults += 1
    if faults:
        yield Problem(line, f"{faults:,} context windows begin at no event that is there (left out)", 0)
    lost = 0
    for each in items(told.get("usage")):
        report = mapping(each)
        if type(report.get("event_id")) is str and report["event_id"] in places:
            counts = (count(report.get(key)) for key in ("input_tokens", "output_tokens", "cache_read", "cache_write"))
            trace.usage.append(Usage(report["event_id"], *counts))
        else:
            lost += 1
    if lost:
        yield Problem(line, f"{lost:,} usage reports are about no event that is there (left out)", 0)


def _fault(event: Any, seen: set[str]) -> str:
    if type(event) is not dict:
        return f"{kind_of(event)} where an object was expected"
    try:
        validate_event(event)
    except InvalidEvent as error:
        return f"{error.where}: {error.what}"
    return f"event {event['id']!r}: an event with this id is already there" if event["id"] in seen else ""


def _looks_like_event(value: Event | Any) -> bool:
    if type(value) is not dict or type(value.get("type")) is not str or value["type"] not in FIELDS:
        return False
    named = type(value.get("id")) is str
    timed = type(value.get("timestamp")) is int
    whole = all(field in value for field, _ in FIELDS[value["type"]])
    return named + timed + whole >= 2
