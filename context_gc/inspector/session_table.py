"""Session table: tables of plain text and figures in which a row can be chosen."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st
from pandas.io.formats.style import Styler

ROW, HEAD, MOST = 28, 37, 6  #: px of a table's row and head; rows that it shows at once


def table(
    name: str, columns: dict[str, Any], keys: Sequence[Any], chosen: Any, on_choose: Callable[[Any], None],
    widths: Mapping[str, int], alt: str, most: int = MOST,
) -> None:  # fmt: skip
    """A table in which a row is chosen. Its cells are plain text and whole numbers."""
    st.session_state[f"sessions_{name}"] = {"selection": {"rows": [keys.index(chosen)] if chosen in keys else []}}
    st.dataframe(
        frame(columns), key=f"sessions_{name}", on_select=partial(_chosen, name, keys, on_choose), alt=alt,
        selection_mode="single-row", hide_index=True, row_height=ROW, height=HEAD + ROW * min(most, max(1, len(keys))),
        column_config=configured(columns, widths), placeholder="–",
    )  # fmt: skip


def frame(columns: Mapping[str, Any]) -> Styler:
    """Columns as a table shows them: numbers with separators."""
    return pd.DataFrame(columns).style.format(thousands=",")


def configured(columns: Mapping[str, Any], widths: Mapping[str, int]) -> dict[str, Any]:
    """How wide each column is."""
    return {name: st.column_config.Column(width=width) for name, width in widths.items() if name in columns}


def _chosen(name: str, keys: Sequence[Any], on_choose: Callable[[Any], None]) -> None:
    rows = st.session_state[f"sessions_{name}"]["selection"]["rows"]
    if rows and rows[0] < len(keys):
        on_choose(keys[rows[0]])
