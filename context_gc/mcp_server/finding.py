"""Finding: a receipt and its originals, among the receipts files and the saved histories of a shelf."""

from __future__ import annotations

from contextlib import closing
from typing import Any

from ..errors import NotPruned, UnknownReceipt
from ..events import label
from ..receipt_store import ReceiptStore
from ..receipts import Receipt
from .pages import some
from .shelf import LOADED, Run, Shelf


def originals(shelf: Shelf, run: Run, receipt_id: str) -> list[Any]:
    """All that a stub of a run stands for, by its saved history; where there is none, the originals of the receipt."""
    client, store = shelf.client(run), shelf.store(run)
    if client is not None:
        try:
            return list(client.expand_receipt(receipt_id))
        except UnknownReceipt:  # it is in the prompt again
            if store is None:
                raise
    if store is None:
        return []
    with closing(store):
        return store.recover(_by_label(store, run, receipt_id) or receipt_id, run.run_id)


def saved_holder(shelf: Shelf, receipt_id: str, run: str) -> Run:
    """The run whose saved history has a receipt that no receipts file has. Raises UnknownReceipt, or NotPruned."""
    runs = shelf.runs(run)
    found: UnknownReceipt | None = None
    for each in runs[:LOADED]:
        client = shelf.client(each)
        try:
            if client is not None and client.expand_receipt(receipt_id):
                return each
        except NotPruned as error:
            found = found or error
        except UnknownReceipt:
            continue
    what = f"there is none with this id in {some(len(runs), 'run')}"
    todo = "stubs show ids; search_receipts finds them by words"
    raise found or UnknownReceipt(f"receipt {receipt_id!r}", what, todo)


def receipt_in(shelf: Shelf, run: Run, receipt_id: str) -> Receipt | None:
    store = shelf.store(run)
    if store is None:
        return None
    with closing(store):
        try:
            return store.get(_by_label(store, run, receipt_id) or receipt_id, run.run_id)
        except UnknownReceipt:
            return None


def _by_label(store: ReceiptStore, run: Run, shown: str) -> str | None:
    """The receipt whose id a stub shows as this label, because the id itself could mislead."""
    if not shown.startswith("id_"):
        return None
    return next((each.id for each in store.receipts(run.run_id) if label(each.id) == shown), None)
