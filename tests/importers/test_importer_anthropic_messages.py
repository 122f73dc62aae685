"""Anthropic Messages: content blocks, requests, and the files of the corpus."""

from __future__ import annotations

import json

from anthropic_records import call, load, parts, result, says, text, thought, user
from importer_checks import CORPUS, accounted, needs_corpus, paired, told, tree, types

from context_gc.importers import anthropic_sessions
from context_gc.importers.provider_messages.envelope import assembled

REQUEST = "headroom-request_real.json"
SESSION = "anthropic_managed_builtin_tools.jsonl"


# blocks


def test_each_kind_of_block_has_its_event():
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
    hidden = {"type": "redacted_thinking", "data": "x"}
    trace = load(
        {
            "model": "claude-sonnet-5",
            "system": "Be brief.",
            "messages": [
                user("<system-reminder>Be quick.</system-reminder>", "Look", image),
                says(thought("hm"), hidden, "I look.", call("t1", path="a")),
                user(result("t1", [text("x"), image], is_error=True), "And?"),
                says({"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "q"}}),
                says({"type": "web_search_tool_result", "tool_use_id": "s1", "content": {"type": "x_error"}}),
                says({"type": "mcp_tool_use", "id": "m1", "name": "get", "server_name": "git", "input": {}}),
                user({"type": "mcp_tool_result", "tool_use_id": "m1"}, {"type": "search_result", "title": "t"}),
            ],
        }
    )
    assert told(trace) == [
        ("constraint", "Be brief.", ["system"]),
        ("constraint", "<system-reminder>Be quick.</system-reminder>", ["system"]),
        ("requirement", "Look", ["user"]),
        ("requirement", "[image image/png]", ["user", "image"]),
        ("decision", "hm", ["thinking"]),
        ("decision", "[redacted thinking]", ["thinking", "opaque"]),
        ("decision", "I look.", []),
        ("tool_call", "read", []),
        ("tool_result", [text("x"), image], []),
        ("requirement", "And?", ["user"]),
        ("tool_call", "web_search", []),
        ("tool_result", {"type": "x_error"}, []),
        ("tool_call", "get", []),
        ("tool_result", "", []),
        ("decision", '{"type": "search_result", "title": "t"}', ["opaque"]),
    ]
    assert [event.get("is_error") for event in trace.events if event["type"] == "tool_result"] == [True, True, None]
    assert trace.events[4] | {"signature": "S", "importance": "temporary"} == trace.events[4]
    assert trace.events[5]["block"] == hidden
    assert trace.events[12]["server_name"] == "git"
    assert trace.events[7]["origin"] == {"index": 1, "at": ["content", 3, "input"]}
    assert trace.model == "claude-sonnet-5"


def test_calls_of_one_message_hang_side_by_side_and_what_a_person_adds_hangs_below_the_last_result():
    trace = load([user("go"), says("a", call("t1"), call("t2")), user(result("t2"), result("t1"), "now stop")])
    assert tree(trace) == {"e1": None, "e2": "e1", "t1": "e2", "t2": "e2", "t2:r": "t2", "t1:r": "t1", "e7": "t1:r"}


def test_a_compaction_block_opens_a_window_with_its_summary():
    before = [user("go"), says(call("t1")), user(result("t1"))]
    hidden = {"type": "compaction", "encrypted_content": "x"}
    summed = says({"type": "compaction", "content": "We read a."}, "On it.")
    trace = load([*before, summed, user("more"), says(hidden, "ok")])
    assert [(w.start, w.stop, w.opened_by) for w in trace.windows] == [(0, 3, "start"), (3, 6, "auto"), (6, 8, "auto")]
    assert told(trace)[3] == ("decision", "We read a.", ["summary"])
    assert told(trace)[6] == ("decision", "[encrypted summary]", ["summary", "opaque"])


def test_messages_and_the_system_prompt_can_be_put_together_again_key_by_key():
    marked = {"type": "text", "text": "Rules", "cache_control": {"type": "ephemeral", "ttl": "1h"}}
    request = {
        "model": "claude",
        "system": [marked, text("")],
        "messages": [
            {"content": "go", "role": "user"},
            {
                "id": "msg_1",
                "role": "assistant",
                "content": [
                    thought(""),
                    {"type": "redacted_thinking", "data": "x"},
                    text("\n"),
                    call("t1", path="é", n=1.0),
                ],
            },
            user({"cache_control": {"type": "ephemeral"}, **result("t1", [text("x")], is_error=False)}, "ok"),
        ],
    }
    trace = load(request)
    first, *others = parts(trace)
    assert json.dumps(assembled(first)["system"]) == json.dumps(request["system"])
    assert json.dumps([assembled(events) for events in others]) == json.dumps(request["messages"])
    assert trace.extra["request"] == {"model": "claude", "system": None, "messages": None}
    assert others[1][0]["id"] == "msg_1"


# the corpus and damage


@needs_corpus
def test_the_real_request_holds_what_was_counted_by_hand():
    path = CORPUS / "anthropic_messages" / REQUEST
    request = json.loads(path.read_bytes())
    trace = load(path.read_text("utf-8"))
    assert types(trace) == {"constraint": 2, "requirement": 3, "decision": 3, "tool_call": 2, "tool_result": 2}
    assert (paired(trace), len(trace.windows), trace.problems, trace.ignored) == (2, 1, [], {})
    assert trace.records_read == len(request["messages"]) == 5
    system, *messages = map(assembled, parts(trace))
    assert json.dumps(messages) == json.dumps(request["messages"])
    assert json.dumps(system["system"]) == json.dumps(request["system"])
    (thinking,) = (event for event in trace.events if event.get("tags") == ["thinking"])
    assert thinking["signature"] == request["messages"][1]["content"][0]["signature"]


@needs_corpus
def test_the_recorded_session_holds_what_was_counted_by_hand():
    path = CORPUS / "anthropic_sse" / SESSION
    trace = load(path.read_text("utf-8"), anthropic_sessions)
    assert types(trace) == {"constraint": 1, "requirement": 1, "tool_call": 1, "tool_result": 1, "decision": 1}
    assert (paired(trace), len(trace.windows), trace.problems) == (1, 1, [])
    assert [(usage.input_tokens, usage.output_tokens, usage.cache_read) for usage in trace.usage] == [
        (2, 46, 7126),
        (2, 34, 7174),
    ]
    assert trace.records_read == 7
    assert accounted([trace]) == sum(map(bool, path.read_bytes().split(b"\n"))) == 14
