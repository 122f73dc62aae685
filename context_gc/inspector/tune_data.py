"""Tune data: what a replay of one policy is told as: the answer, the measures, the passes and what was lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..replay.advice import CONDITIONS
from ..replay.calibration import Calibration
from ..replay.cost import Bill, Payback, bill, paybacks, recorded_bill
from ..replay.measures import Loss, Measures, Share
from ..replay.prices import Prices
from ..replay.prompts import Replay
from ..trace import Trace
from .say import count, share, tokens

CAVEAT = (
    "The recorded behaviour is held fixed: what the agent would have done with another prompt is not measured, and "
    "an identifier that stands in the prompt need not be found in it."
)
MOMENTS: Mapping[str, str] = {
    "compact": "low threshold",
    "emergency": "high threshold",
    "cold": "cache was cold",
    "asked": "asked for",
    "needed": "late result",
}


@dataclass(frozen=True, slots=True)
class Costs:
    """What a replay costs beside the full history."""

    bill: Bill
    full: Bill
    paybacks: Sequence[Payback]
    recorded: float | None  #: dollars by the provider's own reports

    @property
    def ratio(self) -> float:
        """M8: the prompts' cost relative to the full history."""
        return self.bill.prompts / self.full.prompts if self.full.prompts else 1.0


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure in a row: its value, what is wanted, and what it means."""

    name: str
    value: str
    target: str
    met: bool | None  #: None where nothing is demanded
    meaning: str
    listed: bool = False  #: whether what was lost is in the list


@dataclass(frozen=True, slots=True)
class Lost:
    """One thing that prompts lacked, however many did. `what` and `event_id` come from the trace."""

    measure: str
    what: str
    calls: int  #: how many lacked it
    call: int  #: the first of them
    event_id: str
    distance: int  #: calls between that event and the first


@dataclass(frozen=True, slots=True)
class Made:
    """One pass. `event_id` is the first event that it changed."""

    call: int
    number: int
    moment: str
    event_id: str
    gain: int  #: D
    kept_after: int  #: K
    even: str  #: N*
    calls: int | None  #: that had its gain while the cache was warm
    net: float | None  #: dollars


def costs(done: Replay, full: Replay, prices: Prices, breakpoints: str, fit: Calibration) -> Costs:
    """What a replay and the full history cost at the same prices."""
    lived, whole = (bill(each, prices, breakpoints, fit) for each in (done, full))
    return Costs(lived, whole, paybacks(done, prices), recorded_bill(done, prices))


def answer(done: Replay, found: Costs | None) -> str:
    """What the policy would have cost and saved."""
    calls = count(len(done.calls), "recorded model call")
    if found is None:
        sent, full = sum(each.tokens for each in done.calls), sum(each.full for each in done.calls)
        return (
            f"Over {calls} this policy would have sent {tokens(sent)} tokens, {tokens(full)} with full history: "
            f"{change(sent, full)}. "
        )
    spent, whole = found.bill.total, found.full.total
    told = f"Over {calls} this policy would have cost {money(spent)}, {money(whole)} with full history: "
    on_prompts = change(found.bill.prompts, found.full.prompts)
    return told + (f"{change(spent, whole)} ({on_prompts} on prompts). " if spent != whole else "no difference. ")


def lost_sentence(told: Measures) -> str:
    """What the policy lost, by M1, M2, M9, M5 and M6, in words."""
    start, found = "Nothing that the agent went on to use was missing", list[str]()
    if not told.recall.of and not told.quotes.of:
        start = "The agent used nothing again that it had seen, so nothing could be missed"
    if gone := told.recall.of - told.recall.kept:
        found.append(f"{gone:,} of {count(told.recall.of, 'identifier')} that the agent used again were gone")
        if sole := told.sole_source.of - told.sole_source.kept:
            found[-1] += f", {sole:,} of them told by a tool's result alone"
    if gone := told.quotes.of - told.quotes.kept:
        found.append(f"{gone:,} of {count(told.quotes.of, 'text')} that edits quote could not be read any more")
    if gone := told.instructions.of - told.instructions.kept:
        found.append(f"instructions did not stand byte for byte {count(gone, 'time')}")
    if faults := told.faults.total():
        found.append(f"{count(faults, 'half')} of a call and its result stood alone".replace("halfs", "halves"))
    kept = [] if told.instructions.kept < told.instructions.of else ["every instruction stands byte for byte"]
    kept += [] if told.faults.total() else ["no call lost its result"]
    tail = f" {' and '.join(kept).capitalize()}." if kept else ""
    return (f"What it lost: {'; '.join(found)}." if found else f"{start}.") + tail


def measures(told: Measures, found: Costs | None) -> list[Measure]:
    """M1 to M9, one row each."""
    reread = told.rereads
    again = (
        f"; of {count(reread.of, 'read')} again, {reread.kept:,} found the first still standing" if reread.of else ""
    )
    return [
        _share("M1", told.recall, "identifiers that the agent used again and that stood in the prompt"),
        _share("M2", told.sole_source, "of these, the ones that nothing but a tool's result had told"),
        Measure(
            "M3", f"{told.recovered:,}", "", None,
            f"events that would have to come back for M1 = 100 %, with {tokens(told.recovered_tokens)} tokens{again}",
        ),
        _share("M4", told.artifacts, "files touched before, told with their last operation", "100 %"),
        _share("M5", told.instructions, "instructions that stand in the prompt byte for byte"),
        Measure(
            "M6", f"{told.faults.total():,}", "0", not told.faults, "results without a call, calls without a result",
            bool(told.faults),
        ),
        Measure(
            "M7", per_cent(told.extending.ratio), "", None,
            f"prompts that only extend the one before; {per_cent(told.stability)} of a prompt begins the next",
        ),
        Measure(
            "M8", share(found.ratio, 1) if found else "no prices", "least", None,
            "cost of the prompts, relative to full history; of what was sent "
            f"{share(told.stale_tokens, told.prompt_tokens)} are stale reads, "
            f"{share(told.stub_tokens, told.prompt_tokens)} stubs",
        ),
        _share("M9", told.quotes, "texts quoted by edits that could be read in the prompt"),
    ]  # fmt: skip


def lost(losses: Sequence[Loss]) -> tuple[Lost, ...]:
    """Losses by measure and by what was lost, the ones that most calls missed first, as a report groups them."""
    groups: dict[tuple[str, str], list[Loss]] = {}
    for each in losses:
        groups.setdefault((each.measure, each.what), []).append(each)
    ranked = sorted(groups.items(), key=lambda item: (item[0][0], -len(item[1])))
    return tuple(
        Lost(measure, what, len(times), times[0].call, times[0].event_id, times[0].distance)
        for (measure, what), times in ranked
    )


def made(done: Replay, found: Costs | None) -> list[Made]:
    """The passes that changed the prompt, and whether each paid."""
    back = {each.call: each for each in found.paybacks} if found else {}
    rows = []
    for each in done.calls:
        if (passed := each.passed) is None or passed.first_changed is None:
            continue
        paid = back.get(each.call.number)
        even = "" if paid is None else "never" if paid.break_even is None else f"{paid.break_even:,.1f}"
        rows.append(
            Made(
                each.call.number, passed.number, MOMENTS[passed.moment], passed.first_changed, passed.gain,
                passed.kept_after, even, paid.calls if paid else None, paid.net if paid else None,
            )
        )  # fmt: skip
    return rows


def rewritten(done: Replay) -> int:
    """Calls whose prompt does not extend the one before."""
    return sum(each.first_changed is not None for each in done.calls)


def is_timeless(done: Replay) -> bool:
    """Whether nothing is known of when the calls were made, so that a cache never goes cold."""
    return len(done.calls) > 1 and all(each.idle is None for each in done.calls)


def places(trace: Trace) -> dict[str, tuple[str, int]]:
    """Event id -> the window that it stands in, as the settings have it, and its number in the trace."""
    found: dict[str, tuple[str, int]] = {}
    for number, window in enumerate(trace.windows, 1):
        name = "" if number == len(trace.windows) else str(number)
        found |= {trace.events[at]["id"]: (name, at + 1) for at in range(window.start, window.stop)}
    return found


def span(told: str, calls: int) -> tuple[int, int]:
    """The range of model calls that a setting such as "12-40" stands for; all of them where it makes no sense."""
    first, _, last = told.partition("-")
    if not (first.isascii() and first.isdigit() and last.isascii() and last.isdigit() and len(told) < 20):
        return 1, calls
    a, b = int(first), min(int(last), calls)
    return (a, b) if 1 <= a < b else (1, calls)


def money(dollars: float) -> str:
    """Dollars, to the cent; small sums to a hundredth of a cent."""
    return f"${dollars:,.2f}" if abs(dollars) >= 1 or not dollars else f"${dollars:.4f}"


def gained(dollars: float) -> str:
    """Dollars with their sign."""
    return ("+" if dollars >= 0 else "−") + money(abs(dollars))


def change(part: float, whole: float) -> str:
    """A change in per cent with its sign."""
    by = round(100 * (part / whole - 1), 1) if whole else 0.0
    return f"{'+' if by > 0 else '−' if by < 0 else ''}{abs(by):.1f} %"


def per_cent(ratio: float) -> str:
    """A ratio in per cent with two decimals, never rounded up to 100."""
    return f"{min(100 * ratio, 99.99) if ratio < 1 else 100:.{2 if ratio < 1 else 0}f} %"


def _share(name: str, told: Share, meaning: str, target: str = "") -> Measure:
    least = CONDITIONS[name][1] if name in CONDITIONS else None
    wanted = target or ("" if least is None else f"{'≥ ' if least < 1 else ''}{100 * least:.4g} %")
    met = None if least is None else told.ratio >= least
    value = f"{per_cent(told.ratio)}" if told.of else "nothing asked"
    return Measure(name, value, wanted, met, f"{meaning}: {told.kept:,} of {told.of:,}", told.kept < told.of)
