"""Receipts: what stands for a cut event, and getting the original back byte for byte."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .canonical import digest
from .decision import Decision
from .errors import NotPruned, UnknownReceipt
from .events import Event, is_label, label
from .graph import StateGraph


@dataclass(frozen=True, slots=True)
class Receipt:
    """The record of one cut: enough to recover the events and to prove that they are the original ones."""

    id: str
    stage: str
    reason: str
    because: tuple[str, ...]
    event_ids: tuple[str, ...]  #: one event, or the members of a cluster, in trace order
    sha256: tuple[str, ...]  #: of each event's canonical JSON, in the same order

    def verify(self, events: list[Event]) -> bool:
        """Whether these are the original events, compared by digest."""
        return tuple(map(digest, events)) == self.sha256


def receipt_of(graph: StateGraph, receipt_id: str) -> Receipt:
    """The receipt with this id. Raises UnknownReceipt, or NotPruned when the event is in the prompt."""
    members = _members(graph, receipt_id)
    first = graph.decisions[members[0]]
    shas = tuple(digest(graph.event(name)) for name in members)
    return Receipt(first.receipt_id, first.stage, first.reason, first.because, tuple(members), shas)


def get_receipt(graph: StateGraph, node_id: str) -> Event:
    """The event that was cut, as it was given, with `pruned` set to True; for a cluster its member ids.

    Raises:
        UnknownReceipt: a KeyError; nothing has this id.
        NotPruned: an UnknownReceipt; the event is still in the prompt.
    """
    members = _members(graph, node_id)
    decision = graph.decisions[members[0]]
    if decision.cluster is not None and decision.cluster == _name(graph, node_id):
        return {
            "id": decision.cluster,
            "type": "receipt",
            "members": members,
            "reason": decision.reason,
            "pruned": True,
        }
    return {**graph.event(members[0]), "pruned": True}


def expand_receipt(graph: StateGraph, receipt_id: str) -> list[Event]:
    """Everything that the stub with this id stands for, in trace order, each event exactly as it was given.

    A stub `[RECEIPT a01] +8` gives the whole run of nine, a cluster's stub all of its members. Raises as
    `get_receipt` does.
    """
    name = _name(graph, receipt_id)
    chosen = dict.fromkeys(_members(graph, receipt_id))
    for run in runs(graph):
        if graph.decisions[run[0]].receipt_id == name:
            for event_id in run:
                cluster = graph.decisions[event_id].cluster
                chosen |= dict.fromkeys(_members(graph, cluster) if cluster else [event_id])
    return [graph.event(event_id) for event_id in sorted(chosen, key=lambda each: graph.seq(each) or 0)]


def runs(graph: StateGraph) -> Iterator[list[str]]:
    """The ids of each stretch of adjacent cut events; one stub stands for each."""
    run: list[str] = []
    for event_id in graph:
        if _is_cut(graph.decisions.get(event_id)):
            run.append(event_id)
        elif run:
            yield run
            run = []
    if run:
        yield run


def _is_cut(decision: Decision | None) -> bool:
    return decision is not None and decision.kept is None


def _members(graph: StateGraph, receipt_id: str) -> list[str]:
    name = _name(graph, receipt_id)
    if name in graph:
        if _is_cut(graph.decisions.get(name)):
            return [name]
        raise NotPruned(f"receipt {receipt_id!r}", "was never pruned", "the event is in the prompt")
    members = [each for each in graph.decisions if graph.decisions[each].cluster == name]
    if not members:
        raise UnknownReceipt(
            f"receipt {receipt_id!r}", "there is none with this id", "ids stand in the stubs of the prompt"
        )
    return members


def _name(graph: StateGraph, receipt_id: str) -> str:
    """The event id that a stub's label stands for: a label differs from the id only for unsafe ids."""
    if not is_label(receipt_id):
        return receipt_id
    return next((name for name in graph if label(name) == receipt_id), receipt_id)
