"""Timeline chart: context over turns, full and sent, with the thresholds and the passes; a click selects."""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files

import streamlit as st

from .timeline_data import Course

_HERE = files(__package__)
_chart = st.components.v2.component(
    "cg_timeline",
    html=(
        '<div class="chart"><p class="legend"></p><div class="plot"><svg role="img"></svg><div class="marks"></div>'
        '<div class="tip" role="status" hidden></div></div></div>'
    ),
    css=(_HERE / "timeline_chart.css").read_text("utf-8"),
    js=(_HERE / "timeline_chart.js").read_text("utf-8"),
)


def timeline_chart(course: Course, budgeted: bool, key: str, height: int, on_event: Callable[[str], None]) -> None:
    """Draw the chart. A click on a pass calls `on_event` with the first event that the pass changed."""

    def take() -> None:
        number = st.session_state[key]["pass"]
        for mark in course.marks:
            if mark.number == number and mark.event_id is not None:
                on_event(mark.event_id)

    data = {
        "full": course.full, "sent": course.sent, "thresholds": course.thresholds, "height": height,
        "passes": budgeted,
        "marks": [mark.drawn for mark in course.marks],
    }  # fmt: skip
    _chart(key=key, data=data, on_pass_change=take)
