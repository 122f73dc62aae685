"""Stage controls: a switch for each stage with what it saves, also while it is off."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from ..policy import DEFAULT_STAGES, KNOWN_STAGES, Policy
from ..stages import STAGES
from . import settings
from .say import brief, words


def stage_controls(saved: Mapping[str, int], policy: Policy) -> None:
    """`saved`: stage name -> tokens that it takes away here, on or off."""
    with st.expander("Stages", expanded=True):
        for stage in STAGES:
            name = stage.name
            st.session_state[f"s_{name}"] = name in policy.stages
            st.toggle(
                f"{words(name)} · {brief(-saved[name])}", key=f"s_{name}", on_change=settings.switch,
                args=("stages", name, KNOWN_STAGES), help=stage.rationale,
            )  # fmt: skip
        if "clip" in policy.stages:
            tied = settings.widget("clip", policy.clip_over)
            st.number_input("Clip results over, tokens", 0, step=500, **tied, help="Smaller results stand whole.")
        st.button(
            "Documented defaults", on_click=settings.put, args=("stages", DEFAULT_STAGES), type="tertiary",
            disabled=policy.stages == DEFAULT_STAGES, key="documented_defaults",
            help="The four stages that the library runs by default; the inspector starts with three more.",
        )  # fmt: skip
