"""Payloads: prompts, answers and token reports as SDKs log them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from test_importer_dialects import JSON

from context_gc.importers.dialects.payloads import Tokens, answer_of, prompt_of, tokens_of

LC_AI = {"lc": 1, "type": "constructor", "id": ["x", "AIMessage"], "kwargs": {"content": "a"}}
LC_HUMAN = {"lc": 1, "type": "constructor", "id": ["x", "HumanMessage"], "kwargs": {"content": "q"}}


def said(read):
    return [(each.role, [(part.kind, part.value) for part in each.parts]) for each in read or ()]


Q, A = ("user", [("text", "q")]), ("assistant", [("text", "a")])


@pytest.mark.parametrize(
    "value",
    [
        "q",
        ["q"],
        {"messages": [{"role": "user", "content": "q"}], "model": "m"},
        {"messages": [[LC_HUMAN]]},
        {"input": "q"},
        {"input": [{"role": "user", "content": [{"type": "input_text", "text": "q"}]}]},
        {"contents": [{"role": "user", "parts": [{"text": "q"}]}]},
        {"prompts": ["q"]},
        {"role": "user", "content": "q"},
        {"lc": 1, "type": "constructor", "id": ["x", "ChatPromptValue"], "kwargs": {"messages": [LC_HUMAN]}},
        {"input": {"messages": [{"role": "user", "content": "q"}]}},
    ],
)
def test_a_prompt_is_found_wherever_an_sdk_puts_it(value):
    assert said(prompt_of(value)) == [Q]


@pytest.mark.parametrize(
    "value",
    [
        {"system": "s", "messages": [{"role": "user", "content": "q"}]},
        {"system": [{"type": "text", "text": "s"}], "messages": [{"role": "user", "content": "q"}]},
        {"instructions": "s", "input": "q"},
        {"system_instruction": {"parts": [{"text": "s"}]}, "contents": [{"role": "user", "parts": [{"text": "q"}]}]},
    ],
)
def test_instructions_beside_the_messages_come_first(value):
    assert said(prompt_of(value)) == [("system", [("text", "s")]), Q]


@pytest.mark.parametrize("value", [None, "", [], {}])
def test_no_prompt_is_none_and_no_answer_is_empty(value):
    assert prompt_of(value) is None
    assert answer_of(value) == []


def test_what_is_not_known_is_shown_and_not_dropped():
    assert said(prompt_of({"topic": "cats"})) == [("user", [("opaque", '{"topic": "cats"}')])]
    assert said(answer_of({"score": 3})) == [("assistant", [("opaque", '{"score": 3}')])]
    assert said(prompt_of(3)) == [("user", [("opaque", "3")])]


@pytest.mark.parametrize(
    "value",
    [
        "a",
        {"role": "assistant", "content": "a"},
        {"choices": [{"message": {"role": "assistant", "content": "a"}}, {"message": {"content": "other"}}]},
        {"choices": [{"text": "a"}]},
        {"generations": [[{"text": "a", "message": LC_AI}]], "llm_output": {}},
        {"generations": [[{"text": "a"}]]},
        {"candidates": [{"content": {"role": "model", "parts": [{"text": "a"}]}}]},
        {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "a"}]},
        {"output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "a"}]}]},
        {"output": "a"},
        {"message": {"role": "assistant", "content": "a"}},
        {"text": "a", "finishReason": "stop"},
        {"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]},
        [{"role": "assistant", "parts": [{"type": "text", "content": "a"}], "finish_reason": "stop"}],
    ],
)
def test_an_answer_is_found_wherever_an_sdk_puts_it(value):
    assert said(answer_of(value)) == [A]


def test_calls_of_the_ai_sdk_are_part_of_the_answer():
    (each,) = answer_of({"text": "", "toolCalls": [{"toolCallId": "c", "toolName": "read", "input": {"p": 1}}]})
    assert [(part.kind, part.call) for part in each.parts if part.kind == "call"] == [("call", "c")]


@pytest.mark.parametrize(
    ("report", "tokens"),
    [
        ({"input_tokens": 9, "output_tokens": 2}, (9, 2, 0, 0)),
        ({"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}}, (5, 2, 4, 0)),
        (
            {"input_tokens": 9, "output_tokens": 2, "input_token_details": {"cache_read": 4, "cache_creation": 1}},
            (4, 2, 4, 1),
        ),
        (
            {"input_tokens": 5, "output_tokens": 2, "cache_read_input_tokens": 4, "cache_creation_input_tokens": 1},
            (5, 2, 4, 1),
        ),
        ({"input_tokens": 9, "output_tokens": 2, "total_tokens": 11, "input_tokens_cache_read": 4}, (5, 2, 4, 0)),
        ({"input_tokens": 5, "output_tokens": 2, "total_tokens": 11, "input_tokens_cache_read": 4}, (5, 2, 4, 0)),
        ({"input": 5, "output": 2, "input_cached_tokens": 4, "total": 11}, (5, 2, 4, 0)),
        ({"input_tokens": "9", "output_tokens": True}, (0, 0, 0, 0)),
        ({"input_tokens": -1}, (0, 0, 0, 0)),
        (None, (0, 0, 0, 0)),
    ],
)
def test_reports_are_read_with_cached_tokens_apart(report, tokens):
    assert tokens_of(report) == Tokens(*tokens)


def test_more_cached_tokens_than_there_are_give_no_negative_count():
    assert Tokens.of_whole(3, 1, 5) == Tokens(0, 1, 5, 0)


def test_a_payload_nested_without_end_is_shown():
    value = {"output": "a"}
    for _ in range(900):
        value = {"output": value}
    ((part,),) = [each.parts for each in answer_of(value)]
    assert part.kind == "opaque"
    value = {"input": value}
    assert prompt_of(value)[0].parts[0].kind == "opaque"


@settings(max_examples=300, deadline=None)
@given(JSON)
def test_any_json_value_gives_messages(value):
    for each in [*(prompt_of(value) or ()), *answer_of(value)]:
        assert each.role in ("user", "assistant", "system", "tool", "remove")
    assert min(tokens_of(value)) >= 0
