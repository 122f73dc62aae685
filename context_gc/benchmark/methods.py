"""Methods: ways to make the final prompt of a session, given all of it at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..budget import Budget
from ..compactor import compact_events
from ..events import Event
from ..policy import KNOWN_STAGES, Policy
from ..replay.baselines import BASELINES, FULL
from ..replay.calls import Stretch, in_order, model_calls
from ..replay.courses import ByPolicy
from ..replay.prompts import Method
from ..replay.slots import Slots
from ..tokens import COUNTERS

COUNTER = COUNTERS["o200k"]  #: counts every prompt of a table, whoever made it
LOSSLESS = tuple(name for name in KNOWN_STAGES if name != "clip")
OURS = ("default policy", "all lossless stages")  #: these have to hold every answer
TIGHT = 0.6  #: a tight window as a share of the session


@dataclass(frozen=True, slots=True)
class Way:
    """One row of a table: events in, the text of the prompt out."""

    name: str
    prompt: Callable[[Sequence[Event]], str]


def ways() -> list[Way]:
    """Full history, this project's policies, the baselines."""
    return [
        Way(FULL.name, lambda events: _compacted(FULL.policy, events)),
        Way(OURS[0], lambda events: _compacted(Policy(), events)),
        Way(OURS[1], lambda events: _compacted(Policy(stages=LOSSLESS), events)),
        Way("all stages", lambda events: _compacted(Policy(stages=KNOWN_STAGES), events)),
        Way(f"all stages, window {TIGHT:.0%} of the session", _tight),
        *(Way(each.name, _of(each)) for each in BASELINES if each is not FULL),
    ]


def _of(method: Method) -> Callable[[Sequence[Event]], str]:
    if isinstance(method, ByPolicy):
        return lambda events: _compacted(method.policy, events)
    return lambda events: _lived(method, events)


def _compacted(policy: Policy, events: Sequence[Event]) -> str:
    prompt: str = compact_events(events, policy)["prompt"]
    return prompt


def _tight(events: Sequence[Event]) -> str:
    full = COUNTER.count(_compacted(FULL.policy, events))
    return _compacted(Policy(stages=KNOWN_STAGES, budget=Budget(int(TIGHT * full), min_gain=0)), events)


def _lived(method: Method, events: Sequence[Event]) -> str:
    """The last prompt of a method of replay, made in one step."""
    ordered = in_order(events)
    course, slots = method.course(Stretch(1, ordered, tuple(model_calls(ordered))), COUNTER), Slots()
    slots.follow(course, len(ordered), course.advance(len(ordered), False))
    return slots.text
