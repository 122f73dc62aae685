"""StateGraph: events as nodes, typed edges between them; what was cut is known beside it, never in it.

Nodes stand in trace order and are only ever added. The edges `sequence`, `answers`, `abandons` and
`relates` follow from the events' own fields, `supersedes` from the decisions; `add_edge` adds others.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from .canonical import ATOMS, own
from .decision import Decision
from .errors import DuplicateEvent, InvalidEvent, UnknownParent
from .events import PLAIN_SIZE, Event, validate_event
from .units import Units

if TYPE_CHECKING:
    import networkx

_STRUCTURED = {
    "set_var": ("value",),
    "tool_call": ("arguments",),
    "tool_result": ("result",),
    "abandon": ("ref_to",),
    "test_run": ("test_names",),
    "git_diff": ("files_changed",),
}
EDGE_KINDS = ("sequence", "answers", "supersedes", "abandons", "relates")


class Edge(NamedTuple):
    """An edge by the ids of its ends; `kind` is one of EDGE_KINDS."""

    source: str
    target: str
    kind: str


class StateGraph:
    """A directed multigraph of events. Holds private copies: what is passed in is never changed or kept."""

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._seq: dict[str, int] = {}
        self._edges: list[tuple[int, int, str]] = []
        self._joined: dict[int, list[int]] = {}  # added `sequence` edges, by target
        self._joined_to: dict[int, list[int]] = {}  # and by source
        self._parent = array("q")  # the place of each event's parent, -1 while there is none
        self._unresolved: list[int] = []  # events whose parent was not there when they came
        self._first_child = array("q")  # children as linked lists, made when first asked for
        self._next_sibling = array("q")
        self.decisions: Mapping[str, Decision] = MappingProxyType({})  #: by event id; set by the engine

    # filling

    def add_node(self, event: Event) -> None:
        """Add an event; its parent may come later or never. Raises InvalidEvent or DuplicateEvent."""
        self.extend((event,))

    def add_edge(self, source: str, target: str, kind: str = "sequence") -> None:
        """Join two events that are there. Raises InvalidEvent for an unknown end or kind."""
        for end in (source, target):
            if end not in self._seq:
                raise InvalidEvent("edge", f"no event {end!r}", "add the node first", event_id=end)
        if kind not in EDGE_KINDS:
            raise InvalidEvent("edge", f"kind {kind!r} is unknown", "known: " + ", ".join(EDGE_KINDS))
        first, second = self._seq[source], self._seq[target]
        self._edges.append((first, second, kind))
        if kind == "sequence":
            self._joined.setdefault(second, []).append(first)
            if first != second:
                self._joined_to.setdefault(first, []).append(second)

    def extend(self, events: Iterable[Event], parents_first: bool = False) -> None:
        """Add events in order, all or none.

        Raises:
            InvalidEvent, DuplicateEvent: an event is refused; with `parents_first` also UnknownParent.
        """
        start = len(self._events)
        try:
            self._extend(events, parents_first)
        except BaseException:
            for event in self._events[start:]:
                self._seq.pop(event["id"], None)
            del self._events[start:], self._parent[start:]
            self._unresolved = [seq for seq in self._unresolved if seq < start]
            raise

    def _extend(self, events: Iterable[Event], parents_first: bool) -> None:
        table, nodes, above = self._seq, self._events, self._parent.append
        for event in events:
            validate_event(event)
            name = event["id"]
            if name in table:
                raise DuplicateEvent(f"event {name!r}", "an event with this id is already there", event_id=name)
            parent = event.get("parent_id")
            place = -1 if parent is None else table.get(parent, -1)
            if place < 0 and parent is not None:
                if parents_first:
                    problem = "is its own parent" if parent == name else f"parent {parent!r} is not there"
                    raise UnknownParent(f"event {name!r}", problem, "add the parent first", event_id=name)
                self._unresolved.append(len(nodes))
            nodes.append(_private(event))
            table[name] = len(nodes) - 1
            above(place)

    # reading

    def __len__(self) -> int:
        return len(self._events)

    def __contains__(self, event_id: object) -> bool:
        return event_id in self._seq

    def __iter__(self) -> Iterator[str]:
        """Event ids in trace order."""
        return iter(self._seq)

    def event(self, event_id: str) -> Event:
        """A copy of the event as it was given. Raises KeyError for an unknown id."""
        copy: Event = own(self._events[self._seq[event_id]])
        return copy

    @property
    def events(self) -> Sequence[Event]:
        """The events themselves in trace order: read them, never change them."""
        return self._events

    def seq(self, event_id: str) -> int | None:
        """The place of an event in the trace, from 0; None when it is not there."""
        return self._seq.get(event_id)

    def parents(self, seq: int) -> list[int]:
        """The places of the events before one along `sequence` edges; never the event itself."""
        return [place for place in (self._place_of_parent(seq), *self._joined.get(seq, ())) if place not in (-1, seq)]

    def _place_of_parent(self, seq: int) -> int:
        place = self._parent[seq]
        if place < 0 and self._unresolved:
            place = self._parent[seq] = self._seq.get(self._events[seq].get("parent_id") or "", -1)
        return place

    def children(self, seq: int) -> Iterator[int]:
        """The places of the events after one along `sequence` edges, in no order of meaning."""
        self._adopt()
        child = self._first_child[seq]
        while child >= 0:
            yield child
            child = self._next_sibling[child]
        yield from self._joined_to.get(seq, ())

    def _adopt(self) -> None:
        """Link the events that came since to their parents; a child is linked when both are there."""
        first, after, size = self._first_child, self._next_sibling, len(self._events)
        start = len(first)
        if start == size:
            return
        first.extend([-1] * (size - start))
        after.extend([-1] * (size - start))
        late = [seq for seq in self._unresolved if seq < start <= self._place_of_parent(seq)]
        for seq in self._unresolved:
            self._place_of_parent(seq)
        for seq in chain(late, range(start, size)):
            parent = self._parent[seq]
            if parent >= 0 and parent != seq:
                after[seq] = first[parent]
                first[parent] = seq

    @property
    def added_edges(self) -> list[tuple[str, str, str]]:
        """(source id, target id, kind) of each edge that `add_edge` made, in order."""
        name = [event["id"] for event in self._events]
        return [(name[first], name[second], kind) for first, second, kind in self._edges]

    @property
    def backward(self) -> list[int]:
        """The places of events that have a parent behind them: only they can close a cycle."""
        late = [seq for seq in self._unresolved if max(self.parents(seq), default=-1) > seq]
        return sorted({*late, *(seq for seq, before in self._joined.items() if max(before) > seq)})

    def copy(self, size: int | None = None) -> StateGraph:
        """The first `size` events (default: all) with the edges between them; shares nothing that can change."""
        graph = self.reordered(range(len(self) if size is None else size))
        graph.decisions = MappingProxyType(dict(self.decisions))
        return graph

    def reordered(self, order: Iterable[int]) -> StateGraph:
        """The events at these places in this order, with the edges between them, undecided."""
        graph = StateGraph()
        graph.extend(self._events[seq] for seq in order)
        for source, target, kind in self._edges:
            ends = self._events[source]["id"], self._events[target]["id"]
            if ends[0] in graph and ends[1] in graph:
                graph.add_edge(*ends, kind)
        return graph

    def edges(self) -> Iterator[Edge]:
        """Every edge, in trace order of the events that they follow from; ends that are not there are left out."""
        units = Units.of(self._events)
        for seq, event in enumerate(self._events):
            name = event["id"]
            for kind, source, target in _implied(event):
                if source != target and source in self._seq and target in self._seq:
                    yield Edge(source, target, kind)
            if (call := units.lead(seq)) != seq:
                yield Edge(self._events[call]["id"], name, "answers")
            decision = self.decisions.get(name)
            if decision is not None and decision.stage != "dead-branches":
                for survivor in decision.because:
                    yield Edge(survivor, name, "supersedes")
        for first, second, kind in self._edges:
            yield Edge(self._events[first]["id"], self._events[second]["id"], kind)

    def to_networkx(self) -> networkx.MultiDiGraph[str]:
        """The graph as a networkx MultiDiGraph: node attribute `event`, edge key and attribute `kind`."""
        import networkx

        graph: networkx.MultiDiGraph[str] = networkx.MultiDiGraph()
        graph.add_nodes_from((name, {"event": self.event(name)}) for name in self._seq)
        for source, target, kind in self.edges():
            graph.add_edge(source, target, kind, kind=kind)
        return graph


def _implied(event: Event) -> Iterator[tuple[str, str, str]]:
    """(kind, source id, target id) of the edges that an event's own fields state."""
    name, kind = event["id"], event["type"]
    if event.get("parent_id") is not None:
        yield "sequence", event["parent_id"], name
    if kind == "abandon":
        for target in event["ref_to"]:
            yield "abandons", name, target
    elif kind == "error" and event.get("related_to") is not None:
        yield "relates", name, event["related_to"]


def _private(event: Event) -> Event:
    """A copy that shares nothing that can change. A plain event has at most one field with a structure."""
    copy, kind = event.copy(), event["type"]
    plain = len(event) - ("parent_id" in event) == PLAIN_SIZE[kind]
    fields = _STRUCTURED.get(kind) if plain else event
    if fields is None:
        return copy
    try:
        for field in fields:
            if type(copy[field]) not in ATOMS:
                copy[field] = own(copy[field])
    except TypeError as error:
        raise InvalidEvent(
            f"event {event['id']!r}", f"it holds {error}", "use JSON values", event_id=event["id"]
        ) from None
    return copy
