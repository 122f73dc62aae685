"""ContextGC, the incremental client, and compact_events, the same in one shot."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from .compaction import Compaction, Live
from .engine import Engine
from .events import Event
from .explain import Explanation, explain
from .graph import StateGraph
from .policy import Policy
from .receipts import expand_receipt, get_receipt
from .tokens import Counter
from .walks import in_trace_order


class ContextGC:
    """An agent's history that grows event by event and can be compacted at any time.

    `graph`: a StateGraph to start from; it is copied. `counter`: counts tokens in place of the policy's.
    """

    def __init__(
        self, policy: Policy | None = None, graph: StateGraph | None = None, counter: Counter | None = None
    ) -> None:
        self.policy = policy or Policy()
        start = StateGraph() if graph is None else in_trace_order(graph.copy())
        self._live = Live(Engine(start, self.policy), counter)

    def add_event(self, event: Event) -> None:
        """Append one event; a copy is kept. An event that is refused leaves no trace.

        Raises:
            InvalidEvent, DuplicateEvent, UnknownParent: what is wrong with the event.
        """
        self._graph.extend((event,), parents_first=True)

    def extend(self, events: Iterable[Event]) -> None:
        """Append events in order, all or none. Raises as `add_event` does."""
        self._graph.extend(events, parents_first=True)

    def compact(self) -> Compaction:
        """Judge what changed since the last time. Compacting twice gives the same."""
        self._live.advance()
        return Compaction(self._live, private=False)

    def get_receipt(self, node_id: str) -> Event:
        """The event that was cut, with `pruned` set to True. Raises UnknownReceipt or NotPruned."""
        return get_receipt(self._graph, node_id)

    def expand_receipt(self, receipt_id: str) -> list[Event]:
        """All events that a stub stands for, as they were given. Raises UnknownReceipt or NotPruned."""
        return expand_receipt(self._graph, receipt_id)

    def explain(self, event_id: str) -> Explanation:
        """Why an event is pruned, protected or kept, as of now. Raises KeyError for an unknown id."""
        return explain(self.compact(), event_id)

    def end_task(self) -> None:
        """End the task: events retained until `task_end` are judged like all others from now on."""
        self._live.engine.end("task_end")

    def end_session(self) -> None:
        """End the session, and the task with it."""
        self._live.engine.end("task_end")
        self._live.engine.end("session_end")

    @property
    def _graph(self) -> StateGraph:
        return self._live.engine.graph


def compact_events(
    events: Iterable[Event] | StateGraph, policy: Policy | None = None, counter: Counter | None = None
) -> Compaction:
    """Compact a whole trace: events in any order, or a graph that was filled directly.

    A parent that is missing is taken as none and named in `warnings`; parents may come later. `counter`
    counts tokens in place of the policy's. Blind spot: compact the full history, not what an earlier
    compaction left of it; that has lost the events which abandons name.

    Raises:
        InvalidEvent, DuplicateEvent: an event is refused.
    """
    with _collector_paused():
        if isinstance(events, StateGraph):
            graph = events.copy()
        else:
            graph = StateGraph()
            graph.extend(events)
        live = Live(Engine(in_trace_order(graph), policy or Policy()), counter)
        live.advance()
    return Compaction(live, private=True)


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Cyclic garbage collection off while many long-lived objects are made: none of them is garbage."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
