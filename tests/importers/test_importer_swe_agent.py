"""SWE-agent: what entries and steps become, which of them agree, and what the recorded runs hold."""

from __future__ import annotations

import json

import pytest
from importer_checks import accounted, check, told, tree, types

from context_gc.errors import TraceError
from context_gc.importers import swe_agent
from context_gc.importers.files.decode import decode
from context_gc.trace import Problem

FILE = "[File: /r/a.py (90 lines total)]\n(20 more lines above)\n21:x\n22:y\n(68 more lines below)"
AT_R = json.dumps({"open_file": "n/a", "working_dir": "/r"})


def read_all(data, name="run.traj"):
    return swe_agent.read(decode(data if isinstance(data, bytes) else json.dumps(data).encode(), name))


def read(history=None, steps=None, **more):
    run = {"trajectory": steps, "history": history, "info": {"exit_status": "submitted"}, **more}
    traces = read_all({key: value for key, value in run.items() if value is not None})
    check(traces)
    assert accounted(traces) == len(history or ()) + len(steps or ())
    (trace,) = traces
    return trace


def entry(role, content, **more):
    return {"role": role, "content": content, "agent": "main", **more}


def acts(action, thought="Hm.", **more):
    return entry("assistant", f"{thought}\n```\n{action}\n```", thought=thought, action=action, **more)


def calls(tool, arguments, name="c1", thought="Hm."):
    function = {"name": tool, "arguments": json.dumps(arguments)}
    call = {"function": function, "id": name, "type": "function"}
    return entry("assistant", thought, thought=thought, action=f"{tool} …", tool_calls=[call])


def step(action, observation="", state=AT_R, thought="Hm."):
    return {"action": action, "observation": observation, "response": thought, "thought": thought, "state": state}


def only(trace, kind):
    return [event for event in trace.events if event["type"] == kind]


# what entries become


def test_each_entry_has_its_events_and_the_last_observation_comes_from_its_step():
    trace = read(
        [
            entry("system", "Rules"),
            entry("user", "ISSUE:\nIt crashes\nat noon"),
            acts("ls\n"),
            entry("user", "a.py\n(Open file: n/a)"),
            acts("submit"),
        ],
        [step("ls\n", "a.py"), step("submit", "diff …")],
    )
    assert told(trace) == [
        ("constraint", "Rules", ["system"]),
        ("requirement", "ISSUE:\nIt crashes\nat noon", ["user"]),
        ("decision", "Hm.", []),
        ("tool_call", "bash", []),
        ("tool_result", "a.py\n(Open file: n/a)", []),
        ("decision", "Hm.", []),
        ("tool_call", "submit", []),
        ("tool_result", "diff …", []),
    ]
    assert [event["arguments"] for event in only(trace, "tool_call")] == [{"command": "ls\n"}, {"command": "submit"}]
    assert trace.events[4]["origin"] == {"path": "history/3"}
    assert trace.events[7]["origin"] == {"path": "trajectory/1"}
    assert trace.title == "It crashes"
    assert trace.extra["exit_status"] == "submitted"
    assert {event["timestamp"] for event in trace.events} == {0}


def test_demonstrations_and_limits_are_counted_and_not_shown():
    trace = read(
        [
            entry("user", "Here is how", is_demo=True),
            acts("ls", is_demo=True),
            entry("user", "Go"),
            acts("exit_cost", "Exit due to cost limit"),
        ],
        [step("exit_cost", "Exited (autosubmitted)", thought="Exit due to cost limit")],
    )
    assert told(trace) == [("requirement", "Go", ["user"])]
    assert trace.ignored == {"demonstration": 2, "exit": 2}


def test_steps_without_a_history_are_told_by_themselves():
    trace = read(
        None, [step("open a.py", FILE), step("", "", thought="Done."), step("", thought="Exit due to context")]
    )
    assert told(trace) == [
        ("decision", "Hm.", []),
        ("tool_call", "open", []),
        ("tool_result", FILE, []),
        ("decision", "Done.", []),
    ]
    assert trace.ignored == {"exit": 1}


def test_a_step_that_the_history_lacks_is_told_in_its_place():
    trace = read(
        [entry("user", "Go"), acts("one"), entry("user", "1"), acts("three"), entry("user", "3")],
        [step("one", "1"), step("two", "2"), step("three", "3")],
    )
    assert [event["arguments"]["command"] for event in only(trace, "tool_call")] == ["one", "two", "three"]
    assert [event["result"] for event in only(trace, "tool_result")] == ["1", "2", "3"]


def test_ids_that_a_recorded_model_repeats_still_pair_each_call_with_its_result():
    history = [entry("user", "Go")]
    for count in range(3):
        history += [calls("bash", {"command": "ls"}), entry("tool", str(count), tool_call_ids=["c1"])]
    trace = read(history)
    assert [event["call_id"] for event in only(trace, "tool_result")] == ["c1", "c1:2", "c1:3"]
    assert [event["result"] for event in only(trace, "tool_result")] == ["0", "1", "2"]


def test_what_the_harness_says_without_being_asked_is_no_demand_of_the_user():
    trace = read([entry("user", "Go"), entry("assistant", "No action here"), entry("user", "Your output was wrong")])
    assert told(trace)[1:] == [
        ("decision", "No action here", []),
        ("decision", "Your output was wrong", ["notification"]),
    ]


