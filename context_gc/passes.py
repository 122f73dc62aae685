"""Passes: the records of committed compactions, and of what stood in their way."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class BudgetUnreachable:
    """A prompt that stayed above the target, and what holds the space. All in tokens.

    In an emergency it holds only what must not be cut; in other passes also what an emergency would evict.
    """

    tokens: int  #: of the prompt, overhead included
    target: int
    holds: tuple[tuple[str, int], ...]  #: (what holds the space, tokens), the largest first

    @classmethod
    def from_dict(cls, told: dict[str, Any]) -> BudgetUnreachable:
        """What `asdict` gave, also by way of JSON."""
        return cls(told["tokens"], told["target"], tuple((what, tokens) for what, tokens in told["holds"]))

    def __str__(self) -> str:
        told = ", ".join(f"{what} {tokens:,}" for what, tokens in self.holds)
        return f"{self.tokens:,} tokens stay, above the target of {self.target:,}: {told}"


@dataclass(frozen=True, slots=True)
class Pass:
    """One compaction that was committed, or found that it could not free anything (`gain` 0)."""

    number: int  #: from 1
    moment: str  #: "compact", "emergency", "cold", "asked", or "needed": what was cut has to come back
    size: int  #: events in the trace
    tokens_before: int  #: of the prompt, overhead included
    tokens_after: int
    pruned_ids: tuple[str, ...]  #: cut by this pass
    clipped_ids: tuple[str, ...]  #: shortened by this pass
    evicted: int  #: how many of these are live events that made room
    restored_ids: tuple[str, ...]  #: brought back by this pass
    first_changed: str | None  #: id of the first event whose text in the prompt changed
    kept_after: int  #: K: tokens from there on, to be written to the cache anew
    break_even: float | None  #: N*: calls until it has paid, this one included; None: never
    unreachable: BudgetUnreachable | None = None

    @property
    def gain(self) -> int:
        """Net tokens freed."""
        return self.tokens_before - self.tokens_after

    def undone(self) -> Pass:
        """The record of a pass that was not made, because it would have freed too little."""
        nothing: dict[str, Any] = {"pruned_ids": (), "clipped_ids": (), "evicted": 0, "restored_ids": ()}
        unchanged: dict[str, Any] = {"first_changed": None, "kept_after": 0, "break_even": None}
        return replace(self, tokens_after=self.tokens_before, **nothing, **unchanged)

    def to_dict(self) -> dict[str, Any]:
        """The pass as JSON values, its gain included."""
        return {**_lists(asdict(self)), "gain": self.gain}

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> Pass:
        """The pass that `to_dict` wrote."""
        known: dict[str, Any] = {key: tuple(part) if isinstance(part, list) else part for key, part in given.items()}
        del known["gain"]
        if (told := given["unreachable"]) is not None:
            known["unreachable"] = BudgetUnreachable.from_dict(told)
        return cls(**known)


@dataclass(frozen=True, slots=True)
class BudgetState:
    """How the window stands. Tokens are of the next prompt, overhead included."""

    level: str  #: "ok", "compact" or "emergency"
    tokens: int  #: the estimate, corrected by what the provider reported last
    max_tokens: int
    usage: float  #: tokens / max_tokens; a ratio, above 1 when the prompt no longer fits
    waiting_tokens: int  #: of events that were found dead and are not committed
    correction: int  #: what is added to the estimate: overhead, or the provider's figure less the estimate
    reported: bool  #: whether the provider's figure is part of it
    open_calls: int  #: calls that wait for a result
    deferred: str  #: why no pass was made although one was due; "" when none was
    passes: tuple[Pass, ...]
    unreachable: BudgetUnreachable | None  #: when the last emergency did not reach the target

    def to_dict(self) -> dict[str, Any]:
        """The state as JSON values."""
        told = {key: value for key, value in asdict(self).items() if key != "passes"}
        return {**_lists(told), "passes": [each.to_dict() for each in self.passes]}


def finite(calls: float) -> float | None:
    """A number of calls as JSON has it: None for never."""
    return None if math.isinf(calls) else calls


def _lists(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _lists(part) for key, part in value.items()}
    return [_lists(part) for part in value] if isinstance(value, tuple | list) else value
