"""U43: the faults of an existing command line, each shown not to be in this one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from notation import trace

from context_gc import compact_events
from context_gc.cli import main


def native(tmp_path, text: str, name: str = "t.jsonl") -> str:
    path = tmp_path / name
    path.write_text("\n".join(json.dumps(event) for event in trace(text)), "utf-8")
    return str(path)


def run(capsys, *arguments: str) -> tuple[int, str, str]:
    code = main(arguments)
    return code, *capsys.readouterr()


WRITES = "a x = 1\nb x = 2"


@pytest.mark.parametrize(
    "form",
    [
        lambda events: "\n" + json.dumps(events),
        lambda events: "\ufeff" + json.dumps(events),
        lambda events: "\ufeff" + "\r\n".join(map(json.dumps, events)),
        lambda events: json.dumps({"events": events}),
        lambda events: json.dumps({"events": events}, indent=2),
    ],
)
def test_u43_every_usual_form_of_a_file_is_read(tmp_path, capsys, form):
    path = tmp_path / "t.json"
    path.write_bytes(form(trace(WRITES)).encode())
    assert run(capsys, "compact", str(path)) == (0, "[RECEIPT a]\nx = 2\n", "")


def test_u43_a_pretty_printed_event_is_one_event(tmp_path, capsys):
    path = tmp_path / "t.json"
    path.write_text(json.dumps(trace("a x = 1")[0], indent=2))
    assert run(capsys, "compact", str(path)) == (0, "x = 1\n", "")


def test_u43_standard_input_is_a_source():
    data = "\n".join(map(json.dumps, trace(WRITES + "\nd decision bad \ud800 tail"))).encode()
    command, here = [sys.executable, "-m", "context_gc.cli", "compact", "-"], Path(__file__).parents[1]
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, input=data, capture_output=True, check=True, cwd=here, env=ascii_only)
    assert done.stdout.decode().splitlines() == ["[RECEIPT a]", "x = 2", "bad \ufffd tail"]


def test_u43_diff_shows_no_more_than_what_was_cut(tmp_path, capsys):
    events = trace("a decision one\nb decision two\nc decision three")
    path = tmp_path / "t.jsonl"
    path.write_text("\n".join(json.dumps(event) for event in reversed(events)))
    assert not [line for line in run(capsys, "diff", str(path))[1].splitlines() if line.startswith(("+", "-"))]
    cut = native(tmp_path, WRITES, "cut.jsonl")
    changed = [line for line in run(capsys, "diff", cut)[1].splitlines() if line.startswith(("+", "-"))]
    assert changed == ["-x = 1", "+[RECEIPT a]"]


def test_u43_json_holds_the_whole_result(tmp_path, capsys):
    found = json.loads(run(capsys, "compact", native(tmp_path, WRITES), "--json")[1])
    expected = compact_events(trace(WRITES))
    assert found == {key: expected[key] for key in expected if key != "graph"}


def test_u43_the_version_is_told(capsys):
    with pytest.raises(SystemExit) as left:
        main(["--version"])
    assert left.value.code == 0
    assert capsys.readouterr().out.startswith("context-gc ")


def test_u43_a_dry_run_counts_the_cost_of_the_stub(tmp_path, capsys):
    told_lines = run(capsys, "compact", native(tmp_path, WRITES), "--dry-run")[1].splitlines()
    result = compact_events(trace(WRITES))
    assert f"Prompt impact: {result['tokens_after'] - result['tokens_before']:+,} tokens" in told_lines[0]
    assert result.impact("a") == result["tokens_after"] - result["tokens_before"]


def test_u43_restore_gives_the_original_line(tmp_path, capsys):
    code, out, _ = run(capsys, "restore", native(tmp_path, WRITES), "a")
    assert (code, json.loads(out)) == (0, trace(WRITES)[0])
    code, out, error = run(capsys, "restore", native(tmp_path, WRITES), "b")
    assert (code, out, error.count("\n")) == (2, "", 1)
