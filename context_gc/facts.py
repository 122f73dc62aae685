"""Facts: what the events of a trace did and whether that failed, worked out once for each."""

from __future__ import annotations

from collections.abc import Sequence

from .events import Event
from .outcomes import failed, text_of
from .semantics import Fact, semantics
from .shown import Lines, shown_lines
from .units import Units


class Facts:
    """By place; only what was asked for is kept."""

    def __init__(self, events: Sequence[Event], units: Units) -> None:
        self._events, self._units = events, units
        self._facts: dict[int, Fact | None] = {}
        self._lines: dict[int, Lines] = {}
        self._refused: dict[int, bool] = {}
        self._failed: dict[int, tuple[int, bool]] = {}  # lead -> results that were looked at, and what they say

    def of(self, seq: int) -> Fact | None:
        """The fact that an event states."""
        if seq not in self._facts:
            self._facts[seq] = semantics(self._events[seq])
        return self._facts[seq]

    def lines(self, seq: int) -> Lines:
        """The lines of a file that the answer at a place shows."""
        if seq not in self._lines:
            self._lines[seq] = shown_lines(text_of(self._events[seq]))
        return self._lines[seq]

    def refused(self, seq: int) -> bool:
        """Whether the answer at a place, or an act that holds its own outcome, says that it failed."""
        if seq not in self._refused:
            lead = self._units.lead(seq)
            self._refused[seq] = failed(self._events[lead], () if lead == seq else (self._events[seq],))
        return self._refused[seq]

    def failed(self, lead: int) -> bool:
        """Whether the unit of a call, or an act with its outcome, failed."""
        results = self._units.results(lead)
        known = self._failed.get(lead)
        if known is None or known[0] != len(results):
            verdict = failed(self._events[lead], [self._events[seq] for seq in results])
            known = self._failed[lead] = len(results), verdict
        return known[1]
