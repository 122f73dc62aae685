"""Tune sweep view: the sweep with its progress, the picture of cost against recall, and the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from ..errors import ContextGCError, InvalidPolicy
from ..policy import Policy
from ..replay.advice import CONDITIONS, Advice, misses, recommend
from ..replay.baselines import BASELINES
from ..replay.grid import cells
from ..replay.prices import Prices, prices_of
from ..replay.report import report
from ..replay.sweep import Prepared, Row, prepare
from . import settings
from .frame import Begun
from .in_force import window
from .notice import notice
from .parts import Part, el, parts
from .say import count, share
from .tune_data import per_cent
from .tune_grid import as_settings, grid, left_out
from .tune_grid_view import grid_controls
from .tune_prices import breakpoints, own_prices
from .tune_replay import Ground, prepared, scope
from .tune_scatter import points, scatter
from .tune_sweep import Run, runs, start, stop
from .tune_worker import Order

RUN = "tune_run"  # of the browser session: the key of the sweep that is shown
MANY = 400  #: cells from which on a sweep takes long


def sweep_section(begun: Begun, ground: Ground, prices: Prices | None) -> None:
    """Everything about sweeps."""
    parts([el("h2", "Which thresholds to ship")], "tune_sweep_head")
    everything = grid_controls(len(begun.opened.traces))
    about = _scope(begun, everything)
    run = runs().get(st.session_state.get(RUN, ""))
    _button(begun, prices, about, everything, run)
    if run is not None and run.scope == about:
        if run.is_running:
            _progress(run.key)
        else:
            _result(begun, ground, prices, run)
    elif run is not None and run.is_running:
        notice("A sweep of another trace is running.")
        _progress(run.key)


def _scope(begun: Begun, everything: bool) -> str:
    return f"{begun.opened.sha256}/all" if everything else scope(begun)


def _button(begun: Begun, prices: Prices | None, about: str, everything: bool, run: Run | None) -> None:
    """Start a sweep. Where the grid contradicts itself it says what to change."""
    told = grid(settings.texts("grid"))
    fault, tried = "", []
    try:
        tried = cells(told, begun.policy, None if "max_tokens" in told else begun.force.limit)
    except ContextGCError as error:
        fault = str(error)
    except (TypeError, ValueError) as error:  # a value of a kind that no policy has
        fault = f"grid: {error} (change the value)"
    busy = run is not None and run.is_running
    with st.container(horizontal=True, vertical_alignment="center"):
        pressed = st.button(
            f"Try {len(tried):,} policies" if tried else "Try the grid", type="primary", key="tune_sweep",
            disabled=bool(fault) or prices is None or busy,
        )  # fmt: skip
        st.html(f"<small>and {len(BASELINES)} baselines, {_where(everything, begun)}, beside the page.</small>")
    if fault:
        notice(fault, "error")
    elif prices is None:
        notice("A sweep needs prices: choose a model above.")
    elif len(tried) > MANY:
        notice(f"{len(tried):,} policies take a while; a shorter list of values is quicker.", "warning")
    if pressed and prices is not None:
        order = Order(_traces(begun, prices, everything), [*BASELINES, *tried])
        st.session_state[RUN] = start(order, about, _basis(prices)).key
        st.rerun()


def _where(everything: bool, begun: Begun) -> str:
    return f"on all {len(begun.opened.traces):,} traces of the file" if everything else "on this trace"


def _basis(prices: Prices) -> str:
    return f"{prices.model[:60]}, cache for {prices.ttl / 60:g} min"


def _traces(begun: Begun, prices: Prices, everything: bool) -> list[tuple[str, Any, Prices | None]]:
    if not everything:
        return [("trace", begun.trace, prices)]
    return [(f"trace {n}", each, _prices(each.model, prices)) for n, each in enumerate(begun.opened.traces, 1)]


def _prices(model: str, chosen: Prices) -> Prices:
    """A trace's own prices, unless others were chosen or none are known."""
    if settings.text("prices"):
        return chosen
    try:
        return prices_of(model, own_prices()) if model else chosen
    except InvalidPolicy:
        return chosen


@st.fragment(run_every=0.5)
def _progress(key: str) -> None:
    """How far a sweep is. Once it is done the page is drawn anew."""
    run = runs().get(key)
    if run is None or not run.is_running:
        st.rerun()
    left = f", about {run.left:,.0f} s left" if run.left is not None else ""
    st.progress(min(1.0, run.done / max(1, run.of)), f"{run.done:,} of {run.of:,} policies{left}")
    st.button("Stop", key="tune_stop", on_click=stop, args=(run,))


def _result(begun: Begun, ground: Ground, prices: Prices | None, run: Run) -> None:
    if run.fault:
        notice(f"The sweep failed: {run.fault}", "error")
        return
    for told in run.left_out:
        notice(f"Left out: {told}", "warning")
    floor = breakpoints() == "floor"
    advice = recommend(run.rows, floor=floor)
    _recommended(begun, run, advice, floor)
    if prices is not None and run.told != _basis(prices):
        notice(f"The sweep was made at other prices ({run.told}). Try the grid again.", "warning")
    chosen = settings.text("recall")
    with st.container(horizontal=True, vertical_alignment="center"):
        words = {"": "M1: used again", "M2": "M2: told by results alone"}
        st.segmented_control(
            "Recall", list(words), format_func=words.__getitem__, required=True, label_visibility="collapsed",
            **settings.widget("recall", chosen),
        )  # fmt: skip

    def pick(at: int) -> None:
        if 0 <= at < len(run.rows) and (policy := run.rows[at].policy) is not None:
            load(policy, begun.trace.model)

    scatter(points(run.rows, advice, chosen or "M1", floor, begun.policy), "tune_scatter", pick)
    _table(run.rows, advice, floor, pick)
    _conditions(advice)
    _report(begun, ground, prices, run, advice)


