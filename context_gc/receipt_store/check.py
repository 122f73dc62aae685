"""Check a receipt store: every row whose bytes are not those that were put."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..errors import StoreError
from .rows import COLUMNS, Rows, Stored, in_order, receipt_in, shown

_OWNERS = """SELECT DISTINCT r.run_id, r.receipt_id FROM originals o JOIN receipts r ON r.id = o.receipt
    WHERE o.payload = ? ORDER BY r.id"""
_LINKS = """SELECT o.place, p.sha256 FROM originals o LEFT JOIN payloads p ON p.id = o.payload
    WHERE o.receipt = ? ORDER BY o.place"""


@dataclass(frozen=True, slots=True)
class Damaged:
    """Something in a store that is not what was put there."""

    sha256: str  #: of the original that it is about; "" when it is about no single one
    receipts: tuple[tuple[str, str], ...]  #: (run id, receipt id) of each receipt that it concerns
    what: str


def check(rows: Rows, where: str) -> Iterator[Damaged]:
    """What `ReceiptStore.verify` gives; `rows` reads from the store."""
    for part in (_file, _payloads, _receipts):
        try:
            yield from part(rows, where)
        except StoreError as error:
            yield Damaged("", (), f"the file: {error.what}")


def _file(rows: Rows, where: str) -> Iterator[Damaged]:
    for (line,) in rows("PRAGMA integrity_check"):
        if line != "ok":
            yield Damaged("", (), f"the file: {line}")


def _payloads(rows: Rows, where: str) -> Iterator[Damaged]:
    for number, sha256 in in_order(rows, where, "SELECT id, sha256 FROM payloads WHERE id > ?"):
        try:
            ((text,),) = rows("SELECT text FROM payloads WHERE id = ?", number)
        except (StoreError, ValueError) as error:
            what = f"the original cannot be read: {getattr(error, 'what', 'its row is gone')}"
        else:
            actual = hashlib.sha256(text).hexdigest() if type(text) is bytes else "none: it is no longer bytes"
            what = "" if actual == sha256 else f"the original does not match: its sha256 is {actual}"
        if what:
            owners = tuple((shown(run), shown(name)) for run, name in rows(_OWNERS, number))
            yield Damaged(shown(sha256), owners, what)


def _receipts(rows: Rows, where: str) -> Iterator[Damaged]:
    for row in in_order(rows, where, COLUMNS + "id > ?"):
        stored = Stored(*row)
        owner = ((shown(stored.run), shown(stored.name)),)
        try:
            stated = receipt_in(stored, where).sha256
        except StoreError as error:
            yield Damaged("", owner, error.what)
            continue
        links: dict[int, Any] = dict(rows(_LINKS, stored.number))
        for place, sha256 in enumerate(stated):
            linked = links.pop(place, None)
            if linked is None:
                yield Damaged(sha256, owner, f"original {place} of the receipt is missing")
            elif linked != sha256:
                yield Damaged(sha256, owner, f"original {place} of the receipt is another: {shown(linked)}")
        if links:
            yield Damaged("", owner, "the receipt has more originals than it states")
