"""Compare chart: the curves of two replays, aligned by the number of the call; a click or a key chooses a call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from .component_files import source
from .replay_component import PLOT

_CSS = """
:host, .compare { --line: var(--st-border-color); --receipt: light-dark(#8a2f6b, #e48bc4);
  --accent: light-dark(#4338ca, #a5b4fc); }
.compare { font: 13px/1.4 var(--st-font); color: var(--st-text-color); font-variant-numeric: tabular-nums; }
.compare .plot { height: 190px; }
"""
_chart = st.components.v2.component(
    "context_gc_compare",
    html=f'<div class="compare"><p class="legend" style="margin:0 0 4px"></p><div class="plot" role="slider" '
    f'tabindex="0" aria-label="Model call">{PLOT}</div></div>',
    css=_CSS + source("replay_plot.css"),
    js=source("replay_plot.js") + source("compare_chart.js"),
)


def compare_chart(curves: dict[str, Any], call: int, key: str, on_call: Callable[[int], None]) -> None:
    """Draw the curves with the call that is looked at; `on_call` hears of another one."""

    def take() -> None:
        found = st.session_state[key]["call"]
        if isinstance(found, int) and 0 < found <= curves["count"]:
            on_call(found)

    _chart(key=key, data={"curves": curves, "call": call}, height="content", on_call_change=take)
