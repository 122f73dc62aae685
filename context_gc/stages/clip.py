"""Clip: a large result stands in the prompt as its first and last lines."""

from __future__ import annotations

from typing import ClassVar

from ..clipping import clipped
from ..events import Event
from ..semantics import FileRead, semantics
from .view import View

_RESULTS = frozenset(("tool_result", "file_read", "command_run", "test_run", "build_run", "git_diff"))


class Clip:
    """A result of more than `clip_over` tokens, decided when it arrives and never again.

    Never a range of a file that was asked for by name, and never what no call is known for: that may be
    one. What stays is told in `clipping.clipped`.
    """

    name: ClassVar[str] = "clip"
    rationale: ClassVar[str] = "First and last lines and lines about errors are in the prompt; the rest was long."

    def finds(self, event: Event, seq: int, view: View) -> bool:
        if event["type"] not in _RESULTS:
            return False
        lead = view.units.lead(seq)
        if event["type"] == "tool_result" and lead == seq:
            return False
        fact = semantics(view.events[lead])
        if isinstance(fact, FileRead) and not fact.full:
            return False
        return clipped(event, view.policy.clip_over, view.counter) is not None

    def reason(self, event: Event, witness: Event) -> str:
        return "clipped to its first and last lines"
