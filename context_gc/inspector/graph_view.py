"""Graph view: the toolbar, the strip, the graph and the table of the graph page, over one choice of events."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

import pandas as pd
import streamlit as st

from ..render import sendable
from . import settings
from .event_graph import event_graph
from .following import AWAY, live_view
from .frame import Inspected, select
from .graph_data import COMFORTABLE, HARD_CAP, GraphData, choose, graph_data, matching
from .palette import KINDS, MARKS, STATUSES
from .rows import Row
from .say import count, signed, words
from .timeline_data import course
from .turn_strip import BAND, per_turn, turn_strip

HEIGHT = 500  #: px of the graph; under a budget the strip above it is as much higher
STYLED = 1_000  #: rows up to which changes get a true minus and a plus; styling costs time
_START = "live_start"  # session key: a followed window and the first turn that is drawn of it
TEXT = 240  #: characters of an event's text in the table
_COLUMNS = {
    "tokens": st.column_config.NumberColumn(format="localized"),
    "change": st.column_config.NumberColumn(help="tokens that the event's fate adds"),
    "path": st.column_config.TextColumn(width=180),
    "reason": st.column_config.TextColumn(width=220),
    "text": st.column_config.TextColumn(width=420),
}


def toolbar() -> None:
    """Search and filters; they hold for the graph and for the table."""
    find, show, kinds = st.columns([5, 4, 4], gap="small")
    with find:
        tied = settings.widget("find", settings.text("find"))
        st.text_input("Search", placeholder="Search text, tools, paths, ids", label_visibility="collapsed", **tied)
    with show:
        chosen = settings.widget("show", list(settings.texts("show")))
        st.multiselect("Status", list(STATUSES), placeholder="Any status", label_visibility="collapsed", **chosen)
    with kinds:
        chosen = settings.widget("kinds", list(settings.texts("kinds")))
        st.multiselect("Kind", list(KINDS), placeholder="Any kind", label_visibility="collapsed", **chosen)


def strip_and_graph(inspected: Inspected) -> None:
    """The strip of all turns, and the graph of the chosen ones."""
    chosen = inspected.by_id.get(inspected.selected or "")
    span, within = choose(inspected.rows, settings.text("turns") or _kept_start(inspected, chosen), chosen)
    filters = settings.text("find"), settings.texts("show"), settings.texts("kinds")
    told = repr((inspected.key, span, filters))
    data, kept = _graph(told, inspected, within, filters)
    first: dict[int, str] = {}
    for row in inspected.rows:
        first.setdefault(row.turn, row.id)
    state = inspected.result["budget"]
    lived = course(inspected.rows, inspected.points, state["passes"], inspected.force.thresholds) if state else None
    turn_strip(
        per_turn(inspected.rows), span, chosen.turn if chosen else 0, _note(inspected, span, kept, data), lived,
        "strip", lambda turns: settings.put("turns", turns), lambda turn: select(first.get(turn, "")), select,
    )  # fmt: skip
    event_graph(
        data, key="graph", version=sha256(told.encode("utf-8", "surrogatepass")).hexdigest(),
        scope=_scope(inspected, span), selected=chosen.seq if chosen else None,
        height=HEIGHT - (BAND if lived else 0),
        live=live_view(inspected) if inspected.is_followed else None,
        on_away=lambda away: st.session_state.update({AWAY: away}),
        on_picked=lambda place: select(inspected.rows[place].id) if 0 <= place < len(inspected.rows) else None,
    )  # fmt: skip


def _scope(inspected: Inspected, span: tuple[int, int]) -> str:
    """What the view begins anew for: another window or other turns, but not because a followed file grew."""
    if not inspected.is_followed:
        return repr((inspected.where, span))
    is_open = span[1] == inspected.turns
    return repr((inspected.place, span[0] if settings.text("turns") else "", "" if is_open else span[1]))


def _kept_start(inspected: Inspected, chosen: Row | None) -> str:
    """Of a followed file, the turns that are drawn unless some were chosen: their start stays while they grow."""
    rows, state = inspected.rows, st.session_state
    if not inspected.is_followed or len(rows) <= COMFORTABLE:
        return ""
    place, start = state.get(_START, ("", 0))
    is_in = chosen is None or chosen.turn >= start
    if place != inspected.place or not is_in or sum(row.turn >= start for row in rows) > HARD_CAP:
        start = choose(rows, "", chosen)[0][0]
    state[_START] = inspected.place, start
    return f"{start}-{rows[-1].turn}"


def table(inspected: Inspected) -> None:
    """Every event of the window that passes search and filters. A click on a line selects it."""
    filters = settings.text("find"), settings.texts("show"), settings.texts("kinds")
    told = sha256(repr((inspected.key, filters)).encode("utf-8", "surrogatepass")).hexdigest()[:16]
    found, ids = _table(told, inspected, filters)
    key = f"table_{sha256(repr((inspected.place, filters)).encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"
    here = [ids.index(inspected.selected)] if inspected.selected in ids else []
    st.session_state[key] = {"selection": {"rows": here, "columns": [], "cells": []}}

    def picked() -> None:
        places = st.session_state[key]["selection"]["rows"]
        select(ids[places[0]] if places else "")

    st.html(f"<small>{count(len(ids), 'event')} of {len(inspected.rows):,} in this window</small>")
    shown = (
        found.style.format(lambda change: signed(int(str(change))), subset=["change"]) if len(ids) <= STYLED else found
    )
    st.dataframe(
        shown, key=key, on_select=picked, selection_mode="single-row", hide_index=True, height=420, row_height=28,
        column_config=_COLUMNS,
    )  # fmt: skip


@st.cache_resource(max_entries=16, show_spinner=False)
def _graph(
    told: str, _inspected: Inspected, _within: Sequence[Row], _filters: tuple[str, tuple[str, ...], tuple[str, ...]]
) -> tuple[GraphData, int]:
    kept = matching(_within, *_filters)
    return graph_data(kept, _inspected.rows, _inspected.result), len(kept)


@st.cache_resource(max_entries=16, show_spinner=False)
def _table(
    told: str, _inspected: Inspected, _filters: tuple[str, tuple[str, ...], tuple[str, ...]]
) -> tuple[pd.DataFrame, list[str]]:
    kept = matching(_inspected.rows, *_filters)
    columns = {
        "#": [row.number for row in kept],
        "turn": [row.turn for row in kept],
        "kind": [row.kind for row in kept],
        "status": [" ".join((MARKS[row.status], row.status)).strip() for row in kept],
        "tokens": [row.tokens for row in kept],
        "change": [row.impact for row in kept],
        "tool": [row.tool for row in kept],
        "path": [row.path for row in kept],
        "stage": [words(row.stage) for row in kept],
        "reason": [row.why for row in kept],
        "text": [" ".join(row.text[:TEXT].split()) for row in kept],
        "id": [sendable(row.id) for row in kept],
    }
    return pd.DataFrame(columns), [row.id for row in kept]


def _note(inspected: Inspected, span: tuple[int, int], kept: int, data: GraphData) -> str:
    total = len(inspected.rows)
    drawn = len(data.order)
    told = f"Turns {span[0]:,} to {span[1]:,} of {inspected.turns:,}: {count(drawn, 'event')} drawn"
    if drawn < total:
        told += f", {total - drawn:,} not drawn (the table has all)"
    return told + ". Drag here to choose turns, double-click for the usual choice."
