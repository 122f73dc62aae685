"""The receipts: what was cut, each with its original, and the proof that nothing was lost."""

import streamlit as st

from context_gc.inspector import receipt_view as view
from context_gc.inspector.detail import detail
from context_gc.inspector.frame import frame

inspected = frame("Receipts")
table = view.receipt_table(inspected)
view.receipt_sentence(table, inspected)
found = view.receipt_toolbar(table, inspected)
view.receipt_outcome(inspected)
with st.container(key="split"):
    left, right = st.columns([8, 5], gap="medium")
with left:
    view.receipt_list(found, len(table), inspected)
with right:
    view.recover_selected(inspected)
    detail(inspected, "Receipts")
    view.prove_it(table, inspected)
