"""Compare: two policies on one trace, or two runs, side by side."""

import streamlit as st

from context_gc.inspector import compare_view as view
from context_gc.inspector.compare_choice import controls
from context_gc.inspector.frame import frame

inspected = frame("Compare")
controls(inspected)
pair = view.compared(inspected)
view.told(pair)
view.chart(pair)
with st.container(key="split"):
    left, right = st.columns(2, gap="large")
with left:
    view.figure_table(pair)
with right:
    view.only_table(pair, inspected)
view.prompt_diff(pair, inspected)
