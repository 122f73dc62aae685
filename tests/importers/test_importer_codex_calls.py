"""Tool calls in Codex sessions: the tools of each generation, and what events tell of calls."""

from __future__ import annotations

import json

import pytest
from importer_checks import tree
from test_importer_codex import META, call, event, item, load, output, says

from context_gc.outcomes import exit_code, failed
from context_gc.semantics import Command, FileEdit, FileRead, Search, Status, semantics

# tools of all generations


def facts_of_call(trace):
    lead = next(e for e in trace.events if e["type"] == "tool_call")
    results = [e for e in trace.events if e["type"] == "tool_result" and e["call_id"] == lead["id"]]
    return semantics(lead), failed(lead, results), exit_code(lead, results)


@pytest.mark.parametrize(
    ("asked", "answer", "fact", "code"),
    [
        (
            call("shell", {"command": ["bash", "-lc", "cat /a/b.py"], "workdir": "/a"}),
            output(json.dumps({"output": "x", "metadata": {"exit_code": 0, "duration_seconds": 0.1}})),
            FileRead("/a/b.py"),
            0,
        ),
        (
            call("shell", {"command": ["bash", "-lc", "make"]}),
            output(json.dumps({"output": "no", "metadata": {"exit_code": 2}})),
            None,
            2,
        ),
        (call("shell_command", {"command": "ls"}), output("Exit code: 0\nWall time: 0.1 seconds\nOutput:\na"), None, 0),
        (
            call("exec_command", {"cmd": "ls -la", "workdir": "/a"}),
            output("Chunk ID: f3\nWall time: 0.0512 seconds\nProcess exited with code 1\nOutput:\nno"),
            Command("ls -la"),
            1,
        ),
        (
            item("local_shell_call", call_id="c1", action={"type": "exec", "command": ["ls"]}),
            item("local_shell_call_output", call_id="c1", output="a"),
            Command("ls"),
            None,
        ),
    ],
)
def test_the_shell_of_each_generation_gives_command_and_exit_code(asked, answer, fact, code):
    found, has_failed, told = facts_of_call(load(asked, answer))
    assert (has_failed, told) == ((code or 0) != 0, code)
    if fact is not None:
        assert found == fact


def test_other_tools_keep_their_names_arguments_and_results():
    patch = "*** Begin Patch\n*** Update File: a.py\n-x\n+y\n*** End Patch"
    trace = load(
        item("custom_tool_call", call_id="p", name="apply_patch", input=patch, status="completed"),
        item("custom_tool_call_output", call_id="p", output="Success. Updated the following files:\nM a.py\n"),
        call("update_plan", {"plan": [{"step": "Fix", "status": "pending"}]}, "u"),
        output("Plan updated", "u"),
        item("function_call", name="js", namespace="mcp__node__", arguments=None, call_id="m"),
        output([{"type": "input_text", "text": "7"}, {"type": "input_image", "image_url": "data:"}], "m"),
        item("web_search_call", id="w", status="completed", action={"type": "search", "query": "cart"}),
        item("tool_search_call", call_id="t", arguments={"query": "x"}, execution="local"),
        item("tool_search_output", call_id="t", tools=[{"name": "f"}]),
        item("custom_tool_call", call_id="x", name="shell", input='{"command": ["ls"]}'),
    )
    calls = {e["id"]: e for e in trace.events if e["type"] == "tool_call"}
    results = {e["call_id"]: e["result"] for e in trace.events if e["type"] == "tool_result"}
    assert semantics(calls["p"]) == FileEdit("a.py")
    assert semantics(calls["u"]) == Status("update_plan")
    assert (calls["m"]["tool_name"], calls["m"]["arguments"]) == ("mcp__node__js", {})
    assert semantics(calls["w"]) == Search("cart")
    assert semantics(calls["x"]) == Command("ls")
    assert results["t"] == [{"name": "f"}]
    assert len(results["m"]) == 2
    assert set(results) == {"p", "u", "m", "t"}
    assert all(e.get("parent_id") == e["call_id"] for e in trace.events if e["type"] == "tool_result")


def test_parallel_calls_hang_side_by_side_and_results_find_theirs_out_of_order():
    trace = load(says("user", "Go"), call("f", {}, "a"), call("f", {}, "b"), output("B", "b"), output("A", "a"))
    assert tree(trace) == {"e1": None, "a": "e1", "b": "e1", "b:r": "b", "a:r": "a"}


def test_calls_know_their_directory():
    trace = load(META, call("f", {}, "a"), {"type": "turn_context", "payload": {"cwd": "/b"}}, call("f", {}, "b"))
    assert [e["cwd"] for e in trace.events] == ["/home/dev/shop", "/b"]


# what events tell of calls


