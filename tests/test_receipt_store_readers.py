"""A receipt store that is looked at while another process writes: every look sees a whole store, never a torn one."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from stored import put

from context_gc.receipt_store import ReceiptStore

ROOT = Path(__file__).parents[1]
FINDS_US = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "tests")))}

WRITER = """
import sys
from stored import put
from context_gc.receipt_store import ReceiptStore

for number in range(150):
    with ReceiptStore(sys.argv[1]) as store:
        put(store, f"r{number}", {"id": f"r{number}", "text": f"word {number} " * 4_000})
"""


def test_a_store_that_is_opened_written_and_closed_again_and_again_is_never_seen_torn(tmp_path):
    path = tmp_path / "receipts.db"
    ReceiptStore(path).close()
    looks, last = 0, 0
    with subprocess.Popen([sys.executable, "-c", WRITER, str(path)], env=FINDS_US) as process:
        while process.poll() is None:
            with ReceiptStore.open_read_only(path) as store:
                names = [receipt.id for receipt in store.receipts()]
                assert names == [f"r{number}" for number in range(len(names))]
                assert len(names) >= last
                assert not names or store.recover(names[-1])[0]["id"] == names[-1]
                assert not store.search("missing")
                last = len(names)
            looks += 1
    assert process.returncode == 0
    assert looks > 5
    with ReceiptStore.open_read_only(path) as store:
        assert (len(store), store.verify()) == (150, [])


@pytest.mark.parametrize("read_before", ["SELECT count(*) FROM sqlite_master", "SELECT count(*) FROM receipts"])
def test_what_is_written_just_after_the_file_was_opened_is_seen(tmp_path, monkeypatch, read_before):
    path = tmp_path / "receipts.db"
    with ReceiptStore(path) as store:
        put(store, "r0", "word")
    reader = ReceiptStore.open_read_only(path)
    connect, opened = sqlite3.connect, []

    def connect_and_write(target, **more):
        database = connect(target, **more)
        if "mode=ro" in target and not opened:
            opened.append(target)
            database.execute(read_before).fetchall()
            with ReceiptStore(path) as writer:
                for number in range(1, 400):
                    put(writer, f"r{number}", f"word {number} " * 99)
        return database

    monkeypatch.setattr(sqlite3, "connect", connect_and_write)
    assert len(reader) == 400
    assert [receipt.id for receipt in reader.receipts()] == [f"r{number}" for number in range(400)]
    assert opened
