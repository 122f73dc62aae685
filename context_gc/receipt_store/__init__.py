"""ReceiptStore: receipts with the originals that they stand for, in memory or in one SQLite file."""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from threading import RLock
from types import TracebackType
from typing import Any, TypeVar

from ..errors import StoreError, UnknownReceipt
from ..parse import parse
from ..receipts import Receipt
from .check import Damaged, check
from .file import add_words, connect, connect_read_only, state, transaction
from .rows import COLUMNS, Row, Stored, encoded, in_order, line_of, receipt_in, row_of, shown
from .search import Found, search

__all__ = ["Damaged", "Found", "ReceiptStore"]

T = TypeVar("T")

_TRIES = 200  # of a reading while others write

_TEXTS = """SELECT o.place, p.text FROM originals o LEFT JOIN payloads p ON p.id = o.payload
    WHERE o.receipt = ? ORDER BY o.place"""


class ReceiptStore:
    """Receipts by run and id, each with its originals, stored once by the sha256 of their canonical JSON.

    In a file, a `put` that has returned stays through a kill or a power loss. Threads may share a store; any
    number of processes may use one file, each with a store that it opened itself. Blind spots: network file
    systems, where SQLite's locks do not work; the keys of an original come back in canonical order.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        """Open a file, made when it is not there (for its owner alone), or a store in memory.

        Raises:
            StoreError: it cannot be opened or made, is no receipt store, or one of a newer version.
        """
        self._begin(path, False)

    @classmethod
    def open_read_only(cls, path: str | os.PathLike[str]) -> ReceiptStore:
        """Open a file to look at it: nothing is made or written. Raises StoreError as the constructor does."""
        store = cls.__new__(cls)
        store._begin(path, True)
        return store

    def _begin(self, path: str | os.PathLike[str] | None, read_only: bool) -> None:
        self.name = "the receipt store" if path is None else os.fsdecode(path)  #: what messages call it
        self.folder = None if path is None else os.path.dirname(os.path.abspath(self.name))  #: that the file is in
        self._read_only, self._shared = read_only, path is not None and not read_only
        self._lock, self._process, self._closed = RLock(), os.getpid(), False
        if read_only:  # every reading opens the file anew, so as to see what others have written
            self._indexed = self._settled(self._look)
        else:
            self._database, self._indexed = connect(path, self.name)

    def _look(self, quiet: bool) -> bool:
        self._database, indexed = connect_read_only(self.name, self.name, quiet)
        self._database.close()
        return indexed

    def close(self) -> None:
        """Close the file; a store in memory is gone. Closing twice is as closing once."""
        with self._lock:
            self._closed = True
            self._database.close()

    def __enter__(self) -> ReceiptStore:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # writing

    def put(self, receipt: Receipt, originals: Sequence[Any], run_id: str = "") -> None:
        """Store a receipt with its originals, in the order of `receipt.sha256`. Twice the same is as once.

        A receipt that is there already takes the new stage, reason and tokens, and keeps its place.

        Raises:
            StoreError: an original is not the one whose sha256 the receipt states, other originals are
                stored under this id in this run, or the file cannot be written. Nothing is stored then.
        """
        self.put_many([(receipt, originals)], run_id)

    def put_many(self, pairs: Iterable[tuple[Receipt, Sequence[Any]]], run_id: str = "") -> None:
        """Store several receipts in one transaction: all or none. Raises StoreError as `put` does."""
        rows = [row_of(receipt, originals, run_id, self.name) for receipt, originals in pairs]
        if self._read_only:
            raise StoreError(self.name, "the store was opened for reading only", "open it with ReceiptStore(path)")
        with self._connection("written") as database, transaction(database):
            for row in rows:
                self._store(database, row)

    def _store(self, database: sqlite3.Connection, row: Row) -> None:
        payloads = [self._payload(database, *each) for each in zip(row.sha256, row.texts, strict=True)]
        find = "SELECT id, sha256 FROM receipts WHERE run_id = ? AND receipt_id = ?"
        known = database.execute(find, (row.run, row.name)).fetchone()
        if known is None:
            add = "INSERT INTO receipts(run_id, receipt_id, fields, sha256) VALUES (?, ?, ?, ?)"
            number = database.execute(add, (row.run, row.name, row.fields, row.seal)).lastrowid
            links = [(number, place, payload) for place, payload in enumerate(payloads)]
            database.executemany("INSERT INTO originals VALUES (?, ?, ?)", links)
            return
        stored = database.execute("SELECT payload FROM originals WHERE receipt = ? ORDER BY place", known[:1])
        if [payload for (payload,) in stored] != payloads:
            what = f"receipt {shown(row.name)!r} of run {shown(row.run)!r} stands for other originals already"
            raise StoreError(self.name, what, "use another run id")
        if known[1] != row.seal:
            change = "UPDATE receipts SET fields = ?, sha256 = ? WHERE id = ?"
            database.execute(change, (row.fields, row.seal, known[0]))

    def _payload(self, database: sqlite3.Connection, sha256: str, text: bytes) -> int:
        """The number of a payload: stored and indexed when it is new, put right when its bytes are damaged."""
        find = "SELECT id, text IS ? FROM payloads WHERE sha256 = ?"
        known = database.execute(find, (text, sha256)).fetchone()
        if known is None:
            add = "INSERT INTO payloads(sha256, text) VALUES (?, ?)"
            number = int(database.execute(add, (sha256, text)).lastrowid or 0)
            if self._indexed:
                add_words(database, number, text)
            return number
        if not known[1]:
            database.execute("UPDATE payloads SET text = ? WHERE id = ?", (text, known[0]))
        return int(known[0])

    # reading

    def get(self, receipt_id: str, run_id: str = "") -> Receipt:
        """The receipt with this id. Raises UnknownReceipt, or StoreError when its row is damaged."""
        return receipt_in(self._row(receipt_id, run_id), self.name)

    def recover(self, receipt_id: str, run_id: str = "") -> list[Any]:
        """The originals of a receipt, each proven by its sha256.

        Raises:
            UnknownReceipt: a KeyError; nothing has this id in this run.
            StoreError: the bytes of an original do not match, or it is missing.
        """
        return [parse(text) for text in self._texts(self._row(receipt_id, run_id))]

    def receipts(self, run_id: str | None = None) -> Iterator[Receipt]:
        """The receipts of a run, or of all, in the order of storing. Raises StoreError at a damaged row."""
        return (receipt_in(row, self.name) for row in self._all(run_id))

    def run_ids(self) -> list[str]:
        """The runs that have receipts, in the order of their first ones."""
        return [shown(run) for (run,) in self._rows("SELECT run_id FROM receipts GROUP BY run_id ORDER BY min(id)")]

    def __len__(self) -> int:
        """How many receipts there are in all runs."""
        return int(self._rows("SELECT count(*) FROM receipts")[0][0])

    def __bool__(self) -> bool:
        """True, also while the store is empty."""
        return True

    def search(self, query: str, limit: int = 20, offset: int = 0, run_id: str | None = None) -> list[Found]:
        """The originals that hold every word of a query, the best matches first.

        Words are plain text, never syntax; they match without case where a word begins with them. A word
        without letters, or of a script that puts no spaces between words, matches anywhere, which reads the
        whole store; where SQLite has no FTS5 every word does. Blind spot: words beyond the 32nd.
        """
        return search(self._rows, self.name, self._indexed, query, limit, offset, run_id)

    def export(self, run_id: str | None = None) -> Iterator[str]:
        """Each receipt as a line of strict JSON: its fields, `run_id` and the `originals`.

        An original that JSON has no words for (NaN, a huge number) is its canonical text as a string, and
        `as_text` lists its place. Raises StoreError at a damaged row.
        """
        return (line_of(row, self._texts(row)) for row in self._all(run_id))

    def verify(self) -> list[Damaged]:
        """Everything in the store whose bytes do not match; empty when all is as it was put.

        Blind spot: the index of words, which holds no original.
        """
        return list(check(self._rows, self.name))

    def _row(self, receipt_id: str, run_id: str) -> Stored:
        found = self._rows(COLUMNS + "run_id = ? AND receipt_id = ?", encoded(run_id), encoded(receipt_id))
        if not found:
            what = f"there is none with this id in run {run_id!r}" if run_id else "there is none with this id"
            raise UnknownReceipt(f"receipt {receipt_id!r}", what, f"{self.name} has {len(self):,} receipts")
        return Stored(*found[0])

    def _all(self, run_id: str | None) -> Iterator[Stored]:
        """The rows of a run, or of all."""
        run = None if run_id is None else encoded(run_id)
        query = COLUMNS + "id > ? AND (? IS NULL OR run_id = ?)"
        return map(Stored._make, in_order(self._rows, self.name, query, run, run))

    def _texts(self, row: Stored) -> list[str]:
        """The canonical JSON of each original of a receipt, proven by the sha256 that the receipt states."""
        stated = receipt_in(row, self.name).sha256
        stored = dict(self._rows(_TEXTS, row.number))
        for place, sha256 in enumerate(stated):
            text = stored.get(place)
            if type(text) is not bytes or hashlib.sha256(text).hexdigest() != sha256:
                fault = "is missing" if text is None else f"does not match its sha256 {sha256}"
                what = f"original {place} of receipt {shown(row.name)!r} of run {shown(row.run)!r} {fault}"
                raise StoreError(self.name, what, "verify() names all that is damaged")
        return [shown(stored[place]) for place in range(len(stated))]

    def _rows(self, query: str, *arguments: Any) -> list[tuple[Any, ...]]:
        def ask(quiet: bool) -> list[tuple[Any, ...]]:
            with self._connection("read", quiet) as database:
                return database.execute(query, arguments).fetchall()

        return self._settled(ask) if self._read_only else ask(False)

    def _settled(self, ask: Callable[[bool], T]) -> T:
        """What `ask` gives, asked again when someone has begun to write meanwhile; told whether nobody writes."""
        for tried in range(_TRIES):
            before = state(self.name)
            try:
                found = ask(before is not None)
            except StoreError:
                if self._closed or (tried > 1 and before == state(self.name)):
                    raise
            else:
                if before is None or before == state(self.name):
                    return found
        raise StoreError(self.name, "the store cannot be read: it is being written all the time", "try again later")

    @contextmanager
    def _connection(self, verb: str, quiet: bool = False) -> Iterator[sqlite3.Connection]:
        """The database, for one thread at a time; what SQLite says becomes a StoreError."""
        if self._shared and self._process != os.getpid():
            raise StoreError(self.name, "the store was opened in another process", "open it again in this one")
        with self._lock:
            if self._closed:
                raise StoreError(self.name, "the store is closed", "open it again")
            database = connect_read_only(self.name, self.name, quiet)[0] if self._read_only else self._database
            try:
                yield database
            except (sqlite3.Error, OverflowError) as error:
                raise StoreError(self.name, f"the store cannot be {verb}: {error}", "see verify()") from None
            finally:
                if self._read_only:
                    database.close()