def load(policy: Policy, model: str) -> None:
    """Set the controls to a policy. For callbacks: it changes the next run."""
    model_window, known = window({**settings.current(), "limit": ""}, model)
    for key, value in as_settings(policy, model_window if known else 0, settings.text("counter")).items():
        settings.put(key, value)
    st.session_state.tune_unsaid = left_out(policy)


def _recommended(begun: Begun, run: Run, advice: Advice, floor: bool) -> None:
    best = advice.best
    took = f"{count(len(run.rows), 'policy', 'policies')} tried in {run.seconds:,.1f} s."
    if best is None:
        missed = ", ".join(f"{number:,} miss {name}" for name, number in advice.failing.items() if number)
        told = f"No policy meets every condition: {missed}. Higher limits or fewer stages lose less."
        parts([el("p", told, cls="warn"), el("p", took, cls="quiet")], "tune_best")
        return
    cost = best.floor if floor else best.cost
    paid = f"{best.paid:,} of {count(best.passes, 'pass', 'passes')} paid"
    tree: list[Part] = [
        el("p", "Ship ", el("b", best.method), f": the cheapest that meets every condition, {share(cost, 1)} of what "
           f"the prompts of the full history cost; M1 {per_cent(best.measures.recall.ratio)}, M2 "
           f"{per_cent(best.measures.sole_source.ratio)}; {paid}.", cls="answer"),
        el("p", took, cls="quiet"),
    ]  # fmt: skip
    parts(tree, "tune_best")
    if best.policy is not None:
        st.button(
            "Load it into the controls", key="tune_load", on_click=load, args=(best.policy, begun.trace.model),
            disabled=best.policy == begun.policy,
        )  # fmt: skip
    if unsaid := st.session_state.get("tune_unsaid"):
        notice(f"The policy that was loaded also sets what has no control here: {', '.join(unsaid)[:300]}.", "warning")


def _table(rows: Sequence[Row], advice: Advice, floor: bool, pick: Any) -> None:
    """All policies; a row that is selected is loaded."""
    order = sorted(range(len(rows)), key=lambda at: rows[at].floor if floor else rows[at].cost)

    def take() -> None:
        selected = st.session_state.tune_table["selection"]["rows"]
        if selected and 0 <= selected[0] < len(order):
            pick(order[selected[0]])

    table = pd.DataFrame([_cells(rows[at], advice) for at in order])
    shares = {
        name: st.column_config.NumberColumn(format="percent")
        for name in ("cost", "floor", "M1", "M2", "M4", "M5", "M9")
    }
    st.dataframe(
        table, hide_index=True, key="tune_table", on_select=take, selection_mode="single-row", height=320,
        column_config={
            **shares, "": st.column_config.TextColumn(width=105),
            "policy": st.column_config.TextColumn(width=430),
            "peak": st.column_config.NumberColumn(format="localized"),
        },
    )  # fmt: skip


def _cells(row: Row, advice: Advice) -> dict[str, Any]:
    told = row.to_dict()
    place = "★ recommended" if row is advice.best else "runner-up" if row in advice.runners_up else ""
    kept = {key: told[key] for key in ("cost", "floor", "M1", "M2", "M9", "passes", "paid", "peak", "M4", "M5", "M6")}
    kind = place or ("" if row.values else "baseline")
    return {"": kind, "policy": row.method, "misses": ", ".join(sorted(misses(row))), **kept}


def _conditions(advice: Advice) -> None:
    cells: list[Part] = [el("b", head) for head in ("Condition", "At least", "Policies that miss it", "What it costs")]
    for name, (_, least) in CONDITIONS.items():
        price = advice.price_of[name]
        wanted = "none" if name == "M6" else f"{100 * least:.4g} %"
        costs = "–" if price is None else "nothing" if not round(price, 4) else f"{share(price, 1)} of the full history"
        cells += [el("b", name), el("span", wanted, cls="num"), el("span", f"{advice.failing[name]:,}", cls="num"),
                  el("span", costs)]  # fmt: skip
    parts([el("h2", "What each condition costs"), el("div", *cells, cls="conditions")], "tune_conditions")


def _report(begun: Begun, ground: Ground, prices: Prices | None, run: Run, advice: Advice) -> None:
    """The sweep as one file, made when it is asked for."""
    everything = run.scope.endswith("/all")

    def page() -> str:
        return report(run.rows, advice, _prepared(begun, ground, prices, everything))

    st.download_button(
        "report.html", page, "report.html", "text/html", on_click="ignore", key="tune_report", disabled=prices is None,
        help="One file that is read offline: what to ship, the picture, the curves, the passes, what is lost.",
    )  # fmt: skip


def _prepared(begun: Begun, ground: Ground, prices: Prices | None, everything: bool) -> list[tuple[str, Prepared]]:
    if prices is None:
        return []
    if not everything:
        return [(begun.opened.name, prepared(ground, prices))]
    found = []
    for name, trace, own in _traces(begun, prices, everything):
        try:
            found.append((name, prepare(replace(trace), own)))
        except ContextGCError:  # told among those that were left out
            continue
    return found
