"""Search: the words of a query over all originals, with an index and without one."""

from __future__ import annotations

import sqlite3
from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stored import edit, put

from context_gc.receipt_store import Found, ReceiptStore


@pytest.fixture
def path(tmp_path):
    return tmp_path / "receipts.db"


def names(found: list[Found]) -> list[str]:
    return [each.receipt_id for each in found]


@pytest.fixture(params=["index", "scan"])
def library(request, path):
    """A store with texts, with its index of words and as a SQLite without FTS5 left it."""
    texts = {
        "mail": {"tool": "send_mail", "text": 'line one\nSecond line "quoted" C:\\temp'},
        "path": "READ src/context_gc/errors.py: 3 errors",
        "french": "un café très fort",
        "japanese": "エラーが発生しました",
        "lone": "before \ud800 after",
        "arrow": "a -> b",
    }
    with ReceiptStore(path) as store:
        for name, text in texts.items():
            put(store, name, text, run_id="one")
        put(store, "pair", "first of two", "second of two errors", run_id="two")
    if request.param == "scan":
        edit(path, "DROP TABLE words")
    with ReceiptStore.open_read_only(path) as store:
        yield store


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("second line", ["mail"]),
        ("SECOND quoted", ["mail"]),
        ("send_mail", ["mail"]),
        ("mail", ["mail"]),
        ("C:\\temp", ["mail"]),
        ("src/context_gc/errors.py", ["path"]),
        ("err", ["pair", "path"]),
        ("café", ["french"]),
        ("発生", ["japanese"]),
        ("after", ["lone"]),
        ("->", ["arrow"]),
        ("errors missing", []),
        ("", []),
        (" \n\x00\ud800 ", []),
    ],
)
def test_a_search_finds_the_originals_that_hold_every_word(library, query, expected):
    assert sorted(names(library.search(query))) == expected


@pytest.mark.parametrize(
    "query",
    ['"', '""', "'", "a AND", "OR", "NOT a", "NEAR(a b, 2)", "text: a", "^a", "a*", "(", "{a b}:c", "-a", "a\x00b", "*",
     "; DROP TABLE receipts", "%", "_", "x" * 10_000, "a " * 10_000, "\ud800a"],
)  # fmt: skip
def test_a_query_is_words_and_never_syntax(library, query):
    before = len(library)
    library.search(query)
    assert len(library) == before


@given(st.text(st.characters()))
def test_no_query_raises(query):
    with ReceiptStore() as store:
        put(store, "a", query)
        found = store.search(query)
        assert all(each.receipt_id == "a" and len(each.snippet) <= 200 for each in found)


def test_a_search_is_paged_and_kept_to_a_run(library):
    everything = names(library.search("e", limit=100))
    assert everything
    assert names(library.search("e", limit=2)) + names(library.search("e", limit=100, offset=2)) == everything
    assert names(library.search("e", limit=10**30, offset=-5)) == everything
    assert library.search("e", limit=0) == library.search("e", limit=-1) == library.search("e", offset=10**30) == []
    assert [(each.run_id, each.place) for each in library.search("errors", run_id="two")] == [("two", 1)]


def test_what_was_found_shows_the_place_on_one_short_line():
    with ReceiptStore() as store:
        put(store, "a", "begin " * 100 + "\n\nthe needle\there " + "end " * 100)
        (found,) = store.search("needle")
    assert (found.run_id, found.receipt_id, found.place) == ("", "a", 0)
    assert "the needle here end" in found.snippet
    assert found.snippet.startswith("…")
    assert found.snippet.endswith("…")
    assert len(found.snippet) <= 200
    with pytest.raises(FrozenInstanceError):
        found.place = 1


def test_the_index_is_made_up_for_what_was_stored_without_one(path):
    with ReceiptStore(path) as store:
        put(store, "a", "needle")
    edit(path, "DROP TABLE words")
    with ReceiptStore(path) as store:
        assert names(store.search("needle")) == ["a"]
    reader = sqlite3.connect(path)
    assert reader.execute("SELECT count(*) FROM words_docsize").fetchone() == (1,)
    reader.close()
