"""Receipts: what stands for a cut event, and getting the original back byte for byte."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .canonical import digest
from .decision import Decision
from .errors import NotPruned, UnknownReceipt
from .events import Event, is_label, label
from .graph import StateGraph
from .meter import event_tokens
from .tokens import COUNTERS, Counter


@dataclass(frozen=True, slots=True)
class Receipt:
    """The record of one cut: enough to recover the events and to prove that they are the original ones."""

    id: str
    stage: str
    reason: str
    because: tuple[str, ...]
    event_ids: tuple[str, ...]  #: one event, or the members of a cluster, in trace order
    tokens: int  #: of these events in the full history
    sha256: tuple[str, ...]  #: of each event's canonical JSON, in the same order

    def verify(self, events: list[Event]) -> bool:
        """Whether these are the events of `event_ids` as they were, compared by digest."""
        return tuple(map(digest, events)) == self.sha256


def receipt_of(graph: StateGraph, receipt_id: str, counter: Counter = COUNTERS["o200k"]) -> Receipt:
    """The receipt with this id. Raises UnknownReceipt, or NotPruned when the event is in the prompt."""
    found = _decisions(graph, receipt_id)
    return receipt_for(found, [graph.event(each.event_id) for each in found], counter)


def receipt_for(decisions: Sequence[Decision], events: Sequence[Event], counter: Counter) -> Receipt:
    """The receipt of one decision, or of all those of a cluster, with the events that they are about."""
    first, names = decisions[0], tuple(each.event_id for each in decisions)
    tokens = sum(event_tokens(event, counter) for event in events)
    return Receipt(
        first.receipt_id, first.stage, first.reason, first.because, names, tokens, tuple(map(digest, events))
    )


def get_receipt(graph: StateGraph, node_id: str) -> Event:
    """The event that was cut, as it was given, with `pruned` set to True; for a cluster its member ids.

    Raises:
        UnknownReceipt: a KeyError; nothing has this id.
        NotPruned: an UnknownReceipt; the event is still in the prompt.
    """
    found = _decisions(graph, node_id)
    if found[0].cluster == node_id:
        told = {"members": [each.event_id for each in found], "reason": found[0].reason, "pruned": True}
        return {"id": node_id, "type": "receipt", **told}
    return {**graph.event(found[0].event_id), "pruned": True}


def expand_receipt(graph: StateGraph, receipt_id: str) -> list[Event]:
    """Everything that the stub with this id stands for, in trace order, each event exactly as it was given.

    A stub `[RECEIPT a01] +8` gives the whole run of nine, a cluster's stub all of its members. Raises as
    `get_receipt` does.
    """
    found = _decisions(graph, receipt_id)
    shown = receipt_id if found[0].cluster == receipt_id else label(found[0].event_id)
    chosen = {each.event_id for each in found}
    clusters: dict[str, list[str]] = {}
    opened: set[str] = set()
    for run in runs(graph):
        for decision in run:
            if decision.cluster is not None:
                clusters.setdefault(decision.cluster, []).append(decision.event_id)
        if run[0].label == shown:
            chosen.update(decision.event_id for decision in run)
            opened.update(decision.cluster for decision in run if decision.cluster is not None)
    for cluster in opened:
        chosen.update(clusters[cluster])
    return [graph.event(event_id) for event_id in graph if event_id in chosen]


def runs(graph: StateGraph) -> Iterator[list[Decision]]:
    """The decisions of each stretch of adjacent cut events; one stub stands for each."""
    run: list[Decision] = []
    for event_id in graph:
        decision = graph.decisions.get(event_id)
        if decision is not None and decision.cut:
            if decision.seam and run:
                yield run
                run = []
            run.append(decision)
        elif run:
            yield run
            run = []
    if run:
        yield run


def _decisions(graph: StateGraph, receipt_id: str) -> list[Decision]:
    """The decisions that a receipt covers. An id that looks like a stub's label is taken as one first."""
    name = receipt_id
    if is_label(receipt_id):
        cluster = [each for each in graph.decisions.values() if each.cluster == receipt_id and each.cut]
        if cluster:
            return cluster
        name = next((each for each in graph if label(each) == receipt_id), receipt_id)
    decision = graph.decisions.get(name)
    if decision is not None and decision.kept is None:
        return [decision]
    if name in graph:
        raise NotPruned(f"receipt {receipt_id!r}", "was never pruned", "the event is in the prompt")
    raise UnknownReceipt(f"receipt {receipt_id!r}", "there is none with this id", "stubs in the prompt show ids")
