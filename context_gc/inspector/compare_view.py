"""Compare view: two policies on one trace, or two runs under the same controls, side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

import pandas as pd
import streamlit as st

from ..errors import ContextGCError
from ..policy import Policy
from ..render import sendable
from ..replay.prices import Prices
from ..replay.prompts import TTL
from ..trace import Trace
from . import settings
from .compare_chart import compare_chart
from .compare_choice import rival
from .compare_data import Figure, Side, curves, figures, sentence
from .compare_prompts import Only, only, prompts
from .counting import counter_of
from .diff_component import diff_component, diff_reply
from .diff_data import page
from .diff_rows import CUT, Diff
from .diff_view import MODES, answered
from .frame import Inspected
from .notice import notice
from .parts import el, parts
from .replay_data import Costs, costs
from .replay_steps import Steps, steps
from .replay_view import digest, of_file, select_in
from .say import count, share
from .tune_prices import breakpoints, chosen_prices

KEY = "compare_diff"
LISTED = 2_000  #: events in the table
_HELP = {
    "tokens": st.column_config.NumberColumn(format="localized"),
    "text": st.column_config.TextColumn(width=230),
    "the other has": st.column_config.TextColumn(width=260),
}


@dataclass(frozen=True, slots=True)
class Pair:
    """Both replays, and the call that is looked at."""

    one: Side
    two: Side
    runs: bool
    call: int
    key: str


def compared(inspected: Inspected) -> Pair:
    """Live both. Where that is not possible the page says why and what to do, and ends."""
    try:
        other = rival(inspected)
        one = _side(
            "the policy in force" if not other.is_run else "the open run",
            inspected.trace,
            inspected.policy,
            of_file(inspected),
        )
    except ContextGCError as error:
        _stop(str(error))
    try:
        two = _side(other.name, other.trace, other.policy, other.told or of_file(inspected))
    except ContextGCError as error:
        _stop(f"{other.name}: {error}")
    most = max(len(side.steps.steps) for side in (one[0], two[0]))
    call = max(1, min(int(settings.text("call") or most), most))
    return Pair(one[0], two[0], other.is_run, call, f"{one[1]}|{two[1]}")


def told(pair: Pair) -> None:
    """The answer, and what it rests on."""
    lines = [el("p", sentence(pair.one, pair.two, pair.runs), cls="answer")]
    if pair.runs:
        sizes = [len(side.steps.steps) for side in (pair.one, pair.two)]
        ended = (
            f" The shorter one ends at call {min(sizes):,}: from there on its last prompt is shown."
            if sizes[0] != sizes[1]
            else ""
        )
        lines.append(
            el("p", "Two runs are aligned by the number of the model call, and their texts by what is equal; both are "
               f"under the policy of the controls.{ended}", cls="quiet")
        )  # fmt: skip
    if why := pair.one.costs.why or pair.two.costs.why:
        lines.append(el("p", why, cls="quiet"))
    parts(lines, "compare_sentence")


def chart(pair: Pair) -> None:
    """The curves; a click or a key chooses the call that is looked at."""
    compare_chart(
        _curves(pair.key, pair), pair.call, "compare_chart", lambda call: settings.put("call", str(call))
    )  # fmt: skip


def figure_table(pair: Pair) -> None:
    """Tokens, cost, passes and measures of both."""
    found = _figures(pair.key, pair)
    columns = {
        "": [each.name for each in found],
        pair.one.name: [each.one for each in found],
        pair.two.name: [each.two for each in found],
        "difference": [each.change for each in found],
        "what it is": [each.meaning for each in found],
    }
    st.dataframe(
        pd.DataFrame(columns), hide_index=True, height=36 + 28 * len(found), row_height=28, key="compare_figures",
        column_config={"": st.column_config.TextColumn(width=110), "difference": st.column_config.TextColumn(width=140),
                       "what it is": st.column_config.TextColumn(width=420)},
    )  # fmt: skip


def only_table(pair: Pair, inspected: Inspected) -> None:
    """What stands in one of the two prompts of this call only. A click on a line selects the event."""
    found = _only(f"{pair.key}/{pair.call}", pair)
    names = [pair.one.name, pair.two.name]
    counts = [sum(each.side == at for each in found) for at in (0, 1)]
    what = "text" if pair.runs else "event"
    st.html(
        f"<b>Only one holds, at call {pair.call:,}</b><br><small>{count(counts[0], what)} only in {names[0]}, "
        f"{counts[1]:,} only in {names[1]}{_more(found)}. A click on a line selects the event on every page.</small>"
    )
    if not found:
        return
    rows = found[:LISTED]
    columns = {
        "#": [each.number for each in rows],
        "only in": [(pair.one, pair.two)[each.side].brief for each in rows],
        "tokens": [each.tokens for each in rows],
        "text": [each.text for each in rows],
        "the other has": [each.other for each in rows],
        "kind": [each.kind for each in rows],
        "id": [sendable(each.id) for each in rows],
    }
    key = f"compare_only_{digest(f'{pair.key}/{pair.call}')}"
    chosen = settings.text("event")
    here = [at for at, each in enumerate(rows) if each.id == chosen and not (pair.runs and each.side)]
    st.session_state[key] = {"selection": {"rows": here[:1], "columns": [], "cells": []}}

    def picked() -> None:
        places = st.session_state[key]["selection"]["rows"]
        if places and not (pair.runs and rows[places[0]].side):
            select_in(inspected, rows[places[0]].window, rows[places[0]].id)

    st.dataframe(
        pd.DataFrame(columns), key=key, on_select=picked, selection_mode="single-row", hide_index=True, height=352,
        row_height=28, column_config=_HELP,
    )  # fmt: skip


def prompt_diff(pair: Pair, inspected: Inspected) -> None:
    """Both prompts of the call as a diff: what the other one holds at the left, the policy in force at the right."""
    kept = st.session_state.setdefault("diff_controls", {"mode": "side", "upto": ""})
    st.session_state.compare_view = kept["mode"]
    step = pair.one.at(pair.call), pair.two.at(pair.call)
    st.html(
        f"<b>The prompts of call {pair.call:,}</b> <small>{share(step[0].row.tokens, step[1].row.tokens)} of the "
        f"tokens: {step[0].row.tokens:,} in {pair.one.name}, {step[1].row.tokens:,} in {pair.two.name}</small>"
    )
    st.segmented_control(
        "View", tuple(MODES), format_func=MODES.__getitem__, key="compare_view", required=True, width="content",
        label_visibility="collapsed", on_change=_keep_mode,
    )  # fmt: skip
    version = f"{pair.key}/{pair.call}"
    found, drawn = _diff(version, pair)

    def pick(name: str) -> None:
        seq = st.session_state[KEY][name]
        if isinstance(seq, int) and 0 <= seq < len(found.rows):
            row = found.rows[seq]
            place = None if pair.runs and row.fate == CUT else pair.one.steps.find(row.id)
            if place is not None:
                select_in(inspected, place[0], row.id)

    asked = diff_component(
        drawn | {"version": version}, key=KEY, on_picked=lambda: pick("picked"), on_graph=lambda: pick("graph")
    )
    if asked.graph is not None:
        st.switch_page("pages/graph.py")
    chosen = next(
        (row.seq for row in found.rows if row.id == settings.text("event") and not (pair.runs and row.fate == CUT)),
        None,
    )
    diff_reply(
        key=KEY, version=version, mode=kept["mode"], selected=chosen, answer=answered(found, version, asked.asked)
    )  # fmt: skip


def _more(found: list[Only]) -> str:
    return f" (the {LISTED:,} largest are listed)" if len(found) > LISTED else ""


def _keep_mode() -> None:
    if st.session_state.compare_view is not None:
        st.session_state.diff_controls["mode"] = st.session_state.compare_view


def _stop(fault: str) -> NoReturn:
    notice(fault, "error")
    st.html("<p>Choose another one above, or open the log of an agent's run at the left.</p>")
    settings.mirror()
    st.stop()


def _side(name: str, trace: Trace, policy: Policy, told: str) -> tuple[Side, str]:
    """One replay and its key. Raises TraceError for a trace without model calls."""
    prices = chosen_prices(trace.model)
    key = f"{told}/{digest(policy.to_toml() + repr((prices, breakpoints())))}"
    found, priced = _lived(key, trace, policy, told, prices, breakpoints())
    return Side(name, found, priced, counter_of(told, policy.counter)), key


@st.cache_resource(max_entries=8, show_spinner="Replaying this trace")
def _lived(
    key: str, _trace: Trace, _policy: Policy, _told: str, _prices: Prices | None, _breakpoints: str
) -> tuple[Steps, Costs]:
    ttl = _prices.ttl if _prices else TTL
    found = steps(_trace, _policy, counter_of(_told, _policy.counter), ttl, measure=True)
    return found, costs(found, _prices, _trace.model, _breakpoints)


@st.cache_resource(max_entries=8, show_spinner=False)
def _curves(key: str, _pair: Pair) -> dict[str, Any]:
    return curves(_pair.one, _pair.two, _pair.runs)


@st.cache_resource(max_entries=8, show_spinner=False)
def _figures(key: str, _pair: Pair) -> list[Figure]:
    return figures(_pair.one, _pair.two)


@st.cache_resource(max_entries=32, show_spinner=False)
def _only(key: str, _pair: Pair) -> list[Only]:
    return only(_pair.one, _pair.two, _pair.call, _pair.runs)


@st.cache_resource(max_entries=16, show_spinner=False)
def _diff(version: str, _pair: Pair) -> tuple[Diff, dict[str, Any]]:
    found = prompts(_pair.one, _pair.two, _pair.call, _pair.runs)
    names = [side.brief[:1].upper() + side.brief[1:] for side in (_pair.two, _pair.one)]
    return found, page(found) | {"names": names, "empty": "Both prompts are the same."}
