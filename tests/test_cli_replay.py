"""`context-gc replay` and `context-gc tune`: what they print, write and refuse."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from context_gc import Policy
from context_gc.cli import main


@pytest.fixture
def session(tmp_path):
    """A run of twelve reads, as native events."""
    events = [{"id": "u", "type": "requirement", "timestamp": 0, "content": "Read all.", "tags": ["user"]}]
    for turn in range(12):
        call = {"type": "tool_call", "tool_name": "read", "arguments": {"path": f"part_{turn}.py"}}
        text = f"VALUE_{turn} = {turn}\n" + "x = compute(value, other)\n" * 60
        events.append({"id": f"c{turn}", "timestamp": 2 * turn, "parent_id": events[-1]["id"], **call})
        result = {"type": "tool_result", "call_id": f"c{turn}", "result": text}
        events.append({"id": f"r{turn}", "timestamp": 2 * turn + 1, "parent_id": f"c{turn}", **result})
    events.append({"id": "d", "type": "decision", "timestamp": 99, "parent_id": "r11", "content": "Done."})
    path = tmp_path / "session.jsonl"
    path.write_text("\n".join(map(json.dumps, events)), "utf-8")
    return str(path)


@pytest.fixture
def grid(tmp_path):
    path = tmp_path / "grid.toml"
    path.write_text("max_prompt_tokens = [3_000, 50_000]\nmin_gain = [500]\n", "utf-8")
    return str(path)


SONNET = ("--model", "claude-sonnet-4-5")


def test_replay_prints_a_line_for_each_call_and_a_total(session, capsys):
    assert main(["replay", session, *SONNET]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1 + 13 + 1
    assert lines[0].split()[:3] == ["call", "full", "prompt"]
    assert [line.split()[0] for line in lines[1:-1]] == [str(number) for number in range(1, 14)]
    assert lines[-1].startswith("TOTAL 13 calls | $")
    assert "claude-sonnet-4-5" in lines[-1]


def test_replay_prints_the_prompt_of_one_call(session, capsys):
    assert main(["replay", session, "--at", "1"]) == 0
    assert capsys.readouterr().out == "REQUIREMENT: Read all.\n"


def test_replay_follows_a_policy(session, tmp_path, capsys):
    policy = tmp_path / "policy.toml"
    policy.write_text("[budget]\nmax_tokens = 4000\n", "utf-8")
    assert main(["replay", session, *SONNET, "--policy", str(policy)]) == 0
    assert "pass 1 (emergency) frees" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (("--at", "99"), "there is no model call 99"),
        (("--at", "0"), "there is no model call 0"),
        ((), "the model '' is not known"),
        (("--model", "house-1"), "the model 'house-1' is not known"),
        (("--trace", "2"), "there is no trace 2"),
        ((*SONNET, "--prices", "nowhere.toml"), "nowhere.toml: the prices cannot be read"),
    ],
)
def test_replay_refuses_in_one_line(session, capsys, more, told):
    assert main(["replay", session, *more]) == 2
    captured = capsys.readouterr()
    assert told in captured.err
    assert len(captured.err.splitlines()) == 1


def test_replay_of_a_trace_without_calls_says_so(tmp_path, capsys):
    path = tmp_path / "quiet.jsonl"
    path.write_text('{"id": "a", "type": "requirement", "timestamp": 0, "content": "hello"}\n', "utf-8")
    assert main(["replay", str(path), *SONNET]) == 2
    assert "it has no model call" in capsys.readouterr().err


def test_tune_recommends_a_policy_and_writes_it_and_the_report(session, grid, tmp_path, capsys):
    out, page = tmp_path / "policy.toml", tmp_path / "report.html"
    asked = ["tune", session, *SONNET, "--grid", grid, "--max-tokens", "100000", "--processes", "1"]
    assert main([*asked, "--out", str(out), "--report", str(page)]) == 0
    told = capsys.readouterr().out
    assert "100.0%" in told
    assert "*max_prompt_tokens=" in told
    assert Policy.load(str(out)).budget is not None
    assert page.read_text("utf-8").startswith("<!doctype html>")


def test_tune_says_when_nothing_meets_the_conditions(session, tmp_path, capsys):
    grid = tmp_path / "grid.toml"
    told = "max_prompt_tokens = [1_500]\ntarget = [0.2]\nmin_gain = [100]\nrecent_observations = [0]\n"
    grid.write_text(told, "utf-8")
    out = tmp_path / "policy.toml"
    recalls = [json.loads(line) for line in Path(session).read_text("utf-8").splitlines()]
    recalls[-1]["content"] = " ".join(f"VALUE_{n}" for n in range(12))
    path = tmp_path / "recalls.jsonl"
    path.write_text("\n".join(map(json.dumps, recalls)), "utf-8")
    asked = ["tune", str(path), *SONNET, "--grid", str(grid), "--max-tokens", "100000", "--processes", "1"]
    assert main([*asked, "--out", str(out)]) == 1
    assert "No policy meets the conditions; they miss M1" in capsys.readouterr().out
    assert not out.exists()


def test_tune_leaves_out_what_it_cannot_replay_and_says_so(session, grid, tmp_path, capsys):
    quiet = tmp_path / "quiet.jsonl"
    quiet.write_text('{"id": "a", "type": "requirement", "timestamp": 0, "content": "hello"}\n', "utf-8")
    asked = [*SONNET, "--grid", grid, "--max-tokens", "100000", "--processes", "1"]
    assert main(["tune", str(quiet), session, *asked]) == 0
    assert "quiet.jsonl" in capsys.readouterr().err
    assert main(["tune", str(quiet), *asked]) == 2
    assert "no trace can be replayed" in capsys.readouterr().err


def test_tune_refuses_a_contradictory_grid(session, tmp_path, capsys):
    grid = tmp_path / "grid.toml"
    grid.write_text("threshold_low = [0.95]\n", "utf-8")
    assert main(["tune", session, *SONNET, "--grid", str(grid), "--max-tokens", "100000"]) == 2
    assert "threshold_low is 0.95 and threshold_high is 0.92" in capsys.readouterr().err


def test_tune_says_when_it_cannot_write(session, grid, tmp_path, capsys):
    asked = ["tune", session, *SONNET, "--grid", grid, "--max-tokens", "100000", "--processes", "1"]
    assert main([*asked, "--out", str(tmp_path / "no" / "such" / "policy.toml")]) == 2
    assert "it cannot be written" in capsys.readouterr().err
