"""Sidebar: pages, what is open, and the policy's controls."""

from __future__ import annotations

import streamlit as st

from ..policy import STUBS
from ..render import sendable
from ..tokens import COUNTERS
from ..trace import Trace
from . import settings, traces
from .compacting import Compacted, saved_by_stage
from .home import HOME, PAGES
from .in_force import InForce
from .opener import uploader
from .retention_controls import retention_controls
from .rows import short
from .stage_controls import stage_controls
from .threshold_controls import threshold_controls


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


def controls(where: str, place: str, trace: Trace, found: Compacted, force: InForce) -> None:
    """The policy's controls. What they show can be exported and runs unchanged."""
    policy = force.policy
    stage_controls(saved_by_stage(where, place, found.events, force), policy)
    threshold_controls(trace.model, force)
    retention_controls(found, policy)
    with st.expander("Stubs and counting"):
        st.selectbox("Stubs", STUBS, **settings.widget("stubs", policy.stubs))
        counters = {settings.AUTO: f"by model ({policy.counter})", **{name: name for name in COUNTERS}}
        tied = settings.widget("counter", settings.text("counter"))
        st.selectbox("Token counter", list(counters), format_func=counters.__getitem__, **tied)
    with st.container(horizontal=True):
        told = sendable(policy.to_toml())
        st.download_button("Export policy", told, "policy.toml", "application/toml", on_click="ignore")
        st.button("Reset", on_click=settings.reset_policy, help="Back to what the inspector starts with.")


def _window(trace: Trace, number: int) -> str:
    window = trace.windows[number - 1]
    opened = "start" if window.opened_by == "start" else f"after {short(window.opened_by, 12)} compaction"
    return f"{number}: {window.stop - window.start:,} events, {opened}"
