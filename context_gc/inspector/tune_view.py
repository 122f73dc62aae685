"""Tune view: the answer, the curves, the measures, what was lost, the passes and the export."""

from __future__ import annotations

import json
from dataclasses import asdict

import streamlit as st

from ..errors import TraceError
from ..render import sendable
from ..replay.prices import Prices
from . import settings
from .frame import Begun
from .home import HOME
from .notice import notice
from .parts import Part, el, parts
from .rows import short
from .say import count, share, signed, tokens
from .settings import ON
from .tune_chart import drawn, tune_chart
from .tune_data import (
    CAVEAT,
    Costs,
    Lost,
    answer,
    gained,
    is_timeless,
    lost_sentence,
    made,
    measures,
    money,
    rewritten,
    span,
)
from .tune_prices import breakpoints
from .tune_replay import Ground, Lived

LISTED = 100  #: losses, and passes, that are shown
REPLAY = "pages/replay.py"
_LOST = (
    ("", "the measure that counts it"),
    ("what", "the identifier, path, quote or rule"),
    ("missed by", "how many calls lacked it"),
    ("first", "the first call that lacked it"),
    ("stood in", "the event where it stood last"),
    ("before", "calls between that event and the first call that lacked it"),
)
_PASS = (
    ("call", "the model call that it was made for"),
    ("when", "what made it due"),
    ("from", "the first event that changed"),
    ("D freed", "tokens out of the prompt, stubs counted"),
    ("K anew", "tokens behind the change, written to the cache anew"),
    ("N*", "calls after which it pays"),
    ("had it", "calls that had its gain while the cache was warm"),
    ("won", "dollars"),
)
CODE = """from context_gc import ContextGC, Policy

client = ContextGC(Policy.load("policy.toml"))
client.add_event(event)              # as things happen
prompt = client.compact()["prompt"]  # before each model call
"""


def nothing_to_replay(error: TraceError) -> None:
    """A trace that cannot be replayed: say why and what to do."""
    told = "Tune lives a recorded run again, call by call, so it needs turns in which a model wrote."
    notice(f"{error}. {told}", "error")


def sentence(begun: Begun, ground: Ground, lived: Lived, found: Costs | None) -> None:
    """The answer, before any picture."""
    done = lived.done
    tree: list[Part] = [el("p", answer(done, found), lost_sentence(done.measures), cls="answer")]
    if begun.policy.budget is None:
        told = "No budget: what is dead goes at once"
        if times := rewritten(done):
            told += f", which rewrote the prompt {count(times, 'time')} and broke the provider's cache each time. "
            tree.append(el("p", told, "With a budget it goes in a few passes.", cls="warn"))
        else:
            tree.append(el("p", f"{told}; here no prompt had to be rewritten for it.", cls="quiet"))
    elif not made(done, found):
        peak = f"the longest prompt had {tokens(done.peak)} tokens of {tokens(begun.force.limit)}"
        tree.append(el("p", f"No pass changed anything: {peak}. Lower thresholds, or max prompt tokens.", cls="quiet"))
    tree.append(el("p", " ".join([CAVEAT, *_basis(begun, ground, found)]), cls="quiet"))
    parts(tree, "tune_sentence")
    if begun.policy.budget is None:
        st.button("Switch the budget on", key="tune_budget", on_click=settings.put, args=("budget", ON))


def _basis(begun: Begun, ground: Ground, found: Costs | None) -> list[str]:
    told = []
    windows = len({each.window for each in ground.full.calls})
    if windows > 1:
        told.append(f"All {windows} context windows of the trace count, each from an empty prompt.")
    if found and ground.fit.median_error is not None:
        off = f"{share(ground.fit.median_error, 1)} in the median"
        told.append(
            f"Prompts are estimated; on {count(ground.fit.calls, 'reported call')} the estimate is off by {off}."
        )
    if found and found.recorded is not None:
        told.append(f"What the provider reported comes to {money(found.recorded)} at these prices.")
    if is_timeless(ground.full):
        told.append("The trace has no times, so every cache counts as warm.")
    if begun.force.ended:
        told.append("Scopes that end after the trace change nothing here.")
    return told


def curve(begun: Begun, lived: Lived, found: Costs | None) -> None:
    """Context and cost over the calls, and what the chosen range comes to."""
    done = lived.done
    first, last = span(settings.text("range"), len(done.calls))
    version = f"{lived.key}/{begun.force.limit}/{found and (found.bill.prices, found.bill.breakpoints)}/{first}-{last}"
    data = drawn(done, found, begun.policy.budget, begun.force.limit, (first, last), version)
    tune_chart(data, "tune_chart", lambda told: settings.put("range", told), _to_call)
    if (first, last) != (1, len(done.calls)):
        inside = slice(first - 1, last)
        sent, full = (sum(getattr(each, name) for each in done.calls[inside]) for name in ("tokens", "full"))
        told = f"Calls {first:,} to {last:,}: {tokens(sent)} tokens sent, {tokens(full)} with full history"
        if found:
            spent, whole = (sum(charge.cost for charge in each.charges[inside]) for each in (found.bill, found.full))
            told += f"; {money(spent)}, {money(whole)} with full history"
        parts([el("p", f"{told}.", cls="quiet")], "tune_range")
    if st.session_state.pop("tune_call", None) and (HOME / REPLAY).is_file():
        st.switch_page(REPLAY, query_params=settings.query())


def _to_call(call: int) -> None:
    """A click on a call: the replay page shows it."""
    if "call" in settings.DEFAULTS:
        settings.put("call", str(call))
        st.session_state.tune_call = True


