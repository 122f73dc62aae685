"""Walks over a graph along `sequence` edges. None recurses; each is linear in what it visits."""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Iterator, Sequence

from .graph import StateGraph


def in_trace_order(graph: StateGraph) -> StateGraph:
    """The graph with every parent before its children.

    The order of arrival is the order of a trace. Only where a parent came behind its child (so that the
    order of arrival means nothing) events are sorted by timestamp, ties by arrival, parents first.
    Within a cycle the timestamp decides alone.
    """
    if not graph.backward:
        return graph
    events = graph.events
    ring = {seq: number for number, members in enumerate(cycles(graph)) for seq in members}
    order: list[int] = []
    placed = bytearray(len(graph))  # 1: its parents are being placed, 2: placed
    for start in sorted(range(len(graph)), key=lambda seq: (events[seq]["timestamp"], seq)):
        stack = [start]
        while stack:
            seq = stack[-1]
            waiting = [] if placed[seq] else [p for p in graph.parents(seq) if not placed[p]]
            if seq in ring:
                waiting = [place for place in waiting if ring.get(place) != ring[seq]]
            if waiting:
                placed[seq] = 1
                stack += reversed(waiting)
                continue
            stack.pop()
            if placed[seq] < 2:
                placed[seq] = 2
                order.append(seq)
    return graph.reordered(order)


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
