"""OpenHands V0: event lists and JSONL, trajectories from its API, evaluation and resolver output, event folders.

A file of evaluation rows gives one trace a row. Records are the events of the histories; of pairs of an
action and an observation, which 2024 wrote, each half is one. Blind spots: screenshots, and what the
agent's prompt added around an observation. `openhands_v1` reads what the SDK of V1 writes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from ...errors import TraceError
from ...trace import Problem, Trace
from ..dialects.messages import text_at
from ..files.document import Document, kind_of
from ..files.json_roots import Root, first_objects, roots
from ..recording.history import one_line
from .events import Teller

name = "openhands"

_LISTS = ("trajectory", "history", "events")
_STORED = re.compile(r"((?:.*/)?events/)(\d{1,9})\.json")


def sniff(head: bytes) -> bool:
    """Whether the first objects are events of OpenHands V0, or hold a list of them."""
    found = first_objects(head)
    return bool(found) and (all(map(_is_event, found[:3])) or _first_of(found[0]) is not None)


def read(document: Document) -> list[Trace]:
    """One trace, or one for each row, each with those that it delegated to behind it.

    `extra` has `instance_id` and `error` of a row where known.

    Raises:
        TraceError: it holds no event.
    """
    found, problems = roots(document)
    if any(_events_of(each.value) is not None for each in found):
        traces = [trace for each in found for trace in _of_row(each, document.name, problems)]
    else:
        traces = _traces([(each.origin, each.value) for each in found], document.name, problems)
    if not any(trace.events for trace in traces):
        told = "; ".join(problem.text for problem in problems[:3])
        raise TraceError(document.name, "it holds no event of a conversation" + (f": {told}" if told else ""))
    traces[0].problems[:0] = problems
    return traces


def groups(paths: Sequence[str]) -> list[tuple[str, ...]]:
    """The numbered event files of each conversation, where the first one is there."""
    found: dict[str, dict[int, str]] = {}
    for path in paths:
        stored = _STORED.fullmatch(path)
        if stored:
            found.setdefault(stored[1], {})[int(stored[2])] = path
    return [tuple(path for _, path in sorted(files.items())) for files in found.values() if 0 in files]


def read_group(documents: Sequence[Document]) -> list[Trace]:
    """The trace of one folder of event files, whose events have `origin` {"file"}."""
    problems: list[Problem] = []
    events: list[tuple[dict[str, Any], Any]] = []
    for document in documents:
        try:
            found, damage = roots(document)
        except TraceError as error:
            problems.append(Problem(None, f"{error} (skipped)"))
            continue
        problems += damage
        whole = [each for each in found if each.value or not damage]
        events += [({"file": document.name} | each.origin, each.value) for each in whole]
    source = documents[0].name.rpartition("/events/")[0] or documents[0].name
    traces = _traces(events, source, problems)
    if not any(trace.events for trace in traces):
        raise TraceError(source, "its files hold no event of a conversation")
    traces[0].problems[:0] = problems
    return traces


def _is_event(value: Any) -> bool:
    """Whether it is an action or an observation as V0 stores it."""
    if type(value) is not dict or type(value.get("action")) is type(value.get("observation")):
        return False
    if type(value.get("action", value.get("observation"))) is not str:
        return False
    return "args" in value or "extras" in value or text_at(value, "source") in ("user", "agent", "environment")


def _is_bare(value: Any) -> bool:
    """Whether it is one as the resolver of 2024 wrote it, without an id, a time and a source."""
    kind = text_at(value, "action", "observation")
    return bool(kind) and kind.islower() and bool({"content", "thought", "command", "code", "path"} & value.keys())


def _events_of(row: dict[str, Any]) -> list[Any] | None:
    found = next((row[key] for key in _LISTS if type(row.get(key)) is list), None)
    return None if found is None or _is_event(row) else found


def _first_of(row: dict[str, Any]) -> Any:
    """The first event of a row, or None for what is no row."""
    first = next(iter(_events_of(row) or ()), None)
    if type(first) is list and first:
        first = first[0]
    is_row = any(key in row for key in ("instruction", "instance", "git_patch", "metrics", "test_result"))
    return first if _is_event(first) or (is_row and _is_bare(first)) else None


def _of_row(row: Root, source: str, problems: list[Problem]) -> list[Trace]:
    value, line = row.value, row.origin.get("line")
    events = _events_of(value)
    if not events:
        reason = f": {text_at(value, 'error')[:200]}" if text_at(value, "error") else ""
        problems.append(Problem(line, f"a row without history{reason} (skipped)"))
        return []
    field = next(key for key in _LISTS if value.get(key) is events)
    traces = _traces(list(_spread(events, field, row.origin)), source, problems)
    head, issue, metadata = traces[0], value.get("issue"), value.get("metadata")
    instance = text_at(value, "instance_id", "id")
    named = text_at(issue, "title")
    head.title = instance or named or head.title
    config = metadata.get("llm_config") if type(metadata) is dict else None
    head.model = head.model or text_at(config, "model")
    for key, told in (("instance_id", instance), ("error", text_at(value, "error"))):
        if told:
            head.extra[key] = told
    return traces


def _spread(events: list[Any], field: str, origin: dict[str, Any]) -> Iterator[tuple[dict[str, Any], Any]]:
    """The events of a history with where they stand; of a pair both, one after the other."""
    for place, event in enumerate(events):
        if type(event) is list:
            for half, each in enumerate(event):
                yield {**origin, "path": f"{field}/{place}/{half}"}, each
        else:
            yield {**origin, "path": f"{field}/{place}"}, event


def _traces(events: Sequence[tuple[dict[str, Any], Any]], source: str, problems: list[Problem]) -> list[Trace]:
    teller = Teller(name, source)
    damaged = 0
    for origin, event in events:
        if type(event) is dict and text_at(event, "action", "observation"):
            teller.take(event, origin)
        else:
            what = "an object without action and observation" if type(event) is dict else kind_of(event)
            place = origin.get("path", "")
            problems.append(Problem(origin.get("line"), f"{place}: {what} where an event was expected (skipped)"))
            damaged += 1
    traces = teller.done()
    for trace in traces:
        said = next((event["content"] for event in trace.events if event["type"] == "requirement"), "")
        trace.title = trace.title or one_line(said)
        trace.records_read = trace.extra.pop("records") - sum(trace.ignored.values())
    return traces
