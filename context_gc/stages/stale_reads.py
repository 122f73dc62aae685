"""Stale reads: what a read showed stands in the prompt once more, from a later read or a later write."""

from __future__ import annotations

import math
import posixpath
from collections.abc import Hashable, Iterator, Sequence
from typing import ClassVar, NamedTuple

from ..events import Event
from ..outcomes import answered_by, failed, is_cut_short, is_only_answer, is_refusal, is_stand_in, text_of
from ..semantics import FileEdit, FileRead, normalise, semantics
from .view import View

LOOK_BACK = 64  #: with so many reads that stand before it a read of a part is compared
DEFAULT_LINES = 2_000  #: a read without a limit that shows so many lines may have ended there


class Look(NamedTuple):
    """What one member of a group did with its file."""

    kind: str  #: "read", "write" (of all of it) or "edit" (of a part)
    shows: bool  #: stands in for others: not cut short by its tool, no notice instead of the text
    text: bool = True  #: carries text
    start: int = 0
    stop: float = math.inf
    tool: object = None

    @property
    def whole(self) -> bool:
        """Whether it covers all of the file."""
        return self.shows and self.start == 0 and self.stop == math.inf

    def covers(self, was: Look) -> bool:
        """Whether what stood before is dead, edits between the two aside."""
        wider = self.tool == was.tool and self.start <= was.start and self.stop >= was.stop
        return was.kind == "read" and self.text >= was.text and (self.kind == "edit" or self.whole or wider)


class StaleReads:
    """A successful read is dead once a later one covers its range, or a later write holds the whole file.

    What counts is the first result of a call. A read of a part covers reads by the same tool, and none before
    an edit, which moves lines. A partial edit kills nothing, unless `outdated_reads` is set: lossy. Paths are
    compared as spelled, relative ones with the event's `cwd`. Blind spots: partial reads that cover a fuller
    one together; changes made by shell commands; calls about several files, or with arguments that are not
    understood; more than LOOK_BACK parts of a file.
    """

    name: ClassVar[str] = "stale-reads"
    rationale: ClassVar[str] = "The same part of the file was read again later, or the whole file was written."

    def types(self, view: View) -> Sequence[str]:
        return ("tool_result", "file_read", "file_edit", "artifact_created")

    def key(self, event: Event, seq: int, view: View) -> Hashable | None:
        is_result = event["type"] == "tool_result"
        lead = answered_by(seq, view.units) if is_result else seq
        fact = None if lead is None else semantics(asked := view.events[lead])
        if not isinstance(fact, FileRead | FileEdit) or (isinstance(fact, FileRead) and fact.partial):
            return None
        if failed(asked, (event,) if is_result else ()):
            return None
        cwd = asked.get("cwd")
        return normalise(posixpath.join(cwd if type(cwd) is str else "", fact.path))

    def judge(self, group: Sequence[int], fresh: int, view: View) -> Iterator[tuple[int, int]]:
        standing = list(group[: len(group) - fresh])
        looks: dict[int, Look] = {}
        for seq in group[len(group) - fresh :]:
            new = looks[seq] = _look(seq, view)
            at, left = len(standing), []
            while at and (new.shows if new.kind != "edit" else view.policy.outdated_reads):
                at -= 1
                old = standing[at]
                was = looks[old] = looks.get(old) or _look(old, view)
                if new.covers(was) and is_only_answer(old, seq, view.units):
                    yield old, view.units.lead(seq)
                else:
                    left.append(old)
                if was.whole and was.text >= new.text:  # what stands before it, it could not cover either
                    break
                if not new.whole and (was.kind == "edit" or (new.kind == "read" and len(left) > LOOK_BACK)):
                    break
            standing[at:] = [*reversed(left), seq]

    def reason(self, event: Event, witness: Event) -> str:
        fact = semantics(witness)
        if isinstance(fact, FileEdit) and not fact.whole:
            return f"outdated by {witness['id']} (lossy)"
        return f"superseded by {witness['id']}"


def _look(seq: int, view: View) -> Look:
    asked = view.events[view.units.lead(seq)]
    fact = semantics(asked)
    if not isinstance(fact, FileRead):
        return Look("write", True) if isinstance(fact, FileEdit) and fact.whole else Look("edit", False)
    text, start = text_of(view.events[seq]), fact.offset or 0
    stop = math.inf if fact.limit is None else start + fact.limit
    ended = stop == math.inf and (text.count("\n") >= DEFAULT_LINES - 1 or " more lines" in text[-400:])
    shows = not (ended or is_cut_short(text) or is_stand_in(text) or is_refusal(text))
    return Look("read", shows, bool(text.strip()), start, stop, asked.get("tool_name"))