def measure_rows(lived: Lived, found: Costs | None) -> None:
    """M1 to M9, each with what it means; a click lists what was lost."""
    cells: list[Part] = [el("b", "Measure"), el("b", "Value"), el("b", "Target"), el("b", "What it means")]
    for each in measures(lived.done.measures, found):
        state = "" if each.met is None else "met" if each.met else "missed"
        mark = {"met": "✓ ", "missed": "✕ "}.get(state, "")
        listed = el("button", f"{each.name}: list what was lost", go={"lost": each.name})
        cells += [
            el("b", each.name), el("span", f"{mark}{each.value}", cls=f"num {state}", label=f"{each.value} {state}"),
            el("span", each.target, cls="num quiet"),
            el("span", f"{each.meaning}. ", *([listed] if each.listed else [])),
        ]  # fmt: skip
    parts([el("div", *cells, cls="measures")], "tune_measures")


def lost_table(ground: Ground, lived: Lived) -> None:
    """What prompts lacked, as a report groups it, each with the event where it stood."""
    parts([el("h2", "What was lost")], "tune_lost_head")
    if not lived.lost:
        parts([el("p", "Nothing: no prompt lacked what the agent went on to use.", cls="quiet")], "tune_lost")
        return
    kinds = {"": f"all {len(lived.lost):,}", **{name: f"{name} {size:,}" for name, size in _sizes(lived.lost).items()}}
    chosen = settings.text("lost") if settings.text("lost") in kinds else ""
    with st.container(horizontal=True, vertical_alignment="center"):
        tied = settings.widget("lost", chosen)
        st.segmented_control(
            "Measure", list(kinds), format_func=kinds.__getitem__, required=True, label_visibility="collapsed", **tied
        )
        told = "".join(json.dumps(asdict(each)) + "\n" for each in lived.lost)
        st.download_button(
            "lost.jsonl", told, "lost.jsonl", "application/jsonl", on_click="ignore", key="tune_lost_file"
        )
    shown = [each for each in lived.lost if not chosen or _is_of(chosen, each)]
    cells: list[Part] = [el("b", head, title=told) for head, told in _LOST]
    for each in shown[:LISTED]:
        window, number = ground.places.get(each.event_id, ("", 0))
        go = {"window": window, "event": each.event_id, "page": "Graph"}
        cells += [
            el("b", each.measure), el("code", short(each.what, 120), title=each.what[:400]),
            el("span", f"{each.calls:,}", cls="num"), el("span", f"{each.call:,}", cls="num"),
            el("button", f"#{number}", go=go, title=f"Show event {each.event_id[:80]} in the graph"),
            el("span", f"{each.distance:,}", cls="num"),
        ]  # fmt: skip
    rest = len(shown) - LISTED
    more = [el("p", f"and {rest:,} more, all of them in lost.jsonl.", cls="quiet")] if rest > 0 else []
    parts([el("div", *cells, cls="lost"), *more], "tune_lost")


def _sizes(given: tuple[Lost, ...]) -> dict[str, int]:
    """How many things each measure lists."""
    found = {name: sum(_is_of(name, each) for each in given) for name in ("M1", "M2", "M4", "M5", "M6", "M9")}
    return {name: size for name, size in found.items() if size}


def _is_of(measure: str, each: Lost) -> bool:
    """Whether a measure counts a loss: what M2 counts, M1 counts as well."""
    return each.measure == measure or (measure == "M1" and each.measure == "M2")


def passes(ground: Ground, lived: Lived, found: Costs | None) -> None:
    """Each pass: what it freed, what it cost, and whether it paid."""
    rows = made(lived.done, found)
    if not rows:
        return
    paid = f": {sum(each.net is not None and each.net >= 0 for each in rows):,} of {len(rows):,} paid" if found else ""
    cells: list[Part] = [el("b", head, title=told) for head, told in _PASS]
    for each in rows[:LISTED]:
        window, number = ground.places.get(each.event_id, ("", 0))
        go = {"window": window, "event": each.event_id, "page": "Graph"}
        won = "" if each.net is None else f"{'✓ paid' if each.net >= 0 else '✕ lost'} {gained(each.net)}"
        cells += [
            el("span", f"{each.call:,}", cls="num"), el("span", each.moment.removesuffix(" threshold")),
            el("button", f"#{number}", go=go, title=f"Show event {each.event_id[:80]} in the graph"),
            el("span", signed(each.gain), cls="num"),
            el("span", tokens(each.kept_after), cls="num"), el("span", each.even, cls="num"),
            el("span", "" if each.calls is None else f"{each.calls:,}", cls="num"), el("span", won, cls="num"),
        ]  # fmt: skip
    rest = len(rows) - LISTED
    more = [el("p", f"and {rest:,} more.", cls="quiet")] if rest > 0 else []
    parts([el("h2", f"Passes{paid}"), el("div", *cells, cls="passes"), *more], "tune_passes")


def export(begun: Begun, prices: Prices | None) -> None:
    """The policy of the controls as a file, and the few lines that use it."""
    parts([el("h2", "To use it")], "tune_export_head")
    told = sendable(begun.policy.to_toml())
    with st.container(key="tune_export"):
        left, right = st.columns(2, gap="medium")
    with left:
        st.code(told, "toml", height=230)
        st.download_button("policy.toml", told, "policy.toml", "application/toml", on_click="ignore", key="tune_policy")
    with right:
        st.code(CODE, "python")
        at = f"{breakpoints()} breakpoints" + (f", prices of {prices.model[:60]}" if prices else "")
        st.html("<small>This is the policy of the controls at the left. The same on the command line:</small>")
        st.code("context-gc tune TRACE --policy policy.toml --out tuned.toml --report report.html", "bash")
        st.text(f"Judged with {at}.")
