"""OTLP JSON: spans that follow gen_ai.*, new and old, OpenLLMetry or the AI SDK."""

from __future__ import annotations

import json

import pytest
from importer_checks import told
from otlp_records import ASKED, CALL, EVENTS, NOON, WENT_ON, chat, only, said, span, text

from context_gc.trace import Usage


@pytest.mark.parametrize("encode", [json.dumps, lambda given: given], ids=["text", "structured"])
def test_gen_ai_messages(encode):
    trace = only(
        chat(1, ASKED, said("assistant", text("look"), CALL), encode),
        span(2, {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "read", "gen_ai.tool.call.id": "c1"}),
        chat(3, WENT_ON, said("assistant", text("done")), encode),
    )
    assert told(trace) == EVENTS
    assert trace.usage == [Usage("c1", 40, 7, 60), Usage("e6", 40, 7, 60)]
    assert (trace.model, trace.title) == ("m-1", "fix it")
    assert [event["timestamp"] - NOON // 10**6 for event in trace.events] == [1000, 1000, 1500, 1500, 2500, 3500]
    assert trace.events[-1]["origin"] == {"path": "resourceSpans/0/scopeSpans/0/spans/2", "answer": 0}


def test_events_of_their_own_as_up_to_1_36():
    call = json.dumps([{"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}])
    trace = only(
        span(
            1,
            {"gen_ai.system": "openai", "gen_ai.request.model": "m"},
            ("gen_ai.system.message", {"content": "be brief"}),
            ("gen_ai.user.message", {"content": "fix it"}),
            ("gen_ai.assistant.message", {"content": "look", "tool_calls": call}),
            ("gen_ai.tool.message", {"id": "c1", "content": "text of a"}),
            ("gen_ai.choice", {"index": 0, "message": json.dumps({"role": "assistant", "content": "done"})}),
            ("exception", {"exception.message": "no message"}),
        )
    )
    assert told(trace) == EVENTS


def test_results_in_events_of_their_own_name_their_calls():
    calls = [{"id": name, "function": {"name": "read", "arguments": "{}"}} for name in ("c1", "c2")]
    trace = only(
        span(
            1,
            {"gen_ai.request.model": "m"},
            ("gen_ai.assistant.message", {"content": "", "tool_calls": json.dumps(calls)}),
            ("gen_ai.tool.message", {"id": "c2", "content": "two"}),
            ("gen_ai.tool.message", {"id": "c1", "content": "one"}),
        )
    )
    results = [(event["call_id"], event["result"]) for event in trace.events if event["type"] == "tool_result"]
    assert results == [("c2", "two"), ("c1", "one")]


def test_prompts_in_events_and_details():
    old, new = [{"role": "user", "content": "fix it"}], [{"role": "assistant", "content": "done"}]
    content = only(
        span(
            1,
            {"gen_ai.request.model": "m"},
            ("gen_ai.content.prompt", {"gen_ai.prompt": json.dumps(old)}),
            ("gen_ai.content.completion", {"gen_ai.completion": json.dumps(new)}),
        )
    )
    details = only(
        span(
            1,
            {"gen_ai.operation.name": "chat"},
            (
                "gen_ai.client.inference.operation.details",
                {"gen_ai.input.messages": ASKED, "gen_ai.output.messages": [said("assistant", text("done"))]},
            ),
        )
    )
    assert told(content) == told(details) == [("requirement", "fix it", ["user"]), ("decision", "done", [])]


def test_openllmetry():
    trace = only(
        span(
            1,
            {
                "llm.request.type": "chat",
                "gen_ai.request.model": "m",
                "gen_ai.prompt.0.role": "system",
                "gen_ai.prompt.0.content": "be brief",
                "gen_ai.prompt.1.role": "user",
                "gen_ai.prompt.1.content": json.dumps([{"type": "text", "text": "fix it"}]),
                "gen_ai.prompt.2.role": "assistant",
                "gen_ai.prompt.2.content": "look",
                "gen_ai.prompt.2.tool_calls.0.id": "c1",
                "gen_ai.prompt.2.tool_calls.0.name": "read",
                "gen_ai.prompt.2.tool_calls.0.arguments": "{}",
                "gen_ai.prompt.3.role": "tool",
                "gen_ai.prompt.3.tool_call_id": "c1",
                "gen_ai.prompt.3.content": "text of a",
                "gen_ai.prompt.10.role": "user",
                "gen_ai.prompt.10.content": "and?",
                "gen_ai.completion.0.role": "assistant",
                "gen_ai.completion.0.content": "done",
                "gen_ai.usage.prompt_tokens": 9,
                "gen_ai.usage.completion_tokens": 2,
            },
        ),
        span(2, {"traceloop.span.kind": "workflow", "traceloop.entity.input": "{}"}),
    )
    assert told(trace) == [*EVENTS[:5], ("requirement", "and?", ["user"]), EVENTS[5]]
    assert trace.usage == [Usage("e7", 9, 2)]
    assert trace.ignored == {"workflow span": 1}


def test_tools_of_openllmetry_and_the_ai_sdk_have_their_arguments_and_results():
    trace = only(
        span(
            1,
            {
                "traceloop.span.kind": "tool",
                "traceloop.entity.name": "read",
                "traceloop.entity.input": json.dumps({"args": [], "kwargs": {"path": "a.py"}}),
                "traceloop.entity.output": json.dumps({"output": "text of a", "kwargs": {}}),
            },
        ),
        span(
            2,
            {
                "ai.operationId": "ai.toolCall",
                "ai.toolCall.name": "grep",
                "ai.toolCall.id": "c2",
                "ai.toolCall.args": '{"q": "x"}',
                "ai.toolCall.result": '"2 hits"',
            },
        ),
    )
    first, one, second, two = trace.events
    assert (first["tool_name"], first["arguments"], one["result"]) == ("read", {"path": "a.py"}, "text of a")
    assert (second["id"], second["arguments"], two["result"]) == ("c2", {"q": "x"}, "2 hits")


def test_the_ai_sdk():
    messages = [{"role": "user", "content": [{"type": "text", "text": "fix it"}]}]
    calls = [{"toolCallType": "function", "toolCallId": "c1", "toolName": "read", "args": "{}"}]
    inner = {
        "ai.operationId": "ai.generateText.doGenerate",
        "ai.model.id": "m",
        "ai.prompt.messages": json.dumps(messages),
        "ai.response.text": "look",
        "ai.response.toolCalls": json.dumps(calls),
    }
    outer = {"ai.operationId": "ai.generateText", "ai.prompt": '{"prompt": "fix it"}', "ai.response.text": "look"}
    trace = only(span(1, outer), span(2, inner, parent=f"{1:016x}"))
    assert told(trace) == EVENTS[1:4]
    assert trace.ignored == {"model call around others": 1}


def test_a_failed_tool_span_shows_what_it_says_of_it():
    given = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "read", "error.type": "IOError"}
    trace = only(span(1, given, ("exception", {"exception.message": "no such file"})))
    assert (trace.events[1]["result"], trace.events[1]["is_error"]) == ("no such file", True)


def test_an_agent_span_with_messages_stands_in_for_model_calls_that_have_none():
    given = {"gen_ai.operation.name": "invoke_agent", "gen_ai.input.messages": ASKED}
    trace = only(
        span(1, given | {"gen_ai.output.messages": [said("assistant", text("done"))]}),
        span(2, {"gen_ai.operation.name": "chat", "gen_ai.usage.output_tokens": 3}, parent=f"{1:016x}"),
    )
    assert told(trace) == [EVENTS[1], EVENTS[5]]
    assert trace.usage == [Usage("e2", 0, 3)]
