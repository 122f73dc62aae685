"""Superseded status: of several snapshots of one state only the newest stays."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Sequence
from typing import ClassVar

from ..canonical import canonical
from ..events import Event
from ..outcomes import answered_by, is_only_answer, is_stand_in, same_outcome, text_of
from ..semantics import Build, Command, Status, TestRun, is_snapshot, looks_only, question
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
    headings) are the same. Polls are calls of POLLS; commands that list a state, such as `git status`; and
    tests, builds and commands that only look, as far as the newer answer says the same, apart from times.
    Blind spot: two agents in one trace that keep a list with the same tool.
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
        if lead is None or not isinstance(fact := view.facts.of(lead), Status | Command | None):
            return None
        if view.facts.refused(seq):
            return None
        asked = view.events[lead]
        if isinstance(fact, Status):
            return "status", fact.topic
        if isinstance(fact, Command):
            return _key_of_command(asked, fact, event)
        if asked["tool_name"].rpartition("__")[2].lower() in POLLS and not is_stand_in(text_of(event)):
            return "poll", asked["tool_name"], canonical(asked["arguments"])
        return None

    def judge(self, group: Sequence[int], fresh: int, view: View) -> Iterator[tuple[int, int]]:
        standing = list(group[: len(group) - fresh])
        for seq in group[len(group) - fresh :]:
            lead, left = view.units.lead(seq), []
            while standing and _is_whole(lead, view):
                old = standing.pop()
                if is_only_answer(old, seq, view.units) and _says_the_same(old, seq, view):
                    yield old, lead
                else:
                    left.append(old)
                if _is_whole(view.units.lead(old), view):
                    break
            standing += [*reversed(left), seq]

    def reason(self, event: Event, witness: Event) -> str:
        return f"superseded by {witness['id']}"


def _key_of_command(asked: Event, fact: Command, answer: Event) -> Hashable | None:
    """What a command that runs no risk asks; None for one that acts."""
    if is_stand_in(text_of(answer)):
        return None
    if is_snapshot(fact.text) or isinstance(fact, TestRun | Build) or looks_only(fact.text):
        return "command", *question(asked)
    return None


def _says_the_same(old: int, new: int, view: View) -> bool:
    """Whether a command's newer answer stands for the one before; of all else the newer one always does."""
    fact = view.facts.of(view.units.lead(old))
    if not isinstance(fact, Command) or is_snapshot(fact.text):
        return True
    return same_outcome(view.events[old], view.events[new])


def _is_whole(lead: int, view: View) -> bool:
    fact = view.facts.of(lead)
    return not isinstance(fact, Status) or fact.whole
