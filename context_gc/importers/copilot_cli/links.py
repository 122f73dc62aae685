"""Which event follows which in a Copilot CLI session, and which turns a prompt takes back by what it follows."""

from __future__ import annotations

from collections.abc import Sequence


class Links:
    """The chain of a file's events. Each names the one before it, so a second branch is one that was rewound to.

    Only a chain that reaches an earlier turn or the file's first event tells of a rewind: a chain that breaks
    off, as that of a resumed session may, tells nothing.
    """

    def __init__(self) -> None:
        self._parent: dict[str, str] = {}
        self._turns: dict[str, int] = {}  # the event that began a turn -> its place in the trace

    def add(self, key: str, parent: str) -> None:
        """An event and the one before it."""
        if key:
            self._parent.setdefault(key, parent)

    def turn(self, key: str, place: int) -> None:
        """A turn begins with this event."""
        self._turns[key] = place

    def lost(self, parent: str, turns: Sequence[int]) -> int | None:
        """The first of the standing turns that does not lead to a prompt which follows `parent`; None for none."""
        if not turns:
            return None
        alive = set(turns)
        first, seen = next(iter(self._parent), ""), set[str]()
        while parent in self._parent and parent not in seen:
            if self._turns.get(parent) in alive:
                since = self._turns[parent]
                return next((turn for turn in turns if turn > since), None)
            if parent == first:
                return turns[0]
            seen.add(parent)
            parent = self._parent[parent]
        return None
