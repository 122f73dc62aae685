"""Opener: what the inspector shows while nothing is open, and how files get in."""

from __future__ import annotations

import streamlit as st

from ..errors import ContextGCError
from . import settings, traces
from .formats import format_rescue
from .notice import notice

FAULTS = "open_faults"  # session key: what is wrong with the last uploads, and their keys


def uploader(key: str) -> None:
    """Take one or several files; the last good one is opened."""
    st.file_uploader(
        "Open traces",
        accept_multiple_files=True,
        key=key,
        on_change=_take,
        args=(key,),
        label_visibility="collapsed",
        help="JSON or JSONL of any known format; read in memory, sent nowhere.",
    )


def refused() -> None:
    """What the last upload brought that could not be opened, on every page until it is dismissed."""
    faults = st.session_state.get(FAULTS, ())
    for number, (fault, key) in enumerate(faults):
        with st.container(horizontal=True, vertical_alignment="center"):
            notice(fault, "error")
            st.button("Choose its format", key=f"rescue{number}", on_click=_rescue, args=(key,))
    if faults:
        st.button("Dismiss", key="dismiss_refused", on_click=st.session_state.pop, args=(FAULTS,))


def nothing_open(fault: str, key: str = "") -> None:
    """The empty state: what went wrong if something did, and the ways to open a trace."""
    if fault:
        notice(fault, "error")
        format_rescue(key)
    refused()
    st.html("<p><b>Open a trace</b> to see what its context is made of, what is dead, and why.</p>")
    uploader("upload_first")
    st.html("<p>Or look at a sample, or start with <code>context-gc inspect FILE</code>.</p>")
    with st.container(horizontal=True):
        for number, choice in enumerate(choice for choice in traces.choices() if choice.origin == "sample"):
            st.button(_title(choice.key), key=f"sample{number}", on_click=settings.put, args=("trace", choice.key))


def _title(key: str) -> str:
    """A sample's name; samples are part of the project, so it may be a label."""
    return "".join(c if c.isalnum() else " " for c in key)


def _rescue(key: str) -> None:
    st.session_state.pop(FAULTS, None)
    settings.put("trace", key)


def _take(widget: str) -> None:
    faults: list[tuple[str, str]] = []
    for file in st.session_state[widget] or ():
        try:
            settings.put("trace", traces.upload(file.name, file.getvalue()))
        except ContextGCError as error:
            faults.append((str(error), traces.upload_key(file.getvalue())))
    st.session_state[FAULTS] = faults
