"""Replay data: a replay as the player in the browser takes it, once: each text once, and what each call changes.

Text of the trace is data here and nothing else; what is too long is asked for when it is opened.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..eviction import EVICTION
from ..render import line
from ..replay.calibration import calibrate
from ..replay.cost import Payback, bill, paybacks
from ..replay.prices import Prices
from ..trace import Trace
from .diff_data import shown
from .fate import reason_of
from .palette import KINDS, kind_of
from .replay_steps import Step, Steps
from .rows import short
from .say import count, signed, tokens, words
from .timeline_data import MOMENTS

ROOM = 8_000_000  #: characters of text that are sent at once
LONGEST, SHORTEST = 200_000, 600  #: characters of one text that are sent at once, at most and at least
OWN, NOTHING = 0, -1  #: what stands at a place: the event's own line, nothing, or from 1 on another text
_KIND = {kind: at for at, kind in enumerate(KINDS)}


@dataclass(frozen=True, slots=True)
class Costs:
    """What each call costs. Dollars; without prices `why` says what is missing."""

    prices: Prices | None
    each: tuple[float, ...]
    paid: Mapping[int, Payback]  #: by the call that a pass was made for
    why: str = ""

    @property
    def total(self) -> float:
        """Of all calls."""
        return sum(self.each)


def costs(told: Steps, prices: Prices | None, model: str, breakpoints: str = "ideal") -> Costs:
    """What the calls of a replay cost at these prices; `model` is named where there are none."""
    if prices is None:
        named = f"no prices are known for {short(model, 40)}" if model else "the trace names no model"
        return Costs(None, (), {}, f"No costs: {named}. Choose a model whose prices count, on the Tune page.")
    found = bill(told.replay, prices, breakpoints, calibrate(told.replay))
    paid = {back.call: back for back in paybacks(told.replay, prices)}
    return Costs(prices, tuple(each.cost for each in found.charges), paid)


def dollars(amount: float) -> str:
    """An amount with as many digits as tell something: $12.30, $0.0042."""
    size = abs(amount)
    return f"{'−' if amount < 0 else ''}${size:,.2f}" if size >= 1 else f"{'−' if amount < 0 else ''}${size:.4f}"


def film(told: Steps, trace: Trace, priced: Costs) -> dict[str, Any]:
    """All that the player shows."""
    lines = [[line(event) for event in stretch.events] for stretch in told.stretches]
    texts = _Texts(told, lines)
    limit = _limit([text for each in lines for text in each] + texts.others)
    events = [
        [number, _KIND[kind_of(event)], shown(event["id"]), size, *_cut(text, limit)]
        for stretch, numbers, sizes, own in zip(told.stretches, told.numbers, told.tokens, lines, strict=True)
        for event, number, size, text in zip(stretch.events, numbers, sizes, own, strict=True)
    ]
    costs_of = priced.each or (None,) * len(told.steps)
    return {
        "kinds": list(KINDS),
        "windows": texts.windows,
        "events": events,
        "others": [_cut(text, limit) for text in texts.others],
        "calls": [
            _call(step, texts, cost, priced.paid) for step, cost in zip(told.steps, costs_of, strict=True)
        ],
        "reasons": texts.reasons,
        "prices": _prices(priced),
        "dated": f"prices of {priced.prices.as_of}" if priced.prices and priced.prices.as_of else "",
    }  # fmt: skip


def answer(told: Steps, window: int, seq: int, number: int) -> str | None:
    """The whole text of an event, or with a call's number of what stands at its place in that prompt."""
    if not (0 <= window < len(told.stretches) and 0 <= seq < len(told.stretches[window].events)):
        return None
    if not number:
        return line(told.stretches[window].events[seq])
    slots = told.slots(number) if 0 < number <= len(told.steps) else []
    return slots[seq] if seq < len(slots) else None


