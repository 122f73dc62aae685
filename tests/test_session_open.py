"""Opening a run directory: its runs as traces, and nothing from outside of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from notation import trace

from context_gc.errors import SessionError
from context_gc.session import OpenSession, Session


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


def write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def add_trace(home: Path, run: str, text: str) -> None:
    lines = "".join(json.dumps(event) + "\n" for event in trace(text))
    write(home / "runs" / run / "trace.jsonl", lines.encode())


def test_a_run_directory_gives_its_runs_as_traces_in_their_order(home):
    Session("s", "2026-01-02T03:04:05Z", ["r2", "r1", "r0"]).save(home)
    add_trace(home, "r1", "a x = 1\nb x = 2")
    add_trace(home, "r2", "a decision go")
    write(home / "runs" / "r0" / "trace.jsonl", b"")
    write(home / "runs" / "notes.txt", b"a file is no run")
    write(home / "runs" / ".hidden" / "x", b"")
    opened = Session.open(home)
    assert isinstance(opened, OpenSession)
    assert (opened.session.session_id, opened.problems) == ("s", [])
    assert list(opened.runs) == ["r2", "r1", "r0"]
    assert opened.runs["r1"].events == trace("a x = 1\nb x = 2")
    assert opened.runs["r1"].source == "runs/r1/trace.jsonl"
    assert opened.runs["r0"].events == []
    assert list(Session.open(str(home)).runs) == ["r2", "r1", "r0"]


def test_what_is_wrong_with_one_run_does_not_hide_the_others(home):
    Session("s", "2026-01-02T03:04:05Z", ["good", "gone", "empty-folder", "damaged", "folder"]).save(home)
    add_trace(home, "good", "a decision go")
    add_trace(home, "stray", "a decision go")
    (home / "runs" / "empty-folder").mkdir()
    (home / "runs" / "folder" / "trace.jsonl").mkdir(parents=True)
    (home / "runs" / "two\nlines").mkdir()
    write(home / "runs" / "damaged" / "trace.jsonl", b"\x00\x01 no trace")
    opened = Session.open(home)
    assert list(opened.runs) == ["good"]
    missing = "the session lists this run, but there is no such file"
    assert opened.problems[:2] == [f"runs/{name}/trace.jsonl: {missing}" for name in ("gone", "empty-folder")]
    assert opened.problems[2].startswith("runs/damaged/trace.jsonl: this is no trace format that is known here")
    assert opened.problems[3:] == [
        f"runs/folder/trace.jsonl: {missing}",
        "runs/stray: the session does not list this run (add_run does)",
        r"runs/'two\nlines': the session does not list this run (add_run does)",
    ]


def test_a_link_that_leads_out_is_not_followed_and_one_that_stays_inside_is(home, tmp_path):
    runs = ["file", "folder", "inside", "ring"]
    Session("s", "2026-01-02T03:04:05Z", runs).save(home)
    add_trace(tmp_path / "outside", "r", "a decision secret")
    add_trace(home, "real", "a decision go")
    outside = tmp_path / "outside" / "runs" / "r"
    (home / "runs" / "file").mkdir()
    (home / "runs" / "file" / "trace.jsonl").symlink_to(outside / "trace.jsonl")
    (home / "runs" / "folder").symlink_to(outside)
    (home / "runs" / "inside").symlink_to(home / "runs" / "real")
    (home / "runs" / "ring").symlink_to(home / "runs" / "ring")
    opened = Session.open(home)
    assert list(opened.runs) == ["inside"]
    says = "a link leads out of the run directory (not followed)"
    assert opened.problems[:3] == [f"runs/{name}/trace.jsonl: {says}" for name in ("file", "folder", "ring")]


def test_links_of_the_session_and_of_all_runs_are_not_followed_out(home, tmp_path):
    Session("s", "2026-01-02T03:04:05Z", ["r"]).save(tmp_path / "outside")
    add_trace(tmp_path / "outside", "r", "a decision secret")
    home.mkdir()
    (home / "runs").symlink_to(tmp_path / "outside" / "runs")
    (home / "session.json").symlink_to(tmp_path / "outside" / "session.json")
    with pytest.raises(SessionError, match="a link leads out of the run directory"):
        Session.open(home)
    (home / "session.json").unlink()
    Session("s", "2026-01-02T03:04:05Z", ["r"]).save(home)
    opened = Session.open(home)
    assert (opened.runs, len(opened.problems)) == ({}, 1)
    (tmp_path / "link").symlink_to(tmp_path / "outside")
    assert list(Session.open(tmp_path / "link").runs) == ["r"]


def test_what_is_no_run_directory_is_refused(tmp_path):
    (tmp_path / "text").write_text("x")
    for path, says in (("none", "no such file"), ("text", "this is no folder"), (".", "no such file"), ("\0", "null")):
        with pytest.raises(SessionError, match=says):
            Session.open(tmp_path / path)
