"""Overview: where the tokens of a trace go, and which of them are dead."""

import streamlit as st

from context_gc.inspector.frame import frame
from context_gc.inspector.overview import bars, curve, dead_items, sentence, what_was_read

inspected = frame("Overview")
sentence(inspected)
with st.container(key="split"):
    left, right = st.columns(2, gap="large")
with left:
    curve(inspected)
with right:
    bars(inspected)
dead_items(inspected)
what_was_read(inspected)
