"""mini-swe-agent: trajectories of 0.x (a bare list of messages), 1.x and 2.x.

Up to 1.x the model writes one fenced command into its text, and a user message answers it; from 2.x on it
calls the tool `bash`, by Chat Completions or by Responses. Records are the messages. What a message says beyond the
prompt (`extra`: times, exit codes, usage) is read, the copy of the response in it is not.
"""

from __future__ import annotations

from typing import Any

from ...errors import TraceError
from ...trace import Problem, Trace
from ..dialects.messages import text_at
from ..files.document import Document, kind_of
from ..files.json_roots import Root, first_objects, roots
from ..recording.history import one_line
from .messages import FINISHED, Teller, text_of

name = "mini-swe-agent"


def sniff(head: bytes) -> bool:
    """Whether the file says that it is a trajectory of mini-swe-agent, or is a list of messages in its words."""
    found = first_objects(head)
    if len(found) == 1 and "role" not in found[0]:
        return _is_trajectory(found[0])
    return bool(found) and head.lstrip()[:1] == b"[" and all(map(_is_message, found[:3])) and _is_told(found[:3])


def read(document: Document) -> list[Trace]:
    """One trace. `extra` has `instance_id` and `exit_status` where known.

    Raises:
        TraceError: it holds no message.
    """
    found, problems = roots(document)
    run = found[0].value if len(found) == 1 and "role" not in found[0].value else {}
    messages = found if not run else _messages(run.get("messages"), problems)
    config = _within(run, "info", "config")
    teller = Teller(name, document.name, text_at(_within(config, "environment"), "cwd"))
    for each in messages:
        teller.take(each.value, each.origin)
    trace = teller.done()
    if not trace.events:
        raise TraceError(document.name, "it holds no message", "get the whole file")
    trace.problems = problems
    trace.records_read = len(messages) - sum(trace.ignored.values())
    for field, value in (("instance_id", run.get("instance_id")), ("exit_status", _within(run, "info", "exit_status"))):
        if type(value) is str and value:
            trace.extra[field] = value
    trace.model = text_at(_within(config, "model"), "model_name") or trace.model
    said = next((event["content"] for event in trace.events if event["type"] == "requirement"), "")
    trace.title = trace.extra.get("instance_id") or one_line(said)
    return [trace]


def _messages(value: Any, problems: list[Problem]) -> list[Root]:
    found = []
    for place, each in enumerate(value if type(value) is list else ()):
        if type(each) is dict:
            found.append(Root({"path": f"messages/{place}"}, each))
        else:
            text = f"messages/{place}: {kind_of(each)} where an object was expected (skipped)"
            problems.append(Problem(None, text))
    return found


def _is_trajectory(value: dict[str, Any]) -> bool:
    if text_at(value, "trajectory_format").startswith("mini-swe-agent"):
        return True
    info = value.get("info")
    if type(info) is not dict or "trajectory" in value or "history" in value:
        return False
    if "mini_version" in info or "minisweagent" in text_at(info.get("config"), "agent_type", "model_type"):
        return True
    messages = value.get("messages")
    told = "model_stats" in info or ("exit_status" in info and "submission" in info)
    return told and type(messages) is list and bool(messages) and _is_message(messages[0])


def _is_message(value: Any) -> bool:
    return type(value) is dict and ("role" in value or value.get("object") == "response")


def _is_told(messages: Any) -> bool:
    """Whether the prompt tells how to finish as mini-swe-agent does."""
    return any(sign in text_of(each.get("content")) for each in messages for sign in FINISHED)


def _within(value: Any, *keys: str) -> Any:
    for key in keys:
        value = value.get(key) if type(value) is dict else None
    return value
