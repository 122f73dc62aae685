"""Guard: what keeps each event in the prompt as things stand, and as they stood."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from .events import Event
from .policy import Policy
from .protection import protection, retention
from .turns import Turns


class Moment(NamedTuple):
    """What protection depends on besides the events and the policy, at one time."""

    size: int  #: events in the trace
    ended: Mapping[str, int]
    pinned: frozenset[int]
    recent: int


class Guard:
    """The policy's rules, `retain_until` while its scope lasts, what was restored, and the last turns."""

    def __init__(self, events: Sequence[Event], policy: Policy) -> None:
        self.ended: dict[str, int] = {}  #: scope -> place up to which it has ended
        self.pinned: set[int] = set()  #: places of events that were brought back and stay
        self.recent = 0  #: from this place on events belong to the last turns that the policy protects
        self._events = events
        self._policy = policy
        self._turns = Turns()
        self._starts: list[int] = []
        self._taken = 0

    def advance(self) -> range:
        """Take in new events; gives the places that are no longer of the last turns."""
        kept, before = self._policy.protect_recent, self.recent
        if kept:
            for seq, event in enumerate(self._events[self._taken :], self._taken):
                if self._turns.take(event) > len(self._starts):
                    self._starts.append(seq)
            self.recent = self._starts[-kept] if kept <= len(self._starts) else 0
        self._taken = len(self._events)
        return range(before, self.recent)

    @property
    def moment(self) -> Moment:
        """How things stand."""
        return Moment(self._taken, dict(self.ended), frozenset(self.pinned), self.recent)

    def reason(self, seq: int, then: Moment | None = None) -> str | None:
        """What keeps an event, such as "importance=critical"; as things stand or stood at a moment."""
        event, at = self._events[seq], then or self
        reason = protection(event, self._policy) or retention(event, seq, at.ended)
        if reason is None and seq in at.pinned:
            return "restored"
        if reason is None and self._policy.protect_recent and seq >= at.recent:
            turns = self._policy.protect_recent
            return f"one of the last {turns} turns" if turns > 1 else "the last turn"
        return reason
