"""The commands about run directories."""

from __future__ import annotations

import json
import sqlite3

import pytest
from notation import trace

from context_gc import Budget, ContextBus, ContextGC, Policy, RunLog
from context_gc.cli import main


@pytest.fixture
def directory(tmp_path):
    """A run directory with a plain run and one under a budget."""
    bus = ContextBus()
    with RunLog(bus, tmp_path / "runs" / "plain"):
        client = ContextGC(bus=bus, run_id="plain")
        client.extend(trace("v1 x = the old value\nv2 x = 2"))
        client.compact()
        client.save(tmp_path)
    client = ContextGC(Policy(budget=Budget(200)), run_id="tight")
    for number in range(20):
        client.extend(trace(f"c{number} call ask\nr{number} result c{number} {'answer ' * 20}"))
        client.compact()
    client.save(tmp_path)
    return tmp_path


def told(capsys, *arguments):
    code = main([str(each) for each in arguments])
    return code, capsys.readouterr().out.splitlines()


def test_session_lists_runs_and_how_the_window_of_each_stands(directory, capsys):
    code, lines = told(capsys, "session", directory)
    assert code == 0
    assert lines[0].startswith("session ")
    assert lines[1].startswith("run plain: 2 events, 1 pruned, ")
    assert lines[2].startswith("run tight: 40 events, ")
    assert " passes, " in lines[2]


def test_session_prints_the_prompt_of_a_run(directory, capsys):
    assert told(capsys, "session", directory, "--run", "plain") == (0, ["[RECEIPT v1]", "x = 2"])


def test_session_prints_the_log_of_a_run(directory, capsys):
    code, lines = told(capsys, "session", directory, "--run", "plain", "--log")
    assert code == 0
    assert [json.loads(line)["event_type"] for line in lines] == ["event.added"] * 2 + ["compaction.committed"]


def test_verify_finds_a_flipped_byte_and_ends_with_1(directory, capsys):
    code, lines = told(capsys, "receipts", "verify", directory)
    assert (code, lines[-1].endswith("all intact")) == (0, True)
    with sqlite3.connect(directory / "receipts.db") as database:
        ((row, text),) = database.execute(
            "SELECT id, text FROM payloads WHERE CAST(text AS TEXT) LIKE '%the old value%'"
        ).fetchall()
        database.execute("UPDATE payloads SET text = ? WHERE id = ?", (text.replace(b"old", b"new"), row))
    database.close()
    code, lines = told(capsys, "receipts", "verify", directory)
    assert code == 1
    assert any(line.startswith("DAMAGED ") and "plain/v1" in line for line in lines)


def test_search_finds_words_in_what_was_cut(directory, capsys):
    code, lines = told(capsys, "receipts", "search", directory, "old", "value")
    assert code == 0
    assert len(lines) == 1
    assert lines[0].startswith("plain/v1 | ")
    assert told(capsys, "receipts", "search", directory, "--run", "tight", "old") == (0, [])


def test_export_gives_each_receipt_with_its_originals(directory, capsys):
    code, lines = told(capsys, "receipts", "export", directory, "--run", "plain")
    assert code == 0
    (receipt,) = map(json.loads, lines)
    assert receipt["id"] == "v1"
    assert receipt["originals"][0]["value"] == "the old value"


@pytest.mark.parametrize(
    "arguments",
    [
        ("session", "{}/nowhere"),
        ("session", "{}", "--run", "nothing"),
        ("session", "{}", "--log"),
        ("session", "{}", "--run", "../plain"),
        ("receipts", "verify", "{}/nowhere"),
        ("receipts", "search", "{}/session.json", "x"),
    ],
)
def test_what_is_not_there_is_one_line_on_stderr_and_2(directory, capsys, arguments):
    assert main([each.format(directory) for each in arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("context-gc: ")
    assert captured.err.count("\n") == 1


def test_compact_takes_a_budget(tmp_path, written, capsys):
    events = [event for n in range(20) for event in trace(f"c{n} call ask\nr{n} result c{n} {'answer ' * 20}")]
    path = written(events)
    code, lines = told(capsys, "compact", path, "--max-tokens", 200, "--dry-run")
    assert code == 0
    assert any(line.startswith("PASS 1 | emergency | frees ") for line in lines)
    assert any(line.startswith("WINDOW ") for line in lines)
    code, lines = told(capsys, "compact", path, "--max-tokens", 100_000)
    assert "[RECEIPT" not in "\n".join(lines)
    assert main(["compact", path, "--threshold-low", "0.5"]) == 2
    assert "max_tokens is missing" in capsys.readouterr().err
    assert main(["compact", path, "--max-tokens", "200", "--threshold-low", "0.95"]) == 2
    assert "0.95" in capsys.readouterr().err
