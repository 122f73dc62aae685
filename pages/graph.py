"""Graph: every event of a window, what became of it and why."""

import streamlit as st

from context_gc.inspector.detail import detail
from context_gc.inspector.frame import frame
from context_gc.inspector.graph_view import strip_and_graph, table, toolbar

inspected = frame("Graph")
with st.container(key="split"):
    left, right = st.columns([2, 1], gap="medium")
with left:
    toolbar()
    strip_and_graph(inspected)
with right:
    detail(inspected)
table(inspected)
