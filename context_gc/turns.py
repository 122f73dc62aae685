"""Turns: a turn is one model call with the results that follow it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .events import Event

_OUTPUT = frozenset(("decision", "verification", "tool_call", "set_var"))  # what a model writes
_INPUT = frozenset(("requirement", "constraint"))
_ASIDE = frozenset(("abandon",))  # neither begins nor ends a call
_BACK = frozenset(("tool_result", "error"))
_GIVEN = frozenset("answer approval attachment environment notification summary user".split())  # tags: not its own


class Turns:
    """Numbers events by turn as they come, from 1. What the user says belongs to the call that answers it.

    Events that share a `message_id` are one call. Without one, a call begins where the model writes
    after something else: a native coding event holds the act and its outcome, so it ends a call.
    """

    def __init__(self) -> None:
        self.turn = 1
        self._message: Any = None
        self._begun = self._ended = False

    def take(self, event: Event) -> int:
        """The turn of the next event."""
        kind, own = event["type"], event.get("message_id")
        is_input = kind in _INPUT or _is_given(event)
        outcome = not is_input and kind not in _OUTPUT and kind not in _ASIDE
        writes = is_written(event)
        same = own is not None and own == self._message
        if self._begun and not same:
            another = own is not None and self._message is not None
            if is_input or (writes and (self._ended or another)):
                self.turn += 1
                self._begun, self._ended, self._message = False, False, None
        self._begun = self._begun or writes
        self._ended = self._ended or outcome
        self._message = own if own is not None and writes else self._message
        return self.turn


def is_written(event: Event) -> bool:
    """Whether a model wrote it, or it holds what a model did."""
    return event["type"] not in _INPUT | _ASIDE | _BACK and not _is_given(event)


def _is_given(event: Event) -> bool:
    """Whether it comes from the user, the agent's program or a compaction, though its type is one of the model's."""
    return event["type"] not in _ASIDE | _BACK and not _GIVEN.isdisjoint(event.get("tags") or ())


def turn_numbers(events: Sequence[Event]) -> list[int]:
    """The turn of each event of a trace."""
    turns = Turns()
    return [turns.take(event) for event in events]


def model_calls(events: Sequence[Event]) -> int:
    """How many calls of the model the events of a trace come from: the turns in which it wrote something.

    What a window repeats counts once.
    """
    told = [event for event in events if "repeats" not in event]
    return len({turn for turn, event in zip(turn_numbers(told), told, strict=True) if is_written(event)})
