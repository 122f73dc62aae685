"""OpenHands V1: what each kind of event becomes, and what people do."""

from __future__ import annotations

import json

from importer_checks import told, tree
from openhands_v1_records import acts, event, only, read, says, sees, text

# events


def test_each_kind_of_event_has_its_own():
    trace = read(
        event("SystemPromptEvent", "s", system_prompt=text("Rules"), dynamic_context=text("Hosts"), tools=[]),
        says("u", "Go", extended_content=[text("Use git")]),
        acts("a", thought="List."),
        sees("o", words="a.py", metadata={"exit_code": 2, "working_dir": "/r"}),
        event("AgentErrorEvent", "x", tool_call_id="c9", error="no such tool"),
        says("b", "Done", "agent", llm_response_id="r2"),
        event("CondensationSummaryEvent", "z", "environment", summary="so far"),
        event("ACPToolCallEvent", "q", title="odd"),
    )
    assert told(trace)[:-1] == [
        ("constraint", "Rules", ["system"]),
        ("constraint", "Hosts", ["system"]),
        ("requirement", "Go", ["user"]),
        ("requirement", "Use git", ["user"]),
        ("decision", "List.", []),
        ("tool_call", "terminal", []),
        ("tool_result", [text("a.py")], []),
        ("tool_result", "no such tool", []),
        ("decision", "Done", []),
        ("decision", "so far", ["summary"]),
    ]
    assert trace.events[-1]["tags"] == ["opaque"]
    assert json.loads(trace.events[-1]["content"])["title"] == "odd"
    assert (trace.events[6]["exit_code"], trace.events[7]["is_error"], trace.cwd) == (2, True, "/r")
    assert trace.events[0]["origin"] == {"line": 1}
    assert trace.events[5]["message_id"] == "r1"


def test_what_no_model_sees_is_counted_by_kind():
    kinds = ["PauseEvent", "TokenEvent", "HookExecutionEvent", "ConversationErrorEvent", "CondensationRequest"]
    trace = read(says("u", "Go"), *(event(kind, kind) for kind in kinds))
    assert trace.ignored == dict.fromkeys(kinds, 1)


def test_an_update_of_the_system_prompt_is_new_text_or_counted():
    tools = [{"kind": "TerminalTool", "title": "terminal"}, {"name": "finish"}, {"kind": "ThinkTool"}]
    trace = read(
        event("SystemPromptEvent", "s", system_prompt=text("Rules"), tools=[]),
        event("SystemPromptUpdateEvent", "t", system_prompt=text("Rules"), tools=tools),
        event("SystemPromptUpdateEvent", "v", system_prompt=text("Other"), tools=tools),
    )
    assert [each["content"] for each in trace.events] == ["Rules", "Other"]
    assert trace.ignored == {"SystemPromptUpdateEvent": 1}
    assert trace.extra["tools"] == ["terminal", "finish", "Think"]


def test_calls_of_one_response_hang_side_by_side():
    trace = read(says("u", "Go"), acts("a", "c1", "Both."), acts("b", "c2"), sees("o", "c2"), sees("p", "c1"))
    parents = tree(trace)
    assert parents["c1"] == parents["c2"] == "a"
    assert [each["call_id"] for each in only(trace, "tool_result")] == ["c2", "c1"]


def test_thinking_is_told_once():
    signed = {"type": "thinking", "thinking": "deep", "signature": "S"}
    trace = read(
        says("u", "Go"),
        acts("a", "c1", "<think>deep</think> List.", reasoning_content="deep"),
        acts("b", "c2", "Next.", response="r2", reasoning_content="deeper"),
        acts("d", "c3", "", response="r3", reasoning_content="deep", thinking_blocks=[signed]),
        acts(
            "e", "c4", "", response="r4", responses_reasoning_item={"id": "x", "summary": [], "encrypted_content": "E"}
        ),
    )
    assert [(each["content"], each["tags"]) for each in only(trace, "decision") if "tags" in each][:2] == [
        ("deeper", ["thinking"]),
        ("deep", ["thinking"]),
    ]
    assert only(trace, "decision")[-1]["tags"] == ["thinking", "opaque"]


def test_a_thought_is_a_decision_and_its_acknowledgement_is_counted():
    thought = acts("a", tool="think", arguments={"thought": "what if"}, action="ThinkAction")
    trace = read(says("u", "Go"), thought, sees("o", words="Your thought has been logged."))
    assert told(trace)[1:] == [("decision", "what if", ["think"])]
    assert trace.ignored == {"ObservationEvent": 1}


def test_a_call_that_was_not_executed_keeps_what_the_model_wrote():
    broken = acts("a") | {"action": None, "tool_call": {"id": "c1", "name": "terminal", "arguments": "{bro"}}
    trace = read(says("u", "Go"), broken, event("AgentErrorEvent", "x", tool_call_id="c1", error="bad arguments"))
    assert only(trace, "tool_call")[0]["arguments"] == "{bro"
    assert only(trace, "tool_result")[0]["call_id"] == "c1"


def test_older_observations_without_content_keep_their_text():
    observation = {"output": "a.py", "kind": "ExecuteBashObservation"}
    trace = read(acts("a"), event("ObservationEvent", "o", tool_call_id="c1", observation=observation))
    assert only(trace, "tool_result")[0]["result"] == "a.py"


def test_unknown_exit_codes_are_left_out():
    trace = read(acts("a"), sees("o", is_error=True, exit_code=None, metadata={"exit_code": -1}))
    (result,) = only(trace, "tool_result")
    assert ("exit_code" in result, result["is_error"]) == (False, True)


# people


def test_a_rejected_call_is_given_up():
    rejected = event("UserRejectObservation", "x", tool_call_id="c1", rejection_reason="keep it")
    trace = read(says("u", "Go"), acts("a", thought="Remove."), rejected, acts("b", "c2"))
    (abandon,) = only(trace, "abandon")
    assert (abandon["ref_to"], abandon["content"]) == (["c1"], "keep it")
    assert only(trace, "tool_result")[0]["result"] == "Action rejected: keep it"
    assert tree(trace)["c2"] == "c1:abandon"


def test_an_interrupt_gives_up_the_calls_that_wait():
    stop = event("InterruptEvent", "x", "user", reason="stop")
    trace = read(says("u", "Go"), acts("a", "c1"), acts("b", "c2"), sees("o", "c1"), stop, says("v", "Instead"))
    assert [each["ref_to"] for each in only(trace, "abandon")] == [["c2"]]
    assert read(says("u", "Go"), stop).ignored == {"InterruptEvent": 1}


def test_undo_edit_gives_up_the_edit_alone():
    def edit(name, command, answer):
        call = acts(name, f"c{name}", tool="file_editor", response=name, arguments={"command": command, "path": "/a"})
        return call, sees(f"o{name}", f"c{name}", answer)

    trace = read(
        says("u", "Go"),
        *edit("1", "create", "File created successfully at: /a"),
        *edit("2", "undo_edit", "Last edit to /a undone successfully."),
    )
    assert [each["ref_to"] for each in only(trace, "abandon")] == [["c1"]]
