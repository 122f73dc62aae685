"""Repeated failures: the same call that failed in the same way again and again, or that succeeded in the end."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import ClassVar

from ..canonical import canonical
from ..events import Event
from ..outcomes import answered_by, failed, first_error_line, is_only_answer, is_stand_in, same_outcome, text_of
from ..render import escape
from ..semantics import FileRead, Status, semantics, tool_kind
from .view import View

_HARMLESS = frozenset(("shell", "search", "edit", "write"))  # to fail is told of these, or it changed nothing


class RepeatedFailures:
    """Of identical failures of one identical call in a row the first and the last stay; once the same call
    succeeds, all failures before it go.

    A call counts from its first result on; a failure is what `outcomes.failed` takes for one. Tools with side
    effects are left alone (a failed `send_mail` may have acted), except shells and file tools, and so are
    reads and status calls, which have stages of their own. Another failure or a success in between begins
    anew. Blind spot: what the environment was like at each try.
    """

    name: ClassVar[str] = "repeated-failures"
    rationale: ClassVar[str] = "The same call failed in the same way again, or succeeded later."

    def types(self, view: View) -> Sequence[str]:
        return ("tool_result", "command_run", "test_run", "build_run")

    def key(self, event: Event, seq: int, view: View) -> Hashable | None:
        kind, cwd = event["type"], event.get("cwd")
        cwd = cwd if type(cwd) is str else ""
        if kind == "test_run":
            return kind, cwd, canonical([event["test_names"], event.get("command")])
        if kind != "tool_result":
            command = event.get("command")
            return (kind, cwd, command) if type(command) is str and command else None
        lead = answered_by(seq, view.units)
        if lead is None or is_stand_in(text_of(event)):
            return None
        asked = view.events[lead]
        tool = asked["tool_name"]
        if tool_kind(tool) not in _HARMLESS and view.policy.is_side_effect(tool):
            return None
        if isinstance(semantics(asked), FileRead | Status):
            return None
        return tool, asked.get("cwd") if type(asked.get("cwd")) is str else "", canonical(asked["arguments"])

    def judge(self, group: Sequence[int], fresh: int, view: View) -> Iterator[tuple[int, int]]:
        standing = list(group[: len(group) - fresh])
        for seq in group[len(group) - fresh :]:
            lead, left = view.units.lead(seq), []
            if not _failed(seq, view):
                while standing and _failed(standing[-1], view):
                    old = standing.pop()
                    if is_only_answer(old, seq, view.units):
                        yield old, lead
                    else:
                        left.append(old)
            elif _repeats([*standing[-2:], seq], view) and is_only_answer(standing[-1], seq, view.units):
                yield standing.pop(), lead
            standing += [*reversed(left), seq]

    def reason(self, event: Event, witness: Event) -> str:
        line = "" if event["type"] == "tool_call" else first_error_line(text_of(event))
        return f"failed, and the same call came again: {witness['id']}" + (f" ({escape(line)})" if line else "")


def _failed(seq: int, view: View) -> bool:
    lead = view.units.lead(seq)
    return failed(view.events[lead], () if lead == seq else (view.events[seq],))


def _repeats(places: Sequence[int], view: View) -> bool:
    """Whether these are three failures that tell the same."""
    if len(places) < 3 or not all(_failed(seq, view) for seq in places):
        return False
    first, *others = (view.events[seq] for seq in places)
    return all(same_outcome(first, other) for other in others)
