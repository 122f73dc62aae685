"""Notice: one plain sentence in a box; text of a trace is escaped."""

from __future__ import annotations

from html import escape

import streamlit as st


def notice(text: str, kind: str = "info") -> None:
    """One plain sentence in a box; `text` may come from a trace. Kinds: info, warning, error."""
    role = "alert" if kind == "error" else "status"
    word = {"error": "✕ ", "warning": "! "}.get(kind, "")
    st.html(f'<div class="cg-notice cg-{kind}" role="{role}">{word}{escape(text)}</div>')
