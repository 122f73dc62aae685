"""OpenInference attributes in OTLP JSON: flattened messages, token counts, tools, and values alone."""

from __future__ import annotations

import json

from importer_checks import told
from otlp_records import EVENTS, only, openinference

from context_gc.trace import Usage


def test_openinference():
    head = {
        "llm.model_name": "m",
        "llm.input_messages.0.message.role": "system",
        "llm.input_messages.0.message.content": "be brief",
        "llm.input_messages.1.message.role": "user",
        "llm.input_messages.1.message.contents.0.message_content.type": "text",
        "llm.input_messages.1.message.contents.0.message_content.text": "fix it",
        "llm.input_messages.1.message.contents.1.message_content.type": "image",
        "llm.input_messages.1.message.contents.1.message_content.image.image.url": "data:image/png;base64,A",
    }
    asked = {
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": "look",
        "llm.output_messages.0.message.tool_calls.0.tool_call.id": "c1",
        "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "read",
        "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": "{}",
        "llm.token_count.prompt": 50,
        "llm.token_count.completion": 5,
        "llm.token_count.prompt_details.cache_read": 20,
    }
    again = {
        key.replace("output_messages.0", "input_messages.2"): each for key, each in asked.items() if "output" in key
    }
    result = {
        "llm.input_messages.3.message.role": "tool",
        "llm.input_messages.3.message.tool_call_id": "c1",
        "llm.input_messages.3.message.content": "text of a",
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": "done",
    }
    trace = only(
        openinference(1, "AGENT", {"input.value": "fix it"}),
        openinference(2, "LLM", head | asked),
        openinference(
            3, "TOOL", {"tool.name": "read", "output.value": "text of a"}, status={"code": "STATUS_CODE_ERROR"}
        ),
        openinference(4, "LLM", head | again | result),
        openinference(5, "RETRIEVER", {"retrieval.documents.0.document.content": "x"}),
    )
    assert told(trace) == [*EVENTS[:2], ("requirement", "[image image/png]", ["user", "image"]), *EVENTS[2:]]
    assert trace.events[5]["is_error"] is True
    assert trace.usage == [Usage("c1", 30, 5, 20)]
    assert trace.ignored == {"AGENT span": 1, "RETRIEVER span": 1}


def test_openinference_with_values_alone():
    answer = {"generations": [[{"message": {"type": "ai", "content": "done"}}]]}
    given = {"input.value": '{"messages": [{"role": "user", "content": "fix it"}]}', "output.value": json.dumps(answer)}
    assert told(only(openinference(1, "LLM", given))) == [EVENTS[1], EVENTS[5]]


def test_a_tool_message_of_langchain_in_a_tool_span_names_its_call():
    output = json.dumps({"type": "tool", "content": "text of a", "tool_call_id": "c1"})
    trace = only(
        openinference(1, "TOOL", {"tool.name": "read", "input.value": '{"path": "a"}', "output.value": output})
    )
    assert [event["id"] for event in trace.events] == ["c1", "c1:r"]
    assert (trace.events[0]["arguments"], trace.events[1]["result"]) == ({"path": "a"}, "text of a")
