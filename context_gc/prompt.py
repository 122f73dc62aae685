"""Prompt: the compacted text, kept up to date in blocks so that one more event costs one block.

Each event has a slot: its line while it lives, the stub if it heads a run of cut events, else nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from .clipping import clipped
from .events import Event, label
from .ledger import Ledger
from .mentions import failures, mentions
from .meter import Meter
from .policy import Policy
from .render import describe, escape, line, stub
from .runs import Runs
from .verdicts import Verdict

BLOCK = 256  #: events a block


class Prompt:
    """The prompt over the events so far under a ledger's decisions."""

    def __init__(self, events: Sequence[Event], ledger: Ledger, policy: Policy, meter: Meter) -> None:
        self.size = 0  #: events taken in
        self.sent = 0  #: events whose stubs stand as they are, because they have been sent
        self.runs = Runs()
        self.edits: list[int] = []  #: places whose slot was written anew, in the order of writing
        self.shown = ledger.shown  #: cut events that stand in full because their stub would be longer
        self._events = events
        self.ledger = ledger
        self._style = policy.stub_style
        self._clip_over = policy.clip_over
        self._meter = meter
        self._slots: list[str | None] = []
        self._marked: set[int] = set()  # live events whose line carries a mark
        self._texts: list[str | None] = []
        self._dirty: set[int] = set()
        self._read = False
        self._block_tokens: list[int | None] = []
        self._tokens: dict[int, int] = {}  # of what stands in a slot, once counted

    def update(self, size: int, changed: Iterable[int], verdicts: Mapping[int, Verdict]) -> None:
        """Take in the events up to `size` and the places whose verdict changed."""
        start, self.size = self.size, size
        heads: set[int] = set()
        self._append(start, size, verdicts, heads)
        blocks = -(-size // BLOCK)
        self._texts += [None] * (blocks - len(self._texts))
        self._block_tokens += [None] * (blocks - len(self._block_tokens))
        if size > start:
            self._dirty.update(range(start // BLOCK, blocks))
        for seq in changed:
            if seq < start:
                self._place(seq, verdicts.get(seq), heads)
        if self.ledger.has_rings or self._style in ("described", "worthwhile"):
            # these stubs depend on more than which events were cut
            new = range(start, size)
            again = {place for seq in (*changed, *new) for place in self.ledger.unit(seq) if place < size}
            heads |= self.runs.heads(again.union(self.ledger.clusters))
        heads = {head for head in heads if self.runs.end(head) is not None}
        if self._style == "worthwhile":
            heads = {head for first in sorted(heads) for head in self._weighed(first)}
        for head in heads:
            self._head(head)

    def _append(self, start: int, size: int, verdicts: Mapping[int, Verdict], heads: set[int]) -> None:
        add = self._slots.append
        opened = None  # where the stretch of cut events that is being read began
        for seq, event in enumerate(self._events[start:size], start):
            verdict = verdicts.get(seq)
            if verdict is not None and verdict.cut:
                add(None)
                if verdict.seam:
                    self.runs.seams.add(seq)
                    if opened is not None:
                        self._open(opened, seq - 1, heads)
                        opened = None
                opened = seq if opened is None else opened
                continue
            if opened is not None:
                self._open(opened, seq - 1, heads)
                opened = None
            add(line(event) or None if verdict is None else self._live_text(seq, verdict))
        if opened is not None:
            self._open(opened, size - 1, heads)

    def _open(self, start: int, end: int, heads: set[int]) -> None:
        self.runs.append(start, end)
        heads.add(self.runs.start(start))

    def _live_text(self, seq: int, verdict: Verdict | None) -> str | None:
        event = self._events[seq]
        text = line(event)
        if verdict is not None and verdict.clipped and verdict.held is None:
            self._marked.add(seq)
            return clipped(event, self._clip_over, self._meter.counter) or text or None
        if verdict is not None and (mark := self._mark(seq, verdict)):
            self._marked.add(seq)
            text = f"{text} {mark}" if text else mark
        return text or None

    def _place(self, seq: int, verdict: Verdict | None, heads: set[int]) -> None:
        if verdict is not None and verdict.cut:
            if seq not in self.runs:
                if verdict.seam:
                    self.runs.seams.add(seq)
                heads.add(self.runs.add(seq))
                self._set(seq, None)
                if seq + 1 in self.runs and seq + 1 not in self.runs.seams:
                    self._set(seq + 1, None)
            return
        if seq in self.runs:
            self.runs.discard(seq)
            self.runs.seams.discard(seq)
            self.shown.discard(seq)
            heads.update(place for place in (seq + 1,) if place in self.runs)
            if seq - 1 in self.runs:
                heads.add(self.runs.start(seq - 1))
        self._marked.discard(seq)
        self._set(seq, self._live_text(seq, verdict))

    def _set(self, seq: int, text: str | None) -> None:
        self._slots[seq] = text
        self._tokens.pop(seq, None)
        self._dirty.add(seq // BLOCK)
        self.edits.append(seq)

    def _mark(self, seq: int, verdict: Verdict) -> str:
        decision = self.ledger.decision(seq)
        if decision.stage != "dead-branches" or not decision.because or verdict.kept is None or verdict.waiting:
            return ""
        kept = " ".join((verdict.kept.partition("=")[2] or verdict.kept).split())
        return escape(f"(abandoned by {label(decision.because[0])}, kept: {kept})")

    def _run(self, head: int) -> range:
        return range(head, (self.runs.end(head) or head) + 1)

    def _head(self, head: int) -> None:
        """Write a run: its stub into its first slot; its lines, where it stands in full."""
        run = self._run(head)
        shown = head in self.shown
        if self._style == "worthwhile":
            for seq in run:
                self._set(seq, line(self._events[seq]) or None if shown else None)
        if not shown:
            self._set(head, self.stub(run) or None)

    def _weighed(self, head: int) -> list[int]:
        """The heads of the runs that share units or clusters with this one, all shown in full or none.

        They stand in full where their stubs would cost more than their lines; never what was abandoned: in
        full it would look current.
        """
        heads, places, clusters = [head], list(self._run(head)), self.ledger.clusters
        met: set[str] = set()
        for seq in places:  # grows while it is read
            partners = [place for place in self.ledger.unit(seq) if place < self.size]
            if (name := clusters.get(seq)) is not None and name not in met:
                met.add(name)
                partners += [place for place in clusters if clusters[place] == name]
            for start in sorted(self.runs.heads(partners).difference(heads)):
                heads.append(start)
                places += self._run(start)
        settled = [start for start in heads if start < self.sent]
        if settled:
            shown = settled[0] in self.shown
        else:
            stubs = sum(self._meter.count(self.stub(self._run(start))) for start in heads)
            shown = stubs > sum(map(self._meter.line, places)) and not any(map(self.ledger.is_abandoned, places))
        (self.shown.update if shown else self.shown.difference_update)(places)
        return heads

    def stub(self, places: range) -> str:
        """The stub of a run: a function of the events in it and of what found them, nothing else."""
        if self._style == "none":
            return ""
        first, clusters = self._events[places[0]], self.ledger.clusters
        if clusters:
            names = list(dict.fromkeys(clusters.get(seq) or label(self._events[seq]["id"]) for seq in places))
        else:
            names = [label(first["id"])] * len(places)
        notes = [reason for seq in self.ledger.abandons(places) if (reason := line(self._events[seq]))]
        notes += mentions(self.ledger.noted("eviction", places))
        notes += failures(self.ledger.noted("repeated-failures", places))
        if self._style == "described":
            notes.insert(0, describe(first, self.ledger.decision(places[0]).stage))
        return stub(names, notes)

    # reading

    @property
    def text(self) -> str:
        """The prompt. Blocks are kept from the second reading on: most prompts are read once."""
        if not self._read:
            self._read = True
            return "\n".join([text for text in self._slots if text is not None])
        self._refresh()
        return "\n".join([text for text in self._texts if text is not None])

    def _refresh(self) -> None:
        for block in self._dirty:
            part = [text for text in self._slots[block * BLOCK : (block + 1) * BLOCK] if text is not None]
            self._texts[block] = "\n".join(part) if part else None
            self._block_tokens[block] = None
        self._dirty.clear()

    def slot(self, seq: int) -> str | None:
        """What stands in the prompt at an event's place: its line, the stub of the run it heads, or nothing."""
        return self._slots[seq]

    @property
    def tokens_before(self) -> int:
        """Tokens of the full history: every event's line, nothing cut."""
        return self._meter.total(self.size)

    @property
    def tokens_after(self) -> int:
        """Tokens of the prompt as it stands, stubs and marks included."""
        self._refresh()
        for block, tokens in enumerate(self._block_tokens):
            if tokens is None:
                places = range(block * BLOCK, min(self.size, (block + 1) * BLOCK))
                self._block_tokens[block] = sum(self.tokens(seq) for seq in places)
        return sum(tokens for tokens in self._block_tokens if tokens is not None)

    def tokens(self, seq: int) -> int:
        """Tokens of what stands at an event's place."""
        tokens = self._tokens.get(seq)
        if tokens is None:
            tokens = self._tokens[seq] = self._count(seq)
        return tokens

    def _count(self, seq: int) -> int:
        text = self._slots[seq]
        if text is None:
            return 0
        if seq in self.runs and seq not in self.shown:
            return self._meter.count(text)
        if seq in self._marked:
            return self._meter.count(text) + self._meter.images(seq)
        return self._meter.line(seq)

    def impact(self, seq: int) -> int:
        """How many tokens the event's fate adds to the full history: negative when it saves."""
        return self.tokens(seq) - self._meter.line(seq)
