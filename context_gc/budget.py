"""Budget: how full a context window may get, and what a compaction under pressure has to gain."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from .errors import InvalidPolicy
from .windows import window_of

LEVELS = ("ok", "compact", "emergency")


@dataclass(frozen=True, slots=True)
class Budget:
    """When to compact and how far. Tokens are whole numbers, thresholds and target shares of the window.

    Below `threshold_low` nothing changes that was sent before. From there on what is dead goes in one batch,
    if that gains `min_gain`; from `threshold_high` on what can be spared goes too, oldest first, down to
    `target`.

    Raises:
        InvalidPolicy: a value is out of range, or two contradict each other; both are named.
    """

    max_tokens: int  #: the model's context window
    threshold_low: float = 0.75
    threshold_high: float = 0.92
    target: float = 0.4  #: share of the window that an emergency leaves
    recent_observations: int = 3  #: how many of the last results are never evicted, within a quarter of the window
    min_gain: int | None = None  #: tokens a pass has to free; None: a tenth of the window
    auto: bool = True  #: compact when due; False: only when asked with `compact(force=True)`
    overhead_tokens: int = 0  #: system prompt and tool definitions, which are in no event
    max_prompt_tokens: int | None = None  #: passes begin here at the latest, however large the window is
    commit_on_arrival: bool = False  #: what is dead or clipped when it enters never enters: free
    commit_when_cold: bool = False  #: what is dead goes when the prompt cache has expired: free
    expected_calls: int | None = None  #: a pass has to pay within so many more calls; None: not asked
    cache_read: float = 0.1  #: price of a cached token, relative to an uncached one
    cache_write: float = 1.25  #: price of writing a token to the cache, relative to an uncached one

    def __post_init__(self) -> None:
        for name, least in _WHOLE.items():
            value = getattr(self, name)
            if value is None and name in _OPTIONAL:
                continue
            if type(value) is not int or value < least:
                raise InvalidPolicy("budget", f"{name} is {value!r}", f"a whole number from {least} on")
        for name in ("auto", "commit_on_arrival", "commit_when_cold"):
            if type(getattr(self, name)) is not bool:
                raise InvalidPolicy("budget", f"{name} is {getattr(self, name)!r}", "true or false")
        for name in ("threshold_low", "threshold_high", "target"):
            value = getattr(self, name)
            if type(value) not in (int, float) or not 0 < value <= 1:
                raise InvalidPolicy("budget", f"{name} is {value!r}", "a share above 0, at most 1")
        for name in ("cache_read", "cache_write"):
            value = getattr(self, name)
            if type(value) not in (int, float) or not (value > 0 and math.isfinite(value)):
                raise InvalidPolicy("budget", f"{name} is {value!r}", "a price above 0, relative to plain input")
        for lesser, greater in (("threshold_low", "threshold_high"), ("target", "threshold_low")):
            low, high = getattr(self, lesser), getattr(self, greater)
            if not low < high:
                told = f"{lesser} is {low!r} and {greater} is {high!r}"
                raise InvalidPolicy("budget", told, f"{lesser} has to be below {greater}")

    @classmethod
    def from_mapping(cls, given: Mapping[str, Any]) -> Budget:
        """A budget from plain values. Raises InvalidPolicy for a key that is not a field, naming it."""
        known = [field.name for field in fields(cls)]
        for key in given:
            if key not in known:
                raise InvalidPolicy("budget", f"unknown key {key!r}", "known: " + ", ".join(known))
        if "max_tokens" not in given:
            raise InvalidPolicy("budget", "max_tokens is missing", "the model's context window in tokens")
        return cls(**given)

    @classmethod
    def for_model(cls, model: str, **given: Any) -> Budget:
        """A budget for a model's own window. Raises InvalidPolicy for a model that is not known here."""
        return cls(max_tokens=window_of(model), **given)

    @property
    def window(self) -> float:
        """The tokens that shares are of: `max_tokens`, or less so that `threshold_low` is `max_prompt_tokens`."""
        cap = self.max_prompt_tokens
        return self.max_tokens if cap is None else min(self.max_tokens, cap / self.threshold_low)

    @property
    def target_tokens(self) -> int:
        """What an emergency brings the prompt down to."""
        return round(self.target * self.window)

    @property
    def gain(self) -> int:
        """The tokens that a pass has to free."""
        return round(self.window / 10) if self.min_gain is None else self.min_gain

    def level(self, tokens: int) -> str:
        """`ok`, `compact` or `emergency` for a prompt of so many tokens."""
        if tokens / self.window >= self.threshold_high:
            return "emergency"
        capped = self.max_prompt_tokens is not None and tokens >= self.max_prompt_tokens
        return "compact" if capped or tokens / self.max_tokens >= self.threshold_low else "ok"

    def break_even(self, kept: int, removed: int) -> float:
        """After how many calls a pass pays: N* = (w - r)/r · K/D, that call included.

        `kept` (K): tokens that stand after the first changed byte; `removed` (D): net tokens removed.
        """
        read, write = self.cache_read, self.cache_write
        return math.inf if removed <= 0 else max(0.0, (write - read) / read * kept / removed)

    def pays(self, kept: int, removed: int) -> bool:
        """Whether a pass pays within `expected_calls`; always when that is not set."""
        return self.expected_calls is None or self.break_even(kept, removed) <= self.expected_calls


_WHOLE = {
    "max_tokens": 1,
    "recent_observations": 0,
    "min_gain": 0,
    "overhead_tokens": 0,
    "max_prompt_tokens": 1,
    "expected_calls": 1,
}
_OPTIONAL = ("min_gain", "max_prompt_tokens", "expected_calls")
