"""Tune chart: the context over the model calls with what each call costs; a click opens a call, a drag a range."""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files
from typing import Any

import streamlit as st

from ..budget import Budget
from ..replay.cost import Bill
from ..replay.prompts import Prompted, Replay
from .say import signed, tokens
from .tune_data import MOMENTS, Costs

HEIGHT = 380  #: px

_HERE = files(__package__)
_chart = st.components.v2.component(
    "cg_tune",
    html=(
        '<div class="chart"><p class="legend"></p><div class="plot"><svg role="img" tabindex="0"></svg>'
        '<div class="marks"></div><div class="tip" role="status" hidden></div></div></div>'
    ),
    css=(_HERE / "tune_chart.css").read_text("utf-8"),
    js=(_HERE / "tune_chart.js").read_text("utf-8"),
)


def tune_chart(data: dict[str, Any], key: str, on_range: Callable[[str], None], on_call: Callable[[int], None]) -> None:
    """Draw `drawn`. A drag calls `on_range` with "12-40" ("" for all calls), a click `on_call`."""

    def take_range() -> None:
        span = st.session_state[key]["range"]
        if isinstance(span, list) and all(isinstance(call, int) for call in span):
            on_range("-".join(map(str, span)))

    def take_call() -> None:
        call = st.session_state[key]["call"]
        if isinstance(call, int):
            on_call(call)

    _chart(key=key, data=data, on_range_change=take_range, on_call_change=take_call)


def drawn(
    done: Replay, found: Costs | None, budget: Budget | None, limit: int, span: tuple[int, int], version: str
) -> dict[str, Any]:
    """What the chart is given, by call: figures and words of ours, no text of the trace."""
    thresholds: list[tuple[str, float, str]] = [(f"window {tokens(limit)}", limit, "limit")]
    if budget is not None:
        share = budget.window
        thresholds += [
            (f"low {100 * budget.threshold_low:.4g} %", share * budget.threshold_low, "threshold"),
            (f"high {100 * budget.threshold_high:.4g} %", share * budget.threshold_high, "threshold"),
        ]
    marks = [_mark(each) for each in done.calls if each.passed is not None]
    return {
        "full": [each.full for each in done.calls],
        "sent": [each.tokens for each in done.calls],
        "windows": [each.window for each in done.calls],
        "cold": [int(each.cold) for each in done.calls],
        "marks": marks,
        "idle": "" if budget is None else "no pass was due",
        "thresholds": thresholds,
        "cost": _cost(found) if found else None,
        "range": span,
        "height": HEIGHT if found else HEIGHT - 110,
        "version": version,
    }


def _mark(each: Prompted) -> dict[str, Any]:
    done = each.passed
    assert done is not None
    before, after = done.tokens_before, done.tokens_after
    told = [f"call {each.call.number}: pass {done.number}, {MOMENTS[done.moment]}"]
    gains = done.first_changed is not None
    if gains:
        told.append(f"{signed(after - before)} tokens (D), {tokens(done.kept_after)} written anew (K)")
    else:
        told.append(f"nothing could be freed at {tokens(before)} tokens")
    return {"call": each.call.number, "number": done.number, "before": before, "gains": gains, "tip": "\n".join(told)}


def _cost(found: Costs) -> dict[str, Any]:
    read, fresh, output = [], [], []
    for charge in found.bill.charges:
        cached = _cached(found.bill, charge.cached, charge.written, charge.plain) * charge.prompt_cost
        read.append(round(cached, 7))
        fresh.append(round(charge.prompt_cost - cached, 7))
        output.append(round(charge.output_cost, 7))
    spent = [round(charge.cost, 7) for charge in found.full.charges]
    tall = max((*spent, *(charge.cost for charge in found.bill.charges)), default=0.0)
    return {"read": read, "fresh": fresh, "output": output, "spent": spent, "top": tall}


def _cached(given: Bill, cached: float, written: float, plain: float) -> float:
    """The share of a prompt's cost that was for what was cached."""
    prices = given.prices
    read = cached * prices.cache_read
    whole = read + written * prices.cache_write + plain * prices.input
    return read / whole if whole else 0.0
