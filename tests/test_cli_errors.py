"""The command line on bad input: one line on stderr that says what to do, exit code 2, never a traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TOUR = str(ROOT / "sample_traces" / "tour.json")


@pytest.fixture
def refused(tmp_path):
    """Run a command that must fail; gives its one line on stderr."""

    def refuse(*arguments: str, stdin: bytes = b"") -> str:
        command = [sys.executable, "-m", "context_gc.cli", *arguments]
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        told = subprocess.run(command, cwd=tmp_path, input=stdin, env=environment, capture_output=True, check=False)
        assert (told.returncode, told.stdout) == (2, b"")
        (line,) = told.stderr.decode("utf-8").splitlines()
        assert line.startswith("context-gc: ")
        return line

    return refuse


FILES = {
    "empty.json": (b"", "the file is empty"),
    "blank.json": (b" \n\n", "the file is empty"),
    "binary.json": (bytes(range(256)) * 20, "this is no trace format that is known here (known formats: native"),
    "archive.zip": (b"PK\x03\x04" + bytes(100), "the zip archive is damaged"),
    "prose.txt": (b"Dear diary,\ntoday nothing happened.\n", "this is no trace format"),
    "other.json": (json.dumps({"name": "x", "version": 1}).encode(), "this is no trace format"),
    "broken.json": (b'{"events": [{"id": 1, "type": "decision", "timestamp": 1, "content": "x"}]}', "none of its 1"),
}


@pytest.mark.parametrize("command", [("compact",), ("compact", "--dry-run"), ("diff",), ("validate",)], ids=" ".join)
@pytest.mark.parametrize(("name", "data", "why"), [(name, *told) for name, told in FILES.items()], ids=FILES)
def test_a_file_that_is_no_trace(command, name, data, why, tmp_path, refused):
    (tmp_path / name).write_bytes(data)
    line = refused(command[0], name, *command[1:])
    assert why in line
    assert name in line


@pytest.mark.parametrize("command", [["compact"], ["explain", "a"], ["restore", "a"], ["diff"], ["validate"]], ids=str)
def test_a_file_that_is_not_there(command, refused):
    name, *more = command
    assert "gone.json: the file cannot be read: no such file or directory (check the path)" in refused(
        name, "gone.json", *more
    )


def test_a_folder(tmp_path, refused):
    (tmp_path / "folder").mkdir()
    assert "folder: no trace could be read: it is empty (name a file or folder" in refused("compact", "folder")


def test_standard_input_without_anything(refused):
    assert "standard input: the file is empty" in refused("compact", "-")


@pytest.mark.parametrize("command", ["explain", "restore"])
def test_an_unknown_id(command, refused):
    assert "no event or receipt 'zzz'" in refused(command, TOUR, "zzz")


def test_a_live_event_was_never_pruned(refused):
    assert "'t03': was never pruned (the event is in the prompt)" in refused("restore", TOUR, "t03")


def test_a_protected_event_was_never_pruned(refused):
    assert "'t08': was never pruned" in refused("restore", TOUR, "t08")


def test_a_receipt_of_several_events_is_not_explained_as_one(refused):
    assert "cluster_8604fa1f9845" in refused("explain", TOUR, "cluster_8604fa1f9845")


@pytest.mark.parametrize("number", ["0", "2", "-1"])
def test_a_trace_or_a_window_that_the_file_does_not_have(number, refused):
    assert f"tour.json: there is no trace {number} (1 to 1)" in refused("compact", TOUR, f"--trace={number}")
    assert f"tour.json: there is no context window {number} (1 to 1)" in refused("diff", TOUR, f"--window={number}")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("x = ", "policy.toml: not TOML: "),
        ('stagez = ["overrides"]', "policy.toml: unknown key 'stagez' (known: stages, "),
        ('stages = ["override"]', "policy.toml: stages has 'override' (known: dead-branches, "),
        ("stubs = 3", "policy.toml: stubs is 3, expected a string"),
        ('[policy]\nstubs = "none"', "policy.toml: unknown key 'policy'"),
        ("\udcff", "policy.toml: cannot be read: not UTF-8 text"),
    ],
)
def test_a_bad_policy_file_is_named_with_what_is_wrong_in_it(text, why, tmp_path, refused):
    (tmp_path / "policy.toml").write_bytes(text.encode("utf-8", "surrogateescape"))
    assert why in refused("compact", TOUR, "--policy", "policy.toml")


def test_a_policy_file_that_cannot_be_read(tmp_path, refused):
    assert "gone.toml: cannot be read: " in refused("compact", TOUR, "--policy", "gone.toml")
    assert "cannot be read: " in refused("explain", TOUR, "t03", "--policy", str(tmp_path))


def test_newlines_in_names_break_no_line(refused):
    assert "no event or receipt" in refused("explain", TOUR, "a\nTraceback (most recent call last):\nb")
    assert "gone there.json: the file cannot be read" in refused("compact", "gone\nthere.json")


@pytest.mark.parametrize(
    "arguments", [[], ["compact"], ["compact", TOUR, "--window", "x"], ["squash", TOUR], ["compact", TOUR, "--fast"]]
)
def test_bad_usage_ends_with_2_and_says_what_is_wrong(arguments):
    command = [sys.executable, "-m", "context_gc.cli", *arguments]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    assert (told.returncode, told.stdout) == (2, b"")
    assert b"context-gc" in told.stderr.splitlines()[-1]
    assert b": error: " in told.stderr.splitlines()[-1]
    assert b"Traceback" not in told.stderr
