"""Cycles: events that hang below each other in a ring collapse to one receipt."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import ClassVar

from ..events import EVENT_TYPES, Event
from .view import View


class Cycles:
    """Each strongly connected component of two and more events on `sequence` edges is one cluster.

    What protection keeps, and what an earlier stage needs as a witness, stays out of the cluster. Traces
    that were appended event by event have no cycles; graphs that were filled by hand may.
    """

    name: ClassVar[str] = "cycles"
    rationale: ClassVar[str] = "These events form a loop; one receipt stands for all of them."

    def types(self, view: View) -> Sequence[str]:
        return EVENT_TYPES if view.rings else ()

    def key(self, event: Event, seq: int, view: View) -> Hashable | None:
        return view.rings.get(seq)

    def judge(self, group: Sequence[int], fresh: int, view: View) -> Iterator[tuple[int, int]]:
        if len(group) > 1:
            for seq in group:
                yield seq, seq

    def reason(self, event: Event, witness: Event) -> str:
        return "collapsed into cycle cluster"
