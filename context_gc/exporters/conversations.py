"""Conversations: a trace as the request that a provider was sent last, in full or compacted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..compactor import compact_events
from ..events import Event
from ..messages import DIALECTS, Dialect, Request, compacted, whole
from ..messages.anthropic import within_marks
from ..messages.dialect import count
from ..messages.own_records import recorded
from ..policy import Policy
from ..trace import Trace
from .written import Written, document, line, origin_of

_STANDING = Policy(stages=("dead-branches",), protect_types=(), protect_importance=(), protect_tags=())


def write_requests(traces: Sequence[Trace], dialect_name: str, as_lines: bool, policy: Policy | None) -> Written:
    """A file with the conversation of each trace: rows, or one request."""
    lost: dict[str, int] = {}
    made = [_conversation(trace, DIALECTS[dialect_name], policy, lost) for trace in traces]
    if as_lines:
        rows = [each if type(each) is dict else {"messages": each} for each in made]
        return Written("".join(map(line, rows)), lost)
    return Written("".join(map(document, made)), lost)


def _conversation(trace: Trace, dialect: Dialect, policy: Policy | None, lost: dict[str, int]) -> Any:
    is_own = origin_of(trace) == dialect.name
    is_signed = "claude" in trace.model.lower()
    begins = trace.extra.get("begins", 0) if is_own and policy is None else trace.windows[-1].start
    begins = begins if type(begins) is int else 0
    count(lost, "events of earlier context windows", begins)
    events = trace.events[begins:]
    if policy is not None:
        made = compacted(compact_events(events, policy), dialect, is_own, is_signed)
    else:
        events = _standing(events, lost)
        made = _recorded(trace, events) if is_own else whole(events, dialect, is_signed)
    if not is_own:
        count(lost, "usage reports", len(trace.usage))
    for kind, number in made.lost.items():
        count(lost, kind, number)
    request = _request(trace.extra.get("request") if is_own else {}, made)
    if policy is not None and type(request) is dict and request.get("system", "") is None:
        del request["system"]
    if policy is not None or "requests" in trace.extra:  # later requests moved the marks
        within_marks(request if type(request) is dict else {"messages": request})
    return request


def _standing(events: list[Event], lost: dict[str, int]) -> list[Event]:
    """The events without those of branches that were given up: no prompt holds them any more."""
    if not any(event["type"] == "abandon" for event in events):
        return events
    gone = set(compact_events(events, _STANDING)["pruned_ids"])
    count(lost, "events of abandoned branches", len(gone))
    return [event for event in events if event["id"] not in gone]


def _recorded(trace: Trace, events: Sequence[Event]) -> Request:
    """The messages as they were read, blank ones among them."""
    seqs = {event["id"]: place for place, event in enumerate(trace.events)}
    places = [seqs[event["id"]] for event in events]
    begun = [place for place in places if "envelope" in trace.events[place] or trace.events[place]["type"] == "abandon"]
    blank = trace.extra.get("blank", [])
    messages, system = recorded([place for place in places if begun and place >= begun[0]], trace.events, blank)
    return Request(messages, system)


def _request(given: Any, made: Request) -> Any:
    """The request as it was, with these messages; a list where it was one and there is no more to say."""
    if type(given) is not dict:
        return made.messages if made.system is None else {"system": made.system, "messages": made.messages}
    request = dict(given)
    if made.system is not None and request.get("system") is None:
        request["system"] = made.system
    request[next((each for each in ("messages", "conversations") if each in request), "messages")] = made.messages
    return request
