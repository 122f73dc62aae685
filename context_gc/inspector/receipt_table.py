"""Receipt table: one row a receipt, the check of all of them, and what can be taken away.

Everything is worked out in one pass over the events. `receipt_of` and `expand_receipt` read the whole trace
for each receipt they are asked about, so they serve one receipt at a time, not a table of thousands.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter

from ..canonical import canonical, digest, readable
from ..compaction import Compaction
from ..events import Event
from .rows import Row

DIGITS = 10  #: of a digest, in the table


@dataclass(frozen=True, slots=True)
class ReceiptRow:
    """A receipt: what it stands for and the digests that its originals must have."""

    id: str
    seq: int  #: place of its first event in the window, from 0
    number: int  #: the same in the whole trace, from 1
    turn: int
    stage: str
    clipped: bool  #: a part of the event stands in the prompt
    reason: str
    what: str  #: tool or type, of the first event
    path: str
    tokens: int  #: what it adds to the full history: negative when it saves
    event_ids: tuple[str, ...]
    sha256: tuple[str, ...]  #: of each event as it was read, in the same order

    @property
    def short(self) -> str:
        """The digest as the table shows it."""
        more = f" +{len(self.sha256) - 1}" if len(self.sha256) > 1 else ""
        return self.sha256[0][:DIGITS] + more

    @property
    def searched(self) -> str:
        """What a search looks through, without case."""
        return " ".join((self.id, *self.event_ids, self.reason, self.what, self.path, *self.sha256)).casefold()


@dataclass(frozen=True, slots=True)
class Verification:
    """The outcome of checking all receipts. `faults` maps the id of each one that failed to what is wrong."""

    total: int
    faults: Mapping[str, str]
    unreachable: tuple[str, ...]  #: cut events that no stub in the prompt leads to
    seconds: float

    @property
    def verified(self) -> int:
        """How many were recovered with the digest that they must have."""
        return self.total - len(self.faults)


def receipts(rows: Iterable[Row], events: Iterable[Event]) -> tuple[ReceiptRow, ...]:
    """One row a receipt, in trace order, with digests of `events`: those of the trace as it was read."""
    members: dict[str, list[Row]] = {}
    for row in rows:
        if row.has_receipt:
            members.setdefault(row.receipt_id, []).append(row)
    cut = {row.id for group in members.values() for row in group}
    shas = {event["id"]: digest(event) for event in events if event["id"] in cut}
    return tuple(_receipt(name, group, shas) for name, group in members.items())


def matching(table: Iterable[ReceiptRow], stages: Iterable[str] = (), text: str = "") -> tuple[ReceiptRow, ...]:
    """The receipts of some stages (none named: of all) in which every word of a text occurs, without case."""
    wanted, words = frozenset(stages), text.casefold().split()
    return tuple(
        row
        for row in table
        if (not wanted or row.stage in wanted) and (not words or all(word in row.searched for word in words))
    )


def verify(table: Sequence[ReceiptRow], result: Compaction) -> Verification:
    """Recover every original from the compaction, hash it anew, and compare with the digest in the table.

    The digests were taken from the trace as it was read, the originals come from the compaction's own
    store: an event that was changed, swapped or lost on the way fails. It cannot know what was in the
    file before it was read.
    """
    start = perf_counter()
    faults = {row.id: fault for row in table if (fault := _fault(row, result))}
    unreachable = _unreachable(table, result)
    return Verification(len(table), faults, unreachable, perf_counter() - start)


def jsonl(table: Iterable[ReceiptRow], result: Compaction) -> str:
    """Receipts with their originals, one a line, in ASCII. A line's digests are those of its events."""
    return "".join(readable(_exported(row, result), ascii_only=True) + "\n" for row in table)


def holder(table: Iterable[ReceiptRow], event_id: str | None) -> ReceiptRow | None:
    """The receipt that stands for an event; None when none does."""
    return next((row for row in table if event_id in row.event_ids), None)


def original(event_id: str, result: Compaction) -> bytes:
    """The recovered event as canonical JSON: the very bytes whose sha256 is its digest."""
    return canonical(result.event(event_id)).encode("utf-8", "surrogatepass")


#: reads the export on stdin and needs nothing but Python; says "ok" or the ids of what does not match
ONE_LINER = (
    'python3 -c "import sys,json,hashlib as h; '
    "d=lambda e: h.sha256(json.dumps(e,sort_keys=True,separators=(',',':'),ensure_ascii=False)"
    ".encode('utf-8','surrogatepass')).hexdigest(); "
    "r=list(map(json.loads,sys.stdin)); b=[x['id'] for x in r if list(map(d,x['events']))!=x['sha256']]; "
    "print(len(r)-len(b),'of',len(r),'match',b or 'ok')\" < receipts.jsonl"
)


def _receipt(name: str, group: Sequence[Row], shas: Mapping[str, str]) -> ReceiptRow:
    first = group[0]
    return ReceiptRow(
        id=name,
        seq=first.seq,
        number=first.number,
        turn=first.turn,
        stage=first.stage,
        clipped=first.status == "clipped",
        reason=first.reason,
        what=first.tool or first.type,
        path=first.path,
        tokens=sum(row.impact for row in group),
        event_ids=tuple(row.id for row in group),
        sha256=tuple(shas.get(row.id, "") for row in group),
    )


def _fault(row: ReceiptRow, result: Compaction) -> str:
    for name, sha in zip(row.event_ids, row.sha256, strict=True):
        decision = result.decision(name)
        if decision is None or decision.kept is not None:
            return f"{name} is not pruned"
        if decision.receipt_id != row.id:
            return f"{name} belongs to the receipt {decision.receipt_id}"
        found = digest(result.event(name))
        if found != sha:
            return f"{name} has sha256 {found[:DIGITS]}…, not {sha[:DIGITS] or 'any'}…"
    return ""


def _unreachable(table: Iterable[ReceiptRow], result: Compaction) -> tuple[str, ...]:
    """Events behind no stub: clipped ones whose text lacks it, cut ones of a run whose slot does not show the
    label of its first receipt."""
    reached = {row.id for row in table if row.clipped and _shows_stub(row, result)}
    for told in result["stubs"]:
        names = told["event_ids"]
        first = result.decision(names[0])
        if first is not None and told["text"].startswith(f"[RECEIPT {first.label}]"):
            reached.update(names)
    return tuple(name for row in table for name in row.event_ids if name not in reached)


def _shows_stub(row: ReceiptRow, result: Compaction) -> bool:
    decision = result.decision(row.id)
    text = result.layout.slot(row.seq) or ""
    return decision is not None and f"\n[RECEIPT {decision.label}] " in f"\n{text}"


def _exported(row: ReceiptRow, result: Compaction) -> dict[str, object]:
    return {
        "id": row.id,
        "stage": row.stage,
        "reason": row.reason,
        "event_ids": list(row.event_ids),
        "sha256": list(row.sha256),
        "events": [result.event(name) for name in row.event_ids],
    }


def by_stage(table: Iterable[ReceiptRow]) -> Iterator[tuple[str, int, int]]:
    """(stage, receipts, tokens) for each stage that found something, in order of appearance."""
    counts: dict[str, list[int]] = {}
    for row in table:
        known = counts.setdefault(row.stage, [0, 0])
        known[0] += 1
        known[1] += row.tokens
    for stage, (number, tokens) in counts.items():
        yield stage, number, tokens
