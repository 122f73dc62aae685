"""Turn strip: tokens per turn at a glance, the choice of the turns that the graph draws, and the passes above it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib.resources import files
from typing import Any

import streamlit as st

from .rows import Row
from .timeline_data import Course

BAND = 40  #: px that the timeline takes above the bars, under a budget

_HERE = files(__package__)
_strip = st.components.v2.component(
    "cg_strip",
    html=(
        '<div class="strip"><canvas tabindex="0" role="img"></canvas><div class="passes"></div></div>'
        '<div class="note"></div>'
    ),
    css=(_HERE / "turn_strip.css").read_text("utf-8"),
    js=(_HERE / "turn_strip.js").read_text("utf-8"),
)


def per_turn(rows: Iterable[Row]) -> list[tuple[int, int, int]]:
    """(turn, tokens in the prompt, tokens out of it) of each turn; what a stub costs counts as in the prompt."""
    found: dict[int, list[int]] = {}
    for row in rows:
        sums = found.setdefault(row.turn, [0, 0])
        gone = max(0, -row.impact) if row.has_receipt else 0
        sums[0] += row.tokens - gone
        sums[1] += gone
    return [(turn, *sums) for turn, sums in found.items()]  # type: ignore[misc]  # two sums each


def turn_strip(
    turns: list[tuple[int, int, int]], chosen: tuple[int, int], here: int, note: str, lived: Course | None, key: str,
    on_chosen: Callable[[str], None], on_turn: Callable[[int], None], on_event: Callable[[str], None],
) -> None:  # fmt: skip
    """Draw the strip; `lived` is the timeline under a budget, drawn in a band above the bars.

    Dragging calls `on_chosen` with "12-40" ("" for the graph's own choice), a click `on_turn`, a click on a
    pass `on_event` with the first event that it changed.
    """

    def take_chosen() -> None:
        span = st.session_state[key]["chosen"]
        if isinstance(span, list) and all(isinstance(turn, int) for turn in span):
            on_chosen("-".join(map(str, span)))

    def take_turn() -> None:
        turn = st.session_state[key]["turn"]
        if isinstance(turn, int):
            on_turn(turn)

    def take_pass() -> None:
        number = st.session_state[key]["pass"]
        for mark in lived.marks if lived else ():
            if mark.number == number and mark.event_id is not None:
                on_event(mark.event_id)

    data: dict[str, Any] = {"turns": turns, "chosen": chosen, "here": here, "note": note, "band": 0}
    if lived is not None:
        marks = [mark.drawn for mark in lived.marks]
        data |= {"band": BAND, "full": lived.full, "sent": lived.sent, "thresholds": lived.thresholds, "marks": marks}
    _strip(
        key=key, data=data, on_chosen_change=take_chosen, on_turn_change=take_turn, on_pass_change=take_pass,
    )  # fmt: skip
