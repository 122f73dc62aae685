"""Meter: how many tokens each event's line costs. Counted when first asked for, and once."""

from __future__ import annotations

from collections.abc import Sequence

from .events import Event
from .render import images, line
from .tokens import IMAGE_TOKENS, Counter


class Meter:
    """Tokens by place. A prompt is counted line by line, each with the newline that ends it."""

    def __init__(self, events: Sequence[Event], counter: Counter) -> None:
        self._events = events
        self.counter = counter
        self._tokens: list[int] = []
        self._upto = [0]  # tokens of all lines before a place

    def count(self, text: str) -> int:
        """Tokens of one line of the prompt; an event that prints nothing costs nothing."""
        return self.counter.count(text + "\n") if text else 0

    def images(self, seq: int) -> int:
        """Tokens of the images that an event holds, at a flat price each."""
        return images(self._events[seq]) * IMAGE_TOKENS

    def line(self, seq: int) -> int:
        """Tokens of an event as it stands in the full history."""
        self._count_to(seq + 1)
        return self._tokens[seq]

    def total(self, size: int) -> int:
        """Tokens of the full history of the first `size` events."""
        self._count_to(size)
        return self._upto[size]

    def _count_to(self, size: int) -> None:
        for seq in range(len(self._tokens), size):
            self._tokens.append(event_tokens(self._events[seq], self.counter))
            self._upto.append(self._upto[-1] + self._tokens[-1])


def event_tokens(event: Event, counter: Counter) -> int:
    """Tokens of an event as a model would see it: its line with the newline that ends it, and its images."""
    text = line(event)
    return (counter.count(text + "\n") if text else 0) + images(event) * IMAGE_TOKENS
