"""Kimi Code CLI: what an agent of a session wrote down, ~/.kimi-code/sessions/…/agents/<agent>/wire.jsonl.

Blind spots: the files of a session's subagents are not opened; where an old compaction names no messages that it
kept, none are shown in its window; a micro-compaction (which empties old results) is only counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...trace import Problem, Trace
from ..files.document import BLANK, Document, kind_of, objects
from .events import Agent

name = "kimi"

#: kinds of records that no other agent's log has, and the field that holds what they say
CONTEXT = {"context.append_message": "message", "context.append_loop_event": "event"}


def sniff(head: bytes) -> bool:
    """Whether one of the first 50 lines is a record of a Kimi session."""
    return any(map(_claims, objects(head.decode("utf-8", "replace").lstrip(BLANK), 50)))


def read(document: Document) -> list[Trace]:
    """The agent's trace; should a file hold records of several agents, each has one, the main agent's first.

    Records are the file's JSON objects. `extra` holds `agent_id` of other agents than the main one. What one
    step of the model says, thinks and calls has its `message_id`.
    """
    records, problems = document.records()
    agents = {"main": Agent(name, document.name)}
    for line, record in records:
        kind = record.get("type")
        kind = kind[:60] if type(kind) is str else "untyped record"
        field = CONTEXT.get(kind, "")
        body = record.get(field, {})
        if type(body) is not dict or (field and field not in record):
            found = kind_of(body) if field in record else "missing"
            problems.append(Problem(line, f"field {field!r} is {found}, expected an object (skipped)"))
            continue
        named = record.get("agentId")
        key = named if type(named) is str and named else "main"
        if key not in agents:
            agents[key] = Agent(name, document.name)
        agents[key].take(kind, record, {"line": line})
    traces = [agent.done("" if key == "main" else key) for key, agent in agents.items()]
    traces[0].problems = sorted(problems, key=lambda problem: problem.line or 0)
    return traces


def _claims(record: Mapping[str, Any]) -> bool:
    kind = record.get("type")
    if kind == "metadata":
        return type(record.get("protocol_version")) is str and "created_at" in record
    return type(kind) is str and kind in CONTEXT and type(record.get(CONTEXT[kind])) is dict
