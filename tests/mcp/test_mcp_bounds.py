"""What the tools of the MCP server never do: read outside, fail on any argument, or stop while a store is written."""

from __future__ import annotations

import json
import os
import random
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from shelves import SECRET, ask, body, receipts_file, refused, saved

from context_gc import ReceiptStore
from context_gc.canonical import digest
from context_gc.errors import StoreError
from context_gc.mcp_server.pages import PAGE
from context_gc.mcp_server.server import Answers
from context_gc.mcp_server.shelf import Shelf
from context_gc.mcp_server.tools import MOST, TOOLS
from context_gc.receipts import Receipt

ROOT = Path(__file__).parents[2]


# what is wrong


@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        ("recover_receipt", {}, "recover_receipt: receipt_id is missing"),
        ("recover_receipt", {"receipt_id": 7}, "receipt_id is 7: expected a text"),
        ("recover_receipt", {"receipt_id": "x" * 201}, "it has 201 characters, more than 200"),
        ("recover_receipt", {"receipt_id": "a\x1b[2J"}, "characters that cannot be printed"),
        ("recover_receipt", {"receipt_id": "v1", "page": 0}, "page is 0: expected a whole number from 1"),
        ("recover_receipt", {"receipt_id": "v1", "page": True}, "page is True"),
        ("recover_receipt", {"receipt_id": "v1", "form": "xml"}, "form is 'xml' (give text or json)"),
        ("recover_receipt", {"receipt_id": "v1", "path": "/etc"}, "'path' is no argument of this tool"),
        ("search_receipts", {"words": "  "}, "words is '  ': it is empty"),
        ("search_receipts", {"words": "a", "limit": 51}, "limit is 51: expected a whole number from 1 to 50"),
        ("erase", {}, "tools/call: 'erase' is no tool"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_told(tmp_path, tool, arguments, told):
    saved(tmp_path)
    assert told in refused(tmp_path, tool, **arguments)


def test_a_whole_float_and_null_for_a_default_are_taken(tmp_path):
    saved(tmp_path)
    assert body(ask(tmp_path, "recover_receipt", receipt_id="v1", page=1.0, run=None)) == f"x = {SECRET}"


def test_a_damaged_receipt_is_told_and_the_others_still_answer(tmp_path):
    receipts_file(tmp_path / "mine.db")
    with sqlite3.connect(tmp_path / "mine.db") as database:
        rows = database.execute("SELECT id, text FROM payloads").fetchall()
        ((row, text),) = (each for each in rows if SECRET.encode() in each[1])
        database.execute("UPDATE payloads SET text = ? WHERE id = ?", (text.replace(b"old", b"new"), row))
    database.close()
    assert "does not match its sha256" in refused(tmp_path / "mine.db", "recover_receipt", receipt_id="v1")
    assert "forty-two" in ask(tmp_path / "mine.db", "recover_receipt", receipt_id="r2")


@pytest.mark.parametrize("name", ["missing", "notes.txt"])
def test_a_path_that_holds_nothing_of_ours_is_refused(tmp_path, name):
    (tmp_path / "notes.txt").write_text("no receipts")
    with pytest.raises(StoreError, match=name):
        Shelf(tmp_path / name)


# nothing outside


@pytest.fixture
def outside(tmp_path):
    saved(tmp_path / "outside", "theirs", f"v1 x = {SECRET}\nv2 x = 2")
    (tmp_path / "inside").mkdir()
    return tmp_path / "outside"


@pytest.mark.skipif(sys.platform == "win32", reason="links need a right there")
@pytest.mark.parametrize("part", ["", "receipts.db", "session.json", "runs", "runs/theirs/trace.jsonl"])
def test_links_that_lead_out_are_not_followed(tmp_path, outside, part):
    inside = tmp_path / "inside"
    if part:
        saved(inside / "mine", "theirs", "v2 x = 2")
        target = inside / "mine" / part
        if target.is_dir():
            target.rename(tmp_path / "moved")
        else:
            target.unlink()
        target.symlink_to(outside / part)
    else:
        (inside / "link").symlink_to(outside)
    for tool, arguments in (
        ("recover_receipt", {"receipt_id": "v1"}),
        ("search_receipts", {"words": "old value"}),
        ("explain_event", {"event_id": "v1"}),
        ("list_receipts", {}),
        ("context_report", {}),
    ):
        text, _ = Answers(Shelf(inside))(tool, arguments)
        assert SECRET not in text
        assert "v1 |" not in text


@pytest.mark.parametrize(
    "name", ["../outside", "..", "../outside/theirs", "/etc/passwd", "..\\outside", "%2e%2e/outside"]
)
def test_names_that_lead_out_are_no_names(tmp_path, outside, name):
    for tool in TOOLS:
        for argument in tool.parameters:
            if argument in ("receipt_id", "event_id", "run"):
                needed = {"receipt_id": "v1", "event_id": "v1", "words": "old"}
                given = {key: text for key, text in needed.items() if key in tool.parameters} | {argument: name}
                assert SECRET not in Answers(Shelf(tmp_path / "inside"))(tool.name, given)[0]


def test_a_run_id_in_a_receipts_file_is_no_path(tmp_path, outside):
    receipts_file(tmp_path / "inside" / "receipts.db", "../../outside/runs/theirs")
    assert "x = " in body(ask(tmp_path / "inside", "recover_receipt", receipt_id="v1"))
    assert "events," not in ask(tmp_path / "inside", "context_report")


@pytest.mark.skipif(sys.platform == "win32", reason="links need a right there")
def test_the_journal_is_not_written_through_a_link(tmp_path):
    saved(tmp_path / "store")
    (tmp_path / "other.txt").write_text("mine")
    (tmp_path / "store" / "recovered.jsonl").symlink_to(tmp_path / "other.txt")
    assert "not noted" in ask(tmp_path / "store", "recover_receipt", receipt_id="v1")
    assert (tmp_path / "other.txt").read_text() == "mine"


# under way

WRITER = """
import sys
from notation import trace
from context_gc import ContextGC

client = ContextGC(run_id="live")
for number in range(120):
    client.extend(trace(f"v{number} x = value {number}"))
    client.compact()
    client.save(sys.argv[1])
"""


def test_a_store_that_is_being_written_answers_all_the_while(tmp_path):
    path = os.pathsep.join((str(ROOT), str(ROOT / "tests")))
    answers = Answers(Shelf(tmp_path))
    command = [sys.executable, "-c", WRITER, str(tmp_path)]
    asked = 0
    with subprocess.Popen(command, env={**os.environ, "PYTHONPATH": path}) as process:
        while process.poll() is None:
            for tool, given in (("context_report", {}), ("list_receipts", {}), ("search_receipts", {"words": "value"})):
                text, failed = answers(tool, given)
                assert not failed, text
            text, failed = answers("recover_receipt", {"receipt_id": "v0", "form": "json"})
            assert failed is ("there is none with this id" in text or "was never pruned" in text), text
            asked += 1
    assert process.returncode == 0
    assert asked > 1
    assert "119 receipts" in answers("list_receipts", {})[0]
    assert json.loads(body(answers("recover_receipt", {"receipt_id": "v0", "form": "json"})[0]))["value"] == "value 0"


def odd_values(chance):
    ids = [
        "v1",
        "c2",
        "",
        "..",
        "../..",
        "id_0123456789ab",
        "cluster_000000000000",
        "main",
        "a" * 400,
        "\x00",
        "\ud800",
        "é☃",
    ]
    odd = [
        None,
        True,
        -1,
        0,
        1,
        2,
        10**30,
        1.5,
        float("nan"),
        [],
        [1],
        {},
        {"a": [{}]},
        *ids,
        "'; DROP TABLE x",
        '* OR "',
    ]
    return chance.choice(odd)


@pytest.mark.parametrize("seed", range(4))
def test_any_arguments_give_a_bounded_answer_or_an_error_that_says_what_to_do(tmp_path, seed):
    saved(tmp_path / "a")
    receipts_file(tmp_path / "a" / "extra.db", "\ud800 odd")
    answers = Answers(Shelf(tmp_path))
    chance = random.Random(seed)
    names = [tool.name for tool in TOOLS]
    keys = ["receipt_id", "event_id", "words", "page", "limit", "run", "form", "__proto__", ""]
    for _ in range(400):
        given = {chance.choice(keys): odd_values(chance) for _ in range(chance.randrange(4))}
        text, failed = answers(chance.choice([*names, "nope", ""]), given)
        assert len(text) <= MOST + PAGE
        assert "Traceback" not in text
        assert "report it" not in text, (given, text)
        assert not failed or ": " in text
        text.encode()


def test_half_characters_are_sent_as_escapes(tmp_path):
    with ReceiptStore(tmp_path / "any.db") as store:
        original = {"text": "\ud800 odd"}
        store.put(
            Receipt("\udc00", "s\ud800", "why\ud800", (), ("r",), 1, (digest(original),)), [original], "run\ud800"
        )
        store.put(Receipt("r", "s", "why", (), ("r",), 1, (digest(original),)), [original])
    for tool, given in (
        ("list_receipts", {}),
        ("context_report", {}),
        ("search_receipts", {"words": "odd"}),
        ("recover_receipt", {"receipt_id": "r"}),
    ):
        assert ask(tmp_path / "any.db", tool, **given).encode()


def test_originals_that_are_no_events_are_given_as_json(tmp_path):
    originals = [{"type": "set_var"}, 7, "text", {"type": [], "id": 3}]
    with ReceiptStore(tmp_path / "any.db") as store:
        store.put(Receipt("r", "s", "why", (), ("r",), 1, tuple(map(digest, originals))), originals)
    found = body(ask(tmp_path / "any.db", "recover_receipt", receipt_id="r"))
    assert [json.loads(line) for line in found.splitlines()] == originals
