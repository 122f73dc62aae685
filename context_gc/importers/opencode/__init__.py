"""opencode: a session as `opencode export` writes it, as its storage folder holds it, or as its plugins are told it.

A call and its result are one part. Sessions of subagents are traces of their own, linked by `parent_session`; the
result of the task that began one names it in `agent_id`. What /undo took back is given up. Records are messages and
parts, in a storage folder also session files, in a dump its rows. Blind spots: an export has no subagents and no
system prompt; the database of 2026 is not read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...errors import TraceError
from ...trace import Problem, Trace
from ..files.document import BLANK, Document, kind_of, parse_at
from ..files.fields import items, mapping, text
from ..files.json_roots import first_objects, roots
from . import storage as opencode_storage
from .bus import HOOKS, Rows, rows, unwrapped
from .events import Builder
from .session import Message, Part, Session, families

name = "opencode"

groups = opencode_storage.groups


def sniff(head: bytes) -> bool:
    """Whether the file is an export, a list of messages with their parts, or a dump of what plugins are told."""
    return any(map(_is_export, first_objects(head)[:1])) or _is_dump(head)


def read(document: Document) -> list[Trace]:
    """The session of an export, or the sessions of a dump, subagents behind the others.

    Every event has `origin`: {"path"}, such as messages/3/parts/0, or {"line"}. `extra` of each trace holds
    `session_id` and, of a subagent, `parent_session`.

    Raises:
        TraceError: there is no JSON object in the file, or no message of a session.
    """
    return _dumped(document) if _is_dump(document.head) else _exported(document)


def read_group(documents: Sequence[Document]) -> list[Trace]:
    """The sessions of a storage folder; `origin` is {"file"}. Raises TraceError when there is no message."""
    problems: list[Problem] = []
    found, described = opencode_storage.sessions(documents, problems)
    source = documents[0].name if documents else "the folder"
    traces = _traces(found, source, problems)
    if described:
        traces[0].ignored["session"] = described
    for trace, session in zip(traces, families(found), strict=True):
        trace.source = text(session.origin.get("file")) or source
    _count(traces, families(found))
    return traces


def _is_export(value: dict[str, Any]) -> bool:
    info, messages = mapping(value.get("info")), value.get("messages")
    if "messages" in value:
        session = type(info.get("id")) is str and any(key in info for key in ("projectID", "directory", "slug", "time"))
        return type(messages) is list and session
    return type(value.get("parts")) is list and type(info.get("role")) is str and "id" in info


def _is_dump(head: bytes) -> bool:
    for line in head.decode("utf-8", "replace").lstrip(BLANK).split("\n", 5)[:5]:
        try:
            row = parse_at(line.strip(BLANK))[0] if line.strip(BLANK) else None
        except ValueError:
            continue
        kind, given = unwrapped(row)
        told = row[0] in HOOKS if type(row) is list and row else kind.startswith(("session.", "message."))
        if told and _of_session(given):
            return True
    return False


def _of_session(given: dict[str, Any]) -> bool:
    holders = (given, mapping(given.get("info")), mapping(given.get("part")), mapping(given.get("message")))
    return any(type(holder.get("sessionID")) is str for holder in holders) or "toolID" in given


def _exported(document: Document) -> list[Trace]:
    found, problems = roots(document)
    value = found[0].value
    session = Session(text(mapping(value.get("info")).get("id")))
    listed = enumerate(items(value.get("messages")))
    told = [(f"messages/{index}", each) for index, each in listed]
    if "messages" in value:
        session.info, session.origin = mapping(value.get("info")), {"path": "info"}
    else:
        told = [(text(root.origin.get("path")) or str(root.origin.get("line", 0)), root.value) for root in found]
        session.name = text(mapping(value.get("info")).get("sessionID"))
    for path, each in told:
        if type(each) is not dict or type(each.get("info")) is not dict:
            held = mapping(each).get("info", each)
            problems.append(Problem(None, f"{path}: {kind_of(held)} where a message was expected (skipped)"))
            continue
        message = Message(each["info"], {"path": path})
        for index, part in enumerate(items(each.get("parts"))):
            where = f"{path}/parts/{index}"
            if type(part) is dict:
                message.parts.append(Part(part, {"path": where}))
            else:
                problems.append(Problem(None, f"{where}: {kind_of(part)} where a part was expected (skipped)"))
        session.messages.append(message)
    session.take_back()
    traces = _traces([session], document.name, problems)
    _count(traces, [session])
    return traces


def _dumped(document: Document) -> list[Trace]:
    problems: list[Problem] = []
    told = Rows()
    for line, row in rows(document.text, problems):
        told.take(line, row)
    found = told.done()
    traces = _traces(found, document.name, problems)
    order = families(found)
    of_session = {session.name: trace for session, trace in zip(order, traces, strict=True)}
    used: set[int] = set()
    for session in order:
        for message in session.messages:
            for part in message.parts:
                used |= set(told.lines[id(part)]) if part.used else set()
            used |= set(told.lines[id(message)]) if message.used else set()
    for trace in traces:
        used |= {event["origin"]["line"] for event in trace.events}
        trace.records_read = 0
    for line, kind, name in told.kinds:
        trace = of_session.get(name, traces[0])
        if line in used:
            trace.records_read += 1
        else:
            trace.ignored[kind] = trace.ignored.get(kind, 0) + 1
    return traces


def _traces(sessions: list[Session], source: str, problems: list[Problem]) -> list[Trace]:
    """A trace of each session; the problems are those of the first."""
    order = families(sessions)
    if not order:
        raise TraceError(source, "it holds no message of a session", "name an export, a dump or the storage folder")
    traces = [Builder(name, source, session).trace() for session in order]
    traces[0].problems = sorted(problems, key=lambda problem: problem.line or 0)
    return traces


def _count(traces: list[Trace], order: list[Session]) -> None:
    """Account for messages and parts, where each is a record."""
    for trace, session in zip(traces, order, strict=True):
        trace.records_read = 0
        for used, kind in session.counts():
            if used:
                trace.records_read += 1
            else:
                trace.ignored[kind] = trace.ignored.get(kind, 0) + 1
