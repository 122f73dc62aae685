"""Fates: what stands at each event's place in messages: itself, a stub, a shorter text, or nothing."""

from __future__ import annotations

from typing import Any

from ..compaction import Compaction
from ..events import Event, label
from ..render import escape, images, line
from .dialect import GONE

_PREFIX = {"tool_result": "RESULT ", "requirement": "REQUIREMENT: ", "constraint": "CONSTRAINT: "}


class Fates:
    """The fates of a compaction's events. Gives out the stub of each run of cut events once."""

    def __init__(self, compaction: Compaction) -> None:
        self.events = compaction.events
        self._compaction, self._layout = compaction, compaction.layout
        self._style = compaction.policy.stub_style
        self._heads = {
            place: start
            for start, end in self._layout.runs
            if start not in self._layout.shown
            for place in range(start, end + 1)
        }
        self._told: set[int] = set()
        budget = compaction["budget"]
        sizes = [each["size"] for each in budget["passes"]] if budget is not None else [len(self.events)]
        self.settled = sizes[-1] if sizes else 0  #: events that were there when it was last decided what goes

    def is_cut(self, place: int) -> bool:
        """Whether the event at a place is out of the prompt."""
        return place in self._heads

    def is_abandoned(self, place: int) -> bool:
        """Whether a cut event was in a branch that was given up: then it never stood in this conversation."""
        decision = self._compaction.decision(self.events[place]["id"])
        return decision is not None and decision.stage == "dead-branches"

    def stub(self, place: int) -> str:
        """The stub of the run that a cut event is in; "" when it was given out before, or there is none."""
        head = self._heads[place]
        if head in self._told:
            return ""
        self._told.add(head)
        return self._layout.slot(head) or ""

    def result(self, place: int) -> Any:
        """What stands for a cut result that keeps its place."""
        event = self.events[place]
        run = self.stub(place)
        text = run or self._layout.stub(range(place, place + 1)) or GONE
        decision = self._compaction.decision(event["id"])
        if self._style == "worthwhile" and not run and decision is not None and decision.stage != "dead-branches":
            full = line(event).removeprefix(_PREFIX["tool_result"])
            return event["result"] if len(full) <= len(text) and not images(event) else text
        return text

    def receipt(self, place: int) -> str:
        """What stands for a long value in the arguments of a cut call."""
        return GONE if self._style == "none" else f"[RECEIPT {label(self.events[place]['id'])}]"

    def shown(self, place: int, value: Any, is_ours: bool) -> Any:
        """What stands for an event that is not cut: its value, shorter or with a mark where that was decided.

        `is_ours`: the model wrote it, so that it is not escaped.
        """
        event = self.events[place]
        found = self._layout.slot(place) or ""
        prefix = _PREFIX.get(event["type"], "")
        decision = self._compaction.decision(event["id"])
        if decision is not None and decision.clipped and decision.kept is None:
            return found.removeprefix(prefix)
        if type(value) is list:
            return [self._escaped(block) for block in value]
        if type(value) is not str:
            return value
        text = value if is_ours else escape(value)
        plain = line(event)
        if decision is not None and len(found) > len(plain) + 1 and found.startswith(plain):
            text += found[len(plain) :]
        return text

    def _escaped(self, block: Any) -> Any:
        if type(block) is dict and type(block.get("text")) is str:
            return {**block, "text": escape(block["text"])}
        return block


def kind_of_event(event: Event) -> str:
    """call, result, thinking or text."""
    kind = {"tool_call": "call", "tool_result": "result"}.get(event["type"], "text")
    return "thinking" if kind == "text" and "thinking" in event.get("tags", ()) else kind
