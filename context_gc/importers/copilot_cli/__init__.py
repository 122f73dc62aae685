"""Copilot CLI: the events of a session, ~/.copilot/session-state/<session>/events.jsonl.

The main agent is the first trace, each subagent whose events are in the same file one more. A message of the
user is split into the person's words and what was put around them. Blind spots: which messages a truncation
dropped; what a compaction kept beside its summary; usage, which is not written down for each model call.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...trace import Problem, Trace
from ..files.document import BLANK, Document, kind_of, objects
from ..files.fields import mapping
from .events import Session
from .links import Links

name = "copilot-cli"

#: what the types of events begin with; another agent's log may share one of them, but not the envelope
AREAS = ("session.", "user.", "assistant.", "tool.", "system.", "subagent.", "skill.", "hook.", "permission.")
SHORT = frozenset(("userpromptsubmitted", "assistantresponse"))  #: records of a log that hooks keep


def sniff(head: bytes) -> bool:
    """Whether one of the first 50 lines is an event of a Copilot CLI session."""
    return any(map(_claims, objects(head.decode("utf-8", "replace").lstrip(BLANK), 50)))


def read(document: Document) -> list[Trace]:
    """The main agent's trace and those of its subagents. Records are the file's JSON objects.

    `extra` holds `session_id`, and for a subagent `agent_id`. What one message of the model
    says, thinks and calls has its `message_id`.
    """
    records, problems = document.records()
    links = Links()
    thinks = any(type(mapping(record.get("data")).get("reasoningText")) is str for _, record in records)
    sessions = {"": Session(name, document.name, links, thinks)}
    for line, record in records:
        kind, data = record.get("type"), record.get("data")
        if type(data) is not dict:
            if type(kind) is str and kind.lower() in SHORT:
                data = record
            else:
                what = f"field 'data' is {kind_of(data)}" if "data" in record else "field 'data' is missing"
                problems.append(Problem(line, f"{what}, expected an object (skipped)"))
                continue
        agent = next((it for it in (record.get("agentId"), data.get("parentToolCallId")) if type(it) is str), "")
        if agent not in sessions:
            sessions[agent] = Session(name, document.name, links, thinks)
        sessions[agent].take(kind[:60] if type(kind) is str else "untyped record", data, record, {"line": line})
    traces = [session.done(agent) for agent, session in sessions.items()]
    traces[0].problems = sorted(problems, key=lambda problem: problem.line or 0)
    return traces


def _claims(record: Mapping[str, Any]) -> bool:
    kind = record.get("type")
    if type(kind) is not str:
        return False
    if kind.lower() in SHORT:
        return type(record.get("session_id")) is str
    return kind.startswith(AREAS) and type(record.get("data")) is dict and "properties" not in record
