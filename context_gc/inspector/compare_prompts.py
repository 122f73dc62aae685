"""Compare prompts: what two prompts of the same call differ in: what only one of them holds, and both as a diff."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from ..render import sendable
from .compare_data import Side
from .diff_data import shown
from .diff_rows import CLIPPED, CUT, MARKED, SAME, Change, Diff, DiffRow
from .fate import reason_of
from .palette import kind_of
from .replay_steps import is_stub
from .rows import short

ALIGNED = 3_000  #: texts of one prompt up to which two runs are aligned in order; beyond, only what they begin with
TEXT = 240  #: characters of a text in the table


class Only(NamedTuple):
    """An event that stands in one of two prompts. Its text is untrusted."""

    side: int  #: 0 or 1
    window: int
    seq: int
    number: int
    kind: str
    id: str
    tokens: int  #: of what stands there
    other: str  #: what the other prompt has: "its stub", "nothing", or what cut it there
    text: str


def only(one: Side, two: Side, call: int, runs: bool) -> list[Only]:
    """What stands in one prompt of a call and not in the other, the largest first."""
    found = _only_text(one, two, call) if runs else _only_event(one, two, call)
    return sorted(found, key=lambda each: -each.tokens)


def prompts(one: Side, two: Side, call: int, runs: bool) -> Diff:
    """The prompts of a call: of the second side, as the full history of a diff, and of the first."""
    rows = list(_aligned(two, one, call) if runs else _by_place(two, one, call))
    numbered = tuple(row._replace(seq=seq) for seq, row in enumerate(rows))
    changes = tuple(_changes(numbered))
    return Diff(numbered, changes, two.at(call).row.tokens, one.at(call).row.tokens, 1)


# one trace


def _stands(text: str | None) -> bool:
    return text is not None and not is_stub(text)


def _only_event(one: Side, two: Side, call: int) -> Iterator[Only]:
    window, sides = one.steps.step(call).row.window - 1, (one, two)
    slots = [side.steps.slots(call) for side in sides]
    why = [side.steps.reasons(call) for side in sides]
    events, numbers = one.steps.stretches[window].events, one.steps.numbers[window]
    for seq, pair in enumerate(zip(*slots, strict=True)):
        if _stands(pair[0]) == _stands(pair[1]):
            continue
        at = 0 if _stands(pair[0]) else 1
        decision = why[1 - at].get(seq)
        lacks = "its stub" if pair[1 - at] is not None else "part of a run's stub, or nothing"
        if decision is not None:
            lacks = shown(reason_of(decision, 0))
        text = pair[at] or ""
        yield Only(
            at, window, seq, numbers[seq], kind_of(events[seq]), events[seq]["id"],
            sides[at].size(window, seq, text), lacks, _brief(text),
        )  # fmt: skip


def _by_place(left: Side, right: Side, call: int) -> Iterator[DiffRow]:
    window = left.steps.step(call).row.window - 1
    events, numbers = left.steps.stretches[window].events, left.steps.numbers[window]
    why = left.steps.reasons(call), right.steps.reasons(call)
    stub, was_cut = "", False
    for seq, (old, new) in enumerate(zip(left.steps.slots(call), right.steps.slots(call), strict=True)):
        if new is not None:
            stub = new if is_stub(new) else ""
        if old is None and new is None:
            continue
        row = DiffRow(
            seq, events[seq]["id"], kind_of(events[seq]), SAME, old or "", new, 0, number=numbers[seq]
        )  # fmt: skip
        gone = _stands(old) and not _stands(new)
        head, was_cut = (new if new is not None else None if was_cut else stub), gone
        if old == new:
            yield row
            continue
        decision = (why[1] if gone or seq in why[1] else why[0]).get(seq)
        stage, reason = ("", "not the same in both") if decision is None else (decision.stage, reason_of(decision, 0))
        impact = right.size(window, seq, new) - left.size(window, seq, old)
        clips = decision is not None and decision.clipped and seq in why[1] and seq not in why[0]
        fate = CUT if gone else CLIPPED if clips and old is not None else MARKED
        yield row._replace(
            fate=fate, after=head if gone else new or "", impact=impact, stage=stage, reason=reason,
        )  # fmt: skip


def _changes(rows: Sequence[DiffRow]) -> Iterator[Change]:
    """Runs of what the second prompt lacks, each with the stub it has there, and every other difference by itself."""
    run: list[DiffRow] = []
    for row in [*rows, None]:
        if run and (row is None or row.fate != CUT or row.after):
            counts: dict[tuple[str, str], int] = {}
            for each in run:
                counts[each.stage, each.reason] = counts.get((each.stage, each.reason), 0) + 1
            reasons = tuple((stage, reason, count) for (stage, reason), count in counts.items())
            yield Change(
                run[0].seq, run[-1].seq + 1, CUT, run[0].after or "", sum(each.impact for each in run), reasons, None
            )
            run = []
        if row is not None and row.fate == CUT:
            run.append(row)
        elif row is not None and row.fate != SAME:
            yield Change(
                row.seq, row.seq + 1, row.fate, row.after or "", row.impact, ((row.stage, row.reason, 1),), None
            )


# two runs


class _Text(NamedTuple):
    text: str
    seq: int
    number: int
    kind: str
    id: str


def _texts(side: Side, call: int) -> list[_Text]:
    step = side.at(call)
    window = step.row.window - 1
    events, numbers = side.steps.stretches[window].events, side.steps.numbers[window]
    return [
        _Text(text, seq, numbers[seq], kind_of(events[seq]), events[seq]["id"])
        for seq, text in enumerate(side.steps.slots(step.number))
        if text is not None
    ]


def _only_text(one: Side, two: Side, call: int) -> Iterator[Only]:
    sides = one, two
    texts = [_texts(side, call) for side in sides]
    known = [{each.text for each in mine} for mine in texts]
    for at, side in enumerate(sides):
        window = side.at(call).row.window - 1
        for each in texts[at]:
            if each.text not in known[1 - at]:
                yield Only(
                    at, window, each.seq, each.number, each.kind, each.id,
                    side.size(window, each.seq, each.text), "not this text", _brief(each.text),
                )  # fmt: skip


def _aligned(left: Side, right: Side, call: int) -> Iterator[DiffRow]:
    """Both prompts in order: what both have, then what only the left has, then what only the right has."""
    old, new = _texts(left, call), _texts(right, call)
    windows = [each.at(call).row.window - 1 for each in (left, right)]
    for what, a, b, c, d in _opcodes([each.text for each in old], [each.text for each in new]):
        if what == "equal":
            for mine in new[c:d]:
                yield DiffRow(0, mine.id, mine.kind, SAME, mine.text, mine.text, 0, number=mine.number)
            continue
        for mine in old[a:b]:
            yield DiffRow(
                0, mine.id, mine.kind, CUT, mine.text, None, -left.size(windows[0], mine.seq, mine.text), "",
                f"only in {left.name}", number=mine.number,
            )  # fmt: skip
        for mine in new[c:d]:
            yield DiffRow(
                0, mine.id, mine.kind, MARKED, "", mine.text, right.size(windows[1], mine.seq, mine.text), "",
                f"only in {right.name}", number=mine.number,
            )  # fmt: skip


def _opcodes(old: Sequence[str], new: Sequence[str]) -> Sequence[tuple[str, int, int, int, int]]:
    """How one list of texts becomes another."""
    if max(len(old), len(new)) <= ALIGNED:
        return SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    return [("equal", 0, head, 0, head), ("replace", head, len(old), head, len(new))]


def _brief(text: str) -> str:
    return sendable(short(text, TEXT))
