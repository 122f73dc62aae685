"""Sessions of Claude Managed Agents: the events of one session, as its stream or list gives them, one a line.

A line is an event, or [method, payload] as a client's log has it. Events of the agent's threads other than the
first are not told apart. A sent event that the stream gives back is read there and ignored where it was sent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..canonical import canonical
from ..errors import TraceError
from ..trace import Problem, Trace
from .files.document import BLANK, Document, kind_of, parse_at
from .provider_messages.blocks import identifier, tell_content
from .provider_messages.envelope import Telling
from .provider_messages.events import tell_system
from .provider_messages.exchanges import tokens
from .recording.history import one_line
from .recording.recorder import Recorder

name = "anthropic-sessions"

_METHODS = "client.beta.sessions."
_DOMAINS = ("user.", "agent.", "session.", "span.")
_QUIET = ("session.status_", "session.thread_", "span.", "session.updated", "session.deleted")


def sniff(head: bytes) -> bool:
    """Whether one of the first lines is an event of a session, alone or beside the method that gave it."""
    lines = (line for line in head[: 1 << 18].decode("utf-8", "replace").split("\n")[:20] if line.strip(BLANK))
    return any(_claims(value) for value in map(_value, lines))


def read(document: Document) -> list[Trace]:
    """The trace of the session; its records are its lines.

    Raises:
        TraceError: no event in it says anything.
    """
    recorder, problems = Recorder(name, document.name), list[Problem]()
    rows = list(_rows(document.text, problems))
    echoed = {_said(event) for _, method, event in rows if not method.endswith("send") and _type(event)}
    read = 0
    for line, method, payload in rows:
        before = len(recorder.events)
        sent = payload.get("events") if method.endswith("events.send") else None
        if type(sent) is list:
            new = [event for event in sent if type(event) is dict and _said(event) not in echoed]
            for place, event in enumerate(new):
                _tell(recorder, event, {"line": line, "index": place})
            kind = "sent event that the stream gives back" if not new else "event without text"
        else:
            kind = _tell(recorder, payload, {"line": line})
        if len(recorder.events) > before or not kind:
            read += 1
        else:
            recorder.ignore(kind)
    trace = recorder.done()
    if not trace.events:
        raise TraceError(document.name, "no event in it says anything", "name the events of a whole session")
    prompt = next((event["content"] for event in trace.events if event["type"] == "requirement"), "")
    trace.title = trace.title or one_line(prompt)
    trace.problems = problems
    trace.records_read = read
    return [trace]


def _claims(value: Any) -> bool:
    if type(value) is list and len(value) == 2 and type(value[0]) is str:
        return value[0].startswith(_METHODS)
    if type(value) is not dict or not identifier(value.get("id")).startswith("sevt_"):
        return False
    return identifier(value.get("type")).startswith(_DOMAINS)


def _value(line: str) -> Any:
    try:
        return parse_at(line.strip(BLANK))[0]
    except ValueError:
        return None


def _rows(text: str, problems: list[Problem]) -> Iterator[tuple[int, str, dict[str, Any]]]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip(BLANK):
            continue
        value, method = _value(line), ""
        if type(value) is list and len(value) == 2 and type(value[0]) is str:
            method, value = value
            value = next((each for each in value if type(each) is dict), None) if type(value) is list else value
        if type(value) is dict:
            yield number, method, value
        else:
            problems.append(Problem(number, f"{kind_of(value)} where an event was expected (skipped)"))


def _type(event: Mapping[str, Any]) -> str:
    return identifier(event.get("type"))


def _said(event: Mapping[str, Any]) -> str:
    """What a sent event and the one that the stream gives back have in common."""
    return canonical(
        {key: event.get(key) for key in ("type", "content", "tool_use_id", "custom_tool_use_id", "result")}
    )


def _tell(recorder: Recorder, event: dict[str, Any], origin: Mapping[str, Any]) -> str:
    """Append what an event says; returns what it is counted as when it says nothing, "" when it counts as read."""
    kind = _type(event)
    recorder.at(event.get("processed_at"))
    telling = Telling(recorder, event, origin, identifier(event.get("id")))
    agent = event.get("agent")
    if type(agent) is dict and (kind == "session" or "environment_id" in event):
        _tell_session(recorder, event, agent, origin)
        return ""
    if kind.endswith("tool_use"):
        given = ("input",) if "input" in event else None
        telling.call(identifier(event.get("id")), identifier(event.get("name")), event.get("input", {}), given)
    elif kind.endswith("tool_result"):
        fields = ("tool_use_id", "mcp_tool_use_id", "custom_tool_use_id")
        call = next((identifier(event[field]) for field in fields if field in event), "")
        held = ("content",) if "content" in event else None
        telling.result(call, event.get("content", ""), held, event.get("is_error") is True)
    elif kind == "user.tool_confirmation":
        _tell_confirmation(telling, event, origin)
    elif kind == "agent.thread_context_compacted":
        recorder.open_window("auto")
        return ""
    elif kind == "span.model_request_end":
        recorder.used(len(recorder.events) - 1, *tokens(event.get("model_usage")))
        return ""
    elif kind in ("user.message", "agent.message", "agent.thinking") and "content" in event:
        voice = "user" if kind == "user.message" else "assistant"
        if kind == "agent.thinking" and type(event["content"]) is str:
            telling.think(event["content"], ("content",))
        else:
            tell_content(telling, voice, event["content"], ("content",))
    elif kind.startswith(_QUIET) or not kind or kind == "agent.thinking":
        return kind[:40] or "event without a type"
    else:
        telling.opaque(event, ())
    telling.done()
    return "" if telling.has_events else "event without text"


def _tell_session(recorder: Recorder, event: dict[str, Any], agent: dict[str, Any], origin: Mapping[str, Any]) -> None:
    """The session as it was made: its title, its model and its system prompt."""
    trace, model = recorder.trace, agent.get("model")
    trace.title = identifier(event.get("title"))
    trace.model = identifier(model.get("id") if type(model) is dict else model)
    trace.extra["session_id"] = identifier(event.get("id"))
    tell_system(recorder, "system", agent.get("system"), origin)


def _tell_confirmation(telling: Telling, event: dict[str, Any], origin: Mapping[str, Any]) -> None:
    """A person allowed a call, or denied it: that answers it, and it is abandoned for the reason given."""
    recorder, words = telling.recorder, event.get("deny_message")
    if event.get("result") != "deny":
        telling.say("assistant", "allowed by the user", (), tags=("approval",), block=event)
        return
    reason = words if type(words) is str and words else "denied by the user"
    call = recorder.answered(identifier(event.get("tool_use_id")))
    start = len(recorder.events)
    telling.result(identifier(event.get("tool_use_id")), reason, ("deny_message",) if words == reason else None, True)
    if call is not None:
        recorder.abandon([call.place, start], reason, origin)
    if words == reason:
        recorder.say("user", reason, origin)
