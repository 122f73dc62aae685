"""Anthropic event streams, logs of requests, sessions of managed agents, and values of other types in all of them."""

from __future__ import annotations

import json

import pytest
from anthropic_records import (
    SPELT,
    call,
    got,
    lines,
    load,
    load_all,
    read_any,
    result,
    says,
    sent,
    sse,
    stream,
    text,
    thought,
    user,
)
from importer_checks import accounted, survive, told, tree, with_other_types

from context_gc.errors import TraceError
from context_gc.importers import anthropic_messages, anthropic_sessions
from context_gc.importers.files.decode import decode
from context_gc.trace import Usage


def test_an_event_stream_is_the_message_that_it_spells():
    trace = load(sse(stream(*SPELT)))
    assert told(trace) == [("decision", "hm", ["thinking"]), ("decision", "I look.", []), ("tool_call", "read", [])]
    assert trace.events[2]["arguments"] == {"path": "a"}
    assert trace.events[0]["signature"] == "S"
    assert trace.events[0]["origin"] == {"line": 2, "at": ["content", 0, "thinking"]}
    assert trace.ignored == {"ping": 1}


def test_a_stream_may_be_one_event_a_line_and_end_in_the_midst():
    events = list(stream(*SPELT))
    trace = load(lines(*events[:-4]))
    assert trace.events[2]["arguments"] == '{"path"'
    assert accounted([trace]) == len(events) - 4


def test_a_log_with_streamed_responses_and_moving_cache_marks_is_one_thread():
    first = user("go")
    first["content"][0]["cache_control"] = {"type": "ephemeral"}
    asked = [thought("hm"), text("I look."), call("t1", path="a")]
    second = [user("go"), says(*asked[1:]), user(result("t1", "text"))]

    def row(messages, body, time):
        sent = {"model": "claude", "system": f"At {time}", "messages": messages}
        return {"request": {"timestamp": time, "url": "/v1/messages", "body": sent}, "response": body}

    answer = {"body": {"type": "message", **says("done"), "stop_reason": "end_turn", "usage": {"input_tokens": 3}}}
    trace = load(lines(row([first], {"body_raw": sse(stream(*SPELT))}, 1), row(second, answer, 2)))
    assert [text for _, text, _ in told(trace)] == ["At 2", "go", "I look.", "read", "text", "done"]
    assert [event["timestamp"] for event in trace.events] == [0, 1000, 1000, 1000, 2000, 2000]
    assert trace.usage == [Usage("t1", 7, 9), Usage("e6", 3, 0)]
    assert trace.ignored == {"request that a later one repeats": 1}


def test_rows_of_batch_results_are_answers():
    results = [
        {"custom_id": str(n), "result": {"type": "succeeded", "message": {"type": "message", **says(f"a{n}")}}}
        for n in (1, 2)
    ]
    for each in results:
        each["result"]["message"]["stop_reason"] = "end_turn"
    assert [told(trace) for trace in load_all(lines(*results))] == [[("decision", "a1", [])], [("decision", "a2", [])]]


# managed agents


def test_a_session_of_a_managed_agent_is_read_once_though_it_was_sent_and_given_back():
    asked = {"type": "user.message", "content": [text("go")]}
    made = {
        "id": "sesn_1",
        "type": "session",
        "title": "T",
        "agent": {"system": "Be brief.", "model": {"id": "claude"}},
    }
    trace = load(
        lines(
            ["client.beta.sessions.create", made],
            sent(asked),
            got("user.message", "1", content=[text("go")]),
            got("agent.thinking", "2"),
            got("agent.tool_use", "3", name="bash", input={"command": "ls"}),
            got("span.model_request_end", "4", model_usage={"input_tokens": 2, "output_tokens": 4}),
            got("agent.tool_result", "5", tool_use_id="sevt_3", content=[text("a")], is_error=True),
            got("agent.custom_tool_use", "6", name="ask", input={}),
            sent({"type": "user.custom_tool_result", "custom_tool_use_id": "sevt_6", "content": [text("yes")]}),
            got("agent.thread_context_compacted", "7"),
            got("agent.message", "8", content=[text("done")]),
            got("user.define_outcome", "9", description="x"),
            [5],
        ),
        anthropic_sessions,
    )
    assert [(e["type"], e["id"]) for e in trace.events] == [
        ("constraint", "e1"),
        ("requirement", "sevt_1"),
        ("tool_call", "sevt_3"),
        ("tool_result", "sevt_3:r"),
        ("tool_call", "sevt_6"),
        ("tool_result", "sevt_6:r"),
        ("decision", "sevt_8"),
        ("decision", "sevt_9"),
    ]
    assert trace.usage == [Usage("sevt_3", 2, 4)]
    assert trace.ignored == {"sent event that the stream gives back": 1, "agent.thinking": 1}
    assert [(window.start, window.opened_by) for window in trace.windows] == [(0, "start"), (6, "auto")]
    assert (trace.title, trace.model, [problem.line for problem in trace.problems]) == ("T", "claude", [13])
    assert accounted([trace]) == 13


def test_a_tool_that_a_person_denies_is_abandoned_for_the_reason_given():
    trace = load(
        lines(
            got("agent.tool_use", "1", name="bash", input={})[1],
            got("user.tool_confirmation", "2", tool_use_id="sevt_1", result="deny", deny_message="Too risky")[1],
            got("agent.tool_use", "3", name="read", input={})[1],
            got("user.tool_confirmation", "4", tool_use_id="sevt_3", result="allow")[1],
        ),
        anthropic_sessions,
    )
    assert told(trace)[1:4] == [
        ("tool_result", "Too risky", []),
        ("abandon", "Too risky", []),
        ("requirement", "Too risky", ["user"]),
    ]
    assert trace.events[2]["ref_to"] == ["sevt_1"]
    assert tree(trace)["sevt_1:abandon"] is None
    assert told(trace)[5] == ("decision", "allowed by the user", ["approval"])


# damage


def test_values_of_other_types_anywhere_give_sound_traces_or_our_error():
    messages = [
        user("go"),
        says(thought("x"), {"type": "compaction", "content": "s"}, call("t1")),
        user(result("t1", [text("x")])),
    ]
    session = [
        got("user.message", content=[text("go")]),
        got("agent.tool_use", "2", name="f", input={}),
        sent({"type": "user.message"}),
    ]
    denied = [
        *session,
        got("user.tool_confirmation", tool_use_id="sevt_2", result="deny"),
        got("agent.tool_result", tool_use_id="sevt_2"),
    ]
    for changed in with_other_types({"system": [text("a")], "messages": messages, "model": "claude"}, 150):
        survive(read_any, json.dumps(changed).encode())
    for whole in (
        list(stream(*SPELT)),
        denied,
        [{"request": {"body": {"messages": messages}}, "response": {"body_raw": sse(stream(*SPELT))}}],
    ):
        for changed in with_other_types(whole, 150):
            survive(read_any, lines(*changed).encode() if isinstance(changed, list) else b"1")


def test_a_stream_without_a_message_is_a_clear_error():
    with pytest.raises(TraceError, match="no message in it is whole"):
        anthropic_messages.read(decode(b"event: message_start\ndata: {}\n", "x"))
