"""OpenAI Chat Completions: what messages become, who claims them, the files of the corpus, and damage."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from importer_checks import (
    CORPUS,
    accounted,
    claimants,
    needs_corpus,
    paired,
    survive,
    told,
    tree,
    types,
    with_other_types,
)
from openai_chat_records import SYSTEM, load, load_all, messages, row, says, tool, user

from context_gc.errors import TraceError
from context_gc.importers import openai_chat
from context_gc.importers.files.decode import decode

FILES = ("openhands-fncall-llm-message.json", "tau2-test_sft-v1-small.jsonl")


# what messages become


def test_each_kind_of_message_has_its_event():
    trace = load(
        [
            SYSTEM,
            {"role": "developer", "content": [{"type": "text", "text": "Use tabs."}]},
            user("Fix it"),
            says("I read.", ("call_1", "read", {"path": "a"}), reasoning_content="hm"),
            tool("call_1", "x = 1"),
            says(None, refusal="I cannot."),
        ]
    )
    assert told(trace) == [
        ("constraint", "Be brief.", ["system"]),
        ("constraint", "Use tabs.", ["system"]),
        ("requirement", "Fix it", ["user"]),
        ("decision", "hm", ["thinking"]),
        ("decision", "I read.", []),
        ("tool_call", "read", []),
        ("tool_result", "x = 1", []),
        ("decision", "I cannot.", ["refusal"]),
    ]
    assert trace.events[5]["arguments"] == '{"path": "a"}'
    assert trace.events[5]["origin"] == {"index": 3, "at": ["tool_calls", 0, "function", "arguments"]}
    assert trace.title == "Fix it"


def test_calls_side_by_side_are_answered_by_their_ids_whatever_the_order():
    trace = load([user("go"), says("", ("a", "f", {}), ("b", "g", {})), tool("b", "two"), tool("a", "one")])
    assert tree(trace) == {"e1": None, "a": "e1", "b": "e1", "b:r": "b", "a:r": "a"}


def test_the_legacy_function_call_and_its_answer_are_paired_by_order():
    asked = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}
    trace = load([user("go"), asked, {"role": "function", "name": "f", "content": "1"}, asked, tool("", "2")])
    calls = [event["id"] for event in trace.events if event["type"] == "tool_call"]
    assert [event["call_id"] for event in trace.events if event["type"] == "tool_result"] == calls


def test_custom_tools_and_calls_without_arguments_are_calls():
    custom = {"id": "c", "type": "custom", "custom": {"name": "shell", "input": "ls"}}
    bare = {"id": "d", "type": "function", "function": {"name": "now"}}
    trace = load([user("go"), {"role": "assistant", "content": None, "tool_calls": [custom, bare, 7]}])
    assert [(e.get("tool_name"), e.get("arguments")) for e in trace.events[1:3]] == [("shell", "ls"), ("now", {})]
    assert trace.events[3]["tags"] == ["opaque"]


def test_an_image_is_a_placeholder_and_keeps_its_block():
    block = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    trace = load([user([{"type": "text", "text": "What is it?"}, block, {"type": "input_audio", "input_audio": {}}])])
    assert told(trace)[1:] == [
        ("requirement", "[image image/png]", ["user", "image"]),
        ("requirement", "[audio]", ["user", "audio"]),
    ]
    assert trace.events[1]["block"] == block


def test_what_has_no_words_of_ours_is_opaque_and_blank_messages_are_counted():
    trace = load([user("hi"), {"role": "critic", "content": "no"}, says(""), {"role": "user", "text": "words"}])
    assert [event["tags"][-1] for event in trace.events] == ["user", "opaque", "opaque"]
    assert trace.ignored == {"blank message": 1}
    assert accounted([trace]) == 4


def test_damaged_messages_are_problems_and_the_others_stay():
    trace = load([SYSTEM, user("a"), {"role": "user", "content": 5}, {"role": 1, "content": ""}, {"content": "x"}, 7])
    assert types(trace) == {"constraint": 1, "requirement": 1}
    assert sorted(problem.text for problem in trace.problems) == [
        "element 5: a number where an object was expected (skipped)",
        "message 2: field 'content' is a number, expected a string or a list (skipped)",
        "message 3: field 'role' is a number, expected a string (skipped)",
        "message 4: field 'role' is missing (skipped)",
    ]
    assert accounted([trace]) == 6


def test_messages_can_be_put_together_again_key_by_key():
    given = [
        {"content": "Be brief.", "role": "system", "cache_control": {"type": "ephemeral"}},
        {"role": "user", "name": "Ann", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": " "}]},
        {
            "content": None,
            "role": "assistant",
            "function_call": None,
            "tool_calls": says("", ("c", "f", {"x": 1.0}))["tool_calls"],
        },
        {"role": "tool", "tool_call_id": "c", "content": [{"type": "text", "text": "é"}]},
        {"role": "assistant", "content": "", "refusal": None, "annotations": []},
        {"role": "assistant", "content": "Done", "audio": {"id": "x", "transcript": "Done"}},
    ]
    assert json.dumps(messages(load(given))) == json.dumps(given)


def test_a_request_keeps_what_stands_beside_its_messages():
    trace = load({"model": "gpt-5", "messages": [user("hi")], "tools": [{"type": "function"}], "temperature": 0})
    assert trace.model == "gpt-5"
    assert trace.extra["request"] == {
        "model": "gpt-5",
        "messages": None,
        "tools": [{"type": "function"}],
        "temperature": 0,
    }
    assert trace.extra["layout"] == "object"


def test_a_file_that_is_one_response_or_one_exchange_holds_its_answer():
    response = row([], says("yes"))["response"]
    assert told(load({"messages": [user("hi")], **response}))[-1] == ("decision", "yes", [])
    assert told(load(response | {"model": "gpt-5"})) == [("decision", "yes", [])]
    assert told(load({"messages": [user("hi")], "response": "plain text"}))[-1] == ("decision", "plain text", [])


def test_further_choices_are_abandoned_before_the_one_that_counts():
    response = {"choices": [{"message": says("one")}, {"message": says("two")}]}
    trace = load({"messages": [user("hi")], "response": response})
    assert told(trace)[1:] == [
        ("decision", "two", []),
        ("abandon", "another choice was used", []),
        ("decision", "one", []),
    ]
    assert trace.events[2]["ref_to"] == [trace.events[1]["id"]]


# who claims what


@pytest.mark.parametrize(
    "value",
    [
        {"messages": []},
        [{"role": "user", "content": "<task>x</task>", "ts": 1}],
        [{"role": "user", "content": [{"type": "text", "text": "a\n<environment_details>"}]}, says("b")],
        [{"role": "user", "content": "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"}, says("b")],
        {"info": {"exit_status": "done"}, "messages": [user("a")], "trajectory_format": "mini-swe-agent-1"},
        [{"role": "user", "parts": [{"text": "a"}]}],
        [{"type": "human", "content": "a"}],
        {"id": "run", "run_type": "llm", "messages": [user("a")]},
        {"epoch": 1, "target": "x", "messages": [user("a")]},
        {"history": [{"role": "user", "agent": "main", "content": "a"}], "trajectory": []},
        [1, 2],
        "text",
    ],
)
def test_shapes_of_other_formats_are_left_alone(value):
    assert not openai_chat.sniff(json.dumps(value).encode())


def test_a_file_without_a_whole_message_is_a_clear_error():
    with pytest.raises(TraceError, match="no message in it is whole"):
        openai_chat.read(decode(b'[{"role": "user", "content": 5}]', "x"))


# the corpus


@needs_corpus
@pytest.mark.parametrize("name", FILES)
def test_corpus_files_are_claimed_by_this_format_alone(name):
    assert claimants(decode((CORPUS / "openai_chat" / name).read_bytes(), name).head) == {"openai-chat"}


@needs_corpus
def test_the_openhands_messages_hold_what_was_counted_by_hand():
    path = CORPUS / "openai_chat" / FILES[0]
    trace = load(path.read_text("utf-8"))
    assert types(trace) == {"constraint": 1, "requirement": 1, "decision": 5, "tool_call": 6, "tool_result": 6}
    assert paired(trace) == 6
    assert (trace.problems, trace.ignored, len(trace.windows)) == ([], {}, 1)
    assert trace.records_read == 14
    assert messages(trace) == json.loads(path.read_bytes())


@needs_corpus
def test_the_rows_of_tau2_hold_what_their_json_says():
    path = CORPUS / "openai_chat" / FILES[1]
    traces = load_all(path.read_text("utf-8"))
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert len(traces) == len(rows) == 24
    assert sum((Counter(types(trace)) for trace in traces), Counter()) == {
        "constraint": 24, "requirement": 193, "decision": 228, "tool_call": 225, "tool_result": 225,
    }  # fmt: skip
    for trace, each in zip(traces, rows, strict=True):
        roles = Counter(message["role"] for message in each["messages"])
        assert types(trace)["tool_result"] == roles["tool"] == paired(trace)
        assert types(trace)["requirement"] == roles["user"]
        spoken = [message for message in each["messages"] if message["role"] == "assistant" and message.get("content")]
        assert types(trace)["decision"] == len(spoken)
        assert types(trace)["tool_call"] == sum(len(message.get("tool_calls") or ()) for message in each["messages"])
        assert json.dumps(messages(trace)) == json.dumps(each["messages"])
    assert accounted(traces) == 24
    assert "abandon" not in types(traces[0])


def test_values_of_other_types_anywhere_give_sound_traces_or_our_error():
    first = [SYSTEM, user([{"type": "text", "text": "q"}])]
    asked = says("I look.", ("call_01", "read", {"path": "a"}))
    second = [*first, asked, tool("call_01", "text")]
    rows = [row(first, asked, 1, prompt_tokens=10), row(second, says("done"), 2), row([*first, asked], says("x"), 3)]
    for changed in with_other_types(rows, 200):
        text = "\n".join(map(json.dumps, changed)) if isinstance(changed, list) else json.dumps(changed)
        survive(lambda data: openai_chat.read(decode(data, "x")), text.encode())
        openai_chat.sniff(text.encode())
    for changed in with_other_types([*second, says("", audio={"transcript": "x"}), {"role": "x"}], 200):
        survive(lambda data: openai_chat.read(decode(data, "x")), json.dumps(changed).encode())
