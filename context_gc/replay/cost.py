"""Cost: what a replay would have been billed, call by call, with a provider's prompt cache.

A call reads what its prompt shares with the prompt before (r), writes the rest (w), and pays its output.
Formulas: DESIGN §4; the cache of a pass: N* = (w - r)/r · K/D.
"""

from __future__ import annotations

from dataclasses import dataclass

from .calibration import Calibration
from .prices import Prices
from .prompts import Prompted, Replay

BREAKPOINTS = ("ideal", "floor")
MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Charge:
    """One call's bill. Tokens as the provider counts them; dollars."""

    call: int
    cached: float  #: tokens read from the cache
    written: float  #: tokens written to it
    plain: float  #: tokens of prompts too short to be cached
    output: int
    prompt_cost: float
    output_cost: float

    @property
    def cost(self) -> float:
        """Dollars."""
        return self.prompt_cost + self.output_cost


@dataclass(frozen=True, slots=True)
class Bill:
    """What all calls of a replay cost."""

    charges: tuple[Charge, ...]
    breakpoints: str
    prices: Prices

    @property
    def total(self) -> float:
        """Dollars."""
        return sum(each.cost for each in self.charges)

    @property
    def prompts(self) -> float:
        """Dollars for the prompts alone: what a policy can change."""
        return sum(each.prompt_cost for each in self.charges)


def bill(replay: Replay, prices: Prices, breakpoints: str = "ideal", calibration: Calibration | None = None) -> Bill:
    """What a replay costs.

    `breakpoints`: "ideal" keeps all that stands before the first changed byte; "floor" keeps, once anything
    changed, only what comes before the first event (agents mark the system prompt and the last message).
    `calibration`: default none, so that tokens are the estimate and the system prompt costs nothing.

    Raises:
        ValueError: `breakpoints` is neither.
    """
    if breakpoints not in BREAKPOINTS:
        raise ValueError(f"breakpoints: {breakpoints!r} (one of {', '.join(BREAKPOINTS)})")
    fit = calibration or Calibration()
    charges = [_charge(at, each, prices, breakpoints, fit) for at, each in enumerate(replay.calls)]
    return Bill(tuple(charges), breakpoints, prices)


def recorded_bill(replay: Replay, prices: Prices) -> float | None:
    """Dollars by the provider's own reports; None when a trace has none."""
    total, found = 0.0, False
    for each in replay.calls:
        usage = each.call.usage
        if usage is not None:
            found = True
            scale, output = _tier(prices, usage.input_tokens + usage.cache_read + usage.cache_write)
            total += scale * (
                usage.input_tokens * prices.input
                + usage.cache_read * prices.cache_read
                + usage.cache_write * prices.cache_write
            )
            total += output * usage.output_tokens * prices.output
    return total / MILLION if found else None


@dataclass(frozen=True, slots=True)
class Payback:
    """Whether a pass paid for the cache that it broke. Tokens; calls counted from the pass on."""

    call: int  #: the call that it was made for
    kept_after: int  #: K
    gain: int  #: D
    break_even: float | None  #: N*; None: never
    calls: int  #: calls that had its gain before the cache went cold, this one included
    net: float  #: dollars won by then, negative when lost

    @property
    def paid(self) -> bool:
        """Whether it won anything."""
        return self.net >= 0


def paybacks(replay: Replay, prices: Prices) -> list[Payback]:
    """One for each pass that changed the prompt: G(N) = N·r·D - (w - r)·K; for a cold cache w·D + (N - 1)·r·D."""
    found = []
    calls = replay.calls
    for at, each in enumerate(calls):
        done = each.passed
        if done is None or done.first_changed is None:
            continue
        later = calls[at + 1 :]
        until = next((n for n, call in enumerate(later, 1) if call.cold or call.window != each.window), len(later) + 1)
        gain, kept = done.gain, done.kept_after
        read, write = prices.cache_read, prices.cache_write
        even: float | None = 0.0
        if each.cold:
            net = write * gain + (until - 1) * read * gain
        else:
            net = until * read * gain - (write - read) * kept
            even = (write - read) / read * kept / gain if gain > 0 else None
        found.append(Payback(each.call.number, kept, gain, even, until, net / MILLION))
    return found


def _charge(at: int, each: Prompted, prices: Prices, breakpoints: str, fit: Calibration) -> Charge:
    tokens = fit.tokens(each.tokens)
    floor = min(fit.tokens(0), tokens)
    rewritten = each.first_changed is not None
    cached = floor if rewritten and breakpoints == "floor" else fit.tokens(each.common)
    if each.cold or at == 0 or cached < prices.min_prefix:
        cached = 0.0
    fresh = tokens - cached
    plain = fresh if tokens < prices.min_prefix else 0.0
    written = fresh - plain
    scale, output = _tier(prices, tokens)
    prompt = scale * (cached * prices.cache_read + written * prices.cache_write + plain * prices.input)
    spoken = output * each.output * prices.output
    return Charge(each.call.number, cached, written, plain, each.output, prompt / MILLION, spoken / MILLION)


def _tier(prices: Prices, tokens: float) -> tuple[float, float]:
    above = prices.tier_from is not None and tokens > prices.tier_from
    return (prices.tier, prices.tier_output) if above else (1.0, 1.0)
