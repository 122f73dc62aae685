"""Timeline: a recorded trace taken in turn by turn, as an agent would have lived it under a policy."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .budgeted import live_of
from .compaction import Compaction, Live
from .engine import Engine
from .events import Event
from .graph import StateGraph
from .passes import Pass
from .policy import Policy
from .tokens import Counter
from .turns import turn_numbers
from .walks import in_trace_order


@dataclass(frozen=True, slots=True)
class Point:
    """The prompt after one turn, as the next model call would get it. Tokens without overhead."""

    turn: int
    size: int  #: events so far
    full: int  #: tokens of the full history
    tokens: int  #: tokens of the prompt
    passed: Pass | None  #: the pass that was made here


@dataclass(frozen=True, slots=True)
class Timeline:
    """The last compaction of a trace and how it came to it."""

    result: Compaction
    points: tuple[Point, ...]


def timeline(
    events: Iterable[Event],
    policy: Policy,
    counter: Counter | None = None,
    ended: Iterable[str] = (),
    pinned: Iterable[str] = (),
) -> Timeline:
    """Compact after every turn, as `ContextGC` does in a loop.

    `ended`: scopes (`task_end`, `session_end`) that end after the last event; a pass is made then. `pinned`:
    ids of events that are kept from the start. A graph with cycles is taken in at once. Raises as
    `compact_events` does.
    """
    given = StateGraph()
    given.extend(events)
    ordered = in_trace_order(given)
    cyclic = bool(ordered.backward)
    graph = ordered if cyclic else StateGraph()
    live = live_of(Engine(graph, policy, counter))
    names, kept = {name: seq for seq, name in enumerate(ordered)}, set(pinned)
    for name in kept & names.keys():
        live.engine.pin(names[name])
    turns = turn_numbers(ordered.events)
    points: list[Point] = []
    start = 0
    for seq, turn in enumerate(turns):
        if seq + 1 < len(turns) and (turns[seq + 1] == turn or cyclic):
            continue
        if not cyclic:
            graph.extend(ordered.events[start : seq + 1])
        start = seq + 1
        points.append(_step(live, turn))
    if scopes := tuple(ended):
        for scope in scopes:
            live.engine.end(scope)
        live.advance(force=True)
    return Timeline(Compaction(live, private=True), tuple(points))


def _step(live: Live, turn: int) -> Point:
    before = _passes(live)
    live.advance()
    made, prompt = _passes(live)[len(before) :], live.prompt
    return Point(turn, prompt.size, prompt.tokens_before, prompt.tokens_after, made[-1] if made else None)


def _passes(live: Live) -> tuple[Pass, ...]:
    state = live.state
    return state.passes if state is not None else ()
