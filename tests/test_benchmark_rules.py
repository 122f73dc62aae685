"""What stages save on recorded sessions: counted window by window, without what is repeated or was never sent."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from notation import trace

from context_gc.benchmark import rules
from context_gc.errors import TraceError
from context_gc.tokens import COUNTERS
from context_gc.trace import Trace, Window

READS = """
k1 constraint be brief
c1 call read_file {"path": "a.py"}
r1 result c1 row ×40
c2 call read_file {"path": "a.py"}
r2 result c2 row ×40
"""


def session(text, **more):
    events = trace(text)
    return Trace(events, "native", "s.jsonl", windows=[Window(0, len(events))], **more)


def test_a_stage_saves_what_its_cuts_take_from_the_prompt():
    told = rules.saved(trace(READS), "chars4")
    lines = ['CALL read_file({"path": "a.py"})', "RESULT " + "\n".join(f"row {n}" for n in range(1, 41))]
    unit = sum(COUNTERS["chars4"].count(line + "\n") for line in lines)
    stub = COUNTERS["chars4"].count("[RECEIPT c1] +1\n")
    assert told.by_stage == {"duplicates": unit - COUNTERS["chars4"].count("[RECEIPT c2] +1\n")}
    assert told.saved == unit - stub
    assert told.before == 2 * unit + COUNTERS["chars4"].count("CONSTRAINT: be brief\n")


def test_what_a_window_repeats_is_left_out_of_the_figures():
    events = trace(READS)
    for event in events[1:3]:
        event["repeats"] = "earlier"
    told = rules.saved(events, "chars4")
    assert told.before < rules.saved(trace(READS), "chars4").before
    assert told.saved > 0


def test_what_was_never_sent_is_left_out_wholly():
    whole = session(READS)
    for event in whole.events[3:]:
        event["unsent"] = True
    (window,) = rules.windows(whole)
    assert window.saved == 0
    assert window.before == rules.saved(trace(READS)[:3], "o200k").before


def test_windows_are_counted_apart_with_the_model_s_own_counter():
    two = session(READS, model="claude-opus-4-5")
    two.windows = [Window(0, 3), Window(3, 5)]
    first, second = rules.windows(two)
    assert (first.saved, second.saved) == (0, 0)
    assert first.before == rules.saved(two.events[:3], "claude").before
    assert first.before != rules.saved(two.events[:3], "o200k").before


def told(name, kind, *pairs):
    windows = [rules.Saved(before, {"stale-reads": gone} if gone else {}) for before, gone in pairs]
    return rules.Session(name, kind, windows)


def test_the_report_has_a_row_a_window_their_sum_and_the_medians_against_the_goals():
    found = [told("a", "pi", (1_000, 50), (1_000, 150)), told("b", "pi", (100, 30)), told("c", "pi", (100, 0))]
    lines = rules.report(found).split("\n")
    assert [line.split(" | ")[1] for line in lines if line.startswith("| a")] == ["1", "2", "all"]
    assert [line for line in lines if line.startswith("| a | all")] == [
        "| a | all | 2,000 |  |  |  |  | 200 |  |  | 200 | 10.0 |"
    ]
    assert lines[-1] == "| pi | 3 | 10.0 | 10 | yes | 2,200 | 10.5 |"
    assert rules.report([told("c", "pi", (100, 9))]).split("\n")[-1] == "| pi | 1 | 9.0 | 10 | no | 100 | 9.0 |"


def test_a_format_without_a_goal_reaches_none():
    assert rules.report([told("x", "aider", (100, 9))]).split("\n")[-1] == "| aider | 1 | 9.0 |  |  | 100 | 9.0 |"


def run(*arguments):
    command = [sys.executable, "-m", "context_gc.benchmark", "rules", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_files_folders_and_lists_are_read(tmp_path):
    lines = "\n".join(json.dumps(event) for event in trace(READS))
    (tmp_path / "s.jsonl").write_text(lines, "utf-8")
    (tmp_path / "list.txt").write_text("# real ones\n\ns.jsonl\n", "utf-8")
    by_list, by_path = run("--list", tmp_path / "list.txt"), run(tmp_path / "s.jsonl")
    assert by_list.stdout == by_path.stdout
    assert "| s.jsonl | all |" in run(tmp_path).stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [((), "name a file or a folder"), (("nowhere",), "nowhere"), (("--list", "nowhere"), "the list cannot be read")],
)
def test_no_session_a_path_that_is_not_there_and_a_list_that_is_not_there_are_told(arguments, told, tmp_path):
    done = run(*arguments)
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def test_a_list_that_is_no_text_is_told(tmp_path):
    (tmp_path / "list").write_bytes(b"\xff\xfe\x00\xd8")
    with pytest.raises(TraceError, match="not utf-8 text"):
        rules.listed(str(tmp_path / "list"))
