"""The report: it renders without sessions, says what was not run, and names nothing of this machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from context_gc.benchmark import replaying, sessions
from context_gc.benchmark.report import PATH, Scope, report
from context_gc.benchmark.scenarios import scenario

ROOT = Path(__file__).parents[2]
SMALL = Scope(
    lengths=["short"],
    runs=1,
    processes=False,
    grid={"min_gain": [500, 900]},
    compacted=(50,),
    looped=(50,),
    replayed=60,
)


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    """A recorded session in the documented format, without a model."""
    path = tmp_path_factory.mktemp("recorded") / "run.jsonl"
    path.write_text("".join(json.dumps(event) + "\n" for event in scenario("coding", "medium").events), "utf-8")
    return str(path)


@pytest.fixture(scope="module")
def without_sessions():
    return report([], SMALL, told=lambda line: None)


@pytest.fixture(scope="module")
def with_one(session, tmp_path_factory):
    empty = tmp_path_factory.mktemp("empty") / "nothing.json"
    empty.write_text("[]", "utf-8")
    return report([session, str(empty), str(empty.parent / "gone.jsonl")], SMALL, told=lambda line: None)


def test_without_sessions_that_part_says_that_it_was_not_run(without_sessions):
    assert "Part B, recorded sessions: none was named" in without_sessions
    assert "Not run: name recorded sessions on the command line." in without_sessions
    assert "Lengths other than short" in without_sessions


def test_it_states_versions_goals_and_every_method(without_sessions):
    for told in (
        "CPython 3",
        "prices of 20",
        "every probe of the four kinds passes in 3 of 3",
        "masking, keep 3",
        "C. Speed",
    ):
        assert told in without_sessions


def test_a_session_is_named_by_its_file_and_what_was_left_out_with_its_reason(with_one, session):
    assert "| run.jsonl |" in with_one
    assert str(Path(session).parents[1]) not in with_one
    assert "- nothing.json: " in with_one
    assert "- gone.jsonl: " in with_one
    assert "no model is named" in with_one


def test_the_policies_of_the_grid_and_the_baselines_are_compared(with_one):
    assert "`recommend`" in with_one
    assert "Against clearing at 100,000, keep 3:" in with_one or "none of the" in with_one
    assert "min_gain=500" in with_one


def test_sessions_of_one_file_name_are_told_apart(session, tmp_path):
    twin = tmp_path / "run.jsonl"
    twin.write_bytes(Path(session).read_bytes())
    found, left = sessions.opened([session, str(twin)])
    assert [each.name for each in found] == ["run.jsonl", "run.jsonl (2)"]
    assert left == []


def test_a_made_up_session_is_about_as_long_as_asked():
    assert 280 <= len(replaying.made_up(300).events) <= 330


def test_a_report_that_cannot_be_written_says_so_in_one_line(tmp_path, monkeypatch):
    program = (
        "from context_gc.benchmark import report;"
        "report.report = lambda paths, told: 'text';"
        f"report.write({str(tmp_path / 'no' / 'folder.md')!r}, [])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    assert ran.returncode == 1
    assert ran.stderr.startswith("error: ")
    assert "Traceback" not in ran.stderr


@pytest.mark.skipif(not PATH.is_file(), reason="the report has not been made")
def test_the_report_that_is_shipped_names_no_folder():
    text = PATH.read_text("utf-8")
    assert "/work" not in text
    assert "/tmp" not in text
    assert "**no**" not in text
