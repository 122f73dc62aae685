"""Dialects: the same message as each provider and framework writes it, and what makes two messages the same."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from context_gc.importers.dialects.messages import Message, Part, media, message, messages, text_at, visible


def told(read):
    """Role, and kind, value, tool and call id of each part."""
    return read.role, [(part.kind, part.value, part.name, part.call) for part in read.parts]


def tool(content, **more):
    return {"role": "tool", "tool_call_id": "c", "content": content, **more}


def says(*blocks):
    return {"role": "assistant", "content": list(blocks)}


def text(words):
    return {"type": "text", "text": words}


def image(address):
    return {"type": "image", "image": address}


CALL = ("call", {"p": 1}, "read", "c1")
OPENAI_CALL = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": '{"p": 1}'}}


@pytest.mark.parametrize(
    "value",
    [
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "a"},
                {"type": "tool_use", "id": "c1", "name": "read", "input": {"p": 1}},
            ],
        },
        {"type": "ai", "content": "a", "tool_calls": [{"id": "c1", "name": "read", "args": {"p": 1}}]},
        {"type": "ai", "data": {"content": "a", "tool_calls": [{"id": "c1", "name": "read", "args": {"p": 1}}]}},
        {
            "lc": 1,
            "type": "constructor",
            "id": ["langchain", "schema", "messages", "AIMessage"],
            "kwargs": {"content": "a", "tool_calls": [{"id": "c1", "name": "read", "args": {"p": 1}}]},
        },
        {
            "role": "assistant",
            "parts": [
                {"type": "text", "content": "a"},
                {"type": "tool_call", "id": "c1", "name": "read", "arguments": {"p": 1}},
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "a"},
                {"type": "tool-call", "toolCallId": "c1", "toolName": "read", "input": {"p": 1}},
            ],
        },
        {"role": "assistant", "content": "a", "tool_calls": [{"id": "c1", "function": "read", "arguments": {"p": 1}}]},
        {"role": "model", "content": [{"text": "a"}], "tool_calls": [{"id": "c1", "name": "read", "args": {"p": 1}}]},
    ],
    ids=["anthropic", "langchain", "messages_to_dict", "lc", "gen_ai", "ai-sdk", "inspect", "model"],
)
def test_text_and_a_call_are_read_alike_in_every_dialect(value):
    assert told(message(value)) == ("assistant", [("text", "a", "", ""), CALL])


@pytest.mark.parametrize(
    "value",
    [
        {"role": "tool", "tool_call_id": "c1", "content": "r"},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "r"}]},
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "r"}]},
        {
            "role": "tool",
            "content": [{"type": "tool-result", "toolCallId": "c1", "output": {"type": "text", "value": "r"}}],
        },
        {"type": "function_call_output", "call_id": "c1", "output": "r"},
    ],
    ids=["openai", "anthropic", "gen_ai", "ai-sdk", "responses"],
)
def test_a_result_is_read_alike_in_every_dialect(value):
    assert told(message(value))[1] == [("result", "r", "", "c1")]


@pytest.mark.parametrize(
    ("value", "failed", "result"),
    [
        ({"type": "tool", "tool_call_id": "c", "content": "x", "status": "error"}, True, "x"),
        (tool("", error={"type": "timeout", "message": "late"}), True, "late"),
        (tool("x", is_error=True), True, "x"),
        (tool("Error: x", status="success"), False, "Error: x"),
        (tool([text("x")]), False, [text("x")]),
        (tool({"rows": 2}), False, '{"rows": 2}'),
        (tool(None), False, ""),
    ],
)
def test_a_result_fails_when_the_message_says_so_and_keeps_text_and_blocks(value, failed, result):
    (part,) = message(value).parts
    assert (part.failed, part.value) == (failed, result)


@pytest.mark.parametrize(
    ("value", "parts"),
    [
        ({"role": "assistant", "content": "a", "reasoning_content": "hm"}, [("thinking", "hm"), ("text", "a")]),
        (says({"type": "thinking", "thinking": "hm", "signature": "S"}), [("thinking", "hm")]),
        (says({"type": "reasoning", "reasoning": "hm"}), [("thinking", "hm")]),
        ({"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}, [("thinking", "hm")]),
        (says({"type": "redacted_thinking", "data": "e"}), [("opaque", '{"type": "redacted_thinking", "data": "e"}')]),
        (says({"type": "hologram", "x": 1}), [("opaque", '{"type": "hologram", "x": 1}')]),
        (says(None, "a"), [("opaque", "null"), ("text", "a")]),
        ({"role": "assistant", "content": 7}, [("opaque", "7")]),
        ({"role": "assistant", "content": None}, []),
        (says({"type": "refusal", "refusal": "no"}), [("text", "no")]),
    ],
)
def test_thoughts_and_the_unknown_are_kept(value, parts):
    assert [(part.kind, part.value) for part in message(value).parts] == parts


def test_calls_that_stand_in_the_content_and_beside_it_are_read_once():
    block = {"type": "tool_use", "id": "c1", "name": "read", "input": {}}
    value = {"type": "ai", "content": [block], "tool_calls": [{"id": "c1", "name": "read", "args": {"p": 1}}]}
    assert told(message(value)) == ("assistant", [CALL])


def test_older_and_broken_calls_are_calls():
    old = {"role": "assistant", "content": None, "function_call": {"name": "read", "arguments": "{}"}}
    kept = {"type": "ai", "content": "", "additional_kwargs": {"tool_calls": [OPENAI_CALL]}}
    broken = {
        "type": "ai",
        "content": "",
        "invalid_tool_calls": [{"id": "c", "name": "read", "args": "{", "error": "cut"}],
    }
    assert [part.kind for value in (old, kept, broken) for part in message(value).parts if part.kind == "call"] == [
        "call"
    ] * 3
    assert message(broken).parts[-1].more == {"parse_error": "cut"}


def test_a_servers_tool_holds_its_answer():
    block = {"type": "tool_use", "id": "s1", "name": "web_search", "arguments": "{}", "result": "found"}
    kinds = [(part.kind, part.call) for part in message({"role": "assistant", "content": [block]}).parts]
    assert kinds == [("call", "s1"), ("result", "s1")]


@pytest.mark.parametrize(
    ("kind", "block", "text"),
    [
        (
            "image",
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A"}},
            "[image image/png]",
        ),
        ("image_url", {"type": "image_url", "image_url": {"url": "data:image/gif;base64,A"}}, "[image image/gif]"),
        ("image", {"type": "image", "image": "data:image/webp;base64,A"}, "[image image/webp]"),
        ("input_audio", {"type": "input_audio", "input_audio": {"data": "A", "format": "wav"}}, "[audio wav]"),
        ("file", {"type": "file", "mediaType": "application/pdf"}, "[file application/pdf]"),
        ("image", {"type": "image"}, "[image]"),
    ],
)
def test_an_image_is_a_placeholder_and_keeps_its_block(kind, block, text):
    part = media(kind, block)
    assert (part.value, part.more["block"]) == (text, block)


@pytest.mark.parametrize(
    "value", [None, 5, [], {}, {"type": "GENERATION", "id": "x"}, {"role": "user"}, {"id": "x"}, {"type": "human"}]
)
def test_what_is_no_message_is_none(value):
    assert message(value) is None


def test_a_list_of_batches_is_one_list_and_text_is_the_users():
    given_ = [[{"type": "human", "content": "a"}], "b", None, {"role": "system", "content": "s"}]
    assert [(each.role, each.parts[0].value) for each in messages(given_)] == [
        ("user", "a"),
        ("user", "b"),
        ("system", "s"),
    ]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"role": "user", "content": "a"}, {"role": "user", "content": [{"type": "text", "text": " a\n"}]}, True),
        ({"role": "user", "content": "a"}, {"role": "assistant", "content": "a"}, False),
        (
            {"role": "assistant", "content": "", "tool_calls": [OPENAI_CALL]},
            {"type": "ai", "content": None, "tool_calls": [{"id": "other", "name": "read", "args": {"p": 1}}]},
            True,
        ),
        (tool("r"), tool([text("r")]), True),
        (tool("r"), tool("[cleared]"), False),
        ({"role": "assistant", "content": "a", "reasoning_content": "hm"}, {"role": "assistant", "content": "a"}, True),
        ({"role": "user", "content": [image("x")]}, {"role": "user", "content": [image("y")]}, False),
    ],
)
def test_messages_are_the_same_when_a_model_is_told_the_same(one, other, same):
    assert (message(one).key == message(other).key) is same


def test_a_message_of_thoughts_alone_has_no_key():
    assert message(says({"type": "thinking", "thinking": "hm"})).key == ""
    assert Message("user", [Part("text", " \n")]).key == ""


def test_a_summary_is_known_by_what_its_framework_wrote():
    assert message({"type": "human", "content": "s", "additional_kwargs": {"lc_source": "summarization"}}).is_summary
    assert message({"role": "user", "content": "s", "metadata": {"summary": True}}).is_summary
    assert not message({"role": "user", "content": "Summary: s", "metadata": None}).is_summary


def test_small_things():
    assert text_at({"a": "", "b": 3, "c": "x"}, "a", "b", "c") == "x"
    assert text_at(None, "a") == ""
    assert visible([1, 2]) == "[1, 2]"
    assert visible([{"rows": 1}]) == '[{"rows": 1}]'


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                "role type content parts tool_calls id function name args input data kwargs text source".split()
            ),
            inner
            | st.sampled_from(["user", "assistant", "tool", "ai", "constructor", "tool_use", "thinking", "image"]),
            max_size=6,
        )
    ),
    max_leaves=12,
)


@settings(max_examples=400, deadline=None)
@given(JSON)
def test_any_json_value_is_a_message_or_none_and_has_texts_where_texts_belong(value):
    read = message(value)
    for part in read.parts if read is not None else ():
        assert part.kind in ("text", "thinking", "media", "opaque", "call", "result")
        assert part.kind in ("call", "result") or type(part.value) is str
        assert type(part.name) is type(part.call) is str
