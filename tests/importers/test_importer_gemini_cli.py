"""Gemini CLI sessions, JSON and JSONL: what each kind of message becomes, and what is claimed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from importer_checks import (
    accounted,
    check,
    check_sample,
    told,
    tree,
)

from context_gc.errors import TraceError
from context_gc.importers import gemini_cli
from context_gc.importers.files.decode import decode
from context_gc.outcomes import exit_code
from context_gc.trace import Usage

HEADER = {"sessionId": "s1", "projectHash": "h1", "startTime": "2026-05-01T10:00:00Z", "kind": "main"}
SAMPLE = Path(__file__).parents[2] / "sample_traces" / "gemini-cli-rewind.jsonl"


def lines(*records):
    return "\n".join(json.dumps(record) for record in records).encode()


def read(data, name="session.jsonl"):
    return gemini_cli.read(decode(data, name))


def load(*records, name="session.jsonl"):
    (trace,) = read(lines(HEADER, *records), name)
    check([trace])
    assert accounted([trace]) == 1 + len(records)
    return trace


def message(name, kind="user", content="Hi", **fields):
    return {"id": name, "timestamp": "2026-05-01T10:00:01Z", "type": kind, "content": content, **fields}


def tool(name, output="ok", status="success", key="output", **fields):
    response = {"functionResponse": {"id": name, "name": "read_file", "response": {key: output}}}
    return {
        "id": name,
        "name": "read_file",
        "args": {"file_path": "a"},
        "status": status,
        "result": [response],
        **fields,
    }


# messages


def test_an_answer_gives_thoughts_text_calls_and_then_results():
    thoughts = [{"subject": "Plan", "description": "Look first."}, {"description": ""}]
    image = {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}
    trace = load(
        message("u1", content=[{"text": "See"}, image]),
        message("a1", "gemini", "I'll look.", thoughts=thoughts, toolCalls=[tool("c1"), tool("c2", "no", key="error")]),
    )
    assert told(trace) == [
        ("requirement", "See", ["user"]),
        ("requirement", "[image image/png]", ["user", "image"]),
        ("decision", "Plan\nLook first.", ["thinking"]),
        ("decision", "I'll look.", []),
        ("tool_call", "read_file", []),
        ("tool_call", "read_file", []),
        ("tool_result", "ok", []),
        ("tool_result", "no", []),
    ]
    assert [event.get("is_error", False) for event in trace.events[-2:]] == [False, True]
    assert tree(trace)["c2"] == tree(trace)["c1"] == "a1.c"
    assert {event.get("message_id") for event in trace.events[2:6]} == {"a1"}
    assert trace.events[2]["origin"] == {"line": 3, "path": "thoughts/0"}
    assert trace.events[4]["origin"] == {"line": 3, "path": "toolCalls/0"}


def test_what_a_tool_says_keeps_its_blocks_where_it_is_more_than_text():
    picture = {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}
    several = {**tool("c1"), "result": [*tool("c1")["result"], picture]}
    whole = tool("c2")
    whole["result"][0]["functionResponse"]["response"] = {"output": "x", "code": 3}
    trace = load(message("a1", "gemini", "", toolCalls=[several, whole, {**tool("c3"), "result": "text"}]))
    results = [event["result"] for event in trace.events if event["type"] == "tool_result"]
    block = {"type": "image", "source": {"media_type": "image/png", "data": "AAAA"}}
    assert results == [[{"type": "text", "text": "ok"}, block], {"output": "x", "code": 3}, "text"]


def test_a_shell_command_tells_its_exit_code():
    command = {**tool("c1", "Output: x\nExit Code: 2\nProcess Group PGID: 7"), "name": "run_shell_command"}
    trace = load(message("a1", "gemini", "", toolCalls=[command]))
    assert exit_code(trace.events[0], trace.events[1:]) == 2


def test_a_cancelled_call_is_given_up_and_its_neighbour_is_not():
    refused = tool("c1", "[Operation Cancelled] Reason: no", "cancelled", "error")
    trace = load(message("a1", "gemini", "Go", toolCalls=[refused, tool("c2")]), message("u2"))
    (undone,) = (event for event in trace.events if event["type"] == "abandon")
    assert (undone["ref_to"], undone["content"]) == (["c1"], "cancelled by the user")
    assert tree(trace)[undone["id"]] == "c2:r"
    assert tree(trace)["u2"] == undone["id"]


def test_a_call_without_result_waits_and_a_result_names_its_subagent():
    trace = load(message("a1", "gemini", "", toolCalls=[{**tool("c1"), "result": None}, tool("c2", agentId="sub1")]))
    assert [(e["id"], e.get("agent_id")) for e in trace.events] == [("c1", None), ("c2", None), ("c2:r", "sub1")]


def test_what_gemini_cli_writes_in_the_users_name_is_told_apart():
    trace = load(
        message("u1", content="<session_context>\nToday is Monday.\n</session_context>"),
        message("u2", content="Here is the user's editor context as a JSON object. …"),
        message("u3", content="Fix it"),
    )
    assert [(event["type"], event["tags"]) for event in trace.events] == [
        ("constraint", ["system", "environment"]),
        ("decision", ["environment"]),
        ("requirement", ["user"]),
    ]


def test_usage_sets_apart_what_was_read_from_the_cache_and_adds_thoughts_to_the_output():
    tokens = {"input": 100, "output": 5, "cached": 70, "thoughts": 7, "tool": 2, "total": 114}
    trace = load(message("a1", "gemini", "x", tokens=tokens, toolCalls=[tool("c1")]))
    assert trace.usage == [Usage("c1", 32, 12, 70)]


def test_other_messages_are_counted_by_kind():
    trace = load(message("i1", "info"), message("e1", "error"), message("u1", content=" "), {"x": 1}, message("n", 5))
    assert trace.events == []
    kinds = ["session", "info", "error", "empty message", "untyped record", "untyped message"]
    assert trace.ignored == dict.fromkeys(kinds, 1)


def test_the_session_is_described():
    subagent = {**HEADER, "kind": "subagent", "directories": ["/home/dev/shop"], "summary": "Look it up"}
    data = lines(subagent, message("a1", "gemini", "x", model="m1"))
    (trace,) = read(data, "chats/parent-7/s1.jsonl")
    assert (trace.title, trace.model, trace.cwd) == ("Look it up", "m1", "/home/dev/shop")
    assert trace.extra == {"session_id": "s1", "kind": "subagent", "parent_session": "parent-7"}
    assert "parent_session" not in read(data, "chats/s1.jsonl")[0].extra


# the legacy form


def test_a_json_file_holds_its_messages_in_a_list_and_they_may_lack_ids():
    listed = [{"type": "user", "content": "Hi"}, 5, message("m", "model", "Hello"), {"type": "info", "content": "x"}]
    (trace,) = read(json.dumps({**HEADER, "messages": listed}, indent=2).encode())
    assert [(e["id"], e["origin"]) for e in trace.events] == [
        ("m0", {"path": "messages/0"}),
        ("m", {"path": "messages/2"}),
    ]
    assert [problem.text for problem in trace.problems] == [
        "messages/1: a number where an object was expected (skipped)"
    ]
    assert accounted([trace]) == len(listed)
    assert trace.ignored == {"info": 1}


def test_a_json_file_that_is_cut_keeps_what_came_before():
    data = json.dumps({**HEADER, "messages": [message("m1"), message("m2", content="x" * 50)]}).encode()
    (trace,) = read(data[:-30])
    assert trace.events[0]["id"] == "m1"
    assert "what came before was kept" in trace.problems[0].text


def test_a_file_without_an_object_is_a_clear_error():
    with pytest.raises(TraceError):
        read(b"[1, 2]")


# what is claimed


@pytest.mark.parametrize(
    ("value", "claimed"),
    [
        (HEADER, True),
        ({**HEADER, "messages": []}, True),
        ({"messages": [{"role": "user"}], **HEADER}, True),
        ({"sessionId": "s1", "messages": []}, False),
        ({**HEADER, "type": "user"}, False),
        ({**HEADER, "projectHash": None}, False),
        ([], False),
    ],
)
def test_a_session_is_known_by_its_header(value, claimed):
    assert gemini_cli.sniff(json.dumps(value).encode()) is claimed
    assert gemini_cli.sniff(json.dumps(value, indent=2).encode()) is claimed


def test_the_sample_is_claimed_by_this_format_alone_and_is_read_without_problems():
    check_sample(gemini_cli, SAMPLE)
