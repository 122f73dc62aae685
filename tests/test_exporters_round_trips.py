"""Import, then export: messages and native traces come back equal."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_up_messages import CONVERSATIONS
from message_checks import READERS

from context_gc import ContextGCError, load_traces
from context_gc.exporters import anthropic_messages, native, openai_chat
from context_gc.importers.files.decode import decode
from context_gc.load import read_document

ROOT = Path(__file__).parents[1]
CORPUS = ROOT.parent / "shared" / "corpus"
FILES = sorted(path for folder in (CORPUS, ROOT / "sample_traces") for path in folder.rglob("*") if path.is_file())
OF_MESSAGES = [
    path
    for path in FILES
    if path.parent.name.startswith(("openai_chat", "anthropic_"))
    or path.name.startswith(("openai-chat", "anthropic-messages"))
]
WRITERS = {"openai-chat": openai_chat, "anthropic-messages": anthropic_messages}
SYSTEM = [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}]
BESIDE = {
    "openai-chat": {"model": "gpt-5", "tools": [{"type": "function", "function": {"name": "bash"}}], "n": 1},
    "anthropic-messages": {"model": "claude", "system": SYSTEM, "tools": [{"name": "bash", "input_schema": {}}]},
}
each_provider = pytest.mark.parametrize("name", WRITERS)


def name_of(path):
    return path.relative_to(CORPUS if path.is_relative_to(CORPUS) else ROOT).as_posix()


def back(value, name, as_lines=False):
    """A JSON value, or rows of them, read and written again."""
    text = "\n".join(map(json.dumps, value)) if as_lines else json.dumps(value)
    written = WRITERS[name].write(READERS[name].read(decode(text.encode(), "x.json")), as_lines)
    assert written.lost == {}
    return list(map(json.loads, written.text.splitlines())) if as_lines else json.loads(written.text)


def same(one, other):
    """Equal, the order of keys included."""
    return json.dumps(one) == json.dumps(other)


# lists, requests and rows


@each_provider
@given(data=st.data())
@settings(max_examples=100, deadline=None)
def test_a_request_with_any_messages_comes_back_equal(name, data):
    request = {**BESIDE[name], "messages": data.draw(CONVERSATIONS[name]), "temperature": 0}
    assert same(back(request, name), request)


@each_provider
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_rows_with_a_conversation_each_come_back_equal(name, data):
    rows = data.draw(st.lists(CONVERSATIONS[name], min_size=2, max_size=3))
    found = back([{**BESIDE[name], "messages": [*row, odd(number)]} for number, row in enumerate(rows)], name, True)
    assert same([row["messages"][:-1] for row in found], rows)


def odd(number):
    return {"role": "user", "content": f"row {number}"}


@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_a_bare_list_comes_back_as_a_list(data):
    name = data.draw(st.sampled_from(sorted(WRITERS)))
    messages = data.draw(CONVERSATIONS[name])
    assert same(back(messages, name), messages)


def test_blank_messages_come_back_where_they_stood():
    blank = {"role": "assistant", "content": ""}
    messages = [blank, {"role": "user", "content": "go"}, blank, blank, {"role": "assistant", "content": "ok"}, blank]
    assert same(back(messages, "openai-chat"), messages)


@pytest.mark.parametrize("system", ["", [], None, "Be brief.", SYSTEM], ids=str)
def test_a_system_prompt_comes_back_as_it_was_also_when_it_says_nothing(system):
    request = {"system": system, "max_tokens": 1, "messages": [{"role": "user", "content": "go"}], "top_k": 1}
    request["messages"].append(
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "a", "input": {}}]}
    )
    assert same(back(request, "anthropic-messages"), request)


ODD = [
    {"role": "user", "content": "q", "name": "ann"},
    {"role": "assistant", "content": None, "refusal": "No."},
    {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": " "}, {"type": "x", "y": []}]},
    {"role": "assistant", "content": "", "function_call": {"name": "f", "arguments": "{"}},
    {"role": "function", "name": "f", "content": None},
    {"role": "assistant", "audio": {"id": "a", "transcript": "hm"}, "content": None},
    {"role": "assistant", "tool_calls": [{"id": "c", "type": "custom", "custom": {"name": "p", "input": "x"}}, 7]},
    {"role": "tool", "tool_call_id": "c", "content": [{"type": "text", "text": "a"}], "extra_field": 1},
    {"role": "critic", "content": "hm"},
]


def test_odd_messages_come_back_equal():
    assert same(back({"messages": ODD}, "openai-chat"), {"messages": ODD})


def test_what_stands_beside_the_messages_of_a_row_is_kept_also_under_the_names_of_responses():
    row = {"messages": [user("q"), {"role": "system", "content": "s"}], "result": "ok", "output": 3, "body": {"a": 1}}
    assert same(back(row, "openai-chat"), row)


# logs


def exchange(messages, answer, **more):
    response = {"id": "r", "object": "chat.completion", "choices": [{"index": 0, "message": answer}]}
    return {"request": {"model": "gpt-5", "messages": messages, **more}, "response": response}


def says(text):
    return {"role": "assistant", "content": text}


def user(text):
    return {"role": "user", "content": text}


SYS = {"role": "system", "content": "Be brief."}
FIRST = [SYS, user("one"), says("I look at one and tell you.")]


def log(*rows):
    text = "\n".join(map(json.dumps, rows))
    written = openai_chat.write(openai_chat_traces(text), False)
    return json.loads(written.text), written.lost


def openai_chat_traces(text):
    return READERS["openai-chat"].read(decode(text.encode(), "x.jsonl"))


def test_a_log_of_requests_gives_the_last_one_with_its_answer():
    second = [*FIRST, user("two")]
    request, lost = log(exchange(FIRST[:2], FIRST[2]), exchange(second, says("Two."), n=1))
    assert same(request, {"model": "gpt-5", "messages": [*second, says("Two.")], "n": 1})
    assert lost == {}


def test_what_a_later_request_took_back_is_not_in_it_and_is_told():
    taken = [*FIRST, user("two"), says("Two, as you asked for.")]
    third = [*FIRST, user("three")]
    request, lost = log(exchange(FIRST[:2], FIRST[2]), exchange(taken[:4], taken[4]), exchange(third, says("Three.")))
    assert request["messages"] == [*third, says("Three.")]
    assert lost == {"events of abandoned branches": 3}


def test_a_blank_message_that_was_taken_back_is_not_in_it():
    taken = [*FIRST, user("two"), user("")]
    third = [*FIRST, user("three")]
    request, _ = log(exchange(FIRST[:2], FIRST[2]), exchange(taken, says("Two, as said.")), exchange(third, says("3")))
    assert request["messages"] == [*third, says("3")]


def test_the_system_prompt_is_that_of_the_last_request():
    first = {"system": "It is one.", "max_tokens": 1, "messages": [user("go")]}
    second = {**first, "system": "It is two.", "messages": [*first["messages"], says("ok"), user("on")]}
    third = {**second, "system": "It is three.", "messages": [*second["messages"][:2], user("instead")]}
    for rows in ((first, second), (first, second, third)):
        text = "\n".join(map(json.dumps, rows))
        (trace,) = READERS["anthropic-messages"].read(decode(text.encode(), "x"))
        assert same(json.loads(anthropic_messages.write([trace], False).text), rows[-1])


def test_history_that_was_written_anew_begins_the_request():
    anew = [SYS, user("This session is being continued from a previous conversation: one."), user("two")]
    request, lost = log(exchange(FIRST[:2], FIRST[2]), exchange(anew, says("Two.")))
    assert request["messages"] == [*anew, says("Two.")]
    assert lost == {"events of earlier context windows": 3}


def test_a_log_whose_cache_marks_moved_has_no_more_of_them_than_the_api_takes():
    mark = {"cache_control": {"type": "ephemeral"}}
    messages, rows = [], []
    for number in range(6):
        messages.append({"role": "user", "content": [{"type": "text", "text": f"question {number}", **mark}]})
        rows.append({"system": "s", "max_tokens": 1, "messages": [*messages]})
        messages.append({"role": "assistant", "content": [{"type": "text", "text": f"answer {number} " * 9}]})
    text = "\n".join(map(json.dumps, rows))
    written = anthropic_messages.write(READERS["anthropic-messages"].read(decode(text.encode(), "x")), False)
    marked = ["cache_control" in message["content"][-1] for message in json.loads(written.text)["messages"][::2]]
    assert marked == [False, False, True, True, True, True]


# native


@pytest.mark.parametrize("path", FILES, ids=map(name_of, FILES))
def test_events_windows_and_usage_of_a_trace_come_back_from_native(path):
    try:
        traces = load_traces(path)
    except ContextGCError:
        pytest.skip("no trace can be read from it")
    written = native.write(traces, True)
    found = read_document(decode(written.text.encode("utf-8", "surrogatepass"), "x.jsonl"))
    assert written.lost == {}
    assert [each.problems for each in found] == [[] for _ in traces]
    for one, other in zip(traces, found, strict=True):
        assert json.dumps(one.events) == json.dumps(other.events)
        assert (one.windows, one.usage, one.title, one.model, one.cwd) == (
            other.windows,
            other.usage,
            other.title,
            other.model,
            other.cwd,
        )
    assert native.write(found, True).text == written.text


@pytest.mark.parametrize("path", OF_MESSAGES, ids=map(name_of, OF_MESSAGES))
def test_a_trace_of_messages_is_the_same_request_after_a_stay_in_native(path):
    try:
        traces = load_traces(path)
    except ContextGCError:
        pytest.skip("no trace can be read from it")
    if traces[0].format not in WRITERS:
        pytest.skip("it holds no messages of these providers")
    stayed = read_document(decode(native.write(traces, True).text.encode(), "x.jsonl"))
    writer = WRITERS[traces[0].format]
    assert writer.write(stayed, True).text == writer.write(traces, True).text


@pytest.mark.parametrize("path", OF_MESSAGES, ids=map(name_of, OF_MESSAGES))
def test_messages_of_a_real_file_come_back_equal(path):
    try:
        traces = load_traces(path)
    except ContextGCError:
        pytest.skip("no trace can be read from it")
    if traces[0].format not in WRITERS:
        pytest.skip("it holds no messages of these providers")
    text = path.read_text("utf-8")
    try:
        rows = [json.loads(text)]
    except ValueError:
        rows = list(map(json.loads, text.splitlines()))
    if not all("messages" in row for row in rows if isinstance(row, dict)):
        pytest.skip("a log, or a stream")
    written = WRITERS[traces[0].format].write(traces, len(rows) > 1)
    found = list(map(json.loads, written.text.splitlines())) if len(rows) > 1 else [json.loads(written.text)]
    assert same(found, rows)
