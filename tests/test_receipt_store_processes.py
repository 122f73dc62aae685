"""A receipt store and its processes: many write at once, and any of them may be killed at any moment."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

from context_gc.receipt_store import ReceiptStore

ROOT = Path(__file__).parents[1]
FINDS_US = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "tests")))}

WRITER = """
import sys
from stored import put, receipt
from context_gc.receipt_store import ReceiptStore

path, run, count, many = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
with ReceiptStore(path) as store:
    print("open", flush=True)
    for number in range(0, count, many):
        names = [f"{run}-{each}" for each in range(number, min(number + many, count))]
        originals = [[{"id": name, "text": "word " * (number * 37 % 900)}, "shared"] for name in names]
        store.put_many(((receipt(*each), each[1:]) for each in ([a, *b] for a, b in zip(names, originals))), run)
        print(*names, flush=True)
"""


def writer(path: Path, run: str, count: int, many: int = 1) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, str(path), run, str(count), str(many)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, env=FINDS_US, text=True)


def test_eight_processes_lose_nothing(tmp_path):
    path = tmp_path / "receipts.db"
    writers = [writer(path, f"run{number}", 150) for number in range(8)]
    for process in writers:
        assert process.communicate()[0].count("\n") == 151
        assert process.returncode == 0
    with ReceiptStore(path) as store:
        for number in range(8):
            expected = [f"run{number}-{each}" for each in range(150)]
            assert [each.id for each in store.receipts(f"run{number}")] == expected
        assert len(store) == 1_200
        assert store.verify() == []
        assert {each.run_id for each in store.search("shared", limit=5_000)} == {f"run{number}" for number in range(8)}
        assert len(store.search("shared", limit=5_000)) == 1_200


def test_fifty_kills_lose_nothing_that_was_reported(tmp_path):
    """Each process is killed after a random number of reports, mostly in the middle of the next write."""
    path = tmp_path / "receipts.db"
    chance = random.Random(4)
    reported: list[str] = []
    for kill in range(50):
        process = writer(path, f"k{kill}", 1_000_000, chance.choice((1, 1, 3)))
        assert process.stdout is not None
        for _ in range(chance.choice((0, 1, 2, 5, 20))):
            reported += process.stdout.readline().split()
        process.kill()
        reported += process.stdout.read().split("\n")[:-1]  # the last line may be half a one
        process.stdout.close()
        assert process.wait() < 0
        if kill % 10 == 9:
            check(path, reported)
    assert len(list(tmp_path.iterdir())) <= 3


def check(path: Path, reported: list[str]) -> None:
    names = [name for line in reported for name in line.split() if name != "open"]
    with ReceiptStore(path) as store:
        assert store.verify() == []
        for name in names:
            assert store.recover(name, name.partition("-")[0])[0]["id"] == name
        stored = [each.id for each in store.receipts()]
        assert set(names) <= set(stored)
        assert len(store.search("shared", limit=10_000)) == len(stored) == len(set(stored))


FORKED = """
import os, sys
from stored import put
from context_gc.errors import StoreError
from context_gc.receipt_store import ReceiptStore

path = sys.argv[1]
with ReceiptStore(path) as store:
    put(store, "a", 1)
    reading = ReceiptStore.open_read_only(path)
    child = os.fork()
    if child == 0:
        try:
            store.recover("a")
        except StoreError as error:
            print(error, len(reading), flush=True)
        os._exit(0)
    os.waitpid(child, 0)
    put(store, "b", 2)
    print(len(store), store.verify())
"""


def test_a_store_is_not_used_across_a_fork(tmp_path):
    path = tmp_path / "receipts.db"
    process = subprocess.run([sys.executable, "-c", FORKED, str(path)], capture_output=True, env=FINDS_US, text=True)
    told = f"{path}: the store was opened in another process (open it again in this one) 1\n2 []\n"
    assert (process.stdout, process.stderr) == (told, "")
