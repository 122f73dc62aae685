"""Answers: what each tool tells of a shelf, as text of a bounded size."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from itertools import islice
from typing import Any

from ..canonical import readable
from ..compactor import ContextGC
from ..errors import ContextGCError, StoreError, UnknownReceipt
from ..events import Event, label
from ..receipt_store import ReceiptStore
from ..receipts import Receipt
from ..render import line
from .finding import originals, receipt_in, saved_holder
from .pages import bounded, page_of, shortened, some
from .shelf import LOADED, Run, Shelf

A_PAGE = 50  #: receipts of a page of `listed`
LONGEST = 200  #: characters of an id that are shown


def recover(shelf: Shelf, receipt_id: str, page: int, run: str, form: str) -> str:
    """The originals that a receipt or a stub stands for, one page of them."""
    if form not in ("text", "json"):
        raise ContextGCError("recover_receipt", f"form is {form!r}", "give text or json")
    holders = [each for each in shelf.runs(run) if receipt_in(shelf, each, receipt_id) is not None]
    holder = holders[0] if holders else saved_holder(shelf, receipt_id, run)
    events = originals(shelf, holder, receipt_id)
    parts = [(_name(event), _shown(event, form)) for event in events]
    text, pages, names = page_of(parts, page, f"receipt {receipt_id!r}")
    size = sum(len(part) for _, part in parts)
    head = [f"receipt {receipt_id} of run {holder.name or '-'}: {some(len(parts), 'event')}, {size:,} characters"]
    head[0] += f", page {page} of {pages}"
    found = receipt_in(shelf, holder, receipt_id)
    if found is not None:
        head.append(f"cut by {found.stage}: {shortened(found.reason, 300)}")
    if len(holders) > 1:
        others = ", ".join(each.name or "-" for each in holders[1:5])
        head.append(f"the newest of {len(holders)} runs that have this id; give run for another: {others}")
    try:
        shelf.note(holder, names)
    except StoreError as error:
        head.append(f"not noted, so it may be pruned again: {error.what}")
    more = [f"--- more: page {page + 1} of {pages}"] if page < pages else []
    return "\n".join([*head, "---", text, *more])


def _shown(event: Any, form: str) -> str:
    if form == "text" and type(event) is dict and type(event.get("type")) is str:
        try:
            return line(event)
        except (AttributeError, KeyError, TypeError, ValueError):  # an original that is no event
            pass
    return readable(event)


def _name(event: Any) -> str:
    return str(event.get("id", "")) if type(event) is dict else ""


def search(shelf: Shelf, words: str, limit: int, run: str) -> str:
    """Originals that hold every word, those of the newest runs first."""
    told: list[str] = []
    for each in shelf.runs(run):
        store = shelf.store(each)
        if store is None:
            continue
        with closing(store):
            for found in store.search(words, limit - len(told), run_id=each.run_id):
                told.append(f"{shortened(found.receipt_id, LONGEST)} | run {each.name or '-'} | {found.snippet}")
        if len(told) >= limit:
            break
    if not told:
        return f"nothing that was cut holds every word of {words!r}"
    more = [f"--- the first {limit}; there may be more: use more words, or a higher limit"] * (len(told) >= limit)
    return "\n".join([f"{some(len(told), 'original')} found; recover_receipt gives one in full", *told, *more])


def listed(shelf: Shelf, page: int, run: str) -> str:
    """The receipts, those of the newest runs first, one page of them."""
    skip, total = (page - 1) * A_PAGE, 0
    told: list[str] = []
    for each in shelf.runs(run):
        store = shelf.store(each)
        if store is None:
            continue
        with closing(store):
            for receipt in islice(store.receipts(each.run_id), max(0, skip - total), None):
                if len(told) == A_PAGE:
                    break
                told.append(_line(receipt, each))
            total += _count(store, each)
    pages = max(1, -(-total // A_PAGE))
    if page > pages:
        todo = f"give a page from 1 to {pages:,}"
        raise ContextGCError("list_receipts", f"there is no page {page:,}: it has {some(pages, 'page')}", todo)
    more = [f"--- more: page {page + 1} of {pages}"] if page < pages else []
    return "\n".join([f"{some(total, 'receipt')}, page {page} of {pages}", *told, *more])


def _count(store: ReceiptStore, run: Run) -> int:
    return len(store) if store.run_ids() == [run.run_id] else sum(1 for _ in store.receipts(run.run_id))


def _line(receipt: Receipt, run: Run) -> str:
    size = f"{some(len(receipt.event_ids), 'event')}, {receipt.tokens:,} tokens"
    name = shortened(receipt.id, LONGEST)
    return f"{name} | run {run.name or '-'} | {receipt.stage} | {size} | {shortened(receipt.reason, 120)}"


def explained(shelf: Shelf, event_id: str, run: str) -> str:
    """What became of an event and why, in each run that has it, the newest first."""
    told: list[str] = []
    for place, each in enumerate(shelf.runs(run)):
        receipt = receipt_in(shelf, each, event_id)
        client = shelf.client(each) if receipt is not None or place < LOADED else None
        event = None if client is None else _event(client, event_id)
        lines = [] if client is None or event is None else [bounded(str(client.explain(event["id"])), 4_000)]
        if receipt is not None:
            because = ", ".join(shortened(name, 80) for name in receipt.because[:5])
            why = f"{receipt.stage}: {shortened(receipt.reason, 300)}" + (f" (because of {because})" if because else "")
            lines.append(f"Receipt: {why}; recover_receipt gives {receipt.tokens:,} tokens")
        if lines:
            told.append("\n".join([f"Run: {each.name or '-'}", *lines]))
        if len(told) == 3:
            break
    if not told:
        what = f"no run has an event with this id, of {some(len(shelf.runs(run)), 'run')}"
        raise UnknownReceipt(f"event {event_id!r}", what, "list_receipts names those that were cut")
    return "\n\n".join(told)


def _event(client: ContextGC, event_id: str) -> Event | None:
    events: Sequence[Event] = client.look().events
    return next((event for event in events if event_id in (event["id"], label(event["id"]))), None)
