"""Overview: the pictures and lists of the first page."""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from . import settings
from .frame import Inspected
from .header import HIGH, LOW
from .notice import notice
from .palette import DARK, LIGHT
from .parts import Part, el, event_link, parts
from .rows import Row
from .say import count, share, tokens, words
from .summary import answer, growth, largest_dead, reported, slices

LISTED = 200  #: problems that are listed
_TURNS = alt.Axis(tickMinStep=1, grid=False, format=",d")


def sentence(inspected: Inspected) -> None:
    """The answer, before any picture."""
    result = inspected.result
    told = answer(inspected.rows, inspected.turns, result["tokens_before"], result["tokens_after"])
    tree: list[Part] = [el("p", told, cls="answer")]
    limit = int(settings.text("limit"))
    for name, at in (("high", HIGH), ("low", LOW)):
        if result["tokens_after"] >= at * limit:
            over = f"{share(result['tokens_after'], limit)} of the model's window stay in use after pruning"
            tree.append(el("p", f"{over}: above the {name} threshold of {at * 100:.0f} %.", cls="warn"))
            break
    provider = reported(inspected.trace, inspected.window)
    if provider:
        told = f"The provider counted {tokens(provider)} tokens at the last call of this window: "
        tree.append(el("p", told + "system prompt, tools and whatever else the trace does not hold.", cls="quiet"))
    parts(tree, "overview_sentence")


def curve(inspected: Inspected) -> None:
    """Context over turns: the full history as a line, what stands after pruning as an area."""
    found = growth(inspected.rows)
    points = [
        {"turn": turn, "tokens": size, "what": what}
        for turn, full, after in found
        for size, what in ((full, "full history"), (after, "after pruning"))
    ]
    if not points:
        st.html("<p>This window holds no events: choose another one at the left.</p>")
        return
    base = alt.Chart(pd.DataFrame(points)).encode(
        x=alt.X("turn:Q", title="turn", scale=alt.Scale(zero=False, nice=False), axis=_TURNS),
        y=alt.Y("tokens:Q", title="tokens", axis=alt.Axis(format="~s", tickCount=4)),
        tooltip=[alt.Tooltip("turn:Q"), alt.Tooltip("what:N"), alt.Tooltip("tokens:Q", format=",")],
    )
    few = len(found) < 3  # an area over one turn is nothing to see
    after = base.transform_filter("datum.what === 'after pruning'").mark_area(
        opacity=0.35, line={"strokeWidth": 1.5}, point=few
    )
    full = base.transform_filter("datum.what === 'full history'").mark_line(strokeDash=[5, 3], strokeWidth=1.5)
    layers: list[Any] = [after, full]
    most, limit = max(full for _, full, _ in found), int(settings.text("limit"))
    layers += [_threshold(name, at * limit) for name, at in (("low", LOW), ("high", HIGH)) if at * limit < 1.6 * most]
    st.html("<b>Context over turns</b> <small>· dashed: full history · area: after pruning</small>")
    st.altair_chart(alt.layer(*layers).properties(height=300), width="stretch")


def _threshold(name: str, size: float) -> Any:
    frame = pd.DataFrame([{"at": size, "name": f"{name} threshold {size:,.0f}"}])
    ink = (DARK if st.context.theme.type == "dark" else LIGHT)["text"]
    rule = alt.Chart(frame).mark_rule(strokeDash=[2, 3], color=ink).encode(y="at:Q")
    text = alt.Chart(frame).mark_text(align="left", baseline="bottom", dx=4, x=0, color=ink)
    text = text.encode(y="at:Q", text="name:N")
    return rule + text


def bars(inspected: Inspected) -> None:
    """Where the tokens go; the dead part is hatched. A click looks for the group in the graph."""
    by = settings.text("by")
    choice = st.segmented_control(
        "**Where the tokens go**, by", ["tool", "type", "file"], **settings.widget("by", by), required=True
    )
    found = slices(inspected.rows, choice)
    most = max((each.whole for each in found), default=1) or 1
    cells: list[Part] = []
    for each in found:
        dead = f"{tokens(each.dead)} dead" if each.dead else ""
        label = f"{each.name}: {tokens(each.whole)} tokens, {tokens(each.dead)} dead"
        bar = [el("span", cls="alive"), el("span", cls="dead")] if each.dead else [el("span", cls="alive")]
        sizes = {"size": 100 * each.whole / most, "live": each.live, "dead": each.dead}
        cells += [
            el("button", each.name, cls="name", title=f"Show in the graph: {each.name}", go=_find(each.name)),
            el("span", *bar, cls="bar", role="img", label=label, vars=sizes),
            el("span", tokens(each.whole), cls="num"),
            el("span", dead, cls="num quiet"),
        ]
    parts([el("div", *cells, cls="bars")], "overview_bars")


def dead_items(inspected: Inspected) -> None:
    """The ten largest dead items with the reason of each."""
    found = largest_dead(inspected.rows)
    if not found:
        return
    number = {row.id: row.number for row in inspected.rows}
    cells: list[Part] = []
    for row in found:
        cells += [
            event_link(row.number, row.id, "Graph"),
            el("span", row.label, cls="name", title=row.path or row.label),
            el("span", tokens(row.tokens), cls="num"),
            el("span", "✂ ", el("b", words(row.stage)), ": ", *_why(row, number)),
        ]
    parts([el("h2", _largest(len(found))), el("div", *cells, cls="list")], "overview_dead")


def _find(name: str) -> dict[str, str]:
    """What a click on a group does: the graph page, with a search for it where its name can be searched."""
    return {"page": "Graph", "event": "", "find": "" if name.startswith("(") else name}


def _largest(shown: int) -> str:
    return "The largest dead item" if shown == 1 else f"The {shown} largest dead items"


def _why(row: Row, number: dict[str, int]) -> list[Part]:
    """The reason, with its witness as a link where the witness stands in this window."""
    told, rest = [], row.reason
    for name in row.because:
        if name in number and name in rest:
            before, _, rest = rest.partition(name)
            told += [before, event_link(number[name], name, "Graph")]
    return [*told, rest]


def what_was_read(inspected: Inspected) -> None:
    """How the file was read: what could not be, by line, and what was left out on purpose."""
    trace = inspected.trace
    read = f"Read as {trace.format}: {count(len(trace.events), 'event')}"
    left = sum(trace.ignored.values())
    if left:
        kinds = ", ".join(f"{number:,} × {kind}" for kind, number in sorted(trace.ignored.items(), key=lambda x: -x[1]))
        read += f"; {count(left, 'record')} that no model sees left out on purpose ({kinds})"
    tree: list[Part] = [el("h2", "What was read"), el("p", read + ".", cls="quiet")]
    if not trace.problems:
        tree.append(el("p", "Nothing in the file was damaged or unknown.", cls="quiet"))
    parts(tree, "overview_read")
    if trace.problems:
        notice(f"{count(len(trace.problems), 'problem')}: what was good around them was kept.", "warning")
        lines = [
            {"line": problem.line or "file", "what could not be read": problem.text}
            for problem in trace.problems[:LISTED]
        ]
        columns = {"line": st.column_config.TextColumn(width=60)}
        st.dataframe(pd.DataFrame(lines).astype(str), hide_index=True, row_height=28, column_config=columns)
    for warning in inspected.result["warnings"][:5]:
        notice(warning, "warning")
