"""Compacting: one window of a trace under one policy, worked out once and shared by all pages and sessions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

import streamlit as st

from ..budgeted import live_of
from ..compaction import Compaction
from ..compactor import compact_events
from ..engine import Engine
from ..events import Event
from ..graph import StateGraph
from ..policy import Policy
from ..timeline import Point, Timeline, timeline
from ..tokens import Counter
from ..trace import Trace, Window
from ..walks import in_trace_order
from .counting import counter_of
from .in_force import InForce
from .rows import Row, rows
from .savings import savings


@dataclass(frozen=True, slots=True)
class Compacted:
    """A compaction and what is shown of it. Never changed: several browser sessions read it."""

    events: Sequence[Event]
    result: Compaction
    points: Sequence[Point]  #: the prompt after each turn, under a budget; else none
    rows: tuple[Row, ...]
    by_id: Mapping[str, Row]
    key: str  #: stands for file, window, policy and what has ended: the key of everything that is cached
    turns: int


def compacted(where: str, place: str, trace: Trace, window: Window, force: InForce) -> Compacted:
    """The window under what is in force. `where` stands for the window as it is, `place` for it while it grows."""
    return _compacted(f"{where}/{_digest(force.told)}", place, trace, window, force)


def compact(events: Sequence[Event], policy: Policy, counter: Counter, ended: Sequence[str] = ()) -> Timeline:
    """Compact a window: under a budget turn by turn, as an agent would have lived it, else at once.

    `ended`: the scopes of `retain_until` that end after the last event.
    """
    if policy.budget is not None:
        return timeline(events, policy, counter, ended)
    if not ended:
        return Timeline(compact_events(events, policy, counter), ())
    graph = StateGraph()
    graph.extend(events)
    live = live_of(Engine(in_trace_order(graph), policy, counter))
    for scope in ended:
        live.engine.end(scope)
    live.advance()
    return Timeline(Compaction(live, private=True), ())


def saved_by_stage(where: str, place: str, events: Sequence[Event], force: InForce) -> Mapping[str, int]:
    """Stage name -> tokens that it takes away. Each total is worked out once, whatever is switched later."""
    counter = counter_of(place, force.policy.counter)

    def total(policy: Policy) -> int:
        told = _digest(policy.to_toml() + repr(force.ended))
        return _total(f"{where}/{told}", events, policy, counter, force.ended)

    return savings(total, force.policy)


@st.cache_resource(max_entries=12, show_spinner="Compacting this trace")
def _compacted(key: str, _place: str, _trace: Trace, _window: Window, _force: InForce) -> Compacted:
    policy, given = _force.policy, _trace.events[_window.start : _window.stop]
    found = compact(given, policy, counter_of(_place, policy.counter), _force.ended)
    result = found.result
    told = rows(_trace, _window, result)
    len(result["prompt"])  # worked out now: afterwards browser sessions only read it
    by_id = {row.id: row for row in told}
    return Compacted(result.events, result, found.points, told, by_id, key, told[-1].turn if told else 0)


@st.cache_resource(max_entries=1_024, show_spinner=False)
def _total(key: str, _events: Sequence[Event], _policy: Policy, _counter: Counter, _ended: Sequence[str]) -> int:
    tokens: int = compact(_events, _policy, _counter, _ended).result["tokens_after"]
    return tokens


def _digest(told: str) -> str:
    return sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:16]
