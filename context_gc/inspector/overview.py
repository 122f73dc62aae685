"""Overview: the pictures and lists of the first page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from ..trace import Problem
from . import settings
from .formats import title
from .frame import Inspected, select
from .line_data import place_of_problem, words_of
from .line_panel import line_panel
from .notice import notice
from .parts import Part, el, event_link, parts
from .rows import Row, short
from .say import count, share, tokens, words
from .summary import answer, largest_gone, reported, slices
from .timeline_chart import timeline_chart
from .timeline_data import course

LISTED = 200  #: problems that are listed
TOLD = 400  #: characters of what is told of one
HEIGHT = 300  #: px of the chart


def sentence(inspected: Inspected) -> None:
    """The answer, before any picture."""
    result = inspected.result
    told = answer(inspected.rows, inspected.turns, result["tokens_before"], result["tokens_after"])
    tree: list[Part] = [el("p", told, cls="answer")]
    limit, at = inspected.force.limit, inspected.force.thresholds
    for name, part in (("high", at.threshold_high), ("low", at.threshold_low)):
        if result["tokens_after"] >= part * limit:
            over = f"{share(result['tokens_after'], limit)} of the model's window stay in use after pruning"
            tree.append(el("p", f"{over}: above the {name} threshold of {100 * part:.4g} %.", cls="warn"))
            break
    tree += _held(result["budget"] or {})
    provider = reported(inspected.trace, inspected.window)
    if provider:
        told = f"The provider counted {tokens(provider)} tokens at the last call of this window: "
        tree.append(el("p", told + "system prompt, tools and whatever else the trace does not hold.", cls="quiet"))
    parts(tree, "overview_sentence")


def _held(state: dict[str, Any]) -> list[Part]:
    """Under a budget: what stands in the way of the target, and why a pass that was due was not made."""
    told: list[Part] = []
    if found := state.get("unreachable"):
        holds = ", ".join(f"{what} {tokens(size)}" for what, size in found["holds"])
        told.append(
            el(
                "p",
                f"The target of {tokens(found['target'])} tokens cannot be reached without cutting what must stay: "
                f"{tokens(found['tokens'])} are held: {holds}. Allow more tokens, or protect less.",
                cls="warn",
            )
        )
    if state.get("deferred"):
        told.append(el("p", f"A pass is due and was not made: {state['deferred']}.", cls="quiet"))
    return told


def curve(inspected: Inspected) -> None:
    """Context over turns: the full history, what stands in the prompt, and the passes that made the difference."""
    state = inspected.result["budget"]
    if not inspected.rows:
        st.html("<p>This window holds no events: choose another one at the left.</p>")
        return
    told = course(inspected.rows, inspected.points, state["passes"] if state else (), inspected.force.thresholds)
    timeline_chart(told, state is not None, "timeline", HEIGHT, select)
    if told.marks:
        _selected(inspected)


def _selected(inspected: Inspected) -> None:
    """The event that a click on a pass selected, and where to look at it."""
    row = inspected.by_id.get(inspected.selected or "")
    if row is not None:
        link = event_link(row.number, row.id, "Graph")
        why = [": ", *_why(row, {each.id: each.number for each in inspected.rows})] if row.why else []
        parts([el("p", "Selected: ", link, f" {row.label} · {row.status}", *why, cls="quiet")], "overview_selected")


def bars(inspected: Inspected) -> None:
    """Where the tokens go; what is out of the prompt is hatched. A click looks for the group in the graph."""
    by, word = settings.text("by"), _word(inspected)
    choice = st.segmented_control(
        "**Where the tokens go**, by", ["tool", "type", "file"], **settings.widget("by", by), required=True
    )
    found = slices(inspected.rows, choice)
    most = max((each.whole for each in found), default=1) or 1
    cells: list[Part] = []
    for each in found:
        gone = f"{tokens(each.gone)} {word}" if each.gone else ""
        label = f"{each.name}: {tokens(each.whole)} tokens, {tokens(each.gone)} {word}"
        bar = [el("span", cls="alive"), el("span", cls="dead")] if each.gone else [el("span", cls="alive")]
        sizes = {"size": 100 * each.whole / most, "live": each.live, "dead": each.gone}
        cells += [
            el("button", each.name, cls="name", title=f"Show in the graph: {each.name}", go=_find(each.name)),
            el("span", *bar, cls="bar", role="img", label=label, vars=sizes),
            el("span", tokens(each.whole), cls="num"),
            el("span", gone, cls="num quiet"),
        ]
    parts([el("div", *cells, cls="bars")], "overview_bars")


def _word(inspected: Inspected) -> str:
    """What is out of the prompt is dead; under a budget it may be live and have made room."""
    return "dead" if inspected.policy.budget is None else "cut"


def dead_items(inspected: Inspected) -> None:
    """The ten largest items that are out of the prompt, with the reason of each."""
    found = largest_gone(inspected.rows)
    if not found:
        return
    number = {row.id: row.number for row in inspected.rows}
    cells: list[Part] = []
    for row in found:
        cells += [
            event_link(row.number, row.id, "Graph"),
            el("span", row.label, cls="name", title=row.path or row.label),
            el("span", tokens(row.gone), cls="num"),
            el("span", "✂ ", el("b", words(row.stage)), ": ", *_why(row, number)),
        ]
    parts([el("h2", _largest(len(found), _word(inspected))), el("div", *cells, cls="list")], "overview_dead")


def _left_out(ignored: Mapping[str, int]) -> Part:
    """What no model sees, by kind."""
    cells: list[Part] = []
    for kind, number in sorted(ignored.items(), key=lambda each: -each[1]):
        cells += [el("span", f"{number:,}", cls="num"), el("span", short(kind), cls="name")]
    told = f"{count(sum(ignored.values()), 'record')} that no model sees left out on purpose, by kind:"
    return el("div", el("p", told, cls="quiet"), el("div", *cells, cls="kinds"))


def _problems(problems: Sequence[Problem]) -> Part:
    """Each problem with a link to its place in the file, what is wrong and what was done."""
    cells: list[Part] = []
    for problem in problems[:LISTED]:
        place = place_of_problem(problem)
        what, _, done = problem.text.removesuffix(")").rpartition(" (") if problem.text.endswith(")") else ("", "", "")
        told = words_of(place).partition(",")[0] if place else "whole file"
        cells += [
            el("button", told, go={"line": place}, title="Show it in the file") if place else el("span", told),
            el("span", (what or problem.text)[:TOLD]),
            el("span", done[:TOLD], cls="quiet"),
        ]
    rest = len(problems) - LISTED
    more = [el("p", f"and {rest:,} more: context-gc validate lists all of them.", cls="quiet")] if rest > 0 else []
    return el("div", el("div", *cells, cls="faults"), *more)


def _find(name: str) -> dict[str, str]:
    """What a click on a group does: the graph page, with a search for it where its name can be searched."""
    return {"page": "Graph", "event": "", "find": "" if name.startswith("(") else name}


def _largest(shown: int, word: str) -> str:
    return f"The largest {word} item" if shown == 1 else f"The {shown} largest {word} items"


def _why(row: Row, number: dict[str, int]) -> list[Part]:
    """The reason, with its witness as a link where the witness stands in this window."""
    told, rest = [], row.why
    for name in row.because:
        if name in number and name in rest:
            before, _, rest = rest.partition(name)
            told += [before, event_link(number[name], name, "Graph")]
    return [*told, rest]


def what_was_read(inspected: Inspected) -> None:
    """How the file was read: what could not be, by line, and what was left out on purpose."""
    trace = inspected.trace
    tree: list[Part] = [el("h2", "What was read")]
    of = f" from {count(trace.records_read, 'record')}" if trace.records_read else ""
    tree.append(el("p", f"Read as {title(trace.format)}: {count(len(trace.events), 'event')}{of}.", cls="quiet"))
    if trace.ignored:
        tree.append(_left_out(trace.ignored))
    if not trace.problems:
        tree.append(el("p", "Nothing in the file was damaged or unknown.", cls="quiet"))
    parts(tree, "overview_read")
    if trace.problems:
        notice(f"{count(len(trace.problems), 'problem')}: what was good around them was kept.", "warning")
        parts([_problems(trace.problems)], "overview_problems")
    line_panel(inspected)
    for warning in inspected.result["warnings"][:5]:
        notice(warning, "warning")
