"""Receipt view: the sentence, the table, the check of everything, and how to check it by hand."""

from __future__ import annotations

from datetime import datetime
from functools import partial

import pandas as pd
import streamlit as st

from .diff_data import shown
from .frame import Inspected, select
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
from .say import count, notice, share, signed, words

CHARS = 6_000  #: of a canonical original that are drawn
SHOWN_FAULTS = 20


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
    told = [f"{signed(tokens)} {words(stage)}" for stage, _, tokens in by_stage(table)]
    whole = inspected.result["tokens_before"]
    st.html(
        f"<p><b>{count(len(table), 'receipt')}</b> {'stands' if len(table) == 1 else 'stand'} for "
        f"<b>{count(events, 'pruned event')}</b>: <b>{signed(change)} tokens</b>, {share(abs(change), whole)} of the "
        f"full history ({', '.join(told)}). Each one brings its originals back, byte for byte.</p>"
    )


def receipt_actions(table: tuple[ReceiptRow, ...], inspected: Inspected) -> None:
    """Verify all, and the downloads; then what the last check of this very table found."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("Verify all", type="primary", on_click=_verify, args=(table, inspected), key="receipts_verify")
        st.download_button(
            "Receipts with originals (JSONL)",
            lambda: jsonl(table, inspected.result),
            "receipts.jsonl",
            "application/x-ndjson",
            on_click="ignore",
        )
        st.download_button(
            "Compacted prompt (text)",
            lambda: inspected.result["prompt"].encode("utf-8", "surrogatepass"),
            "prompt.txt",
            "text/plain",
            on_click="ignore",
        )
    key, outcome, at = st.session_state.get("receipts_outcome", ("", None, ""))
    if key == inspected.key:
        _tell(outcome, at)


def receipt_list(table: tuple[ReceiptRow, ...], inspected: Inspected) -> None:
    """The table with its filters; choosing a row selects its first event, on every page."""
    kept = st.session_state.setdefault("receipts_filter", {"stages": [], "find": ""})
    stages = [stage for stage, _, _ in by_stage(table)]
    st.session_state.receipts_stages = [stage for stage in kept["stages"] if stage in stages]
    st.session_state.receipts_find = kept["find"]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input(
            "Search ids, reasons, tools, paths, digests", key="receipts_find", on_change=_filter, args=("find",)
        )
        st.pills("Stages", stages, selection_mode="multi", format_func=words, key="receipts_stages",
                 on_change=_filter, args=("stages",), width="content")  # fmt: skip
    found = matching(table, st.session_state.receipts_stages, kept["find"])
    if not found:
        notice(f"None of the {count(len(table), 'receipt')} matches. Clear the search or the stages above.")
        return
    chosen = holder(found, inspected.selected)
    st.session_state.receipts_list = {"selection": {"rows": [found.index(chosen)] if chosen else []}}
    st.dataframe(
        _frame(found, inspected),
        key="receipts_list",
        on_select=partial(_choose, found),
        selection_mode="single-row",
        hide_index=True,
        height=max(180, min(620, 37 + 30 * len(found))),
        row_height=30,
        column_config={
            "#": st.column_config.NumberColumn(width=56, format="#%d"),
            "turn": st.column_config.NumberColumn(width=56),
            "tokens": st.column_config.TextColumn(width=72),
            "reason": st.column_config.TextColumn(width="medium"),
            "sha256": st.column_config.TextColumn(width=112),
        },
    )
    st.html(f"<small>{count(len(found), 'receipt')} of {len(table):,}. Select a row to see the original.</small>")


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


def _frame(found: tuple[ReceiptRow, ...], inspected: Inspected) -> pd.DataFrame:
    key, outcome, _ = st.session_state.get("receipts_outcome", ("", None, ""))
    columns = {
        "#": [row.number for row in found],
        "turn": [row.turn for row in found],
        "stage": [words(row.stage) for row in found],
        "reason": [shown(row.reason) for row in found],
        "what": [shown(" ".join((row.what, row.path)).strip()) for row in found],
        "events": [len(row.event_ids) for row in found],
        "tokens": [signed(row.tokens) for row in found],
        "sha256": [row.short for row in found],
    }
    if key == inspected.key:
        columns["checked"] = ["✕ fault" if row.id in outcome.faults else "✓" for row in found]
    return pd.DataFrame(columns)


def _tell(outcome: Verification, at: str) -> None:
    told = f"{outcome.verified:,} of {count(outcome.total, 'receipt')} verified in {outcome.seconds:.2f} s, at {at}"
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
            f"No stub in the prompt leads to {count(len(outcome.unreachable), 'pruned event')}: an agent cannot ask for "
            "what it does not see. Choose stubs other than “none” in the sidebar.",
            "warning",
        )


def _verify(table: tuple[ReceiptRow, ...], inspected: Inspected) -> None:
    outcome = verify(table, inspected.result)
    st.session_state.receipts_outcome = inspected.key, outcome, datetime.now().strftime("%H:%M:%S")


def _choose(found: tuple[ReceiptRow, ...]) -> None:
    rows = st.session_state.receipts_list["selection"]["rows"]
    select(found[rows[0]].event_ids[0] if rows and rows[0] < len(found) else "")


def _filter(name: str) -> None:
    st.session_state.receipts_filter[name] = st.session_state[f"receipts_{name}"]
