"""Frame: what every page begins with: the sidebar, the header, the meter, and the inspected trace."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import NoReturn

import streamlit as st

from ..compaction import Compaction
from ..errors import ContextGCError
from ..events import Event
from ..policy import Policy
from ..timeline import Point
from ..trace import Trace, Window
from . import settings, traces
from .compacting import compacted
from .following import announced, follow_mark, is_at_end, is_followed, keep_up, look
from .formats import chosen
from .header import header
from .home import PAGES
from .in_force import InForce, in_force
from .opener import nothing_open, refused
from .rows import Row
from .sidebar import controls, file_picker, links, pickers
from .style import style


@dataclass(frozen=True, slots=True)
class Inspected:
    """What a page looks at: one window of one trace under one policy. Shared between pages: never changed."""

    trace: Trace
    window: Window
    events: Sequence[Event]
    result: Compaction
    points: Sequence[Point]  #: the prompt after each turn, under a budget; else none
    force: InForce
    rows: tuple[Row, ...]
    by_id: Mapping[str, Row]
    selected: str | None  #: id of the selected event, when it is in this window
    opened: traces.Opened
    place: str  #: stands for file and window, also while the file grows
    where: str  #: stands for the window as it is now
    key: str  #: stands for file, window and policy: the key of everything that is cached
    turns: int
    is_followed: bool
    is_at_end: bool  #: whether the reader goes on with the end of a file that is followed

    @property
    def policy(self) -> Policy:
        """The policy in force."""
        return self.force.policy


@dataclass(frozen=True, slots=True)
class Begun:
    """What a page knows before the window is compacted."""

    trace: Trace
    opened: traces.Opened
    force: InForce

    @property
    def policy(self) -> Policy:
        """The policy in force."""
        return self.force.policy


def begin(title: str) -> None:
    """Begin a page that looks at no trace: its title, the style, the settings and the links to all pages."""
    st.set_page_config(page_title=f"{title} · context-gc", layout="wide", initial_sidebar_state="auto")
    style()
    settings.begin(title)
    with st.sidebar:
        links()


def frame(title: str, first: Callable[[Begun], None] | None = None) -> Inspected:
    """Begin a page. Where nothing is open it says how to open something, and ends the page.

    `first` draws what does not wait for the window to be compacted: below the header, but before it is drawn.
    """
    begin(title)
    key = settings.text("trace") or traces.default()
    opened = _opened(key)
    if isinstance(opened, str):
        _stop(title, opened, key)
    followed = is_followed(key)
    if followed:
        keep_up(key, opened)
    with st.sidebar:
        trace, number = pickers(opened)
    force = in_force(trace.model)
    window = trace.windows[number]
    where = f"{opened.sha256}/{chosen()}/{settings.text('part')}/{number}"
    place = f"{key}/{chosen()}/{settings.text('part')}/{number}" if followed else where
    head = st.container() if first is not None else nullcontext()
    if first is not None:
        first(Begun(trace, opened, force))
    found = compacted(where, place, trace, window, force)
    with st.sidebar:
        controls(where, place, trace, found, force)
    selected = settings.text("event")
    with head:
        header(title, key, opened, trace, number, found, force)
        refused()
        announced()
    settings.mirror()
    return Inspected(
        trace, window, found.events, found.result, found.points, force, found.rows, found.by_id,
        selected if selected in found.by_id else None, opened, place, where, found.key, found.turns,
        followed, is_at_end(key),
    )  # fmt: skip


def select(event_id: str) -> None:
    """Select an event on every page; "" selects none. For callbacks: it changes the next run."""
    settings.put("event", event_id)


def link(page: str, event_id: str = "", label: str = "") -> None:
    """Draw a link to a page (its title, such as "Graph") at an event. `label` is ours: no trace text."""
    script = next(script for script, title in PAGES if title == page)
    chosen = event_id or settings.text("event")
    st.page_link(script, label=label or f"Show in {page.lower()}", query_params=settings.query(event=chosen))


def _opened(key: str) -> traces.Opened | str:
    """The file that is open, or why none is. The one place where a file is loaded, so the one that catches."""
    try:
        return look(key) if key else ""
    except ContextGCError as error:
        return str(error)


def _stop(title: str, fault: str, key: str) -> NoReturn:
    with st.sidebar:
        file_picker()
    with st.container(horizontal=True, vertical_alignment="center", key="head"):
        st.html(f'<div class="cg-head"><h1>{title}</h1></div>')
        if is_followed(key):
            follow_mark(key)
    nothing_open(fault, key)
    settings.mirror()
    st.stop()
