"""Tune page: a recorded run under the policy of the controls, from the answer to the export."""

from __future__ import annotations

import streamlit as st

from ..errors import TraceError
from .frame import Begun
from .tune_data import costs
from .tune_prices import breakpoints, chosen_prices, price_controls
from .tune_replay import ground, lived
from .tune_sweep_view import sweep_section
from .tune_view import curve, export, lost_table, measure_rows, nothing_to_replay, passes, sentence


def tune(begun: Begun) -> None:
    """Draw all of it. It does not wait for the window's compaction, so that the curves follow the sliders."""
    model = begun.trace.model
    prices = chosen_prices(model)
    try:
        shared = ground(begun, prices)
    except TraceError as error:
        nothing_to_replay(error)
        return
    now = lived(shared, begun.policy, prices)
    found = costs(now.done, shared.full, prices, breakpoints(), shared.fit) if prices else None
    sentence(begun, shared, now, found)
    price_controls(model, prices)
    curve(begun, now, found)
    with st.container(key="split"):
        left, right = st.columns(2, gap="large")
    with left:
        measure_rows(now, found)
    with right:
        passes(shared, now, found)
    lost_table(shared, now)
    sweep_section(begun, shared, prices)
    export(begun, prices)
