"""Baselines: what other tools do with a history that grows, on the same traces and the same meter.

Each is a method as a policy is. None leaves a receipt: what they take out is gone for the agent.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..events import Event
from ..meter import event_tokens
from ..outcomes import PAYLOAD
from ..passes import Pass
from ..policy import Policy
from ..render import line
from ..tokens import Counter
from .calls import Stretch
from .courses import ByPolicy
from .slots import Course

CLEARED = "[Old tool result content cleared]"  #: what stands for a masked observation
SUPERSEDED = ("overrides", "duplicates", "stale-reads", "superseded-status")


@dataclass(frozen=True, slots=True)
class LastEvents:
    """The newest events only."""

    keep: int

    @property
    def name(self) -> str:
        """What tables call it."""
        return f"last {self.keep} events"

    def course(self, stretch: Stretch, counter: Counter) -> Course:
        """A fresh start on one window."""
        return _Cutting(stretch.events, counter, most_events=self.keep)


@dataclass(frozen=True, slots=True)
class LastTokens:
    """The newest events that fit into so many tokens."""

    keep: int

    @property
    def name(self) -> str:
        """What tables call it."""
        return f"last {self.keep:,} tokens"

    def course(self, stretch: Stretch, counter: Counter) -> Course:
        """A fresh start on one window."""
        return _Cutting(stretch.events, counter, most_tokens=self.keep)


@dataclass(frozen=True, slots=True)
class Masking:
    """All observations but the last `keep` are masked, once that frees `batch` tokens more.

    With neither it slides. `trigger`: only from so many tokens of full history on, as the server judges that
    clears what the client still holds: Anthropic's clear_tool_uses, with `batch` as its clear_at_least.
    """

    keep: int
    batch: int = 0
    trigger: int = 0

    @property
    def name(self) -> str:
        """What tables call it."""
        what = f"clearing at {self.trigger:,}" if self.trigger else "masking"
        how = f", at least {self.batch:,}" if self.batch else "" if self.trigger else ", sliding"
        return f"{what}, keep {self.keep}{how}"

    def course(self, stretch: Stretch, counter: Counter) -> Course:
        """A fresh start on one window."""
        return _Masked(stretch.events, counter, self)


FULL = ByPolicy(Policy(stages=()), "full history")

#: in the order of tables
BASELINES = (
    FULL,
    LastEvents(50),
    LastTokens(20_000),
    Masking(3),
    Masking(10),
    Masking(10, batch=20_000),
    Masking(3, trigger=100_000),
    Masking(3, batch=40_000, trigger=100_000),
    ByPolicy(Policy(stages=SUPERSEDED), "superseded only, at once"),
)


class _Plain:
    """Every event stands as it is; the ground for courses that change some of them."""

    passes: Sequence[Pass] = ()
    level = ""

    def __init__(self, events: Sequence[Event], counter: Counter) -> None:
        self.events, self._counter = events, counter
        self.size = 0
        self.total = self.full = 0  #: tokens of the prompt, and of the history
        self._texts: list[str | None] = []
        self._tokens: list[int] = []

    def slot(self, seq: int) -> str | None:
        return self._texts[seq]

    def tokens(self, seq: int) -> int:
        return self._tokens[seq]

    def take(self, size: int) -> range:
        """Take in events in full; gives their places."""
        new = range(self.size, size)
        for seq in new:
            self._texts.append(line(self.events[seq]) or None)
            self._tokens.append(event_tokens(self.events[seq], self._counter))
            self.total += self._tokens[-1]
            self.full += self._tokens[-1]
        self.size = size
        return new

    def put(self, seq: int, text: str | None) -> None:
        """Let another text stand at a place."""
        tokens = self._counter.count(text + "\n") if text else 0
        self.total += tokens - self._tokens[seq]
        self._texts[seq], self._tokens[seq] = text, tokens


class _Cutting(_Plain):
    def __init__(
        self, events: Sequence[Event], counter: Counter, most_events: int | None = None, most_tokens: int | None = None
    ) -> None:
        super().__init__(events, counter)
        self._most_events, self._most_tokens = most_events, most_tokens
        self._start = 0

    def advance(self, size: int, cold: bool) -> Iterable[int]:
        self.take(size)
        start = self._start
        while self._start < size and self._is_too_long():
            self.put(self._start, None)
            self._start += 1
        return range(start, self._start)

    def _is_too_long(self) -> bool:
        if self._most_events is not None:
            return self.size - self._start > self._most_events
        return self._most_tokens is not None and self.total > self._most_tokens


class _Masked(_Plain):
    def __init__(self, events: Sequence[Event], counter: Counter, rule: Masking) -> None:
        super().__init__(events, counter)
        self._rule = rule
        self._last: deque[int] = deque()  # observations that stay
        self._due: list[int] = []
        self._frees = 0

    def advance(self, size: int, cold: bool) -> Iterable[int]:
        for seq in self.take(size):
            if _is_observation(self.events[seq]):
                self._last.append(seq)
                if len(self._last) > self._rule.keep:
                    self._mark(self._last.popleft())
        if not self._due or self._frees < self._rule.batch or self.full < self._rule.trigger:
            return ()
        places, self._due, self._frees = self._due, [], 0
        for seq in places:
            self.put(seq, _masked(self.events[seq]))
        return places

    def _mark(self, seq: int) -> None:
        frees = self._tokens[seq] - self._counter.count(_masked(self.events[seq]) + "\n")
        if frees > 0:
            self._due.append(seq)
            self._frees += frees


def _is_observation(event: Event) -> bool:
    if event["type"] == "tool_result":
        return True
    return event["type"] not in ("decision", "requirement", "constraint", "abandon", "verification") and any(
        event.get(key) for key in PAYLOAD
    )


def _masked(event: Event) -> str:
    if event["type"] == "tool_result":
        return CLEARED
    return line({key: value for key, value in event.items() if key not in PAYLOAD}) + "\n" + CLEARED
