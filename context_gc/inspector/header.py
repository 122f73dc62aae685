"""Header: what is open, and the meter that tells how full the model's window is before and after."""

from __future__ import annotations

from html import escape

import streamlit as st

from ..trace import Trace
from .compacting import Compacted
from .following import follow_mark
from .formats import format_popover
from .in_force import InForce
from .parts import Part, el, parts
from .rows import short
from .say import count, share, tokens
from .traces import Opened

LEVELS = {"ok": "below the low threshold", "compact": "at the low threshold", "emergency": "at the high threshold"}


def header(title: str, key: str, opened: Opened, trace: Trace, number: int, found: Compacted, force: InForce) -> None:
    """The page's first two lines. Text of the trace is escaped."""
    facts = [short(trace.model, 40), count(found.turns, "turn"), count(len(found.rows), "event")]
    if len(trace.windows) > 1:
        facts.append(f"window {number + 1} of {len(trace.windows)}")
    name = escape((trace.title or trace.source)[:300])
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="head"):
        st.html(
            f'<div class="cg-head"><h1>{escape(title)}</h1><span class="t" title="{name}">{name}</span>'
            f'<span class="f">{escape(" · ".join(fact for fact in facts if fact))}</span></div>'
        )
        follow_mark(key)
        format_popover(key, opened)
    parts(_meter(found, force), "meter")


def _meter(found: Compacted, force: InForce) -> list[Part]:
    before, after, limit = found.result["tokens_before"], found.result["tokens_after"], force.limit
    scale, at = max(limit, before, after) / 100, force.thresholds
    shares = (("low", at.threshold_low), ("high", at.threshold_high))
    marks = [
        el("span", cls="mark", title=f"{name} threshold: {share(part, 1)}", vars={"at": limit * part / scale})
        for name, part in shares
    ]
    live = el("span", cls="fill", vars={"size": min(after, before) / scale})
    dead = el("span", cls="cut", vars={"at": after / scale, "size": max(0, before - after) / scale})
    words = f" after · {tokens(before)} before · {share(after, limit)} of {tokens(limit)}"
    quiet = [el("span", f" · {name} ┆ {100 * part:.4g} %", cls="quiet one") for name, part in shares]
    told: list[Part] = [el("b", tokens(after)), words, *_state(found), *quiet]
    bar = el("span", live, dead, *marks, cls="gauge", role="img", label=f"{tokens(after)} of {tokens(limit)} tokens")
    return [el("div", bar, el("span", *told), cls="meter")]


def _state(found: Compacted) -> list[Part]:
    """Under a budget: the level, the passes and what waits for the next one."""
    state = found.result["budget"]
    if state is None:
        return []
    level = state["level"]
    told: list[Part] = [" · ", el("span", f"{level}", cls=f"level {level}", title=LEVELS[level])]
    told.append(f" · {count(len(state['passes']), 'pass', 'passes')}")
    if state["unreachable"]:
        told.append(" · target out of reach")
    if state["waiting_tokens"]:
        told.append(f" · {tokens(state['waiting_tokens'])} waiting")
    return told
