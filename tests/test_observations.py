"""Observations: what each shape that agents log says."""

from __future__ import annotations

import pytest

from context_gc import semantics
from context_gc.semantics import Command, FileEdit, FileRead
from context_gc.summary.observations import observe, plain


@pytest.mark.parametrize("value", ["text", "", "\ud800"])
def test_a_string_says_itself_and_may_be_what_the_agent_said(value):
    found = observe(value)
    assert (found.text, found.spoken, found.failed, found.facts) == (value, True, False, ())


@pytest.mark.parametrize(
    "value",
    [
        {"tool": "bash", "args": {"command": "pytest -q"}, "output": "1 failed", "exit_code": 1},
        {"tool_name": "bash", "arguments": '{"command": "pytest -q"}', "result": "1 failed", "exitCode": 1},
        {"name": "shell", "input": {"cmd": ["pytest", "-q"]}, "stdout": "1 failed", "returncode": 1},
        {"command": "pytest -q", "stdout": "1 failed", "stderr": "", "exit_code": 1},
        {"tool": "bash", "command": "pytest -q", "output": {"stdout": "1 failed", "exit_code": 1}},
    ],
)
def test_a_record_of_a_command_says_the_command_its_exit_code_and_its_output(value):
    found = observe(value)
    assert found.facts == (semantics.TestRun("pytest -q", 1),)
    assert found.text.strip() == "1 failed"
    assert (found.failed, found.spoken, found.exit_code) == (True, False, 1)


@pytest.mark.parametrize(
    ("value", "text", "error"),
    [
        ({"tool": "get", "args": {}, "error": "no such host", "output": None}, "no such host", "no such host"),
        ({"tool": "get", "args": {}, "error": {"message": "late", "code": 5}}, "late", "late"),
        ({"tool": "get", "args": {}, "output": "text", "success": False}, "text", ""),
        ({"tool": "get", "args": {}, "output": "text", "error": True}, "text", ""),
        ({"type": "tool_result", "tool_use_id": "t", "content": "bad", "is_error": True}, "bad", ""),
        ({"id": "e", "type": "error", "timestamp": 1, "message": "bad"}, "ERROR: bad", ""),
        ({"id": "b", "type": "build_run", "timestamp": 1, "exit_code": 2}, "BUILD -> exit 2", ""),
    ],
)
def test_an_observation_that_failed_says_so(value, text, error):
    found = observe(value)
    assert (found.failed, found.text, found.error) == (True, text, error)


@pytest.mark.parametrize("error", [None, "", False, 0, {}, []])
def test_an_empty_error_is_none(error):
    assert not observe({"tool": "get", "args": {}, "output": "ok", "error": error, "exit_code": 0}).failed


def test_an_openai_tool_message_says_its_content_and_is_not_what_the_agent_said():
    found = observe({"role": "tool", "tool_call_id": "c", "content": [{"type": "text", "text": "a"}]})
    assert (found.text, found.spoken) == ("a", False)


def test_an_openai_assistant_message_says_its_text_and_its_calls():
    call = {"id": "c", "type": "function", "function": {"name": "read_file", "arguments": '{"path": "a.py"}'}}
    found = observe({"role": "assistant", "content": "I'll look.", "tool_calls": [call]})
    assert (found.text, found.spoken, found.facts) == ("I'll look.", True, (FileRead("a.py"),))
    assert found.head == "read_file(a.py)"


def test_an_anthropic_message_says_its_blocks():
    blocks = [
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "text", "text": "Now the edit."},
        {"type": "tool_use", "id": "t", "name": "Edit", "input": {"file_path": "a.py", "old_string": "x"}},
    ]
    found = observe({"role": "assistant", "content": blocks})
    assert (found.text, found.spoken, found.facts) == ("hm\nNow the edit.", True, (FileEdit("a.py"),))
    results = [{"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "done"}]}]
    found = observe({"role": "user", "content": results})
    assert (found.text, found.spoken) == ("done", False)


def test_an_image_is_a_placeholder():
    image = {"type": "image", "source": {"type": "base64", "data": "A" * 100}}
    assert observe({"role": "tool", "content": [image]}).text == "[image]"


@pytest.mark.parametrize(
    ("event", "stated", "facts"),
    [
        ({"type": "decision", "content": "use sqlite"}, True, ()),
        ({"type": "command_run", "command": "ls", "exit_code": 0}, False, (Command("ls", 0),)),
        ({"type": "file_edit", "path": "a.py", "diff_hash": "1a2b3c4d"}, False, (FileEdit("a.py"),)),
    ],
)
def test_an_event_of_ours_says_its_line(event, stated, facts):
    found = observe({"id": "e", "timestamp": 1, **event})
    assert (found.stated, found.facts, found.spoken) == (stated, facts, False)


@pytest.mark.parametrize("value", [{"type": "decision"}, {"type": []}, {"a": 1}, {}, [], 1, None, True, 1.5])
def test_what_has_no_known_shape_says_its_json(value):
    found = observe(value)
    assert found.text == ("" if value == [] else plain(value)) or found.text == plain({"content": value})
    assert not found.failed


def test_depth_and_length_are_no_matter():
    deep: object = "x"
    for _ in range(5_000):
        deep = {"content": [deep]}
    assert not observe(deep).failed
    spaces = observe({"tool": "bash", "args": {"command": "mvn" + " " * 1_000_000 + "x"}, "exit_code": 0})
    assert spaces.facts[0].exit_code == 0
