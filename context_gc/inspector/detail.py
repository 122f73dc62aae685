"""Detail: the panel for the selected event, the same on every page."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import UTC, datetime

import streamlit as st

from ..canonical import readable
from ..errors import ContextGCError
from ..receipts import expand_receipt, receipt_of
from ..render import sendable
from ..tokens import COUNTERS
from . import settings
from .frame import Inspected, link, select
from .line_data import place_of_origin, words_of
from .line_panel import line_panel
from .notice import notice
from .palette import MARKS
from .parts import Part, el, event_link, parts
from .rows import Row
from .say import brief, count, signed, tokens, words
from .summary import largest_gone

SHOWN = 20_000  #: characters of a text that are drawn; the rest is told and can be copied from the diff
HEIGHT = 345  #: px of the tabs' contents

CLOCK = range(10**11, 253_402_300_800_000)  # milliseconds that are a date from 1973 on, not a step number


def detail(inspected: Inspected, here: str = "Graph") -> None:
    """Draw the panel. Without a selection it says how to select. `here` is the page that it stands on."""
    row = inspected.by_id.get(inspected.selected or "")
    if row is None:
        told = "Select an event in the graph or in the table to see what became of it and why."
        parts([el("p", told), el("p", _hint(inspected), cls="quiet"), *_largest(inspected)], key="detail_empty")
        return
    place = place_of_origin(inspected.events[row.seq].get("origin"))
    parts([*_what(row, place), _status(row, inspected)], key="detail_told")
    _buttons(row, inspected, here)
    if place and settings.text("line") == place:
        line_panel(inspected)
    else:
        _tabs(row, inspected)


def _hint(inspected: Inspected) -> str:
    gone = sum(row.has_receipt for row in inspected.rows)
    waiting = sum(row.status == "waiting" for row in inspected.rows)
    later = f" {count(waiting, 'event')} {'waits' if waiting == 1 else 'wait'} for the next pass: ◌." if waiting else ""
    if gone:
        are = "is" if gone == 1 else "are"
        return f"{count(gone, 'event')} of this window {are} cut or clipped: look for ✂.{later}"
    return f"Nothing in this window is cut by the stages that are on.{later}"


def _largest(inspected: Inspected) -> list[Part]:
    found = largest_gone(inspected.rows)
    cells: list[Part] = []
    for row in found:
        cells += [
            event_link(row.number, row.id),
            el("span", row.label, cls="name"),
            el("span", tokens(row.gone), cls="num"),
        ]
    word = "dead" if inspected.policy.budget is None else "cut"
    return [el("h2", f"The largest {word} items"), el("div", *cells, cls="list short")] if found else []


def _what(row: Row, place: str) -> list[Part]:
    told = " ".join(part for part in (row.type, row.tool and f"· {row.tool}", row.path and f"· {row.path}") if part)
    when = datetime.fromtimestamp(row.time_ms / 1000, UTC).strftime("%H:%M:%S") if row.time_ms in CLOCK else ""
    size = f"turn {row.turn} · {tokens(row.tokens)} tokens" + (f" · {when} UTC" if when else "")
    effect = f" · {signed(row.impact)} by its fate" if row.impact else ""
    mark = f"{MARKS[row.status]} " if MARKS[row.status] else ""
    return [
        el("p", el("b", f"#{row.number} "), row.label, " ", el("span", mark + row.status, cls=f"chip {row.status}")),
        el("p", told, cls="quiet", title=row.id),
        el("p", size + effect, *_where(place), cls="quiet"),
    ]


def _where(place: str) -> list[Part]:
    """A link to the record in the file that the event was read from."""
    title = "Show the raw record in the file"
    return [" · ", el("button", words_of(place), go={"line": place}, title=title)] if place else []


def _status(row: Row, inspected: Inspected) -> Part:
    by: list[Part] = [] if row.is_evicted else [" by ", el("b", words(row.stage))]
    when = f", out since pass {row.passed}" if row.passed and not row.is_evicted else ""
    if row.status == "clipped":
        did = row.reason if row.is_evicted else "clipped"
        rest = f": its first and last lines stand, {tokens(row.gone)} of {tokens(row.tokens)} tokens are out."
        return el("p", f"✂ {did}", *by, when, rest)
    if row.is_cut:
        return el("p", "✂ pruned", *by, when, ": ", *_named(row.reason, row, inspected), ".")
    if row.status == "waiting":
        told = _named(row.would, row, inspected)
        return el("p", "◌ Found dead, waits for the next pass. ", el("b", words(row.stage)), ": ", *told, ".")
    if row.would:
        kept = f"Kept because of {row.protected}. " if row.protected else "Kept. "
        return el("p", kept, *_named(row.would, row, inspected), ".")
    if row.protected:
        return el("p", f"Protected by {row.protected}: it stays whatever the stages find.")
    return el("p", "Live: no stage that is on found it dead.")


def _named(reason: str, row: Row, inspected: Inspected) -> list[Part]:
    """The reason with the witnesses' ids as links and what they are."""
    told: list[Part] = []
    rest = reason
    for name in row.because:
        witness = inspected.by_id.get(name)
        before, found, rest = rest.partition(name)
        told.append(before if found else f"{before}, ")
        told += [event_link(witness.number, name), f" ({witness.label})"] if witness else [name]
    return [*told, rest]


