"""The SQLite file of a receipt store: its tables, how it is made, opened and recognised."""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock

from ..atomic import sync_folder
from ..errors import StoreError
from .rows import words_of

VERSION = 1  #: of the tables, in the file's user_version
BUSY = 30.0  #: seconds that a process waits for the others before it gives up

_MARK = 0x43474352  # the file's application_id
_TABLES = """
CREATE TABLE payloads(id INTEGER PRIMARY KEY, sha256 TEXT NOT NULL UNIQUE, text BLOB NOT NULL);
CREATE TABLE receipts(id INTEGER PRIMARY KEY, run_id BLOB NOT NULL, receipt_id BLOB NOT NULL,
    fields BLOB NOT NULL, sha256 TEXT NOT NULL, UNIQUE(run_id, receipt_id));
CREATE TABLE originals(receipt INTEGER NOT NULL, place INTEGER NOT NULL, payload INTEGER NOT NULL,
    PRIMARY KEY(receipt, place)) WITHOUT ROWID;
CREATE INDEX originals_by_payload ON originals(payload)"""
_INDEX = (
    "CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(text, content='', tokenize='unicode61 remove_diacritics 2')"
)
_making = Lock()  # closing a file drops SQLite's locks on it in the whole process: nobody may hold one then


def connect(path: str | os.PathLike[str] | None, where: str) -> tuple[sqlite3.Connection, bool]:
    """A connection that reads and writes, and whether there is an index of words. No path: in memory.

    Raises:
        StoreError: the file cannot be opened or made, is no receipt store, or one of a newer version.
    """
    target = ":memory:" if path is None else _uri(path, where, True) + "?mode=rw"
    try:
        database = _open(target)
        try:
            if _is_new(database, where) and path is not None:
                _write_ahead(database)
            database.execute("PRAGMA synchronous = FULL")
            _make_tables(database)
            return database, _make_index(database)
        except BaseException:
            database.close()
            raise
    except sqlite3.Error as error:
        raise StoreError(where, f"cannot be opened as a receipt store: {error}", "name a receipts.db") from None


def connect_read_only(path: str | os.PathLike[str], where: str, quiet: bool) -> tuple[sqlite3.Connection, bool]:
    """A connection that makes no file and writes nothing, and whether there is an index of words.

    `quiet`: there is no log beside it (see `state`), so nobody is writing, and SQLite is told not to make one.
    Raises StoreError as `connect` does.
    """
    uri = _uri(path, where, False)
    try:
        database = _open(uri + ("?mode=ro&immutable=1" if quiet else "?mode=ro"))
        try:
            if _is_new(database, where):
                raise StoreError(where, "the file is empty, it holds no receipts", "name another file")
            return database, _has_index(database)
        except BaseException:
            database.close()
            raise
    except sqlite3.Error as error:
        raise StoreError(where, f"cannot be opened as a receipt store: {error}", "name a receipts.db") from None


def state(path: str | os.PathLike[str]) -> tuple[int, ...] | None:
    """What changes when someone writes into a file that has no log now; None when it has one."""
    name = os.fsdecode(path)
    try:
        if os.stat(name + "-wal").st_size:
            return None
    except (OSError, ValueError):
        pass
    try:
        file, folder = os.stat(name), os.stat(os.path.dirname(os.path.abspath(name)))
    except (OSError, ValueError):
        return ()
    return file.st_ino, file.st_size, file.st_mtime_ns, folder.st_mtime_ns


@contextmanager
def transaction(database: sqlite3.Connection) -> Iterator[None]:
    """All of what the block writes or, when it raises, nothing; others wait until it ends."""
    database.execute("BEGIN IMMEDIATE")
    try:
        yield
        database.execute("COMMIT")
    except BaseException:
        if database.in_transaction:
            database.execute("ROLLBACK")
        raise


def add_words(database: sqlite3.Connection, payload: int, text: bytes) -> None:
    """Put a payload into the index of words."""
    words = words_of(text).encode("utf-8", "replace").decode()
    database.execute("INSERT INTO words(rowid, text) VALUES (?, ?)", (payload, words))


def _open(target: str) -> sqlite3.Connection:
    return sqlite3.connect(target, timeout=BUSY, isolation_level=None, check_same_thread=False, uri=True)


def _uri(path: str | os.PathLike[str], where: str, make: bool) -> str:
    """The file as a URI for SQLite; with `make` it is made when it is not there, for its owner alone."""
    try:
        with _making, suppress(FileExistsError):
            if make:
                os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
                sync_folder(Path(path).absolute().parent)
        mode = os.stat(path).st_mode
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise StoreError(where, f"the receipt store cannot be opened: {reason}", "check the path") from None
    if not stat.S_ISREG(mode):
        kind = "a folder" if stat.S_ISDIR(mode) else "no regular file"
        raise StoreError(where, f"this is {kind}, not a receipt store", "name the file, such as receipts.db in it")
    return Path(os.fsdecode(path)).absolute().as_uri()


def _is_new(database: sqlite3.Connection, where: str) -> bool:
    """Whether there is nothing in the file yet. Raises StoreError when it is another's, or newer."""
    database.execute("BEGIN")  # one look: another process may be making the tables now
    try:
        (tables,) = database.execute("SELECT count(*) FROM sqlite_master").fetchone()
        (mark,) = database.execute("PRAGMA application_id").fetchone()
        (version,) = database.execute("PRAGMA user_version").fetchone()
    finally:
        if database.in_transaction:
            database.execute("COMMIT")
    if mark != _MARK and (mark or version or tables):
        raise StoreError(where, "this is a SQLite file, but no receipt store", "name another file")
    if version > VERSION:
        raise StoreError(where, f"its version {version} is newer than {VERSION}", "update context-gc")
    return not tables


def _write_ahead(database: sqlite3.Connection) -> None:
    """Switch a new file to a write-ahead log; SQLite does not wait for others here by itself."""
    deadline = time.monotonic() + BUSY
    while True:
        try:
            database.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.005)


def _make_tables(database: sqlite3.Connection) -> None:
    if database.execute("PRAGMA user_version").fetchone() == (VERSION,):
        return
    with transaction(database):
        if database.execute("PRAGMA user_version").fetchone() == (0,):
            for statement in _TABLES.split(";"):
                database.execute(statement)
            database.execute(f"PRAGMA application_id = {_MARK}")
            database.execute(f"PRAGMA user_version = {VERSION}")


def _make_index(database: sqlite3.Connection) -> bool:
    """Make the index, and add what was stored by a SQLite without FTS5; False where this is such a one."""
    count = "SELECT (SELECT count(*) FROM payloads) - (SELECT count(*) FROM words_docsize)"
    if _has_index(database) and database.execute(count).fetchone() == (0,):
        return True
    missing = "SELECT id FROM payloads WHERE id NOT IN (SELECT id FROM words_docsize)"
    try:
        with transaction(database):
            database.execute(_INDEX)
            for (payload,) in database.execute(missing).fetchall():
                (text,) = database.execute("SELECT text FROM payloads WHERE id = ?", (payload,)).fetchone()
                add_words(database, payload, text)
    except sqlite3.OperationalError as error:
        if "no such module" not in str(error):
            raise
        return False
    return True


def _has_index(database: sqlite3.Connection) -> bool:
    try:
        database.execute("SELECT rowid FROM words WHERE words MATCH 'x' LIMIT 1").fetchone()
    except sqlite3.OperationalError as error:
        if "no such" not in str(error):
            raise
        return False
    return True
