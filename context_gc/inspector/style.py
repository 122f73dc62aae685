"""Style: the few rules that make Streamlit's page a calm, dense instrument. No rule fetches anything."""

from __future__ import annotations

import streamlit as st

_CSS = """
.stMainBlockContainer { padding: 1rem 1.5rem 2rem; max-width: none; }
.stAppHeader { height: 0; min-height: 0; background: none; }
.stMainBlockContainer > .stVerticalBlock { gap: .6rem; }
[data-testid="stSidebarHeader"] { height: 2.25rem; padding: .5rem; margin-bottom: 0; }
[data-testid="stSidebarContent"] { padding: 0 .9rem; }
[data-testid="stSidebarUserContent"] { padding: 0 0 1rem; }
[data-testid="stSidebarUserContent"] .stVerticalBlock { gap: .5rem; }
.stSidebar .stPageLink a { padding: .15rem .5rem; min-height: 1.75rem; }
.stSidebar [data-testid="stExpanderDetails"] { padding: .25rem .2rem .6rem .5rem; }
.stSidebar [data-testid="stExpanderDetails"] [data-testid="stCheckbox"] label { gap: .35rem; }
.stSidebar [data-testid="stExpanderDetails"] [data-testid="stCheckbox"] p { font-size: .84rem; }
.stSidebar .stSelectbox { margin-top: .2rem; }
.stSidebar [data-testid="stCheckbox"] { white-space: nowrap; }
[class*="_unseen"] { position: absolute; width: 1px; height: 1px; overflow: hidden; }
[data-testid="stHtml"]:has(> style:only-child) { display: none; }
.stElementContainer:has(> [data-testid="stHtml"] > style:only-child) { display: none; }
.cg-brand { font-weight: 600; letter-spacing: .01em; }
.cg-head { display: flex; align-items: baseline; gap: .25rem .75rem; }
.cg-head h1 { font-size: 1.15rem; font-weight: 600; margin: 0; padding: 0; }
.cg-head .t { font-weight: 500; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; max-width: 38rem;
  min-width: 5rem; }
.cg-head .f { opacity: .78; white-space: nowrap; font-variant-numeric: tabular-nums; font-size: .93rem; }
.st-key-head > .stElementContainer:first-child { flex: 1 1 20rem; min-width: 0; }
.st-key-head .st-key-live { flex: 0 0 auto; }
.st-key-head button { min-height: 1.8rem; padding: 0 .6rem; }
.cg-live { display: inline-flex; align-items: center; gap: .4rem; font-size: .93rem; white-space: nowrap;
  font-variant-numeric: tabular-nums; }
.cg-live i { width: .55rem; height: .55rem; border-radius: 50%; border: 1.5px solid; }
.cg-live.following i { background: currentColor; }
.st-key-detail_buttons { gap: .4rem; }
.stMain .stPageLink a { border: 1px solid rgba(128, 128, 128, .4); border-radius: 6px; padding: .25rem .75rem;
  min-height: 2.15rem; }
@media (max-width: 1100px) {
  .st-key-head { flex-wrap: wrap; }
  .st-key-head > .stElementContainer:first-child { flex: 1 1 100%; }
  .cg-head { flex-wrap: wrap; }
  :is(.st-key-split, .st-key-tune_export) > div > .stHorizontalBlock { flex-direction: column; }
  :is(.st-key-split, .st-key-tune_export) > div > .stHorizontalBlock > .stColumn { width: 100%; flex: 1 1 100%;
    min-width: 100%; }
}
.cg-notice { border: 1px solid; border-left-width: 4px; border-radius: 4px; padding: .5rem .75rem; line-height: 1.45; }
.cg-info { border-color: #6B7280; } .cg-warning { border-color: #B65F00; } .cg-error { border-color: #B3261E; }
"""


def style() -> None:
    """Put the rules into the page."""
    st.html(f"<style>{_CSS}</style>")
