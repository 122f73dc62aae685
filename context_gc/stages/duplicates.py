"""Duplicates: the same question with the same answer, asked again while nothing had changed."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import ClassVar

from ..canonical import canonical
from ..events import Event
from .view import View

_texts = frozenset((str,)).issuperset


class Duplicates:
    """Calls with the same tool, arguments and complete list of results: the earliest stays.

    Never a call of a tool with side effects, never across a change of the same resource, never across
    another answer to the same question, and never a call that waits for its result.
    """

    name: ClassVar[str] = "duplicates"
    rationale: ClassVar[str] = "The same call with the same result is in the prompt; nothing changed between the two."

    def types(self, view: View) -> Sequence[str]:
        return ("tool_call",)

    def key(self, event: Event, seq: int, view: View) -> Hashable | None:
        if view.policy.is_side_effect(event["tool_name"]):
            return None
        given = event["arguments"]
        if type(given) is dict and _texts(map(type, given.values())):
            return event["tool_name"], *(given.items() if len(given) < 2 else sorted(given.items()))
        return event["tool_name"], canonical(given)

    def judge(self, group: Sequence[int], fresh: int, view: View) -> Iterator[tuple[int, int]]:
        start, units = len(group) - fresh, view.units
        kept = next((seq for seq in reversed(group[:start]) if units.results(seq)), None)
        answers: object = None if kept is None else _answers(kept, view)
        for seq in group[start:]:
            results = units.results(seq)
            if not results:
                continue
            again = _answers(seq, view)
            if kept is None or again != answers or view.mutations.between(kept, results[-1], view.events[seq]):
                kept, answers = seq, again
            else:
                yield seq, kept

    def reason(self, event: Event, witness: Event) -> str:
        return f"duplicate of {witness['id']}"


def _answers(call: int, view: View) -> object:
    """What a call was answered, as something that equals only the same answer."""
    results = view.units.results(call)
    if len(results) == 1:
        return _answer(view.events[results[0]])
    return [_answer(view.events[seq]) for seq in results]


def _answer(result: Event) -> tuple[object, bool]:
    value = result["result"]
    return value if type(value) is str else (canonical(value),), bool(result.get("is_error"))
