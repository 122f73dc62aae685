"""The command line as a process: version, help, standard input, encodings, closed pipes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
TOUR = str(ROOT / "sample_traces" / "tour.json")


def run(*arguments: str, stdin: bytes = b"", **environment: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "context_gc.cli", *arguments]
    inherited = {name: value for name, value in os.environ.items() if name not in ("PYTHONIOENCODING", "PYTHONUTF8")}
    return subprocess.run(command, cwd=ROOT, input=stdin, capture_output=True, env=inherited | environment, check=False)


def variable(name: str, value: Any, timestamp: int, **more: Any) -> dict[str, Any]:
    return {"id": name, "type": "set_var", "timestamp": timestamp, "key": "k", "value": value, **more}


def test_standard_input_is_read_for_a_dash():
    piped = run("compact", "-", stdin=Path(TOUR).read_bytes())
    assert (piped.returncode, piped.stdout, piped.stderr) == (0, run("compact", TOUR).stdout, b"")


def test_the_version_is_printed():
    assert re.fullmatch(rb"context-gc \S.*\n", run("--version").stdout)


@pytest.mark.parametrize("command", ["compact", "explain", "restore", "diff", "validate", "inspect"])
def test_each_command_has_help(command):
    shown = run(command, "--help")
    assert shown.returncode == 0
    assert f"usage: context-gc {command}".encode() in shown.stdout


@pytest.mark.parametrize(
    "more", [("compact",), ("compact", "--dry-run"), ("compact", "--json"), ("diff",), ("validate",)], ids=" ".join
)
def test_output_is_utf8_whatever_the_locale_also_for_lone_surrogates(more, written):
    events = [variable("ü\ud800", "1", 1), variable("b", "€ \ud83d", 2), variable("c", "漢", 3, key="\udfff")]
    command, *options = more
    shown = run(command, written(events), *options, LC_ALL="C", LANG="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    assert (shown.returncode, shown.stderr) == (0, b"")
    assert ("漢" in shown.stdout.decode("utf-8")) == (more not in (("compact", "--dry-run"), ("validate",)))


def test_an_original_with_lone_surrogates_is_restored_as_it_was(written):
    event = variable("a", "€ \ud83d", 1)
    shown = run("restore", written([event, variable("b", 2, 2)]), "a", LC_ALL="C", LANG="C", PYTHONUTF8="0")
    assert json.loads(shown.stdout.decode("utf-8")) == event


@pytest.mark.parametrize(
    "options", [["compact"], ["compact", "--dry-run"], ["compact", "--json"], ["diff"]], ids=" ".join
)
def test_a_reader_that_has_seen_enough_is_no_error(options, written):
    events = [variable(f"e{at:05}", "word " * 40, at, key=f"k{at // 2}") for at in range(4_000)]
    command = [sys.executable, "-m", "context_gc.cli", options[0], written(events), *options[1:]]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0
