"""Walks over a graph along `sequence` edges. None recurses; each is linear in what it visits."""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Iterator, Sequence
from heapq import heapify, heappop, heappush
from itertools import pairwise

from .graph import StateGraph


def in_trace_order(graph: StateGraph) -> StateGraph:
    """The graph with every parent before its children.

    The order of arrival is the order of a trace. Only where a parent came behind its child (so that the
    order of arrival means nothing) events are sorted by timestamp, ties by arrival, parents first.
    Within a cycle the timestamp decides alone.
    """
    if not graph.backward:
        return graph
    before = _before(graph)
    after: dict[int, list[int]] = {}
    waits = [len(places) for places in before]
    for seq, places in enumerate(before):
        for place in places:
            after.setdefault(place, []).append(seq)
    times = [event["timestamp"] for event in graph.events]
    ready = [(times[seq], seq) for seq, count in enumerate(waits) if not count]
    heapify(ready)
    order: list[int] = []
    while ready:
        seq = heappop(ready)[1]
        order.append(seq)
        for child in after.get(seq, ()):
            waits[child] -= 1
            if not waits[child]:
                heappush(ready, (times[child], child))
    return graph.reordered(order)


def _before(graph: StateGraph) -> list[set[int]]:
    """What has to stand before each event: its parents; in a ring the member that is next older instead."""
    before = [set(graph.parents(seq)) for seq in range(len(graph))]
    for members in cycles(graph):
        ring = set(members)
        chain = sorted(members, key=lambda seq: (graph.events[seq]["timestamp"], seq))
        for seq in members:
            before[seq] -= ring
        for older, newer in pairwise(chain):
            before[newer].add(older)
    return before


def below(graph: StateGraph, start: int, stop: int) -> Iterator[int]:
    """Every event at or below `start` that stands before place `stop`; `start` itself wherever it stands."""
    seen = {start}
    stack = [start]
    while stack:
        seq = stack.pop()
        yield seq
        for child in graph.children(seq):
            if child < stop and child not in seen:
                seen.add(child)
                stack.append(child)


def cycles(graph: StateGraph) -> list[Sequence[int]]:
    """The strongly connected components of two and more events, each in trace order (Tarjan 1972)."""
    if not graph.backward:
        return []
    found: list[Sequence[int]] = []
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    path: list[int] = []
    on_path: set[int] = set()
    for root in range(len(graph)):
        if root in index:
            continue
        work = [(root, iter(graph.children(root)))]
        index[root] = low[root] = len(index)
        path.append(root)
        on_path.add(root)
        while work:
            seq, children = work[-1]
            for child in children:
                if child not in index:
                    index[child] = low[child] = len(index)
                    path.append(child)
                    on_path.add(child)
                    work.append((child, iter(graph.children(child))))
                    break
                if child in on_path:
                    low[seq] = min(low[seq], index[child])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[seq])
                if low[seq] == index[seq]:
                    members = [path.pop()]
                    while members[-1] != seq:
                        members.append(path.pop())
                    on_path.difference_update(members)
                    if len(members) > 1:
                        found.append(sorted(members))
    return found


def above(graph: StateGraph, seq: int, until: Container[int] = ()) -> Iterator[int]:
    """Every event on a path of `sequence` edges down to this one, nearest first; not the event itself.

    What lies above an event of `until` is left out.
    """
    seen = {seq}
    queue = deque([seq])
    while queue:
        place = queue.popleft()
        if place != seq:
            yield place
            if place in until:
                continue
        for parent in graph.parents(place):
            if parent not in seen:
                seen.add(parent)
                queue.append(parent)
