"""Replay: the exact prompt of every model call, what entered, what left, and what the model then wrote."""

import streamlit as st

from context_gc.inspector.detail import detail
from context_gc.inspector.frame import frame
from context_gc.inspector.replay_view import replay_view

inspected = frame("Replay")
replay_view(inspected)
with st.expander("Selected event", expanded=False):
    detail(inspected, "Replay")
