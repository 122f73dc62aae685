"""Receipt view: the sentence, the table, the check of everything, and how to check it by hand."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st
from pandas.io.formats.style import Styler

from .detail import recover
from .diff_data import shown
from .frame import Inspected, select
from .notice import notice
from .palette import DARK, LIGHT
from .receipt_table import (
    ONE_LINER,
    ReceiptRow,
    Verification,
    by_stage,
    holder,
    jsonl,
    matching,
    original,
    receipts,
    verify,
)
from .say import count, share, signed, words

CHARS = 6_000  #: of a canonical original that are drawn
SHOWN_FAULTS = 20
STYLED = 5_000  #: rows up to which token changes get a sign; styling costs time


def receipt_table(inspected: Inspected) -> tuple[ReceiptRow, ...]:
    """All receipts of what is inspected; where there are none the page says what to do and ends."""
    table = _table(inspected.key, inspected)
    if not table:
        notice(
            "Nothing was cut, so there are no receipts. Turn on more stages in the sidebar, or choose another trace "
            "or another window."
        )
        st.stop()
    return table


def receipt_sentence(table: tuple[ReceiptRow, ...], inspected: Inspected) -> None:
    """What all receipts together stand for, as one sentence."""
    events = sum(len(row.event_ids) for row in table)
    change = sum(row.tokens for row in table)
    told = ", ".join(f"{signed(tokens)} {words(stage)}" for stage, _, tokens in by_stage(table))
    whole = inspected.result["tokens_before"]
    rest = inspected.result["tokens_after"] - whole - change
    marks = f" Marks on protected lines of abandoned branches add {signed(rest)}." if rest else ""
    what = "pruned or clipped event" if any(row.clipped for row in table) else "pruned event"
    grows = f' style="color:light-dark({LIGHT["abandons"]},{DARK["abandons"]})"' if change > 0 else ""
    st.html(
        f'<p style="margin:0"><b>{count(len(table), "receipt")}</b> {"stands" if len(table) == 1 else "stand"} for '
        f"<b>{count(events, what)}</b>: <b{grows}>{signed(change)} tokens</b>, {share(abs(change), whole)} "
        f"of the full history ({told}).{marks} Each one brings its originals back, byte for byte.</p>"
    )


def receipt_toolbar(table: tuple[ReceiptRow, ...], inspected: Inspected) -> tuple[ReceiptRow, ...]:
    """Search, stages, the check and the downloads on one line; gives the receipts that pass the filters."""
    kept = st.session_state.setdefault("receipts_filter", {"stages": [], "find": ""})
    stages = [stage for stage, _, _ in by_stage(table)]
    st.session_state.receipts_stages = [stage for stage in kept["stages"] if stage in stages]
    st.session_state.receipts_find = kept["find"]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.text_input(
            "Search", placeholder="Search ids, reasons, paths, digests", key="receipts_find",
            on_change=_filter, args=("find",), label_visibility="collapsed", width=260,
        )  # fmt: skip
        st.pills(
            "Stages", stages, selection_mode="multi", format_func=words, key="receipts_stages",
            on_change=_filter, args=("stages",), label_visibility="collapsed", width="content",
        )  # fmt: skip
        st.button("Verify all", on_click=_verify, args=(table, inspected), key="receipts_verify")
        _downloads(table, inspected)
    return matching(table, st.session_state.receipts_stages, kept["find"])


def receipt_outcome(inspected: Inspected) -> None:
    """What the last check of this very table found."""
    key, outcome, at = st.session_state.get("receipts_outcome", ("", None, ""))
    if key == inspected.key:
        _tell(outcome, at)


def receipt_list(found: tuple[ReceiptRow, ...], total: int, inspected: Inspected) -> None:
    """The table; choosing a row selects its first event, on every page."""
    if not found:
        notice(f"None of the {count(total, 'receipt')} matches. Clear the search or the stages above.")
        return
    chosen = holder(found, inspected.selected)
    st.session_state.receipts_list = {"selection": {"rows": [found.index(chosen)] if chosen else []}}
    st.dataframe(
        _frame(found, inspected),
        key="receipts_list",
        on_select=partial(_choose, found, inspected.selected),
        selection_mode="single-row",
        hide_index=True,
        height=min(560, 28 * len(found) + 37),
        row_height=28,
        column_config={
            "#": st.column_config.NumberColumn(width=52, format="#%d"),
            "turn": st.column_config.NumberColumn(width=46),
            "tokens": st.column_config.NumberColumn(width=62),
            "stage": st.column_config.TextColumn(width=88),
            "reason": st.column_config.TextColumn(width=204),
            "what": st.column_config.TextColumn(width=104),
            "sha256": st.column_config.TextColumn(width=94),
        },
    )
    st.html(f"<small>{count(len(found), 'receipt')} of {total:,}. Select a row to see the original.</small>")


def recover_selected(inspected: Inspected) -> None:
    """Have the detail panel begin with the recovered original when another event is selected."""
    now = inspected.key, inspected.selected
    if st.session_state.get("receipts_recovered") != now:
        st.session_state.receipts_recovered = now
        recover(*now)


def prove_it(table: tuple[ReceiptRow, ...], inspected: Inspected) -> None:
    """How to check the selected receipt, and all of them, without this program."""
    chosen = holder(table, inspected.selected)
    if chosen is None or inspected.selected is None:
        return
    data = original(inspected.selected, inspected.result)
    sha = chosen.sha256[chosen.event_ids.index(inspected.selected)]
    with st.expander("Prove it", expanded=False):
        st.html(
            "<small>The digest is the sha256 of the original's canonical JSON: keys sorted, no spaces, UTF-8.</small>"
        )
        st.code(sha, language=None, wrap_lines=True)
        st.download_button(
            "This original (canonical JSON)", data, "original.json", "application/json", on_click="ignore"
        )
        st.html("<small>Its bytes have that digest:</small>")
        st.code("sha256sum original.json", language=None)
        st.html("<small>All receipts at once, from the JSONL file, with nothing but Python:</small>")
        st.code(ONE_LINER, language=None, wrap_lines=True)
        st.html(f"<small>The canonical JSON, {count(len(data), 'byte')}:</small>")
        st.code(shown(data.decode("utf-8", "surrogatepass")[:CHARS]), language=None, wrap_lines=True, height=220)


@st.cache_resource(max_entries=16, show_spinner=False)
def _table(key: str, _inspected: Inspected) -> tuple[ReceiptRow, ...]:
    window = _inspected.window
    return receipts(_inspected.rows, _inspected.trace.events[window.start : window.stop])


def _downloads(table: tuple[ReceiptRow, ...], inspected: Inspected) -> None:
    st.download_button(
        "Receipts with originals", lambda: jsonl(table, inspected.result), "receipts.jsonl", "application/x-ndjson",
        on_click="ignore",
    )  # fmt: skip
    prompt = inspected.result["prompt"]
    st.download_button(
        "Compacted prompt",
        lambda: prompt.encode("utf-8", "surrogatepass"),
        "prompt.txt",
        "text/plain",
        on_click="ignore",
    )


def _frame(found: tuple[ReceiptRow, ...], inspected: Inspected) -> pd.DataFrame | Styler:
    key, outcome, _ = st.session_state.get("receipts_outcome", ("", None, ""))
    columns: dict[str, list[Any]] = {
        "#": [row.number for row in found],
        "turn": [row.turn for row in found],
        "tokens": [row.tokens for row in found],
        "stage": [words(row.stage) + (", clipped" if row.clipped and row.stage != "clip" else "") for row in found],
        "reason": [shown(row.reason) for row in found],
        "what": [shown(" ".join((row.what, row.path)).strip()) for row in found],
        "sha256": [row.short for row in found],
    }
    if key == inspected.key:
        columns["sha256"] = [f"{'✕' if row.id in outcome.faults else '✓'} {row.short}" for row in found]
    made = pd.DataFrame(columns)
    return made.style.format(_signed, subset=["tokens"]) if len(found) <= STYLED else made


def _signed(value: object) -> str:
    return signed(int(str(value)))


def _tell(outcome: Verification, at: str) -> None:
    took = max(1, round(1_000 * outcome.seconds))
    told = f"{outcome.verified:,} of {count(outcome.total, 'receipt')} verified in {took:,} ms, at {at}"
    if outcome.faults:
        named = list(outcome.faults.items())[:SHOWN_FAULTS]
        notice(
            f"{told}. {count(len(outcome.faults), 'receipt')} failed: the originals below are not what was read.",
            "error",
        )
        st.dataframe(
            pd.DataFrame([[shown(a), shown(b)] for a, b in named], columns=["receipt", "fault"]), hide_index=True
        )
    else:
        notice(f"✓ {told}: every original was recovered and has the digest that it had when it was read.")
    if outcome.unreachable:
        notice(
            f"No stub in the prompt leads to {count(len(outcome.unreachable), 'pruned event')}: an agent cannot ask "
            "for what it does not see. Choose stubs other than “none” in the sidebar.",
            "warning",
        )


def _verify(table: tuple[ReceiptRow, ...], inspected: Inspected) -> None:
    outcome = verify(table, inspected.result)
    st.session_state.receipts_outcome = inspected.key, outcome, datetime.now().strftime("%H:%M:%S")


def _choose(found: tuple[ReceiptRow, ...], selected: str | None) -> None:
    rows = st.session_state.receipts_list["selection"]["rows"]
    chosen = found[rows[0]].event_ids if rows and rows[0] < len(found) else ("",)
    if selected not in chosen:
        select(chosen[0])


def _filter(name: str) -> None:
    st.session_state.receipts_filter[name] = st.session_state[f"receipts_{name}"]
