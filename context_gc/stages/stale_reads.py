"""Stale reads: what a read showed stands in the prompt once more, from a later read or a later write."""

from __future__ import annotations

import posixpath
from collections.abc import Hashable, Iterator, Sequence
from typing import ClassVar

from ..events import Event
from ..outcomes import answered_by, is_only_answer
from ..semantics import FileEdit, FileRead, normalise
from .look import Look, held, look, outwritten
from .view import View

LOOK_BACK = 64  #: with so many that stand before it a read of a part, or an edit, is compared


class StaleReads:
    """A successful read is dead once a later one covers its range, or a later write holds the whole file.

    What counts is the first result of a call. A read of a part covers reads by the same tool while the file
    stays as it is; after a change it covers what it still shows line by line, apart from lines that edits are
    known to have replaced. A partial edit kills no read, unless `outdated_reads` is set: lossy, and then the
    witness is the edit's answer. An edit or a write is dead once a later one holds all that it wrote, and shows
    all that its answer showed. Paths are compared as spelled, relative ones with the event's `cwd`. Blind spots:
    several reads of parts that cover one together; calls about several files, or with arguments that are not
    understood; what stands more than LOOK_BACK places back in the group.
    """

    name: ClassVar[str] = "stale-reads"
    rationale: ClassVar[str] = "The same part of the file was read again later, or the whole file was written."

    def types(self, view: View) -> Sequence[str]:
        return ("tool_result", "file_read", "file_edit", "artifact_created")

    def key(self, event: Event, seq: int, view: View) -> Hashable | None:
        lead = answered_by(seq, view.units) if event["type"] == "tool_result" else seq
        fact = None if lead is None else view.facts.of(lead)
        if lead is None or not isinstance(fact, FileRead | FileEdit) or (isinstance(fact, FileRead) and fact.partial):
            return None
        if view.facts.refused(seq):
            return None
        cwd = view.events[lead].get("cwd")
        return normalise(posixpath.join(cwd if type(cwd) is str else "", fact.path))

    def judge(self, group: Sequence[int], fresh: int, view: View) -> Iterator[tuple[int, int]]:
        standing = list(group[: len(group) - fresh])
        looks: dict[int, Look] = {}
        for seq in group[len(group) - fresh :]:
            new = looks[seq] = look(seq, view)
            at, left = len(standing), []
            while at and (new.shows or new.kind != "read"):
                at -= 1
                old = standing[at]
                was = looks[old] = looks.get(old) or look(old, view)
                if _covers(new, was, view) and is_only_answer(old, seq, view.units):
                    lossy = was.kind == "read" and not new.shows
                    yield old, seq if lossy else view.units.lead(seq)
                else:
                    left.append(old)
                if new.kind == "read" and was.whole and was.kind == "read" and was.text >= new.text:
                    break  # what stands before it, it could not cover either
                if not new.whole and len(left) > LOOK_BACK:
                    break
            standing[at:] = [*reversed(left), seq]

    def reason(self, event: Event, witness: Event) -> str:
        if witness["type"] in ("tool_result", "file_edit"):
            return f"outdated by {witness['id']} (lossy)"
        return f"superseded by {witness['id']}"


def _covers(new: Look, was: Look, view: View) -> bool:
    """Whether what stood before is dead."""
    if was.kind != "read":
        return new.kind != "read" and (new.whole or outwritten(new, was, view))
    if new.text < was.text:
        return False
    if new.whole:
        return True
    if not new.shows:
        return new.kind == "edit" and view.policy.outdated_reads
    wider = new.tool == was.tool and new.start <= was.start and new.stop >= was.stop
    if wider and new.kind == "read" and view.mutations.edits(was.lead, new.seq, new.path) == []:
        return True
    return held(new, was, view)
