"""Turn strip: tokens per turn at a glance, and the choice of the turns that the graph draws."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib.resources import files

import streamlit as st

from .rows import Row

_HERE = files(__package__)
_strip = st.components.v2.component(
    "cg_strip",
    html='<canvas tabindex="0" role="img"></canvas><div class="note"></div>',
    css="""
canvas { display: block; width: 100%; height: 46px; cursor: crosshair; outline: none; }
canvas:focus-visible { box-shadow: 0 0 0 2px var(--st-primary-color); }
.note { font: 12px/1.4 var(--st-font); color: var(--st-text-color); opacity: .85; margin-top: 2px; }
""",
    js=(_HERE / "turn_strip.js").read_text("utf-8"),
)


def per_turn(rows: Iterable[Row]) -> list[tuple[int, int, int]]:
    """(turn, live tokens, dead tokens) of each turn; what a stub costs counts as live."""
    found: dict[int, list[int]] = {}
    for row in rows:
        sums = found.setdefault(row.turn, [0, 0])
        dead = max(0, -row.impact) if row.is_dead else 0
        sums[0] += row.tokens - dead
        sums[1] += dead
    return [(turn, *sums) for turn, sums in found.items()]  # type: ignore[misc]  # two sums each


def turn_strip(
    turns: list[tuple[int, int, int]], chosen: tuple[int, int], here: int, note: str, key: str,
    on_chosen: Callable[[str], None], on_turn: Callable[[int], None],
) -> None:  # fmt: skip
    """Draw the strip. Dragging calls `on_chosen` with "12-40" ("" for the graph's own choice), a click `on_turn`."""

    def take_chosen() -> None:
        span = st.session_state[key]["chosen"]
        if isinstance(span, list) and all(isinstance(turn, int) for turn in span):
            on_chosen("-".join(map(str, span)))

    def take_turn() -> None:
        turn = st.session_state[key]["turn"]
        if isinstance(turn, int):
            on_turn(turn)

    data = {"turns": turns, "chosen": chosen, "here": here, "note": note}
    _strip(key=key, data=data, on_chosen_change=take_chosen, on_turn_change=take_turn)
