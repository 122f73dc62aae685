"""Diff rows: full history against prompt, event by event, from what is known to have been cut.

Nothing is compared as text but a marked line with itself, so the cost is that of reading the trace once.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import NamedTuple

from ..clipping import GAP
from ..compaction import Compaction
from ..decision import Decision
from ..policy import Policy
from ..render import line
from ..stages import STAGES
from ..verdicts import WAITING
from .fate import passes_of, reason_of
from .palette import kind_of

SAME, CUT, MARKED, CLIPPED = "same", "cut", "marked", "clipped"
GONE, NEW, STUB = "gone", "new", "stub"
_WORDS = re.compile(r"\w+|\s+|[^\w\s]")
_COMPARED = 2_000  #: words on either side beyond which a changed middle is taken as wholly replaced


class DiffRow(NamedTuple):
    """One event: its line in the full history and what stands in its place in the prompt."""

    seq: int  #: place in the window, from 0
    id: str
    kind: str  #: as the palette colours it
    fate: str  #: SAME, CUT, MARKED or CLIPPED
    before: str  #: "" for an event that prints nothing
    after: str | None  #: its line, the stub of the run it heads, or nothing
    impact: int  #: tokens that its fate adds to the full history, its stub included
    stage: str = ""  #: the stage that found it dead, also where it is kept
    reason: str = ""  #: why it was cut; for events that are kept, what a stage found and what kept them
    witness: int | None = None  #: place of the event that makes cutting it safe
    waits: bool = False  #: found dead, and out at the next pass
    number: int = 0  #: in the whole trace, from 1; 0 where places are counted on from the diff's first


class Part(NamedTuple):
    """A piece of a marked or clipped event; `what` is SAME, GONE, NEW or STUB."""

    what: str
    text: str


@dataclass(frozen=True, slots=True)
class Change:
    """A run of cut events with the stub that came for it, or one event that got a mark or was clipped."""

    start: int
    stop: int  #: the place after its last event
    fate: str  #: CUT, MARKED or CLIPPED
    stub: str  #: what stands for it; "" where the policy leaves no stub
    tokens: int  #: what it adds to the full history: negative when it saves
    reasons: tuple[tuple[str, str, int], ...]  #: (stage, reason, how many events), in order of appearance
    witness: int | None  #: of its first event


@dataclass(frozen=True, slots=True)
class Diff:
    """All rows in trace order, and the changes among them."""

    rows: tuple[DiffRow, ...]
    changes: tuple[Change, ...]
    tokens_before: int
    tokens_after: int
    first: int  #: number of its first event in the whole trace, from 1

    def next_change(self, place: int) -> int:
        """The number of the first change that ends behind a place; how many there are when none does."""
        return bisect_right(self.changes, place, key=lambda change: change.stop)

    def number(self, place: int) -> int:
        """The number of the event at a place in the whole trace, from 1."""
        return self.rows[place].number or self.first + place

    def change_at(self, place: int) -> int | None:
        """The number of the change that a place is part of; None for an unchanged event."""
        number = self.next_change(place)
        return number if number < len(self.changes) and self.changes[number].start <= place else None


def diff(result: Compaction, first: int = 1) -> Diff:
    """The diff of one compaction, whose first event is event number `first` of its trace.

    The impacts of all rows add up to tokens_after - tokens_before.
    """
    before, after = result["tokens_before"], result["tokens_after"]
    rows = tuple(_rows(result))
    return Diff(rows, tuple(_changes(rows)), before, after, first)


def steps(policy: Policy) -> tuple[str, ...]:
    """The stages that a policy runs, in the order in which they run."""
    return tuple(stage.name for stage in STAGES if stage.name in policy.stages)


def first_stages(policy: Policy, count: int) -> Policy:
    """The policy with only the first `count` of its stages; 0 gives the full history."""
    return replace(policy, stages=steps(policy)[:count])


def parts(before: str, after: str) -> tuple[Part, ...]:
    """How one line became another, in words. Compares only what lies between their common start and end."""
    old, new = _WORDS.findall(before), _WORDS.findall(after)
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    ended = len(old) - tail
    told = [Part(SAME, "".join(old[:head]))]
    told += _compared(old[head:ended], new[head : len(new) - tail])
    told.append(Part(SAME, "".join(old[ended:])))
    return tuple(part for part in told if part.text)


def clipped_parts(before: str, after: str) -> tuple[Part, ...]:
    """What stays of a clipped event and what went, with the stub and the gaps where they stand.

    SAME and GONE together are the whole text. Blind spot: of a line that occurs several times the first is
    taken to be the one that stays.
    """
    told: list[Part] = []
    at, marks, pieces = 0, list[Part](), _pieces(after)
    for number, (what, text) in enumerate(pieces):
        if what != SAME:
            marks.append(Part(what, text))
            continue
        place, kept = _place(before, text, at, number == len(pieces) - 1)
        told += [Part(GONE, before[at:place]), *marks, Part(SAME, kept)]
        at, marks = place + len(kept), []
    told += [Part(GONE, before[at:]), *marks]
    return tuple(part for part in told if part.text)


def _pieces(after: str) -> list[tuple[str, str]]:
    """The text of a clipped event: stretches that stay, the stub's line, and lines that tell of a gap."""
    found: list[tuple[str, str]] = []
    for text in after.split("\n"):
        what = STUB if text.startswith("[RECEIPT ") else NEW if text == GAP else SAME
        if what == SAME and found and found[-1][0] == SAME:
            found[-1] = SAME, f"{found[-1][1]}\n{text}"
        else:
            found.append((what, text if what != NEW else f"\n{GAP}\n"))
    return found


