"""OpenHands V0: what each kind of event becomes."""

from __future__ import annotations

import json

from importer_checks import told, tree, types
from openhands_records import FILE, GO, act, native, obs, only, read

from context_gc.trace import Usage

# events


def test_each_kind_of_event_has_its_own():
    trace = read(
        act(0, "system", content="Rules", tools=[]),
        act(1, "message", "user", content="Look", image_urls=["data:image/png;base64,AA"]),
        act(2, "message", content="Hello", wait_for_response=True),
        act(3, "think", thought="deep"),
        obs(4, "think", "Your thought has been logged.", 3),
        act(5, "run", command="ls", thought="List.", hidden=False, blocking=False),
        obs(6, "run", "a.py", 5, extras={"command": "ls", "metadata": {"exit_code": 2, "working_dir": "/r"}}),
        act(7, "finish", final_thought="Done.", thought="x"),
        act(8, "message", "environment", content="Be quick"),
    )
    assert told(trace) == [
        ("constraint", "Rules", ["system"]),
        ("requirement", "Look", ["user"]),
        ("requirement", "[image image/png]", ["user", "image"]),
        ("decision", "Hello", []),
        ("decision", "deep", ["think"]),
        ("decision", "List.", []),
        ("tool_call", "execute_bash", []),
        ("tool_result", "a.py", []),
        ("decision", "Done.", []),
        ("decision", "Be quick", ["notification"]),
    ]
    assert only(trace, "tool_call")[0]["arguments"] == {"command": "ls"}
    assert only(trace, "tool_result")[0]["exit_code"] == 2
    assert trace.ignored == {"think": 1}
    assert trace.cwd == "/r"
    assert trace.events[0]["origin"] == {"path": "0"}
    assert [event["timestamp"] - trace.events[0]["timestamp"] for event in trace.events[1:4]] == [1000, 1000, 2000]


def test_what_no_model_sees_is_counted_by_kind():
    unseen = [
        act(n, kind) for n, kind in enumerate(("change_agent_state", "null", "recall", "condensation_request"), 1)
    ]
    trace = read(GO, *unseen, obs(8, "agent_state_changed", ""), obs(9, "null", ""), act(10, "finish", thought=""))
    assert types(trace) == {"requirement": 1}
    assert trace.ignored == {
        "change_agent_state": 1,
        "null": 2,
        "recall": 1,
        "condensation_request": 1,
        "agent_state_changed": 1,
        "finish without text": 1,
    }


def test_instructions_that_were_recalled_are_constraints():
    known = [{"name": "git", "content": "Use git"}, 7]
    extras = {"repo_instructions": "Use tabs", "microagent_knowledge": known}
    trace = read(GO, obs(1, "recall", "Added workspace context", extras=extras), obs(2, "recall", "", extras={}))
    assert told(trace)[1:] == [("constraint", "Use tabs", ["system"]), ("constraint", "Use git", ["system"])]
    assert trace.ignored == {"recall": 1}


def test_a_native_call_has_the_models_own_arguments_and_id_and_its_response_is_counted_once():
    view = {"command": "view", "path": "/r"}
    trace = read(
        GO,
        native(1, "read", "str_replace_editor", view, "t1", path="/r", start=0, end=-1, thought="Look."),
        obs(2, "read", "a.py", 1),
        native(3, "read", "str_replace_editor", view, "t2", path="/r"),
        obs(4, "read", "a.py", 3),
    )
    calls = only(trace, "tool_call")
    assert [(call["id"], call["tool_name"], json.loads(call["arguments"])) for call in calls] == [
        ("t1", "str_replace_editor", view),
        ("t2", "str_replace_editor", view),
    ]
    assert trace.usage == [Usage("t2", 10, 7, 60, 30)]
    assert trace.model == "m"
    assert {event.get("message_id") for event in trace.events if event["type"] in ("decision", "tool_call")} == {"r1"}


