"""pi: a session as the coding agent of that name logs it, ~/.pi/agent/sessions/<project>/<time>_<id>.jsonl.

The first version of the format is a list, later ones are trees: the last entry in the file is where the session
stands, every branch beside its path was given up. A compaction opens a window that begins with the summary and
repeats what pi kept. Of an answer that was cut off, what pi does not send again is given up: its calls, in later
versions also its text. Records are the JSON objects; those that never reach the model are ignored by kind. Blind
spot: the system prompt is not in the file.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Any

from ...errors import TraceError
from ...trace import Problem, Trace
from ..files.document import BLANK, Document, Record, kind_of, objects
from ..files.fields import count, text
from ..recording.history import one_line
from .events import Session
from .tree import Entry, parents, steps

name = "pi"


def sniff(head: bytes) -> bool:
    """Whether the first record of a type is the header of a pi session."""
    return any(map(_is_header, objects(head.decode("utf-8", "replace").lstrip(BLANK), 5)))


def read(document: Document) -> list[Trace]:
    """The file's one trace. Damaged lines and messages are reported and skipped.

    `extra` holds `session_id`, and `forked_from` where the session began as a copy of another.
    Every event has `origin` {"line", "record" when it is not the line's first, "block" when it is one of several}.

    Raises:
        TraceError: no record is whole.
    """
    problems: list[Problem] = []
    header, entries = _entries(document.each_record(problems))
    if not header and not entries:
        raise TraceError(document.name, "none of its lines is whole", "get the whole file")
    parent = parents(entries)
    session = Session(name, document.name, count(header.get("version")) or 1, entries, parent)
    ignored = session.recorder.trace.ignored
    damaged: list[Problem] = []
    read_count = 0
    for place, winner in steps(parent):
        if winner >= 0:
            session.give_up(place, winner)
            continue
        fault = _damage(entries[place])
        if fault:
            damaged.append(Problem(entries[place].line, f"{fault} (skipped)"))
            continue
        left_out = session.add(place)
        read_count += not left_out
        if left_out:
            ignored[left_out] = ignored.get(left_out, 0) + 1
    if header:
        ignored["session"] = ignored.get("session", 0) + 1
    trace = session.done()
    trace.problems = sorted(problems + damaged, key=lambda problem: problem.line or 0)
    _describe(trace, header, entries, session.model)
    trace.records_read = read_count
    return [trace]


def _is_header(record: dict[str, Any]) -> bool:
    """Other agents log a `session` record too; pi's has a place and a time of its own."""
    named = record.get("type") == "session" and type(record.get("id")) is str
    return named and type(record.get("cwd")) is str and "timestamp" in record and "createdAt" not in record


def _entries(records: Iterable[Record]) -> tuple[dict[str, Any], list[Entry]]:
    """The header, {} where there is none, and the records behind it."""
    header: dict[str, Any] = {}
    entries: list[Entry] = []
    for line, value in records:
        kind = text(value.get("type"))[:40] or "untyped record"
        if kind == "session" and not header:
            header = value
            continue
        nth = entries[-1].nth + 1 if entries and entries[-1].line == line else 0
        named = text(value.get("id")) or (f"L{line}.{nth}" if nth else f"L{line}")
        entries.append(Entry(line, nth, named, kind, value))
    return header, entries


def _damage(entry: Entry) -> str:
    """What makes a message unreadable, or ""."""
    if entry.kind != "message":
        return ""
    message = entry.value.get("message")
    if type(message) is not dict:
        found = f"is {kind_of(message)}, expected an object" if "message" in entry.value else "is missing"
        return f"field 'message' {found}"
    if type(message.get("role")) is not str:
        found = f"is {kind_of(message['role'])}, expected a string" if "role" in message else "is missing"
        return f"field 'message.role' {found}"
    content = message.get("content")
    if message["role"] in ("user", "assistant") and not isinstance(content, str | list):
        found = f"is {kind_of(content)}, expected a string or a list" if "content" in message else "is missing"
        return f"field 'message.content' {found}"
    return ""


def _describe(trace: Trace, header: dict[str, Any], entries: list[Entry], model: str) -> None:
    named = (one_line(text(entry.value.get("name"))) for entry in reversed(entries) if entry.kind == "session_info")
    said = (one_line(event["content"]) for event in trace.events if event["type"] == "requirement")
    trace.title = next(filter(None, chain(named, said)), "") or text(header.get("id"))
    trace.model = model or text(header.get("modelId"))
    trace.cwd = text(header.get("cwd"))
    known = {
        "session_id": text(header.get("id")),
        "forked_from": text(header.get("parentSession")) or text(header.get("branchedFrom")),
    }
    trace.extra |= {key: value for key, value in known.items() if value}
