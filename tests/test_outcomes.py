"""Outcomes: what counts as a failure, in which words it is told, and which two are alike."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from notation import trace

from context_gc.outcomes import (
    error_lines,
    exit_code,
    failed,
    first_error_line,
    is_cut_short,
    is_refusal,
    is_stand_in,
    same_outcome,
    text_of,
)


def unit(tool, value, **fields):
    call = {"id": "c1", "type": "tool_call", "timestamp": 1, "tool_name": tool, "arguments": {}}
    return call, [{"id": "r1", "type": "tool_result", "timestamp": 2, "call_id": "c1", "result": value, **fields}]


CODEX = json.dumps({"output": "no such target", "metadata": {"exit_code": 2, "duration_seconds": 0.1}})
UNIFIED = "Chunk ID: a1b2\nWall time: 0.5 seconds\nProcess exited with code 2\nOriginal token count: 9\nOutput:\nbroken"
GEMINI = (
    "Command: make\nDirectory: (root)\nStdout: (empty)\nStderr: broken\nError: (none)\nExit Code: 2\nSignal: (none)"
)
OPENHANDS = (
    "broken\n[The command completed with exit code 2.]\n[Current working directory: /src]\n[Python: /usr/bin/python]"
)

WITH_CODE_2 = {
    "Claude Code": ("Bash", "Exit code 2\nmake: *** [all] Error 1"),
    "Codex, JSON": ("shell", CODEX),
    "Codex, header": ("shell", "Exit code: 2\nWall time: 0.1 seconds\nOutput:\nbroken"),
    "Codex, unified exec": ("exec_command", UNIFIED),
    "a patch that Codex refused": ("apply_patch", CODEX),
    "Gemini CLI": ("run_shell_command", GEMINI),
    "pi": ("bash", "(no output)\n\nCommand exited with code 2"),
    "kimi": ("Bash", "z: not found\nCommand failed with exit code: 2."),
    "Copilot CLI": ("bash", "broken\n<exited with exit code 2>"),
    "OpenHands": ("execute_bash", OPENHANDS),
    "mini-swe-agent": ("bash", "<returncode>2</returncode>\n<output>\nbroken\n</output>"),
    "a structured result": ("run", {"stdout": "", "stderr": "broken", "exitCode": 2}),
    "a code beside the metadata": ("run", {"output": "broken", "metadata": {"returncode": 2}}),
    "text blocks": ("Bash", [{"type": "text", "text": "Exit code 2\nbroken"}]),
}


@pytest.mark.parametrize("name", WITH_CODE_2)
def test_an_exit_code_that_a_harness_tells_is_known_and_is_a_failure(name):
    lead, results = unit(*WITH_CODE_2[name])
    assert exit_code(lead, results) == 2
    assert failed(lead, results)
    tool, value = WITH_CODE_2[name]
    fine = json.loads(json.dumps(value).replace("2", "0"))
    assert not failed(*unit(tool, fine))


@pytest.mark.parametrize(
    ("tool", "value", "fields"),
    [
        ("get", "no", {"is_error": True}),
        ("get", "no", {"exit_code": 1}),
        ("Read", "<tool_use_error>File does not exist.</tool_use_error>", {}),
        ("mcp__x__get", {"isError": True, "content": [{"type": "text", "text": "no"}]}, {}),
        ("get", {"success": False}, {}),
        ("get_user", "Error: user not found", {}),
        ("read_file", "Error reading file: no such file", {}),
    ],
)
def test_flags_and_a_tool_that_says_error_are_failures(tool, value, fields):
    assert failed(*unit(tool, value, **fields))


@pytest.mark.parametrize(
    ("tool", "value"),
    [
        ("Bash", "the last build had an error: see the log. Exit code 1 is what it returned"),
        ("Bash", "Error: is the first word of this file"),
        ("Bash", "ok\nExit Code: 1\nis what make would return"),
        ("Read", "Exit code 1\nis the first line of this file"),
        ("read_file", '{"output": "x", "exit_code": 1}'),
        ("Grep", "a.py:3: raise ValueError: Command exited with code 1"),
        ("get", {"errors": [], "error_count": 3}),
        ("get_job", {"status": "failed"}),
        ("get", None),
        ("get", ["Exit", 1, None, [[["deep"]]]]),
        ("search", "Error: " + "a page about errors " * 200),
    ],
)
def test_text_that_merely_talks_about_errors_is_no_failure(tool, value):
    assert not failed(*unit(tool, value))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.sampled_from(("output", "metadata", "exit_code", "text")), inner)
    ),
    max_leaves=8,
)


@settings(deadline=None)
@given(JSON, st.sampled_from(("Bash", "Read", "get")))
def test_no_result_is_too_odd_to_be_looked_at(value, tool):
    for shown in (value, json.dumps(value)):
        lead, results = unit(tool, shown)
        assert failed(lead, results) in (True, False)
        assert exit_code(lead, results) is None or type(exit_code(lead, results)) is int
        assert same_outcome(results[0], {**results[0]})
        first_error_line(text_of(results[0])).encode()


def test_a_result_that_is_nested_deeply_is_looked_at():
    deep: list = []
    for _ in range(100_000):
        deep = [deep]
    lead, results = unit("Bash", deep)
    assert not failed(lead, results)
    assert text_of(results[0]) == ""
    assert not failed(*unit("Bash", '{"output": ' + "[" * 100_000 + '"exit_code"'))


def test_a_call_without_a_result_has_not_failed():
    call, _ = unit("Bash", "")
    assert not failed(call, ())
    assert exit_code(call, ()) is None


@pytest.mark.parametrize(
    ("text", "bad"),
    [("m1 run make -> 2", True), ("m1 run make -> 0", False), ("t1 test a b -> 1", True), ("t1 test a b -> 0", False),
     ("x1 error it broke", True), ("b1 read a.py", False)],
)  # fmt: skip
def test_acts_that_hold_their_own_outcome(text, bad):
    (event,) = trace(text)
    assert failed(event, ()) == bad


def test_of_several_results_any_failure_counts_and_the_last_code_is_told():
    lead, first = unit("Bash", "Exit code 2\nbroken")
    _, second = unit("Bash", "Exit code 0\nfine")
    assert failed(lead, first + second)
    assert exit_code(lead, first + second) == 0


def test_the_text_is_taken_out_of_its_envelope():
    (result,) = unit("shell", CODEX)[1]
    assert text_of(result) == "no such target"
    (result,) = unit("view", [{"type": "text", "text": "a"}, {"type": "image", "source": {}}])[1]
    assert text_of(result) == "a\n[image]"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("collected 9 items\n\nE   AssertionError: 1 != 2\n", "E AssertionError: 1 != 2"),
        ("ok\n../a.ts(28,2): error TS2739: Type is missing", "../a.ts(28,2): error TS2739: Type is missing"),
        ("start\nerror[E0308]: mismatched types", "error[E0308]: mismatched types"),
        ("  1) test renders rows (AppTest)\n", "1) test renders rows (AppTest)"),
        ("ok\nls: /x: No such file or directory\n", "ls: /x: No such file or directory"),
        ("** (RuntimeError) it broke", "** (RuntimeError) it broke"),
        ("Exit code 1\n\nnothing to commit", "nothing to commit"),
        ("Exit code 1", "Exit code 1"),
        ("", ""),
        ("fatal: not a git\x1b[31m repository\ud800", "fatal: not a git [31m repository"),
    ],
)
def test_the_first_line_that_tells_of_an_error(text, line):
    assert first_error_line(text) == line


def test_the_first_error_line_is_bounded():
    assert first_error_line("ValueError: " + "x" * 1_000_000) == "ValueError: " + "x" * 107 + "…"
    assert len(first_error_line("x" * 1_000_000, limit=10)) == 10


def test_source_code_has_no_error_lines_where_it_handles_errors():
    code = (
        "try:\n    run()\nexcept ValueError:\n    raise\nclass MyError(Exception):\n    pass\nif not found:\n    pass"
    )
    assert list(error_lines(code)) == []


def test_looking_for_error_lines_is_linear():
    """Each of these took minutes if a step looked at what lies before it again."""
    started = time.perf_counter()
    for text in ("error " * 500_000, "x\nerror: y\n" * 300_000, "\n" * 3_000_000, "E  " * 1_000_000):
        first_error_line(text)
        is_cut_short(text + "[truncated")
        is_stand_in(text)
    assert time.perf_counter() - started < 60


def test_two_outcomes_are_alike_but_for_chunk_ids_and_measured_times():
    def told(value, **fields):
        return unit("exec_command", value, **fields)[1][0]

    assert same_outcome(told(UNIFIED), told(UNIFIED.replace("a1b2", "c3d4").replace("0.5", "12.25")))
    assert same_outcome(told("1 failed in 0.12s"), told("1 failed in 3.4s"))
    assert same_outcome(told(CODEX), told(CODEX.replace("0.1", "0.25")))
    assert not same_outcome(told("1 failed in 0.12s"), told("2 failed in 0.12s"))
    assert not same_outcome(told("timeout after 30s"), told("timeout after 60s"))
    assert not same_outcome(told("no"), told("no", is_error=True))
    assert not same_outcome(told({"a": 1}), told({"a": True}))
    assert not same_outcome(told("1"), told(1))
    first, second = trace("m1 run make -> 2 : broken\nm2 run make -> 1 : broken")
    assert not same_outcome(first, second)


@pytest.mark.parametrize(
    ("text", "notice"),
    [
        ("File unchanged since last read. The content from the earlier result is still current.", True),
        ("Wasted call — file unchanged since your last Read. Refer to that earlier tool_result instead.", True),
        ("[Old tool result content cleared]", True),
        ("[[NOTE] This file read has been removed to save space in the context window.]", True),
        ("<system-reminder>the file exists but the contents are empty.</system-reminder>", True),
        ("Command running in background with ID: b1", True),
        ("x = 1\n<system-reminder>be careful</system-reminder>", False),
        ("# what is unchanged since 1.0\n" + "x = 1\n" * 200, False),
        ("", False),
    ],
)
def test_notices_that_stand_in_for_an_answer(text, notice):
    assert is_stand_in(text) == notice


def test_a_short_text_that_tells_why_there_is_nothing_is_a_refusal():
    assert is_refusal("cat: a: No such file or directory")
    assert is_refusal("File content (85812 tokens) exceeds maximum allowed tokens (25000).")
    assert not is_refusal("x = 1")
    assert not is_refusal("if not found:\n    raise\n" * 100)


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("a\n... [5804 characters truncated] ...\nb", True),
        ("a\n[Output truncated: showing 30 of 256 lines]", True),
        ("a\n…123 tokens truncated…\nb", True),
        ("a\n<response clipped>", True),
        ("a\n[Showing lines 1464-2638 of 2638 (50.0KB limit)]", True),
        ("def truncated(text):\n    return text", False),
        ("", False),
    ],
)
def test_what_a_tool_cut_short_says_so(text, cut):
    assert is_cut_short(text) == cut
