"""Replay steps: a trace lived under a method, call by call, with every change of its prompt and the reason for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ..decision import Decision
from ..events import Event
from ..policy import Policy
from ..replay import Prompted, Replay, readings, replay
from ..replay.calls import Stretch
from ..replay.courses import PolicyCourse
from ..replay.prompts import TTL
from ..replay.slots import Change
from ..tokens import COUNTERS, Counter, family_of
from ..trace import Trace

STUB = "[RECEIPT "


@dataclass(frozen=True, slots=True)
class Step:
    """One model call: its figures, and what in its prompt is new or not as it was."""

    row: Prompted
    changes: tuple[Change, ...]  #: in the order of places; of a window's first call all that its prompt holds
    why: Mapping[int, Decision]  #: place -> what cut or clipped it, for places that changed by it

    @property
    def number(self) -> int:
        """The number of the call, from 1 over the whole trace."""
        return self.row.call.number


@dataclass(frozen=True, slots=True)
class Steps:
    """A trace as it would have been lived. Never changed: several browser sessions read it."""

    replay: Replay
    stretches: tuple[Stretch, ...]  #: the windows, also those without a call
    steps: tuple[Step, ...]
    numbers: tuple[tuple[int, ...], ...]  #: of each window's events: the number in the whole trace, from 1
    tokens: tuple[tuple[int, ...], ...]  #: of each window's events: tokens in the full history

    def step(self, number: int) -> Step:
        """The call with this number."""
        return self.steps[number - 1]

    def stretch(self, number: int) -> Stretch:
        """The window of a call."""
        return self.stretches[self.step(number).row.window - 1]

    def slots(self, number: int) -> list[str | None]:
        """What stands at each place of the prompt of a call; joined by newlines it is that prompt, V_k."""
        window = self.step(number).row.window
        found: list[str | None] = []
        for step in self.steps[:number]:
            if step.row.window == window:
                found += [None] * (step.row.call.start - len(found))
                for change in step.changes:
                    found[change.seq] = change.after
        return found

    def reasons(self, number: int) -> dict[int, Decision]:
        """Why events are out of the prompt of a call, by place, as it was told when each of them left."""
        window = self.step(number).row.window
        found: dict[int, Decision] = {}
        for step in self.steps[:number]:
            if step.row.window == window:
                for change in step.changes:
                    found.pop(change.seq, None)
                found |= step.why
        return found

    def find(self, event_id: str) -> tuple[int, int] | None:
        """Index of the window and place in it of an event; None when it was never sent."""
        for window, stretch in enumerate(self.stretches):
            for seq, event in enumerate(stretch.events):
                if event["id"] == event_id:
                    return window, seq
        return None


class _Seen:
    """A policy as a method, with the course that is being lived at hand."""

    def __init__(self, policy: Policy) -> None:
        self.policy, self.name = policy, "policy"
        self.lived: PolicyCourse | None = None

    def course(self, stretch: Stretch, counter: Counter) -> PolicyCourse:
        self.lived = PolicyCourse(stretch.events, self.policy, counter)
        return self.lived


def steps(
    trace: Trace, policy: Policy, counter: Counter | None = None, ttl: float = TTL, measure: bool = False
) -> Steps:
    """Live a trace under a policy. `ttl`: seconds that a cache lasts. Raises TraceError when no model was called."""
    shared, method, found = readings(trace), _Seen(policy), list[Step]()
    counts = counter or COUNTERS[family_of(trace.model)]

    def take(row: Prompted, changes: Sequence[Change]) -> None:
        found.append(Step(row, tuple(changes), _why(method.lived, changes)))

    told = replay(shared, method, counts, ttl, measure, take)
    stretches = tuple(reading.stretch for reading in shared)
    fulls = [reading.full(counts) for reading in shared]
    tokens = tuple(tuple(b - a for a, b in pairwise(full)) for full in fulls)
    return Steps(told, stretches, tuple(found), _numbers(trace.events, stretches), tokens)


def is_stub(text: str | None) -> bool:
    """Whether what stands at a place is the stub of a run."""
    return text is not None and text.startswith(STUB)


def run_at(slots: Sequence[str | None], lines: Sequence[str], seq: int) -> range:
    """The places that the stub at a place stands for: it and what follows, up to the next that stands."""
    stop = seq + 1
    while stop < len(slots) and slots[stop] is None:
        stop += 1
    while stop > seq + 1 and not lines[stop - 1]:  # what prints nothing is not told apart from what was cut
        stop -= 1
    return range(seq, stop)


def _why(course: PolicyCourse | None, changes: Sequence[Change]) -> dict[int, Decision]:
    """The decisions behind what a call's prompt lacks, as they stood at that call."""
    if course is None:
        return {}
    ledger, found = course.live.ledger, {}
    for change in changes:
        verdict = ledger.verdicts.get(change.seq)
        if verdict is not None and verdict.held is None and change.seq not in ledger.shown:
            found[change.seq] = ledger.decision(change.seq)
    return found


def _numbers(events: Sequence[Event], stretches: Sequence[Stretch]) -> tuple[tuple[int, ...], ...]:
    number = {event["id"]: at for at, event in enumerate(events, 1)}
    return tuple(tuple(number[event["id"]] for event in stretch.events) for stretch in stretches)
