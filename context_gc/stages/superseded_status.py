"""Superseded status: of several snapshots of one state only the newest stays."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Sequence
from typing import ClassVar

from ..canonical import canonical
from ..events import Event
from ..outcomes import answered_by, failed, is_only_answer, is_stand_in, text_of
from ..semantics import Status, semantics
from .view import View

#: Tools that tell the whole state of something that goes on. What tells only what is new since the last call
#: (`BashOutput`, `write_stdin`, `read_bash`) is not among them: each answer is the only copy of its part.
POLLS = frozenset(
    "get_status check_status status task_status get_task_status job_status get_job_status process_status"
    " get_process_status list_processes".split()
)
_PART = re.compile(r"^[ \t]*(?:<([\w-]+)|#+ *(.+))", re.MULTILINE)


class SupersededStatus:
    """To-do lists and plans, blocks tagged `environment`, and polls: a newer whole state replaces those before.

    A call counts from its first result on, and not when that is a failure. Lists that are changed item by
    item, or merged, replace nothing. Environment blocks are of one kind when type and sections (tags and
    headings) are the same. Blind spot: two agents in one trace that keep a list with the same tool.
    """

    name: ClassVar[str] = "superseded-status"
    rationale: ClassVar[str] = "A newer snapshot of the same state is in the prompt."

    def types(self, view: View) -> Sequence[str]:
        return ("tool_result", "decision", "requirement", "constraint")

    def key(self, event: Event, seq: int, view: View) -> Hashable | None:
        if event["type"] != "tool_result":
            if "environment" not in (event.get("tags") or ()):
                return None
            return event["type"], *(tag or heading for tag, heading in _PART.findall(event["content"]))
        lead = answered_by(seq, view.units)
        if lead is None or failed(view.events[lead], (event,)):
            return None
        fact, tool = semantics(view.events[lead]), view.events[lead]["tool_name"]
        if isinstance(fact, Status):
            return "status", fact.topic
        if tool.rpartition("__")[2].lower() in POLLS and not is_stand_in(text_of(event)):
            return "poll", tool, canonical(view.events[lead]["arguments"])
        return None

    def judge(self, group: Sequence[int], fresh: int, view: View) -> Iterator[tuple[int, int]]:
        standing = list(group[: len(group) - fresh])
        for seq in group[len(group) - fresh :]:
            lead, left = view.units.lead(seq), []
            while standing and _is_whole(lead, view):
                old = standing.pop()
                if is_only_answer(old, seq, view.units):
                    yield old, lead
                else:
                    left.append(old)
                if _is_whole(view.units.lead(old), view):
                    break
            standing += [*reversed(left), seq]

    def reason(self, event: Event, witness: Event) -> str:
        return f"superseded by {witness['id']}"


def _is_whole(lead: int, view: View) -> bool:
    fact = semantics(view.events[lead])
    return not isinstance(fact, Status) or fact.whole