class _Texts:
    """Texts and reasons that many calls share, by number."""

    def __init__(self, told: Steps, lines: Sequence[Sequence[str]]) -> None:
        self.lines = lines
        self.others: list[str] = []
        self.reasons: list[tuple[str, str, int]] = []  #: (stage, reason, place of the witness in its window or -1)
        self.windows = self._windows(told)
        self._known: dict[str, int] = {}
        self._told: dict[tuple[str, str, int], int] = {}
        self._places = [{event["id"]: seq for seq, event in enumerate(each.events)} for each in told.stretches]
        self.changes = {step.number: [self._change(step, at) for at in range(len(step.changes))] for step in told.steps}

    @staticmethod
    def _windows(told: Steps) -> list[tuple[int, int]]:
        """Of each window: where its events begin, and how many calls it has."""
        found, start = [], 0
        for stretch in told.stretches:
            found.append((start, len(stretch.calls)))
            start += len(stretch.events)
        return found

    def _change(self, step: Step, at: int) -> tuple[int, ...]:
        change, window = step.changes[at], step.row.window - 1
        decision = step.why.get(change.seq)
        told = (change.seq, self._ref(change.after, window, change.seq))
        if decision is None:
            return told
        witness = self._places[window].get(decision.because[0], -1) if decision.because else -1
        passed = step.row.passed.number if step.row.passed is not None else 0
        stage = "" if decision.stage == EVICTION.name else words(decision.stage)
        reason = stage, shown(reason_of(decision, passed))[:300], witness
        number = self._told.setdefault(reason, len(self.reasons))
        if number == len(self.reasons):
            self.reasons.append(reason)
        return *told, number

    def _ref(self, text: str | None, window: int, seq: int) -> int:
        if text is None:
            return NOTHING
        if text == self.lines[window][seq]:
            return OWN
        number = self._known.setdefault(text, len(self.others) + 1)
        if number > len(self.others):
            self.others.append(text)
        return number


def _call(step: Step, texts: _Texts, cost: float | None, paid: Mapping[int, Payback]) -> dict[str, Any]:
    row, call = step.row, step.row.call
    usage = call.usage
    reported = usage.input_tokens + usage.cache_read + usage.cache_write if usage is not None else 0
    told: dict[str, Any] = {
        "w": row.window - 1, "start": call.start, "wrote": call.written, "full": row.full, "sent": row.tokens,
        "common": row.common, "out": row.output, "changes": texts.changes[step.number],
    }  # fmt: skip
    told |= {"level": row.level} if row.level else {}
    told |= {"cold": _cold(row.idle)} if row.cold else {}
    told |= {"reported": reported} if reported else {}
    told |= {"cost": dollars(cost)} if cost is not None else {}
    if row.passed is not None:
        told["pass"] = _pass(step, paid.get(step.number))
    return told


def _cold(idle: float | None) -> str:
    if idle is None or idle < 60:
        return "the provider reported that its cache was lost"
    return f"{idle / 60:,.0f} minutes after the call before" if idle < 7_200 else f"{idle / 3_600:,.1f} hours after it"


def _pass(step: Step, back: Payback | None) -> dict[str, Any]:
    """A pass in our words: why it was made, what it did, what it cost and whether it paid."""
    made = step.row.passed
    assert made is not None
    told = [f"Pass {made.number}, {MOMENTS[made.moment]}:"]
    if made.first_changed is None:
        return {"number": made.number, "gains": False, "told": f"{told[0]} nothing could be freed."}
    cut, clipped = len(made.pruned_ids), len(made.clipped_ids)
    did = [f"{count(cut, 'event')} cut" + (f", {made.evicted:,} of them live" if made.evicted else "")]
    did += [f"{clipped:,} clipped"] if clipped else []
    did += [f"{len(made.restored_ids):,} brought back"] if made.restored_ids else []
    told.append(f"{signed(-made.gain)} tokens ({'; '.join(did)}).")
    told.append(f"{tokens(made.kept_after)} tokens behind the first change are written to the cache anew")
    even = made.break_even
    if step.row.cold:
        told[-1] += "; the cache was cold, so that costs nothing extra."
    else:
        told[-1] += "; it never pays." if even is None else f"; it pays after {even:,.1f} model calls (N*)."
    if back is not None:
        won = f"won {dollars(back.net)}" if back.paid else f"lost {dollars(-back.net)}"
        told.append(f"In the {count(back.calls, 'call')} that it lasted it {won}.")
    return {"number": made.number, "gains": True, "told": " ".join(told)}


def _prices(priced: Costs) -> str:
    """What the costs rest on, or why there are none."""
    prices = priced.prices
    if prices is None:
        return priced.why
    return f"prices of {prices.model}, {prices.as_of}" if prices.as_of else f"prices of {prices.model}"


def _limit(texts: Sequence[str]) -> int:
    """How long a text may be so that all of them fit."""
    limit = LONGEST
    while limit > SHORTEST and sum(min(len(text), limit) for text in texts) > ROOM:
        limit //= 2
    return max(limit, SHORTEST)


def _cut(text: str, limit: int) -> tuple[str] | tuple[str, int]:
    """A text, and how many of its characters are not sent."""
    return (text,) if len(text) <= limit else (text[:limit], len(text) - limit)
