"""Slots: a prompt as the texts that stand at its events' places, with sums of tokens over any beginning of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from ..passes import Pass


class Course(Protocol):
    """One window's events as one method lives through them: what stands in its prompt at each event's place."""

    @property
    def passes(self) -> Sequence[Pass]:
        """The passes of a budget so far."""

    @property
    def level(self) -> str:
        """How the window of a budget stands; "" without one."""

    def advance(self, size: int, cold: bool) -> Iterable[int]:
        """Take in events up to `size`, and make the prompt of the next call; the places that may have changed.

        `cold`: the provider's cache has expired.
        """

    def slot(self, seq: int) -> str | None:
        """The text at an event's place: its line, something in its stead, or nothing."""

    def tokens(self, seq: int) -> int:
        """Tokens of that text."""


@dataclass(frozen=True, slots=True)
class Change:
    """One slot that is not as it was. `before` and `after` are texts, None for nothing."""

    seq: int
    before: str | None
    after: str | None


class Slots:
    """What stands at each place. `at` costs log n, as does a change."""

    def __init__(self) -> None:
        self.texts: list[str | None] = []
        self.total = 0  #: tokens of the prompt
        self._tokens: list[int] = []
        self._tree: list[int] = [0]  # sums over stretches that end at each place (Fenwick 1994)

    def follow(self, course: Course, size: int, places: Iterable[int]) -> list[Change]:
        """Become what a course says, in the order of places; what has changed and what is new."""
        known = len(self.texts)
        for seq in range(known, size):
            self._append(course.tokens(seq))
        changes = []
        for seq in sorted({*(place for place in places if place < known), *range(known, size)}):
            text = course.slot(seq)
            before = self.texts[seq] if seq < known else None
            if seq >= known:
                self.texts.append(text)
            elif text == before:
                continue
            else:
                self.texts[seq] = text
                self._set(seq, course.tokens(seq))
            changes.append(Change(seq, before, text))
        return changes

    def at(self, seq: int) -> int:
        """Tokens of what stands at a place."""
        return self._tokens[seq]

    def before(self, seq: int) -> int:
        """Tokens of all that stands before a place."""
        total = 0
        while seq > 0:
            total += self._tree[seq]
            seq &= seq - 1
        return total

    @property
    def text(self) -> str:
        """The prompt."""
        return "\n".join(text for text in self.texts if text is not None)

    def _append(self, tokens: int) -> None:
        self._tokens.append(tokens)
        self.total += tokens
        place = len(self._tokens)
        covered = tokens
        low = place - (place & -place)
        step = place - 1
        while step > low:
            covered += self._tree[step]
            step &= step - 1
        self._tree.append(covered)

    def _set(self, seq: int, tokens: int) -> None:
        change = tokens - self._tokens[seq]
        if not change:
            return
        self._tokens[seq] = tokens
        self.total += change
        place = seq + 1
        while place < len(self._tree):
            self._tree[place] += change
            place += place & -place