def _place(before: str, text: str, at: int, is_last: bool) -> tuple[int, str]:
    """Where a stretch that stays stands in the whole text, without the marks of a line that was cut."""
    begun = text.removeprefix(GAP).removeprefix("\\") if text.startswith(GAP) else text
    for kept in dict.fromkeys((text, text.removesuffix(GAP), begun, begun.removesuffix(GAP))):
        if is_last and (place := len(before.rstrip("\n")) - len(kept)) >= at and before.startswith(kept, place):
            return place, before[place:]
        if (place := before.find(kept, at)) >= 0:
            return place, kept
    return at, ""


def _rows(result: Compaction) -> Iterator[DiffRow]:
    prompt, runs = result.layout, result.layout.runs
    passed = passes_of(result)
    places = {event["id"]: seq for seq, event in enumerate(result.events)}
    for seq, event in enumerate(result.events):
        slot, decision = prompt.slot(seq), result.decision(event["id"])
        if decision is None:
            yield DiffRow(seq, event["id"], kind_of(event), SAME, slot or "", slot or "", 0)
            continue
        before, told = line(event), _told(decision, passed.get(event["id"], 0))
        cut = seq in runs and seq not in prompt.shown
        clips = decision.clipped and decision.kept is None
        fate = CUT if cut else SAME if (slot or "") == before else CLIPPED if clips else MARKED
        after = slot if cut else slot or ""
        witness = places.get(decision.because[0]) if decision.because else None
        kind, stage = kind_of(event), decision.stage
        impact, waits = prompt.impact(seq), decision.kept == WAITING
        yield DiffRow(seq, event["id"], kind, fate, before, after, impact, stage, told, witness, waits)


def _told(decision: Decision, passed: int) -> str:
    if decision.kept == WAITING:
        return f"waits for the next pass: {decision.would}"
    return reason_of(decision, passed) if decision.kept is None else f"kept ({decision.kept}): {decision.would}"


def _changes(rows: Sequence[DiffRow]) -> Iterator[Change]:
    run: list[DiffRow] = []
    for row in rows:
        if run and row.fate != CUT:
            yield _change(run)
            run = []
        if row.fate == CUT:
            run.append(row)
        elif row.fate != SAME:
            yield _change([row])
    if run:
        yield _change(run)


def _change(run: Sequence[DiffRow]) -> Change:
    first = run[0]
    counts: dict[tuple[str, str], int] = {}
    for row in run:
        counts[row.stage, row.reason] = counts.get((row.stage, row.reason), 0) + 1
    reasons = tuple((stage, reason, count) for (stage, reason), count in counts.items())
    tokens = sum(row.impact for row in run)
    return Change(first.seq, run[-1].seq + 1, first.fate, first.after or "", tokens, reasons, first.witness)


def _common(old: Sequence[str], new: Sequence[str]) -> int:
    same = 0
    for mine, other in zip(old, new, strict=False):
        if mine != other:
            break
        same += 1
    return same


def _compared(old: Sequence[str], new: Sequence[str]) -> list[Part]:
    if not old or not new or max(len(old), len(new)) > _COMPARED:
        return [Part(GONE, "".join(old)), Part(NEW, "".join(new))]
    told: list[Part] = []
    for what, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        told += [Part(SAME, "".join(old[a:b]))] if what == "equal" else []
        told += [Part(GONE, "".join(old[a:b])), Part(NEW, "".join(new[c:d]))] if what != "equal" else []
    return told
