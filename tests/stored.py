"""Receipts for tests of the store, and changing its file behind its back."""

from __future__ import annotations

import os
import sqlite3
from dataclasses import replace
from typing import Any

from context_gc import Receipt
from context_gc.canonical import digest
from context_gc.receipt_store import ReceiptStore


def receipt(name: str, *originals: Any, **more: Any) -> Receipt:
    """A receipt that states the sha256 of these originals."""
    shas = tuple(map(digest, originals))
    return replace(Receipt(name, "overrides", "superseded by z", ("z",), (name,), 7, shas), **more)


def put(store: ReceiptStore, name: str, *originals: Any, run_id: str = "") -> None:
    """Store such a receipt with its originals."""
    store.put(receipt(name, *originals), originals, run_id)


def edit(path: str | os.PathLike[str], statement: str, *arguments: Any) -> None:
    """Change a closed file."""
    database = sqlite3.connect(path)
    with database:
        database.execute(statement, arguments)
    database.close()
