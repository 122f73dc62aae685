"""Tune scatter: cost against recall, each point a policy; a click picks one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.resources import files
from typing import Any

import streamlit as st

from ..policy import Policy
from ..replay.advice import CONDITIONS, Advice, misses
from ..replay.sweep import Row
from .say import count, share, tokens
from .tune_data import per_cent

NEAR = 0.15  #: of the cost: a baseline so far from the policies still widens the picture

_HERE = files(__package__)
_scatter = st.components.v2.component(
    "cg_scatter",
    html=(
        '<div class="chart"><p class="legend"></p><div class="plot"><svg role="group"></svg>'
        '<div class="tip" role="status" hidden></div></div></div>'
    ),
    css=(_HERE / "tune_scatter.css").read_text("utf-8"),
    js=(_HERE / "tune_scatter.js").read_text("utf-8"),
)


def scatter(data: dict[str, Any], key: str, on_pick: Callable[[int], None]) -> None:
    """Draw `points`. A click on a policy calls `on_pick` with its place among the rows."""

    def take() -> None:
        at = st.session_state[key]["pick"]
        if isinstance(at, int):
            on_pick(at)

    _scatter(key=key, data=data, on_pick_change=take)


def points(rows: Sequence[Row], advice: Advice, measure: str, floor: bool, in_force: Policy) -> dict[str, Any]:
    """What the picture is given. `measure`: "M1" or "M2". Policies that come to the same are one point."""
    value, least = CONDITIONS[measure]
    tuned = [(_cost(each, floor), value(each.measures)) for each in rows if each.values]
    low, high = (end((x for x, _ in tuned), default=1.0) for end in (min, max))
    bottom = min([least, *(y for _, y in tuned)])
    made: dict[tuple[float, float, bool], dict[str, Any]] = {}
    for at in sorted(range(len(rows)), key=lambda at: (rows[at] is not advice.best, bool(misses(rows[at])))):
        each = rows[at]
        x, y = _cost(each, floor), value(each.measures)
        kind = "best" if each is advice.best else "baseline" if not each.values else "bad" if misses(each) else "good"
        point = made.setdefault(
            (round(x, 4), round(y, 5), kind == "baseline"),
            {"at": at, "x": x, "y": y, "kind": kind, "loads": each.policy is not None, "tip": tip(each, floor),
             "inside": low - NEAR <= x <= max(high, 1.0) + NEAR and y >= bottom - 0.005, "chosen": False, "more": 0},
        )  # fmt: skip
        point["chosen"] |= each.policy == in_force
        point["more"] += point["at"] != at
    return {"points": list(made.values()), "least": least, "measure": measure}


def tip(row: Row, floor: bool = False) -> str:
    """What is told of one policy."""
    told = row.measures
    lines = [
        row.method,
        f"cost {share(_cost(row, floor), 1)} of full history, {'ideal' if floor else 'floor'} "
        f"{share(_cost(row, not floor), 1)}",
        f"M1 {per_cent(told.recall.ratio)}, M2 {per_cent(told.sole_source.ratio)}, M9 {per_cent(told.quotes.ratio)}",
        f"{count(row.passes, 'pass', 'passes')}, {row.paid:,} paid; longest prompt {tokens(row.peak)} tokens",
    ]
    missed = ", ".join(sorted(misses(row)))
    return "\n".join(lines + ([f"misses {missed}"] if missed else []))


def _cost(row: Row, floor: bool) -> float:
    return row.floor if floor else row.cost
