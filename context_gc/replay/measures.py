"""Measures M1-M7 and M9 of DESIGN §5: what the prompts of a replay still held of what the agent went on to use.

All are counts over the recorded behaviour. What an agent would have done with another prompt is not measured.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ..tokens import Counter as TokenCounter
from .calls import ModelCall
from .identifiers import identifiers
from .reading import Reading, Touch
from .slots import Change, Slots

STUB = "[RECEIPT "


@dataclass(slots=True)
class Share:
    """How many of how many. `ratio` is 1.0 where nothing was asked for."""

    kept: int = 0
    of: int = 0

    @property
    def ratio(self) -> float:
        """In 0..1."""
        return self.kept / self.of if self.of else 1.0

    def count(self, kept: bool) -> bool:
        """One more; gives `kept` back."""
        self.of += 1
        self.kept += kept
        return kept

    def __add__(self, other: Share) -> Share:
        return Share(self.kept + other.kept, self.of + other.of)


@dataclass(frozen=True, slots=True)
class Loss:
    """Something that a prompt lacked."""

    measure: str  #: "M1", "M2" (counted in M1 too), "M4", "M5", "M6" or "M9"
    call: int  #: number of the model call
    what: str  #: the identifier, path, quote or rule; of M6 the kind of fault
    event_id: str  #: where it stood last; of M5 and M6 the event itself
    distance: int  #: calls between that event and this call


@dataclass(slots=True)
class Measures:
    """Sums over the calls of a replay; of several windows or traces they are added up."""

    recall: Share = field(default_factory=Share)  #: M1: identifiers used again that the prompt held
    sole_source: Share = field(default_factory=Share)  #: M2: those that only an observation had supplied
    recovered: int = 0  #: M3: events that would have to come back so that M1 = 1
    recovered_tokens: int = 0  #: M3: their tokens
    rereads: Share = field(default_factory=Share)  #: reads again, unchanged: whose first result still stood
    artifacts: Share = field(default_factory=Share)  #: M4: paths touched, with the right last operation
    instructions: Share = field(default_factory=Share)  #: M5: must be 1
    faults: Counter[str] = field(default_factory=Counter)  #: M6: kinds; must be none
    extending: Share = field(default_factory=Share)  #: M7: prompts that extend the one before byte for byte
    common: float = 0.0  #: M7: sum over calls of the share of the prompt before that still begins this one
    quotes: Share = field(default_factory=Share)  #: M9: texts that an edit quotes
    prompt_tokens: int = 0  #: sum over calls
    stale_tokens: int = 0  #: of these, in reads older than the last successful write of their path
    stub_tokens: int = 0  #: of these, in stubs
    lost: list[Loss] = field(default_factory=list)

    @property
    def stability(self) -> float:
        """M7: mean share of a prompt that begins the next one, in 0..1."""
        return self.common / self.extending.of if self.extending.of else 1.0

    def __iadd__(self, other: Measures) -> Measures:
        for name in ("recall", "sole_source", "rereads", "artifacts", "instructions", "extending", "quotes"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in ("recovered", "recovered_tokens", "common", "prompt_tokens", "stale_tokens", "stub_tokens"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.faults += other.faults
        self.lost += other.lost
        return self


class Watch:
    """Takes the prompts of one window one by one and counts."""

    def __init__(self, reading: Reading, counter: TokenCounter) -> None:
        self.measures = Measures()
        self._reading, self._counter = reading, counter
        self._calls = reading.stretch.calls
        self._held: Counter[str] = Counter()  # identifier -> slots that hold it
        self._altered: dict[int, frozenset[str]] = {}  # identifiers of slots that are not as they were written
        self._changed: set[int] = set()  # instructions that do not stand byte for byte
        self._instructed = 0
        self._rules = set(reading.instructions)
        self._touch: dict[str, list[Touch]] = {}  # path -> its last acts, all of one kind
        self._missing: set[str] = set()  # touched paths whose last operation is told nowhere
        self._read = 0  # of the touches
        self._faults: dict[int, str] = {}
        self._back: set[int] = set()  # events that would have to be recovered
        self._outdated: set[int] = set()
        self._stale = self._stubs = 0  # tokens in the prompt
        self._weights: dict[int, tuple[int, int]] = {}  # place -> (stale, stub) tokens that it was counted with

    def take(self, index: int, slots: Slots, changes: Sequence[Change], common: int | None, before: int) -> None:
        """The prompt of call `index` of the window, and what changed in it.

        `common`: tokens of the prompt before that begin this one, `before`: all of its tokens; None for the first.
        """
        call, reading, told = self._calls[index], self._reading, self.measures
        for change in changes:
            self._hold(change)
        known = self._read
        new = self._learn(call.start)
        for seq in {change.seq for change in changes} | new:
            self._weigh(seq, slots)
        self._check(changes, slots)
        if common is not None and before:
            told.extending.count(common == before)
            told.common += common / before
        told.prompt_tokens += slots.total
        told.stale_tokens += self._stale
        told.stub_tokens += self._stubs
        self._ask(index, call, slots)
        fresh = {path for _, path, _ in reading.touched[known : self._read]}
        self._see_artifacts(call, slots, fresh, any(change.before is not None for change in changes))
        told.instructions = told.instructions + Share(self._instructed - len(self._changed), self._instructed)
        for seq in sorted(self._changed):
            self._lose("M5", call, reading.lines[seq].partition("\n")[0][:200], seq)

    # what stands where

    def _hold(self, change: Change) -> None:
        seq, reading = change.seq, self._reading
        if change.before is not None:
            for name in self._altered.pop(seq, None) or reading.refs(seq):
                self._held[name] -= 1
        if change.after is not None:
            refs = reading.refs(seq)
            if change.after != reading.lines[seq]:
                refs = self._altered[seq] = identifiers(change.after)
            for name in refs:
                self._held[name] += 1

    def _learn(self, size: int) -> set[int]:
        """Take in what is known by now of reads and writes; the places whose standing changed by it."""
        new: set[int] = set()
        touched = self._reading.touched
        while self._read < len(touched) and touched[self._read][0] < size:
            known, path, touch = touched[self._read]
            last = self._touch.get(path)
            self._touch[path] = [*last, touch] if last and last[0].verb == touch.verb else [touch]
            self._missing.discard(path)
            new.update(self._reading.outdated.get(known, ()))
            self._read += 1
        self._outdated |= new
        return new

    def _weigh(self, seq: int, slots: Slots) -> None:
        stale, stub = self._weights.pop(seq, (0, 0))
        self._stale -= stale
        self._stubs -= stub
        text = slots.texts[seq]
        if text is None:
            return
        tokens = slots.at(seq)
        is_stub = text.startswith(STUB)
        weights = (tokens if seq in self._outdated and not is_stub else 0, tokens if is_stub else 0)
        if any(weights):
            self._weights[seq] = weights
            self._stale += weights[0]
            self._stubs += weights[1]

    def _stands(self, seq: int, slots: Slots) -> bool:
        """Whether an event stands in the prompt itself, be it shortened or marked."""
        text = slots.texts[seq] if seq < len(slots.texts) else None
        return text is not None and not text.startswith(STUB)

    def _check(self, changes: Iterable[Change], slots: Slots) -> None:
        """Instructions that changed, and units of which a half is missing."""
        reading, units = self._reading, self._reading.units
        for change in changes:
            seq = change.seq
            if seq in self._rules:
                self._instructed += change.before is None and seq not in self._changed
                good = change.after is not None and change.after.startswith(reading.lines[seq])
                (self._changed.discard if good else self._changed.add)(seq)
            lead = units.lead(seq)
            for place in units.members(lead):
                self._faults.pop(place, None)
            for place in units.results(lead):
                if place >= len(slots.texts):
                    continue
                if self._stands(place, slots) and not self._stands(lead, slots):
                    self._faults[place] = "a result without its call"
                elif slots.texts[place] is None and self._stands(lead, slots):
                    self._faults[place] = "a call whose result is gone"

    # what the model asked for

    def _ask(self, index: int, call: ModelCall, slots: Slots) -> None:
        reading, told = self._reading, self.measures
        for seq, fault in sorted(self._faults.items()):
            told.faults[fault] += 1
            self._lose("M6", call, fault, seq)
        for demand in reading.demands[index]:
            kept = told.recall.count(self._held[demand.identifier] > 0)
            if demand.sole:
                told.sole_source.count(kept)
            if not kept:
                self._lose("M2" if demand.sole else "M1", call, demand.identifier, demand.source)
                if demand.source not in self._back:
                    self._back.add(demand.source)
                    told.recovered += 1
                    told.recovered_tokens += self._counter.count(reading.lines[demand.source] + "\n")
        for quote in reading.quotes[index]:
            if not told.quotes.count(any(self._quotable(place, quote.text, slots) for place in quote.sources)):
                self._lose("M9", call, quote.text, quote.sources[0])
        for seq in call.written:
            if (earlier := reading.rereads.get(seq)) is not None:
                places = reading.units.results(earlier) or (earlier,)
                told.rereads.count(all(slots.texts[place] == reading.lines[place] for place in places))

    def _quotable(self, seq: int, text: str, slots: Slots) -> bool:
        stands = slots.texts[seq]
        return stands is not None and (stands == self._reading.lines[seq] or text in stands)

    def _see_artifacts(self, call: ModelCall, slots: Slots, fresh: set[str], rewritten: bool) -> None:
        """Every touched path: its last operation stands in the prompt, or its stub tells it."""
        asked = self._touch.keys() if rewritten else fresh
        self._missing -= asked
        self._missing |= {
            path for path in asked if not any(self._tells(path, each, slots) for each in reversed(self._touch[path]))
        }
        artifacts = self.measures.artifacts
        self.measures.artifacts = artifacts + Share(len(self._touch) - len(self._missing), len(self._touch))
        for path in sorted(self._missing):
            last = self._touch[path][-1]
            self._lose("M4", call, f"{last.verb} {path}", last.place)

    def _tells(self, path: str, touch: Touch, slots: Slots) -> bool:
        if self._stands(touch.place, slots):
            return True
        seq = touch.place
        while seq >= 0 and slots.texts[seq] is None:
            seq -= 1
        stub = slots.texts[seq] if seq >= 0 else None
        return stub is not None and stub.startswith(STUB) and f"{touch.verb} {path}" in stub

    def _lose(self, measure: str, call: ModelCall, what: str, seq: int) -> None:
        event_id = self._reading.events[seq]["id"]
        self.measures.lost.append(Loss(measure, call.number, what, event_id, self._distance(call, seq)))

    def _distance(self, call: ModelCall, seq: int) -> int:
        return sum(1 for each in self._calls if seq < each.start <= call.start)
