"""Compaction: the result of one compaction, a read-only mapping whose values are worked out when asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any

from .canonical import own
from .decision import Decision
from .engine import Engine
from .events import Event
from .graph import StateGraph
from .ledger import Ledger
from .meter import Meter
from .passes import BudgetState
from .policy import Policy
from .prompt import Prompt
from .receipts import Receipt, receipt_for
from .verdicts import Verdicts
from .warnings import warnings


class Live:
    """An engine with its ledger and prompt, moving on together: what is found dead is cut at once."""

    def __init__(self, engine: Engine, book: Verdicts | None = None) -> None:
        self.engine = engine
        self.meter = Meter(engine.graph.events, engine.counter)
        self.book = engine.verdicts if book is None else book  #: what the prompt follows
        self.ledger = Ledger(engine, self.book)
        self.prompt = self.blank(self.ledger)
        self._read = 0
        engine.graph.decisions = self.ledger

    def blank(self, ledger: Ledger) -> Prompt:
        """A prompt that has not taken in any event yet."""
        return Prompt(self.engine.graph.events, ledger, self.engine.policy, self.meter)

    def advance(self, force: bool = False, cold: bool = False) -> None:
        """Bring verdicts and prompt up to date with the graph."""
        self.engine.advance()
        self.render()

    def render(self) -> None:
        """Bring the prompt up to date with the book."""
        changed = {seq for seq, _ in self.book.log[self._read :]}
        self._read = len(self.book.log)
        self.prompt.update(self.engine.taken, changed, self.book)

    def follow(self, prompt: Prompt) -> None:
        """Go on with another prompt that shows what the book says."""
        self.ledger, self.prompt, self._read = prompt.ledger, prompt, len(self.book.log)
        self.ledger.verdicts = self.book
        self.engine.graph.decisions = self.ledger

    def look(self) -> None:
        """Take in new events; under a budget without a pass."""
        self.advance()

    def receipts(self, places: Iterable[int]) -> Iterator[tuple[Receipt, list[Event]]]:
        """The receipt, and the originals, of what is cut or clipped among these places.

        Also of what a style of stubs shows in full for now.
        """
        clusters = self.ledger.clusters
        told: set[str] = set()
        for seq in places:
            verdict, cluster = self.book.get(seq), clusters.get(seq)
            if verdict is None or verdict.held is not None or cluster in told:
                continue
            members = [seq] if cluster is None else [place for place in sorted(clusters) if clusters[place] == cluster]
            told.update(() if cluster is None else (cluster,))
            events = [own(self.engine.graph.events[place]) for place in members]
            yield receipt_for([self.ledger.decision(place) for place in members], events, self.meter.counter), events

    @property
    def settled(self) -> frozenset[int] | None:
        """Places that stand in full although they are cut, where that was settled earlier; None: it never is."""
        return None

    @property
    def state(self) -> BudgetState | None:
        """How the window stands; None without a budget."""
        return None


class Compaction(Mapping[str, Any]):
    """What one compaction gave. It stays as it was: later events do not change it.

    Keys: `prompt` (str), `tokens_before`, `tokens_after` (int), `receipts` (ids of receipts in trace order),
    `pruned_ids`, `protected_ids`, `compact_events` (copies of the surviving events), `decisions` (as dicts,
    also those about events that are kept), `stubs` (each with its text and the events it stands for),
    `warnings` (str), `budget` (how the window stands, with all passes; None without a budget), `graph`
    (StateGraph). All but `graph` are JSON values. What is clipped has a receipt and is not in `pruned_ids`;
    in `compact_events` it stands in full.
    """

    def __init__(self, live: Live, private: bool) -> None:
        self._live = live
        self._private = private  # nobody else holds the graph
        self._moment, self._version = live.engine.guard.moment, len(live.book.log)
        self._size = self._moment.size
        self._budget, self._settled = live.state, live.settled
        self._values: dict[str, Any] = {}

    def __getitem__(self, key: str) -> Any:
        if key not in self._values:
            self._values[key] = _VALUES[key](self)
        return self._values[key]

    def __iter__(self) -> Iterator[str]:
        return iter(_VALUES)

    def __len__(self) -> int:
        return len(_VALUES)

    def __repr__(self) -> str:
        return f"<Compaction of {self._size} events: {len(self['pruned_ids'])} pruned>"

    def event(self, event_id: str) -> Event:
        """A copy of an event. Raises KeyError for an id that is not part of this compaction."""
        self._seq(event_id)
        return self._live.engine.graph.event(event_id)

    def decision(self, event_id: str) -> Decision | None:
        """What was found about an event, also when it is kept; None when nothing was."""
        return self._ledger.get(event_id)

    def protected(self, event_id: str) -> str | None:
        """What protects an event, such as "importance=critical"; None when nothing does."""
        return self._live.engine.protected(self._seq(event_id), self._moment)

    def impact(self, event_id: str) -> int:
        """Tokens that the event's fate adds to the full history, its share of the stub included."""
        return self.layout.impact(self._seq(event_id))

    def tokens(self, event_id: str) -> int:
        """Tokens of the event in the full history."""
        seq = self._seq(event_id)
        return self.layout.tokens(seq) - self.layout.impact(seq)

    def _seq(self, event_id: str) -> int:
        seq = self._live.engine.graph.seq(event_id)
        if seq is None or seq >= self._size:
            raise KeyError(event_id)
        return seq

    @property
    def events(self) -> Sequence[Event]:
        """The events of this compaction in trace order: read them, never change them."""
        events = self._live.engine.graph.events
        return events if len(events) == self._size else events[: self._size]

    @property
    def policy(self) -> Policy:
        """The policy that it was made under."""
        return self._live.engine.policy

    @property
    def layout(self) -> Prompt:
        """The prompt laid out: what stands at each event's place."""
        return self._state[1]

    @property
    def _ledger(self) -> Ledger:
        return self._state[0]

    @property
    def _state(self) -> tuple[Ledger, Prompt]:
        if (self._live.engine.taken, len(self._live.book.log)) == (self._size, self._version):
            return self._live.ledger, self._live.prompt
        return self._past

    @cached_property
    def _past(self) -> tuple[Ledger, Prompt]:
        """What it was, worked out anew: its client has moved on since."""
        verdicts = self._live.book.at(self._version)
        ledger = Ledger(self._live.engine, verdicts)
        prompt = self._live.blank(ledger)
        if self._settled is not None:
            prompt.shown.update(self._settled)
            prompt.sent = self._size
        prompt.update(self._size, (), verdicts)
        return ledger, prompt

    def _cut(self) -> list[Decision]:
        return [each for each in map(self._ledger.__getitem__, self._ledger) if each.cut]

    def _receipts(self) -> list[str]:
        found = map(self._ledger.__getitem__, self._ledger)
        return list(dict.fromkeys(each.receipt_id for each in found if each.kept is None))

    def _survivors(self) -> list[Event]:
        cut = {each.event_id for each in self._cut()}
        return [own(event) for event in self.events if event["id"] not in cut]

    def _protected_ids(self) -> list[str]:
        engine = self._live.engine
        return [event["id"] for seq, event in enumerate(self.events) if engine.protected(seq, self._moment)]

    def _stubs(self) -> list[dict[str, Any]]:
        prompt, events, ledger = self.layout, self.events, self._ledger
        told = []
        for start, end in prompt.runs:
            if start not in prompt.shown:
                ids = [events[seq]["id"] for seq in range(start, end + 1)]
                receipts = list(dict.fromkeys(ledger[name].receipt_id for name in ids))
                told.append({"text": prompt.slot(start) or "", "receipts": receipts, "event_ids": ids})
        return told

    def _graph(self) -> StateGraph:
        if self._private:
            return self._live.engine.graph
        graph = self._live.engine.graph.copy(self._size)
        graph.decisions = MappingProxyType(dict(self._ledger))
        return graph


_VALUES: Mapping[str, Callable[[Compaction], Any]] = {
    "prompt": lambda self: self.layout.text,
    "tokens_before": lambda self: self.layout.tokens_before,
    "tokens_after": lambda self: self.layout.tokens_after,
    "receipts": Compaction._receipts,
    "pruned_ids": lambda self: [each.event_id for each in self._cut()],
    "protected_ids": Compaction._protected_ids,
    "compact_events": Compaction._survivors,
    "decisions": lambda self: [self._ledger[name].to_dict() for name in self._ledger],
    "stubs": Compaction._stubs,
    "warnings": lambda self: warnings(self.events),
    "budget": lambda self: None if self._budget is None else self._budget.to_dict(),
    "graph": Compaction._graph,
}
