"""The native format: events of the documented schema as JSONL, as an array, or as {"events": [...]}."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ..errors import InvalidEvent, TraceError
from ..events import FIELDS, Event, validate_event
from ..trace import Problem, Trace, Window
from .files.document import BLANK, Document, kind_of, objects, parse_at

name = "native"

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
    if any(map(_looks_like_event, objects(text, 50))):
        return True
    return any(_looks_like_event(value) for _, value, _ in _elements(text, int(text.startswith("[")), 5))


def read(document: Document) -> list[Trace]:
    """The file's one trace. Events that break the schema or repeat an id are skipped and reported.

    A missing parent is kept as it is. Blind spot: an array of damaged one-line JSON is taken up again
    at the next object, which may be an inner one; it is then reported and skipped as no event.

    Raises:
        TraceError: not one event is whole.
    """
    trace = Trace([], name, document.name)
    seen: set[str] = set()
    found = 0
    for line, place, event, fault in _candidates(document, trace):
        found += 1
        fault = fault or _fault(event, seen)
        if fault:
            trace.problems.append(Problem(line, f"{place}{fault} (skipped)"))
        else:
            seen.add(event["id"])
            trace.events.append(event)
    trace.problems.sort(key=lambda problem: problem.line or 0)
    if found and not trace.events:
        first = "; ".join(f"line {problem.line}: {problem.text}" for problem in trace.problems[:3])
        raise TraceError(document.name, f"none of its {found} events is whole: {first}", "see the event schema")
    trace.windows = [Window(0, len(trace.events))]
    return [trace]


def _candidates(document: Document, trace: Trace) -> Iterator[tuple[int, str, Any, str]]:
    """Line, place in words, value, what is wrong with it as JSON. Fills in the wrapper's own fields."""
    text = document.text
    start = len(text) - len(text.lstrip(BLANK))
    wrapped = _wrapped(text, start)
    if wrapped or _is_array(text, start):
        yield from _numbered(text, wrapped or start + 1)
        if wrapped:
            _describe(text, start, trace)
    elif _is_spread(text, start):
        yield from _numbered(text, start)
    else:
        records, problems = document.records()
        trace.problems += problems
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
    """Place, value and fault of the values from a place on, up to the list's end."""
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
