"""Frame: what every page begins with: the sidebar, the header, the meter, and the inspected trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import NoReturn

import streamlit as st

from ..compaction import Compaction
from ..compactor import compact_events
from ..errors import ContextGCError
from ..events import Event
from ..policy import Policy
from ..trace import Trace, Window
from . import settings, traces
from .header import header
from .home import PAGES
from .opener import nothing_open, refused
from .rows import Row, rows
from .savings import impacts
from .sidebar import controls, file_picker, links, pickers
from .style import style


@dataclass(frozen=True, slots=True)
class Inspected:
    """What a page looks at: one window of one trace under one policy. Shared between pages: never changed."""

    trace: Trace
    window: Window
    events: Sequence[Event]
    result: Compaction
    policy: Policy
    rows: tuple[Row, ...]
    by_id: Mapping[str, Row]
    selected: str | None  #: id of the selected event, when it is in this window
    key: str  #: stands for file, window and policy: the key of everything that is cached
    turns: int


def frame(title: str) -> Inspected:
    """Begin a page. Where nothing is open it says how to open something, and ends the page."""
    st.set_page_config(page_title=f"{title} · context-gc", layout="wide", initial_sidebar_state="auto")
    style()
    settings.begin(title)
    with st.sidebar:
        links()
    opened = _opened()
    if isinstance(opened, str):
        _stop(title, opened)
    with st.sidebar:
        trace, number = pickers(opened)
    policy = settings.policy(settings.current(), trace.model)
    window = trace.windows[number]
    key = f"{opened.sha256}/{settings.text('part')}/{number}"
    inspected = _inspected(key, policy, trace, window)
    with st.sidebar:
        controls(inspected.key, inspected.events, policy, inspected.result, inspected.rows)
    selected = settings.text("event")
    header(title, trace, number, inspected.turns, inspected.rows)
    refused()
    settings.mirror()
    return Inspected(
        trace, window, inspected.events, inspected.result, policy, inspected.rows, inspected.by_id,
        selected if selected in inspected.by_id else None, inspected.key, inspected.turns,
    )  # fmt: skip


def select(event_id: str) -> None:
    """Select an event on every page; "" selects none. For callbacks: it changes the next run."""
    settings.put("event", event_id)


def link(page: str, event_id: str = "", label: str = "") -> None:
    """Draw a link to a page (its title, such as "Graph") at an event. `label` is ours: no trace text."""
    script = next(script for script, title in PAGES if title == page)
    chosen = event_id or settings.text("event")
    st.page_link(script, label=label or f"Show in {page.lower()}", query_params=settings.query(event=chosen))


@dataclass(frozen=True, slots=True)
class _Cached:
    events: Sequence[Event]
    result: Compaction
    rows: tuple[Row, ...]
    by_id: Mapping[str, Row]
    key: str
    turns: int


def _opened() -> traces.Opened | str:
    """The file that is open, or why none is. The one place where a file is loaded, so the one that catches."""
    key = settings.text("trace") or traces.default()
    try:
        return traces.opened(key) if key else ""
    except ContextGCError as error:
        return str(error)


def _stop(title: str, fault: str) -> NoReturn:
    with st.sidebar:
        file_picker()
    st.html(f'<div class="cg-head"><h1>{title}</h1></div>')
    nothing_open(fault)
    settings.mirror()
    st.stop()


def _inspected(key: str, policy: Policy, trace: Trace, window: Window) -> _Cached:
    told = sha256(policy.to_toml().encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return _compacted(f"{key}/{told}", policy, trace, window)


@st.cache_resource(max_entries=32, show_spinner=False)
def _sizes(key: str, counter: str, _result: Compaction) -> list[int]:
    """Tokens of each event in the full history: the same under every policy with this counter."""
    return [_result.tokens(event["id"]) for event in _result.events]


@st.cache_resource(max_entries=12, show_spinner=False)
def _compacted(key: str, _policy: Policy, _trace: Trace, _window: Window) -> _Cached:
    result = compact_events(_trace.events[_window.start : _window.stop], _policy)
    before = _sizes(f"{key.rpartition('/')[0]}/{_policy.counter}", _policy.counter, result)
    change = impacts(result, _policy, before)
    found = rows(_trace, _window, result, [(size, change.get(seq, 0)) for seq, size in enumerate(before)])
    len(result["prompt"])  # worked out now: afterwards browser sessions only read it
    by_id = {row.id: row for row in found}
    return _Cached(result.events, result, found, by_id, key, found[-1].turn if found else 0)
