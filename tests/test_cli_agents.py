"""The commands `mcp`, `hook` and `report`, as they are typed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from notation import trace

from context_gc import ContextGC
from context_gc.cli import main
from context_gc.terminal_report import cells

ROOT = Path(__file__).parents[1]
SAMPLE = ROOT / "sample_traces" / "claude-code-session.jsonl"
MARK = re.compile("\x1b\\[[0-9;]*m")


def told(capsys, *arguments):
    code = main([str(each) for each in arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def without_rich(*arguments):
    """The command where rich is not installed."""
    program = (
        "import sys; sys.modules['rich'] = sys.modules['rich.console'] = None; from context_gc.cli import main; main()"
    )
    line = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.run(
        line, capture_output=True, env={**os.environ, "PYTHONPATH": str(ROOT)}, text=True, check=True, encoding="utf-8"
    ).stdout


@pytest.mark.parametrize("command", ["mcp", "hook", "report"])
def test_each_command_has_help(command, capsys):
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert (ended.value.code, "usage: context-gc" in capsys.readouterr().out) == (0, True)


@pytest.mark.parametrize("width", [40, 80, 200])
def test_the_report_begins_with_what_was_found(capsys, width):
    code, out, err = told(capsys, "report", SAMPLE, "--width", width)
    assert (code, err) == (0, "")
    assert "17 turns, 2,219 tokens." in " ".join(out.split())
    assert all(cells(line) <= width for line in out.splitlines())


def test_a_pipe_gets_no_colours(capsys):
    assert "\x1b" not in told(capsys, "report", SAMPLE)[1]


def test_a_terminal_gets_colours_and_no_color_takes_them_away(capsys, monkeypatch):
    pytest.importorskip("rich", reason="the extra cli is not installed")
    plain = told(capsys, "report", SAMPLE, "--width", 80)[1]
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    coloured = told(capsys, "report", SAMPLE, "--width", 80)[1]
    assert "\x1b[32m" in coloured
    assert MARK.sub("", coloured) == plain
    monkeypatch.setenv("NO_COLOR", "1")
    assert not re.search("\x1b\\[3[0-9]", told(capsys, "report", SAMPLE, "--width", 80)[1])


def test_without_rich_it_is_the_same_text(capsys):
    assert without_rich("report", SAMPLE, "--width", 80) == told(capsys, "report", SAMPLE, "--width", 80)[1]


def test_text_that_looks_like_markup_stays_text(capsys, written):
    name = "[bold red]x[/] [/nope] :smile: [link=https://x.example]y[/link]"
    event = {"id": "a", "type": "tool_call", "timestamp": 1, "tool_name": name, "arguments": {}}
    assert name in told(capsys, "report", written([event]), "--width", 200)[1]


def test_a_run_directory_is_reported(capsys, tmp_path):
    client = ContextGC(run_id="main")
    client.extend(trace("v1 x = 1\nv2 x = 2"))
    client.compact()
    client.save(tmp_path)
    code, out, _ = told(capsys, "report", tmp_path)
    assert (code, "overrides: " in out, "Problems" in out) == (0, True, False)


def test_a_session_of_claude_code_is_found_by_its_id(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    folder = tmp_path / ".claude" / "projects" / "-w"
    folder.mkdir(parents=True)
    (folder / "0bf0da57-1111.jsonl").write_bytes(SAMPLE.read_bytes())
    assert "17 turns" in told(capsys, "report", "0bf0da57-1111")[1]
    code, _, err = told(capsys, "report", "0bf0da57-2222")
    assert (code, "cannot be read" in err) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["--trace", "9"], "there is no trace 9 (1 to 1)"),
        (["--window", "0"], "there is no context window 0 (1 to 1)"),
        (["--width", "39"], "39 columns are too few (give 40 or more)"),
        (["--format", "nope"], "'nope' is no format"),
        (["--policy", "missing.toml"], "missing.toml"),
    ],
)
def test_bad_usage_is_told_on_one_line(capsys, arguments, what):
    code, out, err = told(capsys, "report", SAMPLE, *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert what in err


def test_the_server_needs_a_store(capsys, tmp_path):
    code, _, err = told(capsys, "mcp", "--store", tmp_path / "missing")
    assert (code, err.startswith(f"context-gc: {tmp_path / 'missing'}: it cannot be opened")) == (2, True)


def test_a_missing_package_is_named_with_its_extra(capsys, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "mcp.server.lowlevel", None)
    code, _, err = told(capsys, "mcp", "--store", tmp_path)
    assert (code, "install context-gc[mcp]" in err) == (2, True)
