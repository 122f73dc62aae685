"""Header: what is open, and the meter that tells how full the model's window is before and after."""

from __future__ import annotations

from html import escape

import streamlit as st

from ..compaction import Compaction
from ..trace import Trace
from . import settings
from .say import count, share, tokens

LOW, HIGH = 0.75, 0.92  #: thresholds as shares of the model's window


def header(title: str, trace: Trace, number: int, turns: int, result: Compaction) -> None:
    """The page's first two lines. Text of the trace is escaped."""
    facts = [trace.format, trace.model, count(turns, "turn"), count(len(result.events), "event")]
    if len(trace.windows) > 1:
        facts.append(f"window {number + 1} of {len(trace.windows)}")
    name = escape((trace.title or trace.source)[:300])
    st.html(
        f'<div class="cg-head"><h1>{escape(title)}</h1><span class="t" title="{name}">{name}</span>'
        f'<span class="f">{escape(" · ".join(fact for fact in facts if fact))}</span></div>'
        + _meter(result["tokens_before"], result["tokens_after"], max(1, int(settings.text("limit") or 0)))
    )


def _meter(before: int, after: int, limit: int) -> str:
    scale = max(limit, before, after) / 100
    marks = "".join(
        f'<span class="mark" style="left:{limit * at / scale:.2f}%" title="{name} {at * 100:.0f} %"></span>'
        for name, at in (("low", LOW), ("high", HIGH))
    )
    words = (
        f"<b>{tokens(after)}</b> after · {tokens(before)} before · {share(after, limit)} of {tokens(limit)}"
        f" · low ┆ {LOW * 100:.0f} % · high ┆ {HIGH * 100:.0f} %"
    )
    return (
        f'<div class="cg-meter"><div class="bar" role="img" aria-label="{tokens(after)} of {tokens(limit)} tokens">'
        f'<span class="live" style="width:{min(after, before) / scale:.2f}%"></span>'
        f'<span class="dead" style="left:{after / scale:.2f}%;width:{max(0, before - after) / scale:.2f}%"></span>'
        f'{marks}</div><div class="words">{words}</div></div>'
    )
