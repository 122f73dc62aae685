"""Sidebar: pages, what is open, and the policy's controls. What they show can be exported and runs unchanged."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from ..compaction import Compaction
from ..events import EVENT_TYPES, Event
from ..policy import STUBS, Policy
from ..render import sendable
from ..stages import STAGES
from ..tokens import COUNTERS
from ..trace import Trace
from . import settings, traces
from .home import HOME, PAGES
from .opener import uploader
from .rows import Row, short
from .savings import savings
from .say import brief, words


def links() -> None:
    """The name and a link to each page."""
    st.html('<div class="cg-brand">context-gc</div>')
    for script, title in PAGES:
        if (HOME / script).is_file():
            st.page_link(script, label=title, query_params=settings.query())


def file_picker() -> None:
    """Choose one of the files that can be opened."""
    names = {choice.key: choice.name for choice in traces.choices()}
    key = settings.text("trace") or traces.default()
    known = key in names
    tied = settings.widget("trace", key if known else None)
    told: dict[str, str] = {}
    for each, name in names.items():  # a picker tells options apart by what it shows
        shown = short(name, 60)
        told[each] = shown if shown not in told.values() else f"{shown} ({len(told) + 1})"
    st.selectbox("Trace", list(told), 0 if known else None, told.__getitem__, placeholder="Choose a trace", **tied)


def pickers(opened: traces.Opened) -> tuple[Trace, int]:
    """Choose file, trace and context window; gives the trace and the window's index."""
    file_picker()
    with st.popover("Open files…", width="stretch"):
        uploader("upload")
    part = min(int(settings.text("part")), len(opened.traces) - 1)
    if len(opened.traces) > 1:
        titles = {str(n): f"{n + 1}: {short(each.title, 60)}" for n, each in enumerate(opened.traces)}
        st.selectbox("Agent", list(titles), format_func=titles.__getitem__, **settings.widget("part", str(part)))
    trace = opened.traces[part]
    number = min(int(settings.text("window") or len(trace.windows)), len(trace.windows)) or 1
    if len(trace.windows) > 1:
        told = {str(n): _window(trace, n) for n in range(1, len(trace.windows) + 1)}
        tied = settings.widget("window", str(number))
        st.selectbox("Context window", list(told), format_func=told.__getitem__, **tied)
    return trace, number - 1


def controls(key: str, events: Sequence[Event], policy: Policy, result: Compaction, rows: Sequence[Row]) -> None:
    """The policy's controls. Each stage tells what it saves here, also while it is off."""
    saved = _savings(key, events, policy, result, rows)
    with st.expander("Stages", expanded=True):
        for stage in STAGES:
            name, on = stage.name, stage.name in policy.stages
            st.session_state[f"s_{name}"] = on
            label = f"{words(name)} · {brief(-saved[name])}"
            st.toggle(label, key=f"s_{name}", on_change=settings.switch_stage, args=(name,), help=stage.rationale)
    with st.expander("Protection"):
        used = {tag for event in events for tag in event.get("tags") or () if tag == sendable(tag)}
        tags = sorted(used.union(policy.protect_tags))
        st.multiselect("Tags", tags, accept_new_options=True, **settings.widget("tags", list(policy.protect_tags)))
        st.multiselect("Types", EVENT_TYPES, **settings.widget("types", list(policy.protect_types)))
    with st.expander("Stubs and counting"):
        st.selectbox("Stubs", STUBS, **settings.widget("stubs", policy.stubs))
        counters = {settings.AUTO: f"by model ({policy.counter})", **{name: name for name in COUNTERS}}
        tied = settings.widget("counter", settings.text("counter"))
        st.selectbox("Token counter", list(counters), format_func=counters.__getitem__, **tied)
        limit = int(settings.text("limit") or 0) or 200_000
        st.number_input("Model window, tokens", 1_000, 10_000_000, step=1_000, **settings.widget("limit", limit))
    with st.container(horizontal=True):
        st.download_button("Export policy", policy.to_toml(), "policy.toml", "application/toml", on_click="ignore")
        st.button("Reset", on_click=settings.reset_policy)


def _window(trace: Trace, number: int) -> str:
    window = trace.windows[number - 1]
    opened = "start" if window.opened_by == "start" else f"after {short(window.opened_by, 12)} compaction"
    return f"{number}: {window.stop - window.start:,} events, {opened}"


@st.cache_resource(max_entries=64, show_spinner=False)
def _savings(
    key: str, _events: Sequence[Event], _policy: Policy, _result: Compaction, _rows: Sequence[Row]
) -> dict[str, int]:
    return dict(savings(_events, _policy, _result, [row.tokens for row in _rows]))
