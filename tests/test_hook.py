"""The hook for Claude Code: what it archives, twice and while a session grows, and what it leaves alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from claude_code_records import boundary, call, jsonl, result, says, user

from context_gc import ContextGC, ReceiptStore
from context_gc.cli import main
from context_gc.errors import SessionError, TraceError
from context_gc.hook.archive import STAGE, Call, archive, read_call
from context_gc.hook.settings import HOOKS, command, install, settings
from context_gc.mcp_server.server import Answers
from context_gc.mcp_server.shelf import Shelf
from context_gc.session import Session

ROOT = Path(__file__).parents[1]
FIRST = [
    user("u1", None, "fix the parser"),
    says("a1", "u1", call("c1", "Read", file_path="a.py")),
    user("r1", "a1", [result("c1", "the parser is here")]),
    says("a2", "r1", call("c2", "Read", file_path="a.py")),
    user("r2", "a2", [result("c2", "the parser is here")]),
]
SECOND = [
    boundary("b1", "r2", trigger="manual", preTokens=900),
    user("u2", "b1", "go on", isCompactSummary=True),
    says("a3", "u2", "I will"),
]


@pytest.fixture
def session(tmp_path):
    path = tmp_path / "logs" / "s.jsonl"
    path.parent.mkdir()
    path.write_bytes(jsonl(FIRST))
    return path


def calls(session, event="Stop", trigger="auto"):
    return Call("s", session, event, trigger)


def stages(directory, run_id="w1"):
    with ReceiptStore.open_read_only(directory / "receipts.db") as store:
        return {receipt.id: receipt.stage for receipt in store.receipts(run_id)}


def files(root):
    return {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}


# archiving


def test_an_open_window_gives_receipts_of_what_is_dead(tmp_path, session):
    done = archive(calls(session), tmp_path / "store")
    assert (done.directory, done.windows, done.receipts) == (tmp_path / "store" / "s", 1, 2)
    assert set(stages(done.directory).values()) == {"duplicates"}


def test_before_a_compaction_all_of_the_window_gets_receipts(tmp_path, session):
    done = archive(calls(session, "PreCompact", "manual"), tmp_path / "store")
    assert sorted(stages(done.directory).values()) == [STAGE] * 3 + ["duplicates"] * 2
    with ReceiptStore.open_read_only(done.directory / "receipts.db") as store:
        assert {store.get("u1", "w1").reason} == {"Claude Code closed this window (manual)"}
        assert store.verify() == []


def test_twice_adds_nothing(tmp_path, session):
    archive(calls(session), tmp_path / "store")
    before = files(tmp_path / "store")
    done = archive(calls(session), tmp_path / "store")
    assert (done.windows, done.receipts, files(tmp_path / "store")) == (0, 0, before)


def test_a_log_that_is_touched_but_the_same_adds_nothing(tmp_path, session):
    archive(calls(session), tmp_path / "store")
    os.utime(session, ns=(1, 1))
    assert archive(calls(session), tmp_path / "store").windows == 0


def test_a_log_that_has_not_changed_is_not_read_again(tmp_path, session):
    archive(calls(session), tmp_path / "store")
    facts = session.stat()
    session.write_bytes(b"?" * facts.st_size)
    os.utime(session, ns=(facts.st_mtime_ns, facts.st_mtime_ns))
    assert archive(calls(session), tmp_path / "store").windows == 0


def test_a_session_that_grows_adds_what_is_new(tmp_path, session):
    archive(calls(session, "PreCompact", "manual"), tmp_path / "store")
    session.write_bytes(jsonl(FIRST + SECOND))
    done = archive(calls(session), tmp_path / "store")
    assert (done.windows, done.receipts) == (1, 0)
    assert Session.load(done.directory).run_ids == ["w1", "w2"]
    assert ContextGC.load(done.directory, "w2").look()["prompt"].endswith("I will")


def test_a_compaction_that_no_hook_saw_is_archived_by_the_next_one(tmp_path, session):
    archive(calls(session), tmp_path / "store")
    session.write_bytes(jsonl(FIRST + SECOND))
    done = archive(calls(session), tmp_path / "store")
    assert (done.windows, done.receipts) == (2, 3)


def test_an_event_that_is_no_longer_what_it_was_is_kept_beside_its_old_form(tmp_path, session):
    archive(calls(session, "PreCompact"), tmp_path / "store")
    session.write_bytes(jsonl([user("u1", None, "fix the lexer"), *FIRST[1:]]))
    done = archive(calls(session, "PreCompact"), tmp_path / "store")
    with ReceiptStore.open_read_only(done.directory / "receipts.db") as store:
        told = [store.recover("u1", run_id)[0]["content"] for run_id in ("w1", "w1.2")]
    assert told == ["fix the parser", "fix the lexer"]


def test_what_the_hook_archived_the_server_recovers(tmp_path, session):
    archive(calls(session, "PreCompact"), tmp_path / "store")
    answers = Answers(Shelf(tmp_path / "store"))
    assert "c1:r | run s/w1" in answers("search_receipts", {"words": "parser here"})[0]
    text, failed = answers("recover_receipt", {"receipt_id": "c1:r"})
    assert (failed, text.endswith("RESULT the parser is here")) == (False, True)


# what it is told


def test_the_input_of_claude_code_is_read(tmp_path):
    told = {"session_id": "4d56", "transcript_path": "~/x.jsonl", "hook_event_name": "PreCompact", "trigger": "manual"}
    found = read_call(json.dumps(told | {"cwd": "/w", "custom_instructions": "", "new_field": [1]}).encode())
    assert found == Call("4d56", Path.home() / "x.jsonl", "PreCompact", "manual")


NO_INPUT = (
    b"", b"{", b"7", b"[]", b"\xff", b"{}", b'{"transcript_path": 7}', b'{"transcript_path": "a\\u0000b"}',
    b" " * 2_000_000, b"[" * 100_000, b'{"transcript_path": "a", "session_id": "../x"}',
    b'{"transcript_path": "a", "session_id": 7}',
)  # fmt: skip


@pytest.mark.parametrize("text", NO_INPUT, ids=range(len(NO_INPUT)))
def test_input_that_is_none_is_told(text):
    with pytest.raises(SessionError, match=r"^(hook input|session): "):
        read_call(text)


def test_a_transcript_that_is_missing_or_no_file_is_told(tmp_path, session):
    for path in (tmp_path / "missing.jsonl", session.parent):
        with pytest.raises(TraceError, match="the transcript"):
            archive(calls(path), tmp_path / "store")
    assert not (tmp_path / "store").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="links need a right there")
def test_nothing_is_written_through_a_link(tmp_path, session):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "s").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(SessionError, match="this is a link"):
        archive(calls(session), tmp_path / "store")
    assert files(tmp_path / "elsewhere") == {}


def run(stdin, *arguments):
    line = [sys.executable, "-m", "context_gc.cli", "hook", "run", *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(line, input=stdin, capture_output=True, env=environment, check=False)


@pytest.mark.parametrize("kind", ["good", "broken", "missing", "no trace", "store is a file", "damaged store"])
def test_the_command_ends_with_0_prints_nothing_and_writes_only_in_its_store(tmp_path, session, kind):
    told = {"session_id": "s", "transcript_path": str(session), "hook_event_name": "PreCompact", "trigger": "auto"}
    store, text = tmp_path / "store", json.dumps(told).encode()
    if kind == "broken":
        text = text[:30]
    elif kind == "missing":
        session.unlink()
    elif kind == "no trace":
        session.write_bytes(b"\x00\x01 nothing")
    elif kind == "store is a file":
        store.write_text("mine")
    elif kind == "damaged store":
        (store / "s").mkdir(parents=True)
        (store / "s" / "receipts.db").write_bytes(b"no database" * 100)
    before = {path: data for path, data in files(tmp_path).items() if store not in path.parents}
    done = run(text, "--store", store)
    assert (done.returncode, done.stdout) == (0, b"")
    assert (done.stderr.startswith(b"context-gc: "), done.stderr.count(b"\n")) == (True, 1)
    assert b"report it" not in done.stderr
    assert (b"5 new receipts" in done.stderr) == (kind == "good")
    assert {path: data for path, data in files(tmp_path).items() if store not in path.parents} == before


def test_hooks_at_once_lose_nothing(tmp_path, session):
    told = {"session_id": "s", "transcript_path": str(session), "hook_event_name": "PreCompact", "trigger": "auto"}
    line = [sys.executable, "-m", "context_gc.cli", "hook", "run", "--store", str(tmp_path / "store")]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    all_of_them = [
        subprocess.Popen(line, stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) for _ in range(6)
    ]
    said = [process.communicate(json.dumps(told).encode())[1] for process in all_of_them]
    assert sorted(text.split(b" new")[0] for text in said) == [b"context-gc: 0"] * 5 + [b"context-gc: 5"]
    assert len(stages(tmp_path / "store" / "s")) == 5


# settings


def test_the_settings_name_both_hooks_and_this_python(capsys):
    assert main(["hook"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert list(printed["hooks"]) == list(HOOKS)
    assert printed == settings(command())
    assert sys.executable in command()


def test_installing_keeps_what_is_there_and_is_done_once(tmp_path, capsys):
    file = tmp_path / "settings.json"
    own = {"model": "é", "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "mine"}]}], "PreToolUse": []}}
    file.write_text(json.dumps(own), "utf-8")
    for said in ("the hooks are in ", "the hooks are in already: "):
        assert main(["hook", "--install", "--settings", str(file), "--store", str(tmp_path / "a b")]) == 0
        assert capsys.readouterr().out.startswith(said)
    found = json.loads(file.read_text("utf-8"))
    assert (found["model"], found["hooks"]["PreToolUse"]) == ("é", [])
    assert [each["hooks"][0]["command"] for each in found["hooks"]["Stop"]] == ["mine", command(str(tmp_path / "a b"))]
    assert len(found["hooks"]["PreCompact"]) == 1
    assert json.loads((tmp_path / "settings.json.previous").read_text("utf-8")) == own


@pytest.mark.parametrize("text", ["{", "[]", '{"hooks": []}', '{"hooks": {"Stop": {}}}'])
def test_settings_that_are_none_are_left_as_they_are(tmp_path, text):
    file = tmp_path / "settings.json"
    file.write_text(text)
    with pytest.raises(SessionError, match=r"settings\.json"):
        install(file, "x")
    assert file.read_text() == text


def test_settings_that_are_not_there_are_made(tmp_path):
    assert install(tmp_path / "new" / "settings.json", "x")
    assert json.loads((tmp_path / "new" / "settings.json").read_text()) == settings("x")
