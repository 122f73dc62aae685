"""Runs: maximal stretches of adjacent cut events, by place. Adding to a run costs the same however long it is."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator


class Runs:
    """Disjoint intervals [start, end] over places, merged where they touch."""

    def __init__(self) -> None:
        self._end: dict[int, int] = {}
        self._start: dict[int, int] = {}
        self._in: set[int] = set()
        self.seams: set[int] = set()  #: places where a run may begin and never join the one before

    def __contains__(self, seq: int) -> bool:
        return seq in self._in

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """(start, end) of each run, in order."""
        return iter(sorted(self._end.items()))

    def add(self, seq: int) -> int:
        """Cut one more event; gives the start of its run."""
        self._in.add(seq)
        start, end = seq, seq
        if seq - 1 in self._start and seq not in self.seams:
            start = self._start.pop(seq - 1)
        if seq + 1 in self._end and seq + 1 not in self.seams:
            end = self._end.pop(seq + 1)
        self._end[start], self._start[end] = end, start
        return start

    def append(self, start: int, end: int) -> None:
        """Cut a stretch behind all that was seen so far; it joins the run before it where it touches one."""
        self._in.update(range(start, end + 1))
        if start - 1 in self._start and start not in self.seams:
            start = self._start.pop(start - 1)
        self._end[start], self._start[end] = end, start

    def discard(self, seq: int) -> None:
        """Bring an event back: its run ends before it, and a new one begins behind it."""
        start = self.start(seq)
        end = self._end.pop(start)
        del self._start[end]
        self._in.discard(seq)
        if start < seq:
            self._end[start], self._start[seq - 1] = seq - 1, start
        if seq < end:
            self._end[seq + 1], self._start[end] = end, seq + 1

    def start(self, seq: int) -> int:
        """The start of the run that an event is in; costs the way there."""
        while seq not in self._end:
            seq -= 1
        return seq

    def heads(self, places: Iterable[int]) -> set[int]:
        """The starts of the runs that any of these places is in."""
        inside = [place for place in places if place in self._in]
        starts = sorted(self._end) if inside else []
        return {starts[bisect_right(starts, place) - 1] for place in inside}

    def end(self, start: int) -> int | None:
        """The end of the run that starts here; None when none does."""
        return self._end.get(start)
