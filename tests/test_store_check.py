"""Verify: every row whose bytes do not match is named, and is never given out."""

from __future__ import annotations

import contextlib

import pytest
from stored import edit, put

from context_gc import ContextGCError
from context_gc.canonical import digest
from context_gc.errors import StoreError
from context_gc.receipt_store import Damaged, ReceiptStore


@pytest.fixture
def three(tmp_path):
    """A closed file with three receipts; b and c share an original."""
    with ReceiptStore(tmp_path / "receipts.db") as store:
        put(store, "a", "original of a", run_id="r")
        put(store, "b", "shared original")
        put(store, "c", "original of c", "shared original")
    return tmp_path / "receipts.db"


@pytest.mark.parametrize("bit", range(8))
def test_a_flipped_bit_of_an_original_is_found_and_never_given_out(three, bit):
    data = bytearray(three.read_bytes())
    data[data.index(b'"shared original"') + 3] ^= 1 << bit
    three.write_bytes(data)
    with ReceiptStore(three) as store:
        (damaged,) = store.verify()
        assert isinstance(damaged, Damaged)
        assert damaged.sha256 == digest("shared original")
        assert damaged.receipts == (("", "b"), ("", "c"))
        for name in ("b", "c"):
            with pytest.raises(StoreError, match=f"of receipt '{name}' of run '' does not match"):
                store.recover(name)
        assert store.recover("a", "r") == ["original of a"]
        with pytest.raises(StoreError):
            list(store.export())
        put(store, "b", "shared original")
        assert store.verify() == []


def test_every_flipped_byte_of_the_file_is_found_or_harms_nothing(three):
    whole = three.read_bytes()
    with ReceiptStore(three) as store:
        expected = list(store.export())
    found = 0
    for place in range(0, len(whole), 97):
        for rest in three.parent.glob("receipts.db-*"):
            rest.unlink()
        three.write_bytes(whole[:place] + bytes((whole[place] ^ 0x41,)) + whole[place + 1 :])
        try:
            store = ReceiptStore.open_read_only(three)
            faults = store.verify()
            assert faults or list(store.export()) == expected, place
            found += bool(faults)
        except StoreError:
            found += 1
    assert found > 20


@pytest.mark.parametrize(
    ("statement", "receipts", "says"),
    [
        ("DELETE FROM payloads WHERE id = 1", (("r", "a"),), "original 0 of the receipt is missing"),
        ("DELETE FROM originals WHERE receipt = 3 AND place = 1", (("", "c"),), "original 1 of the receipt is missing"),
        ("UPDATE originals SET payload = 2 WHERE receipt = 1", (("r", "a"),), "original 0 of the receipt is another"),
        ("INSERT INTO originals VALUES (1, 1, 2)", (("r", "a"),), "more originals than it states"),
        ("UPDATE receipts SET fields = '{' WHERE id = 1", (("r", "a"),), "is damaged"),
        ("UPDATE receipts SET fields = x'7b' WHERE id = 1", (("r", "a"),), "do not match their sha256"),
        ("UPDATE receipts SET run_id = x'73' WHERE id = 1", (("s", "a"),), "do not match their sha256"),
        ("UPDATE receipts SET receipt_id = x'ff' WHERE id = 1", (("r", "\\xff"),), "do not match their sha256"),
        ("UPDATE payloads SET text = 5 WHERE id = 1", (("r", "a"),), "no longer bytes"),
    ],
)
def test_what_is_missing_or_changed_is_named(three, statement, receipts, says):
    edit(three, statement)
    with ReceiptStore(three) as store:
        (damaged,) = store.verify()
        assert damaged.receipts == receipts
        assert says in damaged.what
        if "more" not in says:
            with pytest.raises(ContextGCError):
                store.recover("c") if "c" in receipts[0] else list(store.export("r")) or store.recover("a", "r")


def test_a_file_that_was_cut_short_is_no_traceback(three):
    data = three.read_bytes()
    for size in range(1, len(data), 997):
        three.write_bytes(data[:size])
        with contextlib.suppress(StoreError):
            assert ReceiptStore.open_read_only(three).verify()
        for rest in three.parent.glob("receipts.db-*"):
            rest.unlink()