def _buttons(row: Row, inspected: Inspected, here: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="detail_buttons"):
        witness = next((name for name in row.because if name in inspected.by_id), None)
        if witness is not None:
            st.button("Go to witness", on_click=select, args=(witness,))
        if row.has_receipt:
            back = _is_recovered(row, inspected)
            st.button("Hide original" if back else "Recover", on_click=recover, args=(inspected.key, row.id, not back))
        pins = settings.texts("pins")
        told = "Unpin" if row.id in pins else "Pin"
        st.button(told, on_click=settings.pin, args=(row.id,), help="A pinned event stays, whatever the stages find.")
        link("Diff" if here != "Diff" else "Graph", row.id)


def _tabs(row: Row, inspected: Inspected) -> None:
    if row.has_receipt and _is_recovered(row, inspected):
        _recovered(row, inspected)
        return
    names = ["Rendered", "Source record"] + (["Original", "Receipt"] if row.has_receipt else [])
    tabs = dict(zip(names, st.tabs(names), strict=True))
    with tabs["Rendered"]:
        code(_in_prompt(row, inspected) if row.has_receipt else row.text)
    with tabs["Source record"]:
        code(indented(inspected.events[row.seq]))
    if row.has_receipt:
        with tabs["Original"]:
            code(row.text)
        with tabs["Receipt"]:
            counter = COUNTERS[inspected.policy.counter]
            code(indented(asdict(receipt_of(inspected.result["graph"], row.receipt_id, counter))))


def recover(key: str, event_id: str | None, back: bool = True) -> None:
    """Have the panel show the original of an event under a view's key, or no longer."""
    st.session_state.recovered = (key, event_id) if back else None


def _is_recovered(row: Row, inspected: Inspected) -> bool:
    return bool(st.session_state.get("recovered") == (inspected.key, row.id))


def _in_prompt(row: Row, inspected: Inspected) -> str:
    """What stands in the prompt: of a clipped event its own lines, of one that is cut the stub of its run."""
    prompt = inspected.result.layout
    if row.status == "clipped":
        return prompt.slot(row.seq) or "(prints nothing)"
    start = prompt.runs.start(row.seq)
    slot = prompt.slot(start) or "(nothing: stubs are switched off)"
    if start == row.seq:
        return slot
    return f"{slot}\n(one stub for the whole run, which begins at #{inspected.rows[start].number})"


def _recovered(row: Row, inspected: Inspected) -> None:
    """The originals behind the receipt, with the proof that they are the original ones."""
    graph = inspected.result["graph"]
    try:
        receipt = receipt_of(graph, row.receipt_id)
        events = expand_receipt(graph, row.receipt_id)
    except ContextGCError as error:
        notice(str(error), "error")
        return
    own = [event for event in events if event["id"] in receipt.event_ids]
    good = receipt.verify(own)
    told = f"sha256 {receipt.sha256[0][:16]}… " + ("matches" if good else "DOES NOT MATCH")
    notice(f"Recovered {count(len(own), 'event')}: {told}.", "info" if good else "error")
    code("\n".join(inspected.by_id[event["id"]].text for event in own))
    if len(events) > len(own) and row.is_cut:
        st.html(f"<small>The same stub stands for {count(len(events) - len(own), 'more event')}.</small>")


def indented(value: object) -> str:
    """JSON over several lines; on one line where it is nested too deeply for the encoder."""
    try:
        return json.dumps(value, indent=1, ensure_ascii=False)
    except RecursionError:
        return readable(value)


def code(text: str) -> None:
    """Trace text as it is, in a box of fixed height; what is too long to draw is told."""
    more = len(text) - SHOWN
    st.code(sendable(text[:SHOWN]) or "(prints nothing)", language=None, wrap_lines=True, height=HEIGHT)
    if more > 0:
        st.html(f"<small>{brief(more).lstrip('+')} more characters are not drawn here.</small>")
