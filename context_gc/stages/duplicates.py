"""Duplicates: the same question with the same answer, asked again while nothing had changed."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import ClassVar

from ..canonical import canonical
from ..events import Event
from .view import View


class Duplicates:
    """Calls with the same tool, arguments and complete list of results: the earliest stays.

    Never a call of a tool with side effects, never across a change of the same resource, never across
    another answer to the same question, and never a call that waits for its result.
    """

    name: ClassVar[str] = "duplicates"
    rationale: ClassVar[str] = "The same call with the same result is in the prompt, and nothing changed between the two."

    def types(self, view: View) -> Sequence[str]:
        return ("tool_call",)

    def key(self, seq: int, view: View) -> Hashable | None:
        event = view.events[seq]
        if view.policy.is_side_effect(event["tool_name"]):
            return None
        return event["tool_name"], canonical(event["arguments"])

    def judge(self, group: Sequence[int], fresh: int, view: View) -> Iterator[tuple[int, int]]:
        start = len(group) - fresh
        kept = next((seq for seq in reversed(group[:start]) if view.units.results(seq)), None)
        for seq in group[start:]:
            if not view.units.results(seq):
                continue
            if kept is not None and _answers(kept, view) == _answers(seq, view):
                last = view.units.results(seq)[-1]
                if not view.mutations.between(kept, last, view.events[seq]):
                    yield seq, kept
                    continue
            kept = seq

    def reason(self, event: Event, witness: str) -> str:
        return f"duplicate of {witness}"


def _answers(call: int, view: View) -> list[tuple[str, bool]]:
    results = (view.events[seq] for seq in view.units.results(call))
    return [(canonical(result["result"]), bool(result.get("is_error"))) for result in results]
