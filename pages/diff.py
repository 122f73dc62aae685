"""The diff: full history beside what is left of it, as a whole or stage by stage."""

import streamlit as st

from context_gc.inspector.detail import detail
from context_gc.inspector.diff_view import diff_controls, diff_view
from context_gc.inspector.frame import frame

inspected = frame("Diff")
mode, upto = diff_controls(inspected)
diff_view(inspected, mode, upto)
with st.expander("Selected event", expanded=False):
    detail(inspected, "Diff")
