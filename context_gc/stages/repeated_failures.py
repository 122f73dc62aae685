"""Repeated failures: the same call that failed in the same way again and again, or that succeeded in the end."""

from __future__ import annotations

import posixpath
from collections.abc import Hashable, Iterator, Sequence
from typing import ClassVar

from ..canonical import canonical
from ..events import Event
from ..outcomes import answered_by, first_error_line, is_only_answer, is_stand_in, same_outcome, text_of
from ..render import escape
from ..semantics import FileEdit, FileRead, Status, normalise, question, replacement, tool_kind
from .view import View

LOOK_BACK = 64  #: with so many calls that stand before it one is compared
_EDITORS = frozenset(("edit", "write", "code"))
_HARMLESS = _EDITORS | {"shell", "search"}  # to fail is told of these, or it changed nothing


class RepeatedFailures:
    """Of identical failures of one identical call in a row the first and the last stay; once the same call
    succeeds, all failures before it go. An edit that failed goes as well once an edit of the same place succeeds:
    of the same text or of the same lines of the file, or by the same text, or a write of the whole file.

    A call counts from its first result on; a failure is what `outcomes.failed` takes for one. What says why a
    call is made, or how long it may take, makes no other call of it. Tools with side effects are left alone
    (a failed `send_mail` may have acted), except shells and file tools, and so are reads and status calls,
    which have stages of their own. Another failure or a success in between begins anew. Blind spots: what the
    environment was like at each try; more than LOOK_BACK calls about one file.
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
        tool, fact = asked["tool_name"], view.facts.of(lead)
        if isinstance(fact, FileEdit) and tool_kind(tool) != "shell":
            return "edit", normalise(posixpath.join(cwd if not asked.get("cwd") else str(asked["cwd"]), fact.path))
        if tool_kind(tool) not in _HARMLESS and view.policy.is_side_effect(tool):
            return None
        return None if isinstance(fact, FileRead | Status) else question(asked)

    def judge(self, group: Sequence[int], fresh: int, view: View) -> Iterator[tuple[int, int]]:
        standing = list(group[: len(group) - fresh])
        for seq in group[len(group) - fresh :]:
            again = view.facts.refused(seq)
            dead = self._repeated(seq, standing, view) if again else self._repaired(seq, standing, view)
            for old in dead:
                if is_only_answer(old, seq, view.units):
                    standing.remove(old)
                    yield old, view.units.lead(seq)
            standing.append(seq)

    def reason(self, event: Event, witness: Event) -> str:
        line = "" if event["type"] == "tool_call" else first_error_line(text_of(event))
        edits = witness["type"] == "tool_call" and tool_kind(witness["tool_name"]) in _EDITORS
        what = "an edit of the same place came later" if edits else "the same call came again"
        return f"failed, and {what}: {witness['id']}" + (f" ({escape(line)})" if line else "")

    def _repeated(self, seq: int, standing: Sequence[int], view: View) -> Sequence[int]:
        """The last of two failures before this one that are like it."""
        alike = [old for old in standing[-LOOK_BACK:] if _same_call(old, seq, view)][-2:]
        if len(alike) < 2 or not all(map(view.facts.refused, alike)):
            return ()
        told = all(same_outcome(view.events[seq], view.events[old]) for old in alike)
        return alike[1:] if told else ()

    def _repaired(self, seq: int, standing: Sequence[int], view: View) -> Sequence[int]:
        """The failures before this success that it repairs, the last one first."""
        found, elsewhere = [], False
        for old in reversed(standing[-LOOK_BACK:]):
            same = _same_call(old, seq, view)
            if not view.facts.refused(old):
                elsewhere = True  # an edit that succeeded in between may have moved lines
                if same:
                    break
            elif same or _same_place(old, seq, elsewhere, view):
                found.append(old)
        return found


def _same_call(old: int, new: int, view: View) -> bool:
    first, second = (view.events[view.units.lead(seq)] for seq in (old, new))
    return first["type"] != "tool_call" or question(first) == question(second)


def _same_place(old: int, new: int, moved: bool, view: View) -> bool:
    """Whether a failed edit and a later one that succeeded are about the same place."""
    leads = view.units.lead(old), view.units.lead(new)
    fact = view.facts.of(leads[1])
    if not isinstance(fact, FileEdit):
        return False
    if fact.whole:
        return True
    was, now = (replacement(view.events[lead]) for lead in leads)
    if was is None or now is None:
        return False
    if was.begin is not None and now.begin is not None:
        return not moved and was.begin < now.begin + now.lines and now.begin < was.begin + was.lines
    return bool((was.old and was.old == now.old) or (was.new.strip() and was.new == now.new))
