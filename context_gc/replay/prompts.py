"""Replay: at every model call of a recorded trace, the exact prompt that a policy would have sent."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from ..errors import TraceError
from ..passes import Pass
from ..policy import Policy
from ..tokens import COUNTERS, Counter, family_of
from ..trace import Trace
from .calls import ModelCall, Stretch, stretches
from .courses import ByPolicy
from .measures import STUB, Measures, Watch
from .reading import Reading
from .slots import Change, Course, Slots

TTL = 300.0  #: seconds for which a provider keeps a prompt cached, refreshed by use


class Method(Protocol):
    """A way of keeping a prompt small: a policy, or a baseline to compare it with."""

    @property
    def name(self) -> str:
        """What tables call it."""

    def course(self, stretch: Stretch, counter: Counter) -> Course:
        """A fresh start on one window."""


@dataclass(frozen=True, slots=True)
class Prompted:
    """The prompt of one model call. Tokens without overhead."""

    call: ModelCall
    window: int  #: from 1
    full: int  #: tokens of the full history
    tokens: int  #: tokens of this prompt
    common: int  #: tokens of it that began the prompt before, byte for byte; 0 for a window's first
    first_changed: str | None  #: id of the first event whose text is not as it was in the prompt before
    idle: float | None  #: seconds since the call before; None where the trace has no times
    cold: bool  #: whether the provider's cache had expired
    output: int  #: tokens that the model wrote, as reported or else estimated
    stubs: int
    level: str  #: of the budget: "ok", "compact" or "emergency"; "" without one
    passed: Pass | None  #: the pass that was made for this call


@dataclass(frozen=True, slots=True)
class Replay:
    """A trace as it would have been lived under one method."""

    method: str
    counter: str  #: the name of what counted the tokens
    calls: tuple[Prompted, ...]
    measures: Measures

    @property
    def passes(self) -> list[Pass]:
        """All passes, in order."""
        return [each.passed for each in self.calls if each.passed is not None]

    @property
    def peak(self) -> int:
        """Tokens of the longest prompt."""
        return max((each.tokens for each in self.calls), default=0)


def replay(
    trace: Trace | Sequence[Reading],
    method: Policy | Method,
    counter: Counter | None = None,
    ttl: float = TTL,
    measure: bool = True,
    told: Callable[[Prompted, Sequence[Change]], None] | None = None,
) -> Replay:
    """Every prompt in order, each made only from what came before it; what the agent wrote stays as recorded.

    `counter`: default the estimate for the trace's model. `ttl`: seconds. Several replays of one trace share
    its readings (see `readings`). Windows are replayed one by one, each from an empty prompt. `told(call, changes)`
    hears of each call with the places of its prompt that are new or not as they were.

    Raises:
        TraceError: the trace has no model call.
    """
    shared = readings(trace) if isinstance(trace, Trace) else trace
    counts, chosen = counter or _counter(trace), _method(method)
    rows: list[Prompted] = []
    measures = Measures()
    before: ModelCall | None = None
    for reading in shared:
        watch = Watch(reading, counts) if measure else None
        for index, lived in enumerate(_lived(reading, chosen, counts, ttl, before)):
            rows.append(lived.row)
            before = lived.row.call
            if told is not None:
                told(lived.row, lived.changes)
            if watch is not None:
                watch.take(index, lived.slots, lived.changes, lived.row.common if index else None, lived.before)
        if watch is not None:
            measures += watch.measures
    return Replay(chosen.name, counts.name, tuple(rows), measures)


def prompts(
    trace: Trace, method: Policy | Method, counter: Counter | None = None, ttl: float = TTL
) -> Iterator[tuple[Prompted, str]]:
    """What `replay` gives, one call after the other, each with its prompt: V_1, V_2 …"""
    counts, chosen = counter or _counter(trace), _method(method)
    before: ModelCall | None = None
    for stretch in stretches(trace):
        for lived in _lived(Reading(stretch), chosen, counts, ttl, before):
            before = lived.row.call
            yield lived.row, lived.slots.text


def readings(trace: Trace) -> list[Reading]:
    """The windows of a trace as replays and measures read them. Raises TraceError for one without model calls."""
    found = [Reading(stretch) for stretch in stretches(trace)]
    if not any(reading.stretch.calls for reading in found):
        raise TraceError(trace.source or "the trace", "it has no model call", "replay a trace of an agent's run")
    return found


def context_at(trace: Trace, k: int, policy: Policy | Method, counter: Counter | None = None) -> str:
    """V_k: the prompt of model call `k` (from 1). Raises TraceError when there is no such call."""
    for row, text in prompts(trace, policy, counter):
        if row.call.number == k:
            return text
    raise TraceError(trace.source or "the trace", f"there is no model call {k}", "count from 1")


def _method(given: Policy | Method) -> Method:
    return ByPolicy(given) if isinstance(given, Policy) else given


def _counter(trace: Trace | Sequence[Reading]) -> Counter:
    return COUNTERS[family_of(trace.model)] if isinstance(trace, Trace) else COUNTERS["o200k"]


@dataclass(frozen=True, slots=True)
class _Lived:
    """One call as it was lived: the slots go on changing with the next one."""

    row: Prompted
    slots: Slots
    changes: list[Change]
    before: int  #: tokens of the prompt before


def _lived(
    reading: Reading, method: Method, counter: Counter, ttl: float, before: ModelCall | None
) -> Iterator[_Lived]:
    """The calls of one window, one by one; `before`: the last call of the window before it."""
    stretch = reading.stretch
    course, slots = method.course(stretch, counter), Slots()
    full = reading.full(counter)
    stubs = made = 0
    for index, call in enumerate(stretch.calls):
        idle = _idle(before, call)
        cold = _is_cold(before, call, idle, ttl)
        known, total = len(slots.texts), slots.total
        changes = slots.follow(course, call.start, course.advance(call.start, cold))
        rewritten = [change for change in changes if change.seq < known]
        common = slots.before(rewritten[0].seq) if rewritten else total
        stubs += sum(_is_stub(change.after) - _is_stub(change.before) for change in changes)
        passed, made = (course.passes[-1] if len(course.passes) > made else None), len(course.passes)
        written = sum(full[seq + 1] - full[seq] for seq in call.written)
        output = call.usage.output_tokens if call.usage is not None else written
        first = stretch.events[rewritten[0].seq]["id"] if rewritten else None
        row = Prompted(
            call, stretch.number, full[call.start], slots.total, common if index else 0, first, idle, cold, output,
            stubs, course.level, passed,
        )  # fmt: skip
        yield _Lived(row, slots, changes, total)
        before = call


def _is_stub(text: str | None) -> bool:
    return text is not None and text.startswith(STUB)


def _idle(before: ModelCall | None, call: ModelCall) -> float | None:
    """Seconds between two calls, as far as the trace tells."""
    if before is None or not before.time or not call.time or call.time < before.time:
        return None
    return (call.time - before.time) / 1000


def _is_cold(before: ModelCall | None, call: ModelCall, idle: float | None, ttl: float) -> bool:
    """Whether the cache was lost: as the provider reported, else by the time that passed."""
    if before is not None and before.usage is not None and call.usage is not None:
        sent = before.usage.cache_read + before.usage.cache_write
        if sent:
            return call.usage.cache_read < sent / 2
    return idle is not None and idle > ttl
