"""ContextGC, the incremental client, and compact_events, the same in one shot."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from .budgeted import Budgeted, live_of
from .collector import collector_paused
from .compaction import Compaction
from .context_bus import ContextBus
from .engine import Engine
from .errors import UnknownReceipt
from .events import Event
from .explain import Explanation, explain
from .graph import StateGraph
from .passes import BudgetState
from .policy import Policy
from .receipt_store import ReceiptStore
from .receipts import expand_receipt, get_receipt, receipt_of
from .recovered import Recovered
from .saved import Saved
from .tokens import Counter
from .walks import in_trace_order

SCOPES = {"task.ended": ("task_end",), "session.ended": ("task_end", "session_end")}


class ContextGC:
    """An agent's history that grows event by event and can be compacted at any time.

    `graph`: a StateGraph to start from; it is copied. `counter`: counts tokens in place of the policy's.
    `bus`: is told what happens, and ends tasks and sessions when told so. `store`: gets the receipt of
    everything that is cut, with the original, at each `compact`. `run_id`: names this history on the bus, in
    the store and on disk.
    """

    def __init__(
        self,
        policy: Policy | None = None,
        graph: StateGraph | None = None,
        counter: Counter | None = None,
        *,
        bus: ContextBus | None = None,
        store: ReceiptStore | None = None,
        run_id: str = "",
    ) -> None:
        self.policy = policy or Policy()
        self.run_id = run_id
        self._bus, self._store, self._stored = bus, store, 0
        start = StateGraph() if graph is None else in_trace_order(graph.copy())
        self._live = live_of(Engine(start, self.policy, counter), self._publish)
        self._saved: Saved | None = None
        folder = None if store is None else store.folder
        self._recovered = None if folder is None else Recovered(folder, run_id)
        self._resumed = False  # loaded, and not compacted since: the provider's cache is cold
        if bus is not None:
            for kind in SCOPES:
                bus.subscribe(kind, self._hear(kind))

    def add_event(self, event: Event) -> None:
        """Append one event; a copy is kept. An event that is refused leaves no trace.

        Raises:
            InvalidEvent, DuplicateEvent, UnknownParent: what is wrong with the event.
        """
        self.extend((event,))

    def extend(self, events: Iterable[Event]) -> None:
        """Append events in order, all or none. Raises as `add_event` does."""
        start = len(self._graph)
        self._graph.extend(events, parents_first=True)
        if self._bus is not None:
            for event in self._graph.events[start:]:
                self._publish("event.added", {"event_id": event["id"], "type": event["type"]})

    def compact(self, force: bool = False, cold: bool = False) -> Compaction:
        """The prompt for the next model call. Compacting twice gives the same.

        Without a budget all that is dead goes. With one, a pass is made when it is due; `force` makes one now
        if it frees anything, `cold` tells that the provider's prompt cache has expired. What an agent asked back
        through the MCP server since the last time is kept from now on, as by `restore`.
        """
        before = len(self._live.book.log)
        self._restore_recovered()
        self._live.advance(force, cold or self._resumed)
        self._resumed = False
        if self.policy.budget is None and len(self._live.book.log) > before:
            changed = {seq for seq, _ in self._live.book.log[before:]}
            cut = sorted(seq for seq in changed if seq in self._live.book and self._live.book[seq].cut)
            names = [self._graph.events[seq]["id"] for seq in cut]
            self._publish("compaction.committed", {"pass": None, "pruned_ids": names})
        self._keep_receipts()
        return Compaction(self._live, private=False)

    def look(self) -> Compaction:
        """How things stand with the events so far. Makes no pass and does not count as sent."""
        self._live.look()
        return Compaction(self._live, private=False)

    def record_usage(
        self, input_tokens: int, output_tokens: int = 0, cache_read: int = 0, cache_write: int = 0
    ) -> None:
        """Tell what the provider counted for the last prompt, so that the estimate is only of what came after.

        `input_tokens`: those neither read from nor written to the cache. What the model wrote counts once its
        events are added. Without a budget nothing follows from it.

        Raises:
            ValueError: a figure is negative or no whole number.
        """
        figures = input_tokens, output_tokens, cache_read, cache_write
        if not all(type(figure) is int and figure >= 0 for figure in figures):
            raise ValueError(f"usage: {figures} (give whole numbers of tokens from 0 on)")
        if isinstance(self._live, Budgeted):
            self._live.record_usage(input_tokens + cache_read + cache_write)

    @property
    def budget(self) -> BudgetState | None:
        """How the window stands with the events so far; None without a budget. Makes no pass."""
        self._live.look()
        return self._live.state

    def get_receipt(self, node_id: str) -> Event:
        """The event that was cut, with `pruned` set to True. Raises UnknownReceipt or NotPruned."""
        event = get_receipt(self._graph, node_id)
        self._publish("receipt.recovered", {"receipt_id": node_id, "event_ids": event.get("members", [event["id"]])})
        return event

    def expand_receipt(self, receipt_id: str) -> list[Event]:
        """All events that a stub stands for, as they were given. Raises UnknownReceipt or NotPruned."""
        events = expand_receipt(self._graph, receipt_id)
        self._publish("receipt.recovered", {"receipt_id": receipt_id, "event_ids": [event["id"] for event in events]})
        return events

    def restore(self, receipt_id: str) -> list[str]:
        """Bring an event, with its unit or cluster, back into the prompt at the next pass, and keep it there.

        Without a budget the next `compact` is that pass. Gives the ids that will be kept. Raises
        UnknownReceipt, or NotPruned for an event that stands in the prompt in full.
        """
        names = receipt_of(self._graph, receipt_id).event_ids
        units = self._live.engine.view.units
        leads = {units.lead(seq) for name in names if (seq := self._graph.seq(name)) is not None}
        places = sorted(seq for lead in leads for seq in units.members(lead))
        for seq in places:
            self._live.engine.pin(seq)
        return [self._graph.events[seq]["id"] for seq in places]

    def explain(self, event_id: str) -> Explanation:
        """Why an event is pruned, protected or kept, as of now. Raises KeyError for an unknown id."""
        return explain(self.look(), event_id)

    def end_task(self) -> None:
        """End the task: events retained until `task_end` are judged like all others from now on."""
        self._end("task.ended")

    def end_session(self) -> None:
        """End the session, and the task with it."""
        self._end("session.ended")

    def save(self, directory: str | os.PathLike[str]) -> None:
        """Save into a run directory, made when it is not there: events, receipts, policy and what was committed.

        A client without `run_id` gets one. Saving again appends what is new.

        Raises:
            SessionError, StoreError: what is there is damaged, or cannot be written.
        """
        if self._saved is None or self._saved.directory != os.path.abspath(directory):
            self._saved = Saved(directory, self.run_id)
            self.run_id = self._saved.run_id
            self._recovered = Recovered(directory, self.run_id)
        self._saved.write(self._live)

    @classmethod
    def load(
        cls,
        directory: str | os.PathLike[str],
        run_id: str = "",
        counter: Counter | None = None,
        *,
        bus: ContextBus | None = None,
        store: ReceiptStore | None = None,
    ) -> ContextGC:
        """The client that was saved: same prompt, receipts and passes. `run_id`: default the last run.

        Its prompt cache counts as expired at the first `compact`, if the policy commits when cold.

        Raises:
            SessionError: there is no such run, or it is damaged; a message names the file.
        """
        saved = Saved(directory, run_id, existing=True)
        client = cls(saved.policy, saved.graph(), counter, bus=bus, store=store, run_id=saved.run_id)
        saved.revive(client._live)
        client._saved, client._resumed = saved, True
        client._recovered = Recovered(directory, saved.run_id)
        return client

    # the bus and the store

    def _publish(self, kind: str, data: dict[str, Any]) -> None:
        if self._bus is not None:
            self._bus.publish(kind, {"run_id": self.run_id, **data})

    def _hear(self, kind: str) -> Any:
        def ended(data: dict[str, Any]) -> None:
            if data.get("run_id") in (None, "", self.run_id):
                self._end_scopes(kind)

        return ended

    def _end(self, kind: str) -> None:
        if self._bus is None:
            self._end_scopes(kind)
        else:
            self._publish(kind, {})

    def _end_scopes(self, kind: str) -> None:
        for scope in SCOPES[kind]:
            self._live.engine.end(scope)

    def _restore_recovered(self) -> None:
        names = [] if self._recovered is None else self._recovered.new()
        if names:
            self._live.look()
        for name in names:
            with suppress(UnknownReceipt):  # it is in the prompt, or the journal is another's
                self.restore(name)

    def _keep_receipts(self) -> None:
        if self._store is None:
            return
        log = self._live.book.log
        changed = sorted({seq for seq, _ in log[self._stored :]})
        self._stored = len(log)
        self._store.put_many(self._live.receipts(changed), self.run_id)

    @property
    def _graph(self) -> StateGraph:
        return self._live.engine.graph


def compact_events(
    events: Iterable[Event] | StateGraph, policy: Policy | None = None, counter: Counter | None = None
) -> Compaction:
    """Compact a whole trace: events in any order, or a graph that was filled directly.

    A parent that is missing is taken as none and named in `warnings`; parents may come later. `counter`
    counts tokens in place of the policy's. A policy with a budget makes one pass at the end of the trace, if
    one is due. Blind spot: compact the full history, not what an earlier compaction left of it; that has lost
    the events which abandons name.

    Raises:
        InvalidEvent, DuplicateEvent: an event is refused.
    """
    with collector_paused():
        if isinstance(events, StateGraph):
            graph = events.copy()
        else:
            graph = StateGraph()
            graph.extend(events)
        live = live_of(Engine(in_trace_order(graph), policy or Policy(), counter))
        live.advance()
    return Compaction(live, private=True)
