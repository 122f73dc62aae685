"""Session receipts: the store of a run directory: check of everything, search, and the originals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import partial
from itertools import islice
from pathlib import Path

import streamlit as st

from ..errors import ContextGCError
from ..receipt_store import Damaged, ReceiptStore
from ..saved import RECEIPTS
from .detail import code, indented
from .diff_data import shown
from .notice import notice
from .say import count, tokens
from .session_dirs import own_file, stamp
from .session_html import sentence
from .session_runs import told
from .session_table import HEAD, MOST, ROW, frame, table
from .session_view import Inspection, put, state

LISTED = 50  #: receipts in the list
FAULTS = 50  #: damaged rows that are named

_ALL = "All runs"


@dataclass(frozen=True, slots=True)
class Line:
    """A receipt in the list, with what the search found in it, or its reason."""

    run_id: str
    receipt_id: str
    place: int
    stage: str
    text: str


def receipts(seen: Inspection) -> None:
    """Draw the section. What is damaged is said, the rest is shown all the same."""
    try:
        path = own_file(seen.path, RECEIPTS)
        for beside in ("-wal", "-shm"):
            if (seen.path / (RECEIPTS + beside)).is_symlink():
                own_file(seen.path, RECEIPTS + beside)
        with ReceiptStore.open_read_only(path) as store:
            _store(seen, store)
    except ContextGCError as error:
        if error.what != "there is no such file":
            notice(told(error, seen.path), "error")
            return
        notice("This run directory holds no receipts: ContextGC.save and ContextCompactor(store=…) keep them.")


def _store(seen: Inspection, store: ReceiptStore) -> None:
    runs = len(store.run_ids())
    whole = f"{count(len(store), 'receipt')} of {count(runs, 'run')} in {RECEIPTS}."
    st.html(sentence((whole,), " Each brings its originals back; “verify” compares every byte with its sha256."))
    now = state()
    st.session_state.sessions_find = now.get("find", "")
    st.session_state.sessions_where = now.get("where") or "This run"
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.text_input(
            "Search", placeholder="Search the originals: words in them", key="sessions_find", width=320,
            on_change=lambda: put("find", st.session_state.sessions_find), label_visibility="collapsed",
        )  # fmt: skip
        st.segmented_control(
            "Where", ["This run", _ALL], key="sessions_where", label_visibility="collapsed", required=True,
            on_change=lambda: put("where", st.session_state.sessions_where),
        )  # fmt: skip
        st.button("Verify all", on_click=_verify, args=(seen.path,), key="sessions_verify")
    _outcome(seen.path, len(store))
    run_id = None if st.session_state.sessions_where == _ALL else seen.run.run_id
    words = str(now.get("find", "")).strip()
    found, fault = _lines(store, words, run_id)
    if fault:
        notice(told(fault, seen.path), "error")
    _list(seen, store, found, words, run_id)


def _lines(store: ReceiptStore, words: str, run_id: str | None) -> tuple[list[Line], ContextGCError | None]:
    """What the words find, or the first receipts; and the fault that ended it, if one did."""
    lines: list[Line] = []
    try:
        if words:
            for each in store.search(words, limit=LISTED, run_id=run_id):
                lines.append(Line(each.run_id, each.receipt_id, each.place, "", each.snippet))
            return lines, None
        runs = [run_id] if run_id is not None else store.run_ids()
        for run in runs:
            for receipt in islice(store.receipts(run), LISTED - len(lines)):
                lines.append(Line(run, receipt.id, 0, str(receipt.stage), str(receipt.reason)))
    except ContextGCError as error:
        return lines, error
    return lines, None


def _list(seen: Inspection, store: ReceiptStore, lines: Sequence[Line], words: str, run_id: str | None) -> None:
    if not lines:
        where = "this run" if run_id is not None else "any run"
        todo = "Try other words, or look in all runs." if words else "Nothing was cut."
        notice(f"{'Nothing was found' if words else 'There are no receipts'} in {where}. {todo}")
        return
    with st.container(key="sessions_split"):
        left, right = st.columns([3, 2], gap="medium")
    chosen = next((line for line in lines if line == state().get("found")), lines[0])
    columns = {
        **({"run": [shown(each.run_id) for each in lines]} if run_id is None else {}),
        "receipt": [shown(each.receipt_id) for each in lines],
        **({"stage": [shown(each.stage) for each in lines]} if not words else {}),
        "found" if words else "reason": [shown(each.text) for each in lines],
    }
    widths = {"run": 100, "receipt": 130, "stage": 110}
    with left:
        table("found", columns, list(lines), chosen, partial(put, "found"), widths, "Receipts", most=12)
        most = f"The first {count(len(lines), 'receipt')}: words find any." if len(lines) == LISTED else ""
        st.html(f"<small>{most or count(len(lines), 'receipt') + '.'}</small>")
    with right:
        _receipt(seen, store, chosen)


def _receipt(seen: Inspection, store: ReceiptStore, line: Line) -> None:
    try:
        receipt = store.get(line.receipt_id, line.run_id)
        originals = store.recover(line.receipt_id, line.run_id)
    except ContextGCError as error:
        notice(told(error, seen.path), "error")
        return
    st.html(sentence((shown(receipt.id),), f" · {shown(str(receipt.stage))}: {shown(str(receipt.reason))}"))
    what = f"{count(len(originals), 'original')}, {tokens(int(receipt.tokens))} tokens, recovered: the sha256 matches."
    start = f" Shown from number {line.place + 1} on, which the words are in." if line.place else ""
    st.html(f"<small>{what}{start}</small>")
    first, second = st.tabs(["Original", "Receipt"])
    with first:
        texts = [each if isinstance(each, str) else indented(each) for each in originals[line.place :]]
        code("\n\n".join(texts))
    with second:
        code(indented(asdict(receipt)))


def _outcome(path: Path, total: int) -> None:
    key, damaged, at = st.session_state.get("sessions_outcome", ("", (), ""))
    if key != _version(path):
        return
    if not damaged:
        notice(f"✓ {count(total, 'receipt')} verified at {at}: all intact.")
        return
    notice(f"{count(len(damaged), 'row')} damaged, found at {at}. What is not named is intact.", "error")
    named = damaged[:FAULTS]
    owners = [", ".join("/".join(filter(None, each)) for each in row.receipts) or "–" for row in named]
    columns = {
        "receipts": list(map(shown, owners)),
        "what is wrong": [shown(row.what) for row in named],
        "sha256 of the original": [shown(row.sha256) or "–" for row in named],
    }
    height = HEAD + ROW * min(MOST, len(named))
    st.dataframe(frame(columns), hide_index=True, row_height=ROW, height=height, alt="Damaged rows")
    if len(damaged) > FAULTS:
        st.html(f"<small>The first {FAULTS} of {len(damaged):,}: context-gc receipts verify names all.</small>")


def _verify(path: Path) -> None:
    damaged: tuple[Damaged, ...]
    try:
        with ReceiptStore.open_read_only(own_file(path, RECEIPTS)) as store:
            damaged = tuple(store.verify())
    except ContextGCError as error:
        damaged = (Damaged("", (), told(error, path)),)
    st.session_state.sessions_outcome = _version(path), damaged, datetime.now().strftime("%H:%M:%S")


def _version(path: Path) -> str:
    return f"{path} {stamp(path, RECEIPTS)} {stamp(path, RECEIPTS + '-wal')}"