def test_thinking_images_and_the_unknown_are_kept():
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}
    trace = read(
        [
            entry("user", [{"type": "text", "text": "Look"}, image]),
            acts("ls", thinking_blocks=[{"type": "thinking", "thinking": "deep", "signature": "S"}]),
            entry("user", "ok"),
            {"agent": "main", "odd": 1},
        ]
    )
    assert told(trace)[:3] == [
        ("requirement", "Look", ["user"]),
        ("requirement", "[image image/png]", ["user", "image"]),
        ("decision", "deep", ["thinking"]),
    ]
    assert trace.events[1]["block"] == image
    assert trace.events[2]["signature"] == "S"
    assert told(trace)[-1] == ("decision", '{"agent": "main", "odd": 1}', ["opaque"])


# what calls know


def test_a_call_knows_where_the_agent_stood_before_it_in_both_generations():
    after = {"open_file": "/r/a.py", "working_dir": "/r/src"}
    old = read(None, [step("cd src"), step("goto 5", state=json.dumps(after))])
    new = read(None, [step("cd src", state=after), step("goto 5", state=after)])
    assert [(c.get("cwd"), c.get("open_file")) for c in only(old, "tool_call")] == [("/r", None), ("/r/src", "/r/a.py")]
    assert [(c.get("cwd"), c.get("open_file")) for c in only(new, "tool_call")] == [(None, None), ("/r/src", "/r/a.py")]
    assert (old.cwd, new.cwd) == ("/r", "/r/src")


def test_a_call_knows_which_lines_its_answer_shows():
    refused = f"Your proposed edit has introduced new syntax error(s).\n{FILE}"
    trace = read(None, [step("open a.py 21", FILE), step("edit 21:21\nz\nend_of_edit", refused), step("cat w", FILE)])
    opened, edit, shell = only(trace, "tool_call")
    assert opened["shows"] == {"path": "/r/a.py", "offset": 21, "limit": 2, "lines": 90}
    assert "shows" not in edit
    assert "shows" not in shell
    assert [event.get("is_error") for event in only(trace, "tool_result")] == [None, True, None]


def test_text_about_an_error_is_no_failure_and_a_timeout_is_one():
    trace = read(None, [step("python a.py", "Error: boom\nTraceback …"), step("make", "\nEXECUTION TIMED OUT")])
    assert [event.get("is_error") for event in only(trace, "tool_result")] == [None, True]


def test_undo_edit_gives_up_the_edit_alone():
    editor = {"command": "str_replace", "path": "/r/a.py", "old_str": "x", "new_str": "y"}
    trace = read(
        [
            entry("user", "Go"),
            calls("str_replace_editor", editor, "c1"),
            entry("tool", "The file /r/a.py has been edited. Here …", tool_call_ids=["c1"]),
            calls("bash", {"command": "pytest"}, "c2"),
            entry("tool", "1 failed", tool_call_ids=["c2"]),
            calls("str_replace_editor", {"command": "undo_edit", "path": "/r/a.py"}, "c3"),
            entry("tool", "Last edit to /r/a.py undone successfully.", tool_call_ids=["c3"]),
        ]
    )
    (abandon,) = only(trace, "abandon")
    assert abandon["ref_to"] == ["c1"]
    assert abandon["parent_id"] == "c3:r"
    parents = tree(trace)
    assert parents["c1:r"] == "c1"
    assert [name for name, parent in parents.items() if parent in ("c1", "c1:r")] == ["c1:r"]


@pytest.mark.parametrize(
    ("command", "text", "count"),
    [
        ("str_replace_editor undo_edit /r/a.py", "Last edit to /r/a.py undone successfully.", 1),
        ("str_replace_editor undo_edit /r/a.py", "No edit history found for /r/a.py.", 0),
        ("str_replace_editor undo_edit /r/b.py", "Last edit to /r/b.py undone successfully.", 0),
    ],
)
def test_an_undo_counts_when_it_says_that_it_undid_an_edit_that_is_there(command, text, count):
    made = step("str_replace_editor create /r/a.py --file_text 'x'", "File created successfully at: /r/a.py")
    assert len(only(read(None, [made, step(command, text)]), "abandon")) == count


# runs


def test_each_attempt_is_a_trace_and_the_copy_of_the_best_is_none():
    run = {"trajectory": [step("ls", "a")], "history": [], "info": {}}
    traces = read_all({"attempts": [run, {**run, "trajectory": [step("pwd", "b"), step("ls")]}], **run})
    check(traces)
    assert [types(trace)["tool_call"] for trace in traces] == [1, 2]
    assert traces[1].events[0]["origin"] == {"path": "attempts/1/trajectory/0"}


def test_the_model_is_read_from_the_configuration_also_where_that_is_a_string():
    config = {"agent": {"model": {"name": "gpt-4o"}}}
    for given in (config, json.dumps(config)):
        assert read([entry("user", "Go")], replay_config=given).model == "gpt-4o"


def test_what_is_no_object_is_a_problem_and_the_rest_is_read():
    trace = read([entry("user", "Go"), 7, acts("ls")], [None, step("ls", "a")])
    assert types(trace) == {"requirement": 1, "decision": 1, "tool_call": 1, "tool_result": 1}
    assert trace.problems == [
        Problem(None, "history/1: a number where an object was expected (skipped)"),
        Problem(None, "trajectory/0: null where an object was expected (skipped)"),
    ]


def test_a_run_without_steps_is_a_clear_error():
    with pytest.raises(TraceError, match="it holds no step and no message"):
        read_all({"trajectory": [], "history": [], "info": {}})


@pytest.mark.parametrize(
    "value",
    [
        {"trajectory": [{"id": 1, "action": "run", "args": {}, "source": "agent", "timestamp": "x"}]},
        {"history": [{"role": "user", "content": "x"}]},
        {"messages": [{"role": "user", "content": "x"}], "info": {}},
        {"trajectory": 5, "history": "x"},
        [1, 2],
    ],
)
def test_files_of_others_are_not_claimed(value):
    assert not swe_agent.sniff(json.dumps(value).encode())
