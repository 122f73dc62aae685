"""The receipts: what was cut, each with its original, and the proof that nothing was lost."""

import streamlit as st

from context_gc.inspector.detail import detail
from context_gc.inspector.frame import frame
from context_gc.inspector.receipt_view import prove_it, receipt_actions, receipt_list, receipt_sentence, receipt_table

inspected = frame("Receipts")
table = receipt_table(inspected)
receipt_sentence(table, inspected)
receipt_actions(table, inspected)
left, right = st.columns([3, 2], gap="medium")
with left:
    receipt_list(table, inspected)
with right:
    detail(inspected, "Receipts")
    prove_it(table, inspected)
