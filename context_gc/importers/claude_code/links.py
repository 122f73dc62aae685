"""Links between traces: from a subagent to the call that started it, and from a session to what it goes on from.

`extra` of a subagent's trace has `parent` {"session", "event": the id of the call, "agent_id" when a subagent
made it}; what is not known is not in it. `extra["role"]` is "summariser" for the agent that wrote a
compaction's summary. `extra["subagents_elsewhere"]` names the subagents whose own logs are not at hand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...trace import Trace
from ..files.fields import mapping, text
from ..recording.history import one_line
from .log import Told

SUMMARISER = "acompact"  #: how the ids of these agents begin


def link(found: Sequence[Told], descriptions: Mapping[str, dict[str, Any]]) -> None:
    """Link the traces that were read together; `descriptions` are the files about subagents, by agent."""
    held = {each.trace.extra["agent_id"] for each in found if "agent_id" in each.trace.extra}
    started: dict[tuple[str, str], tuple[Told, str]] = {}
    for each in found:
        for agent, call in each.started.items():
            started.setdefault((_session(each.trace), agent), (each, call))
            started.setdefault(("", agent), (each, call))
        elsewhere = [agent for agent in each.started if agent not in held]
        if elsewhere:
            each.trace.extra["subagents_elsewhere"] = elsewhere
    taken = {call for _, call in started.values()}
    for each in found:
        agent = text(each.trace.extra.get("agent_id"))
        if agent:
            about = descriptions.get(agent, {})
            known = started.get((_session(each.trace), agent)) or started.get(("", agent))
            _describe(each.trace, agent, known or _by_trace(each, found, about, taken), about)


def arranged(found: Sequence[Told]) -> list[Trace]:
    """Each session followed by its subagents, in the order in which they were found."""
    sessions: dict[str, list[Trace]] = {}
    for each in found:
        if "agent_id" not in each.trace.extra:
            sessions.setdefault(_session(each.trace), []).append(each.trace)
    rest: list[Trace] = []
    for each in found:
        if "agent_id" in each.trace.extra:
            parent = text(mapping(each.trace.extra.get("parent")).get("session"))
            sessions.get(parent, rest).append(each.trace)
    return [trace for traces in sessions.values() for trace in traces] + rest


def _describe(trace: Trace, agent: str, known: tuple[Told, str] | None, about: Mapping[str, Any]) -> None:
    parent: dict[str, str] = {"session": _session(trace)} if _session(trace) else {}
    description = text(about.get("description"))
    if known is not None:
        caller, call = known
        parent = {"session": _session(caller.trace) or _session(trace), "event": call}
        if "agent_id" in caller.trace.extra:
            parent["agent_id"] = caller.trace.extra["agent_id"]
        event = next(event for event in caller.trace.events if event["id"] == call)
        description = text(mapping(event["arguments"]).get("description")) or description
    trace.extra["parent"] = parent
    role = "subagent"
    if agent.startswith(SUMMARISER):
        trace.extra["role"] = role = "summariser"
    kind = text(about.get("agentType"))
    if kind:
        trace.extra["agent_type"] = kind
    trace.title = f"{role} {agent}: {one_line(description) or trace.title.partition(': ')[2]}"


def _by_trace(told: Told, found: Sequence[Told], about: Mapping[str, Any], taken: set[str]) -> tuple[Told, str] | None:
    """The call that a subagent's description names, or the only one that gave it its first prompt."""
    session, wanted = _session(told.trace), text(about.get("toolUseId"))
    callers = [each for each in found if each is not told and _session(each.trace) == session]
    for each in callers if wanted else ():
        if any(event["id"] == wanted and event["type"] == "tool_call" for event in each.trace.events):
            return each, wanted
    first = next((event for event in told.trace.events if event["type"] == "requirement"), None)
    asked = [(each, call) for each in callers for call in each.prompts.get(first["content"] if first else "", ())]
    return asked[0] if len(asked) == 1 and asked[0][1] not in taken else None


def _session(trace: Trace) -> str:
    return text(trace.extra.get("session_id"))
