"""Policies as methods of a replay: what `ContextGC` would have sent at each model call."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..budgeted import live_of
from ..engine import Engine
from ..events import Event
from ..graph import StateGraph
from ..passes import Pass
from ..policy import Policy
from ..tokens import Counter
from .calls import Stretch
from .slots import Course


class PolicyCourse:
    """Events of one window under a policy, taken in as an agent's loop would: extend, compact, extend …"""

    def __init__(self, events: Sequence[Event], policy: Policy, counter: Counter | None = None) -> None:
        self._events = events
        self._graph = StateGraph()
        self.live = live_of(Engine(self._graph, policy, counter))
        self._size = 0
        self._edits = 0  # of this prompt's edits, those that were told

    def advance(self, size: int, cold: bool) -> Iterable[int]:
        """Compact before a call; the places of the prompt that were written anew."""
        self._graph.extend(self._events[self._size : size], parents_first=True)
        before, start = self.live.prompt, self._size
        self.live.advance(cold=cold)
        self._size, prompt = size, self.live.prompt
        changed = prompt.edits[self._edits :] if prompt is before else range(start)
        self._edits = len(prompt.edits)
        return changed

    def slot(self, seq: int) -> str | None:
        """What stands at an event's place."""
        return self.live.prompt.slot(seq)

    def tokens(self, seq: int) -> int:
        """Tokens of it."""
        return self.live.prompt.tokens(seq)

    @property
    def passes(self) -> tuple[Pass, ...]:
        """All passes so far."""
        state = self.live.state
        return state.passes if state is not None else ()

    @property
    def level(self) -> str:
        """How the window stands."""
        state = self.live.state
        return state.level if state is not None else ""


class ByPolicy:
    """A policy as a method."""

    def __init__(self, policy: Policy, name: str = "policy") -> None:
        self.policy, self.name = policy, name

    def course(self, stretch: Stretch, counter: Counter) -> Course:
        """A fresh start on one window."""
        return PolicyCourse(stretch.events, self.policy, counter)