def test_a_command_event_gives_its_result_the_exit_code_and_its_call_what_it_parsed_to():
    parsed = [{"type": "read", "cmd": "cat a", "name": "a", "path": "a"}]
    trace = load(
        call("exec_command", {"cmd": "cat a"}),
        event("exec_command_end", call_id="c1", command=["cat", "a"], cwd="/b", exit_code=1, parsed_cmd=parsed),
        output("no such file"),
    )
    assert (trace.events[0]["parsed_cmd"], trace.events[0]["cwd"]) == (parsed, "/b")
    assert trace.events[1]["exit_code"] == 1
    assert facts_of_call(trace)[1] is True


def test_newer_sessions_tell_the_same_as_completed_items():
    done = {"type": "CommandExecution", "id": "c1", "exit_code": 3, "parsed_cmd": [], "cwd": "/b"}
    trace = load(call("exec_command", {"cmd": "x"}), event("item_completed", item=done), output("no"))
    assert trace.events[1]["exit_code"] == 3


def test_the_end_of_a_command_that_ran_on_is_not_its_first_results():
    trace = load(
        call("exec_command", {"cmd": "npm start"}),
        output("Chunk ID: a\nWall time: 10.0 seconds\nProcess running with session ID 7\nOutput:\n"),
        event("exec_command_end", call_id="c1", exit_code=137, parsed_cmd=[]),
    )
    assert "exit_code" not in trace.events[1]
    assert trace.events[0]["parsed_cmd"] == []


@pytest.mark.parametrize(
    "told",
    [
        event("patch_apply_end", call_id="c1", success=False, changes={"/a/b.py": {"type": "update"}}),
        event("mcp_tool_call_end", call_id="c1", result={"Err": "no server"}),
        event("mcp_tool_call_end", call_id="c1", result={"Ok": {"content": [], "isError": True}}),
        event("dynamic_tool_call_response", call_id="c1", success=False),
        event("patch_apply_end", call_id="c1", status="declined"),
    ],
)
def test_what_failed_by_its_event_is_an_error(told):
    trace = load(call("f", {}), told, output("?"))
    assert trace.events[1]["is_error"] is True


@pytest.mark.parametrize("key", ["success", "is_error"])
def test_an_output_may_say_itself_that_it_failed(key):
    value = {"content": "no", key: key == "is_error"}
    assert load(call("f", {}), output(value)).events[1]["is_error"] is True


def test_input_that_is_no_text_is_the_arguments_and_a_picture_that_did_not_come_has_no_result():
    trace = load(
        item("custom_tool_call", call_id="x", name="f", input={"a": 1}),
        item("image_generation_call", id="i", status="failed", result=None),
    )
    assert [e["type"] for e in trace.events] == ["tool_call", "tool_call"]
    assert trace.events[0]["arguments"] == {"a": 1}


def test_an_output_without_its_call_is_kept():
    (result,) = load(output("aborted", "gone")).events
    assert (result["call_id"], result["result"]) == ("gone", "aborted")


def test_what_an_event_tells_stands_where_it_belongs():
    trace = load(
        call("f", {}, "p"),
        event("patch_apply_end", call_id="p", success=True, changes={"/a": {}, "/b": {}}),
        output("ok", "p"),
        call("spawn_agent", {}, "s"),
        event("collab_agent_spawn_end", call_id="s", new_thread_id="t2"),
        output("{}", "s"),
        event("exec_command_end", call_id="unknown", exit_code=1),
        event("exec_command_end", call_id=[]),
        event("patch_apply_end", call_id="p", success=False),
        event("mcp_tool_call_end", call_id="s", result={"Ok": {}}),
    )
    assert trace.events[0]["changed_paths"] == ["/a", "/b"]
    assert "is_error" not in trace.events[1]
    assert trace.events[3]["agent_id"] == "t2"
    assert trace.ignored == {
        "event_msg/exec_command_end": 2,
        "event_msg/patch_apply_end": 1,
        "event_msg/mcp_tool_call_end": 1,
    }


def test_commands_that_a_script_ran_stand_on_the_scripts_call():
    script = 'text(await tools.exec_command({"cmd": "ls"}))'
    trace = load(
        item("custom_tool_call", call_id="x", name="exec", input=script),
        event("exec_command_end", call_id="inner", command=["bash", "-lc", "ls"], exit_code=0, cwd="/a", stdout="a"),
        item("custom_tool_call_output", call_id="x", output=[{"type": "input_text", "text": "a"}]),
        event("exec_command_end", call_id="later", command=["ls"], exit_code=0),
    )
    two = [item("custom_tool_call", call_id=key, name="exec", input=script) for key in "xy"]
    unclear = load(*two, event("exec_command_end", call_id="inner", command=["ls"]))
    assert not any("nested_commands" in e for e in unclear.events)
    one = load(two[0], event("exec_command_end", call_id="inner"), event("patch_apply_end", call_id="inner"))
    assert not any("nested_commands" in e for e in one.events)
    assert trace.events[0]["arguments"] == {"input": script}
    assert trace.events[0]["nested_commands"] == [{"command": ["bash", "-lc", "ls"], "cwd": "/a", "exit_code": 0}]
    assert trace.ignored == {"event_msg/exec_command_end": 1}
