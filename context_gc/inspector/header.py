"""Header: what is open, and the meter that tells how full the model's window is before and after."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import streamlit as st

from ..trace import Trace
from . import settings
from .parts import Part, el, parts
from .rows import Row, short
from .say import count, share, tokens

LOW, HIGH = 0.75, 0.92  #: thresholds as shares of the model's window


def header(title: str, trace: Trace, number: int, turns: int, rows: Sequence[Row]) -> None:
    """The page's first two lines. Text of the trace is escaped."""
    facts = [trace.format, short(trace.model, 40), count(turns, "turn"), count(len(rows), "event")]
    if len(trace.windows) > 1:
        facts.append(f"window {number + 1} of {len(trace.windows)}")
    name = escape((trace.title or trace.source)[:300])
    st.html(
        f'<div class="cg-head"><h1>{escape(title)}</h1><span class="t" title="{name}">{name}</span>'
        f'<span class="f">{escape(" · ".join(fact for fact in facts if fact))}</span></div>'
    )
    before, change = sum(row.tokens for row in rows), sum(row.impact for row in rows)
    parts(_meter(before, before + change, int(settings.text("limit"))), "meter")


def _meter(before: int, after: int, limit: int) -> list[Part]:
    scale = max(limit, before, after) / 100
    marks = [
        el("span", cls="mark", title=f"{name} threshold: {at * 100:.0f} %", vars={"at": limit * at / scale})
        for name, at in (("low", LOW), ("high", HIGH))
    ]
    live = el("span", cls="fill", vars={"size": min(after, before) / scale})
    dead = el("span", cls="cut", vars={"at": after / scale, "size": max(0, before - after) / scale})
    words = f" after · {tokens(before)} before · {share(after, limit)} of {tokens(limit)}"
    thresholds = f" · low ┆ {LOW * 100:.0f} % · high ┆ {HIGH * 100:.0f} %"
    bar = el("span", live, dead, *marks, cls="gauge", role="img", label=f"{tokens(after)} of {tokens(limit)} tokens")
    return [el("div", bar, el("span", el("b", tokens(after)), words, el("span", thresholds, cls="quiet")), cls="meter")]
