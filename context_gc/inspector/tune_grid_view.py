"""Tune grid view: the lists of values that a sweep tries, by hand or from a file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from ..errors import ContextGCError
from ..replay.grid import cells, grid_of
from . import settings
from .notice import notice
from .rows import short
from .tune_grid import OFFERED, grid, listed, more_keys, of_chip, offered, shown, with_values


def grid_controls(traces: int) -> bool:
    """The lists of values; gives whether all `traces` of the file are meant."""
    texts = settings.texts("grid")
    held = grid(texts)
    with st.expander("Grid: what is tried", expanded=False), st.container(key="tune_grid"):
        st.html("<small>Each combination is a policy. What is not listed is as the controls at the left say. "
                "Values of your own can be typed.</small>")  # fmt: skip
        columns = st.columns(2, gap="medium")
        extra = [(key, short(key, 40), ()) for key in more_keys(texts)]
        for place, (key, label, _) in enumerate([*OFFERED, *extra]):
            with columns[place % 2]:
                _values(key, label, held.get(key, []))
        _upload()
    if traces < 2:
        return False
    every = f"all {traces:,} traces of the file"
    return (
        st.segmented_control("Tried on", ["this trace", every], default="this trace", required=True, key="tune_scope")
        == every
    )


def _values(key: str, label: str, chosen: Sequence[Any]) -> None:
    name = f"g_{key}"
    st.session_state[name] = [shown(value) for value in chosen]

    def take() -> None:
        values = [of_chip(key, chip) for chip in st.session_state[name]]
        settings.put("grid", with_values(settings.texts("grid"), key, values))

    st.multiselect(
        label, offered(key, chosen), key=name, on_change=take, accept_new_options=True,
        placeholder="as the controls say",
    )  # fmt: skip


def _upload() -> None:
    """A grid from a file, as `context-gc tune --grid` takes it."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        given = st.file_uploader("Grid, TOML", type=["toml"], key="tune_grid_file", max_upload_size=1)
        st.button("Default grid", on_click=settings.put, args=("grid", settings.GRID), key="tune_grid_default")
    if given is None:
        return
    if st.session_state.get("grid_file") != given.file_id:
        st.session_state.grid_file, st.session_state.grid_fault = given.file_id, ""
        try:
            told = grid_of(given.getvalue(), short(given.name, 60))
            cells(told, None, 100_000)
            settings.put("grid", listed(told))
        except ContextGCError as error:
            st.session_state.grid_fault = str(error)
        st.rerun()
    if st.session_state.grid_fault:
        notice(st.session_state.grid_fault, "error")
