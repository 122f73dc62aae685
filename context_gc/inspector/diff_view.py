"""Diff view: what a policy made of the history, in one box: as it is now, or after its first stages only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import streamlit as st

from .compacting import compact
from .counting import counter_of
from .diff_component import diff_component, diff_reply
from .diff_data import answer, page, whole
from .diff_rows import Diff, diff, first_stages, steps
from .frame import Inspected, select
from .home import PAGES
from .say import words

KEY = "diff"
MODES = {"side": "Side by side", "unified": "Unified", "after": "After only"}
FULL = "full history"


@dataclass(frozen=True, slots=True)
class _Drawn:
    """A diff with the data that draws it; shared between sessions, never changed."""

    diff: Diff
    page: dict[str, Any]


def diff_controls(inspected: Inspected) -> tuple[str, int]:
    """The toolbar: how to show it, and after how many of the policy's stages; under a budget after all."""
    kept = st.session_state.setdefault("diff_controls", {"mode": "side", "upto": ""})
    names = [FULL, *map(words, steps(inspected.policy))]
    upto = kept["upto"] if kept["upto"] in names else names[-1]
    st.session_state.diff_mode, st.session_state.diff_upto = kept["mode"], upto
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.segmented_control(
            "View", tuple(MODES), format_func=MODES.__getitem__, key="diff_mode", on_change=_keep, args=("mode",),
            required=True, width="content",
        )  # fmt: skip
        if inspected.policy.budget is not None:
            st.html("<small>Under a budget the passes decide what goes and when: the timeline shows them.</small>")
            return kept["mode"], len(names) - 1
        if len(names) > 1:
            st.select_slider(
                " → ".join(names), names, key="diff_upto", on_change=_keep, args=("upto",), width=560,
                format_func=lambda name: name if name == FULL else f"{names.index(name)} of {len(names) - 1}: {name}",
            )  # fmt: skip
    return kept["mode"], names.index(upto)


def diff_view(inspected: Inspected, mode: str, upto: int) -> None:
    """Draw the diff after `upto` stages, with the selected event marked and in view."""
    version = f"{inspected.key}/{upto}"
    drawn = _drawn(version, inspected, upto)
    rows = drawn.diff.rows

    def pick(name: str) -> None:
        seq = st.session_state[KEY][name]
        if isinstance(seq, int) and 0 <= seq < len(rows):
            select(rows[seq].id)

    grows = {"live": inspected.is_followed, "tail": inspected.is_at_end, "place": f"{inspected.place}/{upto}"}
    told = diff_component(
        drawn.page | {"version": version} | grows,
        key=KEY,
        on_picked=lambda: pick("picked"),
        on_graph=lambda: pick("graph"),
    )
    if told.graph is not None:
        st.switch_page({title: script for script, title in PAGES}["Graph"])
    chosen = inspected.by_id[inspected.selected].seq if inspected.selected else None
    reply = answered(drawn.diff, version, told.asked)
    diff_reply(key=KEY, version=version, mode=mode, selected=chosen, answer=reply)


def answered(told: Diff, version: str, asked: Any) -> dict[str, Any] | None:
    """The answer to what the component asked in this run; None for a question about another diff."""
    if not isinstance(asked, dict) or asked.get("version") != version:
        return None
    size = len(told.rows)
    given = {key: value for key, value in asked.items() if isinstance(value, int) and 0 <= value <= size}
    nonce = {"nonce": asked.get("nonce"), "version": version}
    if "start" in given and "stop" in given:
        return answer(told, given["start"], given["stop"], given.get("focus")) | nonce
    if given.get("seq", size) < size:
        return {"seq": given["seq"], "text": whole(told.rows[given["seq"]])} | nonce
    return None


@st.cache_resource(max_entries=16, show_spinner=False)
def _drawn(version: str, _inspected: Inspected, _upto: int) -> _Drawn:
    result, policy = _inspected.result, _inspected.policy
    if _upto < len(steps(policy)):
        counter = counter_of(_inspected.place, policy.counter)
        result = compact(_inspected.events, first_stages(policy, _upto), counter, _inspected.force.ended).result
    made = diff(result, _inspected.window.start + 1)
    return _Drawn(made, page(made))


def _keep(name: str) -> None:
    value = st.session_state[f"diff_{name}"]
    if value is not None:
        st.session_state.diff_controls[name] = value
