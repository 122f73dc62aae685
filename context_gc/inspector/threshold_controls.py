"""Threshold controls: the window, and when a compaction under a budget is made and how far it goes."""

from __future__ import annotations

from html import escape

import streamlit as st

from . import settings
from .in_force import MOST, InForce
from .notice import notice
from .rows import short
from .say import tokens

_SHARES = (
    ("low", "Low threshold", "From here on what is dead goes, in one batch. Below it nothing that was sent changes."),
    ("high", "High threshold", "From here on what is live goes too, oldest first, until the target is reached."),
    ("target", "Target", "How much of the window an emergency leaves in use."),
)


def threshold_controls(model: str, force: InForce) -> None:
    """The budget, off or on. Thresholds that contradict each other leave the last good ones in force."""
    with st.expander("Thresholds", expanded=settings.begins_open("thresholds", bool(settings.text("budget")))):
        st.toggle(
            "Budget", **settings.widget("budget", bool(settings.text("budget"))),
            help="Off: all that is dead goes at once. On: the trace is lived turn by turn, with passes when due.",
        )  # fmt: skip
        st.number_input("Max tokens", 1, MOST, step=1_000, **settings.widget("limit", force.limit))
        st.html(f"<small>{escape(_origin(model, force))}</small>")
        if settings.text("budget"):
            _budget(force)


def _origin(model: str, force: InForce) -> str:
    if not force.known:
        return "Assumed: the trace names no model whose window is known here. Give the real one."
    return "" if settings.text("limit") else f"The window of {short(model, 40)}."


def _budget(force: InForce) -> None:
    for key, label, told in _SHARES:
        value = float(settings.text(key))
        st.slider(label, 0.01, 1.0, step=0.01, format="percent", help=told, **settings.widget(key, value))
    if force.fault:
        at = force.thresholds
        kept = f"low {at.threshold_low:.4g}, high {at.threshold_high:.4g}, target {at.target:.4g}"
        notice(f"{force.fault}. Still in force: {kept}.", "error")
    st.number_input(
        "Recent observations", 0, step=1, **settings.widget("recent", int(settings.text("recent"))),
        help="How many of the last results are never evicted, within a quarter of the window.",
    )  # fmt: skip
    gain = settings.text("gain")
    st.number_input(
        "Least gain, tokens", 0, step=100, **settings.widget("gain", int(gain) if gain else None),
        placeholder=f"a tenth: {tokens(force.thresholds.gain)}",
        help="A pass that would free less is not made. Empty: a tenth of the window.",
    )  # fmt: skip
    most = settings.text("most")
    st.number_input(
        "Max prompt tokens", 1, MOST, step=5_000, **settings.widget("most", int(most) if most else None),
        placeholder="no limit of its own",
        help="Passes begin here at the latest, however large the window is.",
    )  # fmt: skip
    st.toggle(
        "Commit on arrival", **settings.widget("arrival", bool(settings.text("arrival"))),
        help="What is dead or clipped the moment it comes never enters the prompt: it costs nothing.",
    )  # fmt: skip
    st.toggle(
        "Commit when cold", **settings.widget("cold", bool(settings.text("cold"))),
        help="What is dead goes when the provider's prompt cache has expired: it costs nothing. Tune replays it; the "
        "other pages compact turn by turn without knowing when.",
    )  # fmt: skip
