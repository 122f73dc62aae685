"""Formats: how the open file was read, and the choice of another importer for it."""

from __future__ import annotations

import os
from html import escape
from typing import Literal

import streamlit as st

from ..errors import ContextGCError
from ..importers import IMPORTERS
from ..importers.files.decode import decode
from . import settings, traces
from .launch import FORMAT
from .say import count
from .traces import Opened

_WORDS = {
    "ai": "AI", "api": "API", "atif": "ATIF", "cli": "CLI", "langchain": "LangChain", "langsmith": "LangSmith",
    "openai": "OpenAI", "opencode": "opencode", "openhands": "OpenHands", "otlp": "OTLP", "pi": "pi",
    "v1": "V1",
}  # fmt: skip
_JOINED = {
    "role-content": "role/content", "swe-agent": "SWE-agent", "mini-swe-agent": "mini-SWE-agent",
    "tau-bench": "τ-bench",
}  # fmt: skip


def title(name: str) -> str:
    """A format's name as people write it: Claude Code."""
    joined = _JOINED.get(name)
    return joined or " ".join(_WORDS.get(word, word.capitalize()) for word in name.split("-"))


def chosen() -> str:
    """The importer that the file is to be read with; "" for the one that claims it."""
    found = settings.text("format") or os.environ.get(FORMAT, "")
    return "" if found == settings.DETECT else found


def format_popover(key: str, opened: Opened) -> None:
    """How the file was read, and the choice of another way. The label holds words of ours alone."""
    names = list(dict.fromkeys(title(trace.format) for trace in opened.traces))
    problems = sum(len(trace.problems) for trace in opened.traces)
    told = [names[0] if len(names) == 1 else count(len(names), "format")]
    told += [count(len(opened.traces), "trace")] if len(opened.traces) > 1 else []
    told += [count(problems, "problem")] if problems else []
    with st.popover(" · ".join(told), key="format"):
        detected = claims(key) if chosen() else tuple(dict.fromkeys(trace.format for trace in opened.traces))
        chooser(detected)
        st.html("<small>A choice holds for this file and is part of the link.</small>")
        st.page_link("app.py", label="What was read and what was not", query_params=settings.query())


def format_rescue(key: str) -> bool:
    """For a file that could not be read: the choice of a format, and the way back; gives whether it is offered."""
    found = claims(key)
    if found is None:
        return False
    st.html(f"<p>{_advice(found)}</p>")
    with st.container(horizontal=True, vertical_alignment="bottom", key="rescue"):
        chooser(found, "collapsed")
        if chosen():
            back = settings.DETECT if os.environ.get(FORMAT) else ""
            st.button("Read it as detected", on_click=settings.put, args=("format", back), disabled=len(found) != 1)
    return True


def chooser(detected: tuple[str, ...] | None, label: Literal["visible", "collapsed"] = "visible") -> None:
    """The choice itself: what was detected comes first."""
    started = os.environ.get(FORMAT, "")
    told = "detected: " + (" and ".join(map(title, detected or ())) or "nothing")
    named = {"": f"as started: {title(started)}", settings.DETECT: told} if started else {"": told}
    options = {**named, **{importer.name: title(importer.name) for importer in IMPORTERS}}
    tied = settings.widget("format", settings.text("format"))
    shown = options.__getitem__
    st.selectbox("Read as", list(options), format_func=shown, width=300, label_visibility=label, **tied)


def claims(key: str) -> tuple[str, ...] | None:
    """The importers that claim the file behind a key; None where there is no file or nothing in it."""
    try:
        source = traces.source(key)
        state = source.path.stat() if source.path else None
        return _claims(f"{key}/{state.st_mtime_ns}/{state.st_size}" if state else key, source)
    except (ContextGCError, OSError):
        return None


@st.cache_data(max_entries=64, show_spinner=False)
def _claims(told: str, _source: traces.Source) -> tuple[str, ...]:
    head = decode(_source.read(), _source.name).head
    return tuple(importer.name for importer in IMPORTERS if importer.sniff(head))


def _advice(found: tuple[str, ...]) -> str:
    if chosen():
        return f"It was read as <b>{escape(title(chosen()))}</b>, as chosen. Choose another format, or go back:"
    if found:
        return "Choose the format that it is read as:"
    return "No format claims this file. If you know what wrote it, choose the format that it is read as:"
