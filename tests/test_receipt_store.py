"""ReceiptStore: what is put comes back as it was; what is no store is refused."""

from __future__ import annotations

import json
import os
import shutil
import stat
import threading
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stored import edit, put, receipt

from context_gc import ContextGCError, UnknownReceipt
from context_gc.canonical import canonical, digest
from context_gc.errors import StoreError
from context_gc.receipt_store import ReceiptStore

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters(), max_size=5), inner, max_size=4)
    ),
    max_leaves=12,
)


@pytest.fixture(params=["memory", "file"])
def store(request, tmp_path):
    with ReceiptStore(tmp_path / "receipts.db" if request.param == "file" else None) as opened:
        yield opened


@pytest.fixture
def path(tmp_path):
    return tmp_path / "receipts.db"


# put, get, recover


@given(st.lists(JSON, max_size=4), st.text(st.characters(), min_size=1), st.text(st.characters()))
def test_every_original_comes_back_as_it_was(originals, name, run):
    with ReceiptStore() as store:
        store.put(receipt(name, *originals), originals, run)
        assert list(map(canonical, store.recover(name, run))) == list(map(canonical, originals))
        assert store.get(name, run) == receipt(name, *originals)
        assert store.run_ids() == [run]
        assert store.verify() == []


def test_values_of_any_depth_and_size_come_back(store):
    deep: Any = {"x": "\ud800"}
    for _ in range(50_000):
        deep = [{"k": deep}]
    put(store, "deep", deep, 10**6_000, -(10**6_000), "long " * 2_000_000)
    assert list(map(digest, store.recover("deep"))) == list(store.get("deep").sha256)
    assert store.verify() == []


def test_receipts_come_in_the_order_of_storing_run_by_run_or_all(store):
    for name, run in (("c", "r1"), ("a", "r2"), ("b", "r1")):
        put(store, name, name, run_id=run)
    assert [each.id for each in store.receipts()] == ["c", "a", "b"]
    assert [each.id for each in store.receipts("r1")] == ["c", "b"]
    assert list(store.receipts("r3")) == []
    assert store.run_ids() == ["r1", "r2"]
    assert len(store) == 3


def test_twice_the_same_is_as_once(store):
    for _ in range(2):
        put(store, "a", {"x": 1, "y": 2})
        put(store, "b", {"y": 2, "x": 1})
    assert len(store) == 2
    assert store.recover("a") == store.recover("b") == [{"x": 1, "y": 2}]


def test_the_newest_stage_and_reason_win_and_the_place_stays(store):
    put(store, "a", 1)
    put(store, "b", 2)
    later = receipt("a", 1, stage="eviction", reason="oldest", tokens=9)
    store.put(later, [1])
    assert store.get("a") == later
    assert [each.id for each in store.receipts()] == ["a", "b"]


def test_one_id_may_stand_for_other_originals_in_another_run_but_not_in_the_same(store):
    put(store, "a", 1, run_id="r1")
    put(store, "a", 2, run_id="r2")
    with pytest.raises(StoreError, match="receipt 'a' of run 'r1' stands for other originals already"):
        put(store, "a", 2, run_id="r1")
    with pytest.raises(StoreError):
        put(store, "a", 1, 2, run_id="r1")
    assert store.recover("a", "r1") == [1]
    assert store.recover("a", "r2") == [2]


@pytest.mark.parametrize("given", [[], [1], [1, 3], [2, 1], [1, 2, 3], [1, 2.0], (1, True)])
def test_originals_that_are_not_those_of_the_receipt_are_refused(store, given):
    with pytest.raises(StoreError, match="receipt 'a': its originals are not those"):
        store.put(receipt("a", 1, 2), given)
    assert len(store) == 0


def test_what_is_not_json_is_refused(store):
    ring: list[Any] = []
    ring.append(ring)
    for value, says in ((ring, "contains itself"), ({1, 2}, "a set"), ({1: 2}, "not a string"), (b"x", "a bytes")):
        with pytest.raises(StoreError, match=says):
            store.put(replace(receipt("a"), sha256=("0" * 64,)), [value])
    assert len(store) == 0


def test_many_are_stored_all_or_none(store):
    put(store, "b", 2)
    wrong = [(receipt("a", 1), [1]), (receipt("b", 3), [3]), (receipt("c", 4), [4])]
    with pytest.raises(StoreError):
        store.put_many(wrong)
    assert [each.id for each in store.receipts()] == ["b"]
    assert store.search("1") == []
    store.put_many((receipt(str(number), number), [number]) for number in range(500))
    assert len(store) == 501


def test_an_unknown_receipt_is_a_key_error_that_names_it(store):
    put(store, "a", 1, run_id="r1")
    for name, run in (("b", "r1"), ("a", ""), ("a", "r2")):
        with pytest.raises(UnknownReceipt, match=f"^receipt '{name}': there is none"):
            store.recover(name, run)
        with pytest.raises(KeyError):
            store.get(name, run)


def test_an_empty_store_is_true(store):
    assert store
    assert len(store) == 0
    assert (store.run_ids(), store.search("x"), store.verify(), list(store.export())) == ([], [], [], [])


def test_an_iteration_does_not_keep_others_from_writing(path):
    with ReceiptStore(path) as one, ReceiptStore(path) as other:
        one.put_many((receipt(str(number), number), [number]) for number in range(1_000))
        lines, receipts = one.export(), other.receipts()
        next(lines), next(receipts)
        put(one, "x", "x")
        put(other, "y", "y")
        assert sum(1 for _ in lines) == sum(1 for _ in receipts) == 1_001


