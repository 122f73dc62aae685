"""Line panel: a place of the open file as raw text, the same for problems and for the records of events."""

from __future__ import annotations

from html import escape

import streamlit as st

from ..errors import ContextGCError
from ..render import sendable
from . import settings
from .frame import Inspected
from .line_data import Excerpt, excerpt, words_of
from .notice import notice

HEIGHT = 300  #: px of a JSON value


def line_panel(inspected: Inspected) -> None:
    """The place that is chosen, with what stands around it; nothing where none is."""
    place = settings.text("line")
    if not place:
        return
    with st.container(key="line_panel"):
        found = _found(inspected, place)
        if isinstance(found, str):
            notice(found, "error")
            _close()
        else:
            is_value, is_marked = place.startswith("/"), ":" in place  # a mark stands below its character: no wrapping
            with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
                name = escape(inspected.opened.name[:200])
                st.html(f"<b>{escape(words_of(place))}</b> of {name} <small>· {found.told}</small>", width="content")
                _close()
            st.code(sendable(found.text), None, wrap_lines=not is_marked, height=HEIGHT if is_value else "content")


def _close() -> None:
    st.button("Close", key="line_close", on_click=settings.put, args=("line", ""))


def _found(inspected: Inspected, place: str) -> Excerpt | str:
    try:
        return _excerpt(f"{inspected.opened.sha256}/{inspected.trace.source}/{place}", inspected, place)
    except ContextGCError as error:
        return str(error)


@st.cache_data(max_entries=32, show_spinner=False)
def _excerpt(told: str, _inspected: Inspected, _place: str) -> Excerpt:
    opened = _inspected.opened
    return excerpt(opened.data(), opened.name, _inspected.trace.source, _place)