def test_running_totals_are_read_where_there_is_no_response():
    def totals(prompt, completion, turn):
        counts = {"prompt_tokens": prompt, "completion_tokens": completion, "per_turn_token": turn}
        return {"llm_metrics": {"accumulated_token_usage": counts}}

    trace = read(
        GO,
        {**act(1, "message", content="one"), **totals(100, 10, 110)},
        {**act(2, "message", content="two"), **totals(250, 15, 155)},
        {**act(3, "message", content="four"), **totals(600, 40, 120)},
    )
    assert trace.usage == [Usage("e1", 100, 10), Usage("e2", 150, 5)]


def test_thinking_is_told_once_for_a_response():
    first = native(1, "run", "execute_bash", {"command": "a"}, "t1", command="a")
    second = native(3, "run", "execute_bash", {"command": "b"}, "t2", command="b")
    for event in (first, second):
        event["tool_call_metadata"]["model_response"]["choices"][0]["message"]["reasoning_content"] = "deep"
    trace = read(GO, first, obs(2, "run", "A", 1), second, obs(4, "run", "B", 3))
    assert [event["content"] for event in only(trace, "decision")] == ["deep"]


def test_failures_are_told_by_the_format():
    trace = read(
        GO,
        act(1, "run", command="a"),
        obs(2, "error", "no such tool", 1),
        act(3, "edit", path="/r/a"),
        obs(4, "edit", "?", 3, success=False),
        act(5, "run_ipython", code="edit_file_by_replace(…)"),
        obs(6, "run_ipython", f"[Your proposed edit has introduced new syntax error(s).]\n{FILE}", 5),
        act(7, "run", command="b"),
        obs(8, "run", "Error: text", 7, success=True),
        obs(9, "error", "lost"),
        act(10, "run", command="sleep"),
        obs(11, "run", "still running", 10, extras={"metadata": {"exit_code": -1}}),
    )
    assert [event.get("is_error") for event in only(trace, "tool_result")] == [True, True, True, None, None]
    assert not any("exit_code" in event for event in trace.events)
    assert only(trace, "error")[0]["message"] == "lost"


def test_code_that_only_shows_or_edits_a_part_of_a_file_knows_which():
    trace = read(
        GO,
        act(1, "run_ipython", code="open_file('/r/a.py')"),
        obs(2, "run_ipython", FILE, 1),
        act(3, "run_ipython", code="edit_file_by_replace('/r/a.py', to_replace='x', new_content='y')"),
        obs(4, "run_ipython", FILE.replace("total", "total after edit"), 3),
        act(5, "run_ipython", code="open_file('/r/a.py')\nprint(1)"),
        obs(6, "run_ipython", FILE, 5),
    )
    opened, edit, more = only(trace, "tool_call")
    assert opened["shows"] == edit["shows"] == {"path": "/r/a.py", "offset": 1, "limit": 1, "lines": 9}
    assert "shows" not in more


def test_a_rejected_call_is_given_up():
    trace = read(GO, act(1, "run", command="rm"), obs(2, "user_rejected", "keep it", 1), act(3, "run", command="ls"))
    (abandon,) = only(trace, "abandon")
    assert (abandon["ref_to"], abandon["content"]) == (["a1"], "keep it")
    assert tree(trace)["a3"] == "a1:abandon"


def test_undo_edit_gives_up_the_edit_alone():
    def edit(number, command, answer):
        arguments = {"command": command, "path": "/r/a"}
        call = native(number, "edit", "str_replace_editor", arguments, f"t{number}", f"r{number}", path="/r/a")
        return call, obs(number + 1, "edit", answer, number)

    trace = read(
        GO,
        *edit(1, "str_replace", "The file /r/a has been edited."),
        act(3, "run", command="make"),
        obs(4, "run", "failed", 3),
        *edit(5, "undo_edit", "Last edit to /r/a undone successfully."),
    )
    assert [event["ref_to"] for event in only(trace, "abandon")] == [["t1"]]
    assert tree(trace)["a3"] == "e0"


def test_what_a_person_runs_is_theirs():
    trace = read(GO, act(1, "run", "user", command="ls"), obs(2, "run", "a", 1))
    assert only(trace, "tool_call")[0]["tags"] == ["user"]