def test_threads_share_a_store(store):
    def work(number: int) -> None:
        for each in range(20):
            put(store, f"{number}-{each}", [number, each])
            assert store.recover(f"{number}-{each}") == [[number, each]]

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(store) == 160
    assert store.verify() == []


# export


def test_an_export_is_strict_json_that_holds_everything(store):
    put(store, "a", {"t": 'é "q" \\ \n\x00 [NaN] 0x1'}, [1, 2.5, None], run_id="r1")
    put(store, "lone\ud800", {"\udfff": "\ud83d"})
    put(store, "odd", {"x": float("nan")}, 10**6_000, "plain")
    lines = [line.encode() for line in store.export()]
    first, second, third = (json.loads(line, parse_constant=pytest.fail) for line in lines)
    assert first == {
        "run_id": "r1", "id": "a", "stage": "overrides", "reason": "superseded by z", "because": ["z"],
        "event_ids": ["a"], "tokens": 7, "sha256": list(store.get("a", "r1").sha256),
        "originals": [{"t": 'é "q" \\ \n\x00 [NaN] 0x1'}, [1, 2.5, None]],
    }  # fmt: skip
    assert (second["id"], second["originals"]) == ("lone\ud800", [{"\udfff": "\ud83d"}])
    assert third["as_text"] == [0, 1]
    assert third["originals"] == ['{"x":NaN}', hex(10**6_000), "plain"]
    assert [line.encode() for line in store.export("r1")] == lines[:1]


# opening


def test_a_file_is_for_its_owner_alone_and_keeps_everything(path):
    with ReceiptStore(path) as store:
        put(store, "a", {"x": "ü"})
        modes = {stat.S_IMODE(os.stat(each).st_mode) for each in path.parent.iterdir()}
        assert modes == {0o600}
    assert [each.name for each in path.parent.iterdir()] == ["receipts.db"]
    with ReceiptStore(os.fspath(path)) as store:
        assert store.recover("a") == [{"x": "ü"}]
        assert [each.receipt_id for each in store.search("ü")] == ["a"]


@pytest.mark.parametrize("name", [":memory:", "a?mode=memory", "ü %20#.db", "file:x.db"])
def test_a_name_is_never_read_as_something_else(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    with ReceiptStore(name) as store:
        put(store, "a", 1)
    assert [each.name for each in tmp_path.iterdir()] == [name]


def test_what_is_no_receipt_store_is_refused_and_stays_as_it_is(tmp_path):
    text, other, newer = tmp_path / "x.txt", tmp_path / "other.db", tmp_path / "newer.db"
    text.write_bytes(b"no database, but as long as the header of one: " * 40)
    edit(other, "CREATE TABLE t(x)")
    with ReceiptStore(newer):
        pass
    edit(newer, "PRAGMA user_version = 2")
    os.mkfifo(tmp_path / "pipe")
    expected = {
        text: "not a database",
        other: "a SQLite file, but no receipt store",
        newer: "version 2 is newer than 1",
        tmp_path: "this is a folder",
        tmp_path / "pipe": "no regular file",
        tmp_path / "none" / "x.db": "no such file or directory",
        text / "x.db": "not a directory",
        tmp_path / "nul\0": "null",
    }
    for path, says in expected.items():
        before = path.read_bytes() if path in (text, other, newer) else b""
        for opening in (ReceiptStore, ReceiptStore.open_read_only):
            with pytest.raises(StoreError, match=says) as caught:
                opening(path)
            assert str(caught.value).startswith(f"{path}: ")
            assert isinstance(caught.value, ContextGCError)
        assert not before or path.read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 4


def test_an_empty_file_becomes_a_store(path):
    path.touch()
    with pytest.raises(StoreError, match="empty"):
        ReceiptStore.open_read_only(path)
    with ReceiptStore(path) as store:
        put(store, "a", 1)
    assert len(ReceiptStore.open_read_only(path)) == 1


def test_a_store_for_reading_makes_nothing_writes_nothing_and_sees_what_others_write(path):
    with pytest.raises(StoreError, match="no such file"):
        ReceiptStore.open_read_only(path)
    assert not path.exists()
    with ReceiptStore(path) as store:
        put(store, "a", "one word")
    reader = ReceiptStore.open_read_only(path)
    assert (len(reader), reader.recover("a"), len(reader.search("word")), reader.verify()) == (1, ["one word"], 1, [])
    assert [each.name for each in path.parent.iterdir()] == ["receipts.db"]
    with ReceiptStore(path) as store:
        put(store, "b", "another word")
        assert (len(reader), len(reader.search("word")), reader.verify()) == (2, 2, [])
    assert reader.recover("b") == ["another word"]
    with pytest.raises(StoreError, match="for reading only"):
        put(reader, "c", 1)
    reader.close()
    with pytest.raises(StoreError, match="closed"):
        len(reader)


def test_a_closed_store_says_so(store):
    put(store, "a", 1)
    store.close()
    store.close()
    for use in (lambda: put(store, "b", 2), lambda: store.recover("a"), lambda: store.search("x"), store.run_ids):
        with pytest.raises(StoreError, match="the store is closed"):
            use()


def test_a_copy_of_a_file_is_a_store(path, tmp_path):
    with ReceiptStore(path) as store:
        put(store, "a", "x")
    shutil.copy(path, tmp_path / "copy.db")
    assert ReceiptStore.open_read_only(tmp_path / "copy.db").recover("a") == ["x"]
