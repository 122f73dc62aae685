"""OpenAI Responses: what items become, requests with their output, chains and logs of them, and damage.

No file of this format is in the corpus; the items of its Codex sessions stand in an envelope of their own.
"""

from __future__ import annotations

import json

import pytest
from importer_checks import (
    CORPUS,
    accounted,
    check,
    claimants,
    cut_and_flipped,
    needs_corpus,
    paired,
    survive,
    told,
    tree,
    types,
    with_other_types,
)

from context_gc.errors import TraceError
from context_gc.importers import openai_responses
from context_gc.importers.files.decode import decode
from context_gc.importers.provider_messages.envelope import assembled
from context_gc.trace import Usage


def said(role, *texts, **more):
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": each} for each in texts], **more}


def call(name, tool="read", arguments="{}", **more):
    return {"type": "function_call", "id": f"fc_{name}", "call_id": name, "name": tool, "arguments": arguments, **more}


def answer(name, output="ok", **more):
    return {"type": "function_call_output", "call_id": name, "output": output, **more}


def thought(*texts, **more):
    return {"type": "reasoning", "summary": [{"type": "summary_text", "text": each} for each in texts], **more}


def response(name, *output, previous=None, **usage):
    return {"id": name, "object": "response", "created_at": 2, "model": "gpt-5", "output": list(output), "usage": usage}


def load_all(value):
    document = decode((value if isinstance(value, str) else json.dumps(value)).encode(), "x.json")
    assert claimants(document.head) == {"openai-responses"}
    traces = openai_responses.read(document)
    check(traces)
    return traces


def load(value):
    (trace,) = load_all(value)
    return trace


def log(*rows):
    return load_all("\n".join(map(json.dumps, rows)))


def items(trace):
    found = []
    for event in trace.events:
        if "envelope" in event:
            found.append([])
        if event["type"] != "abandon":
            found[-1].append(event)
    return list(map(assembled, found))


ITEMS = [
    said("developer", "Be brief."),
    {"role": "user", "content": "go"},
    thought("hm", "so", id="rs_1", encrypted_content="E"),
    {"type": "reasoning", "id": "rs_2", "summary": [], "encrypted_content": "E"},
    said("assistant", "I look.", id="msg_1", status="completed"),
    call("c1", arguments='{"path": "a"}'),
    answer("c1", [{"type": "input_text", "text": "x"}]),
    {"type": "custom_tool_call", "call_id": "c2", "name": "edit", "input": "*** Begin"},
    {"type": "custom_tool_call_output", "call_id": "c2", "output": "done"},
    {"type": "local_shell_call", "call_id": "c3", "action": {"type": "exec", "command": ["ls"]}},
    {"type": "local_shell_call_output", "call_id": "c3", "output": "a"},
    {"type": "shell_call", "call_id": "c4", "action": {"commands": ["make"]}},
    {
        "type": "shell_call_output",
        "call_id": "c4",
        "output": [{"stdout": "", "outcome": {"type": "exit", "exit_code": 2}}],
    },
    {"type": "apply_patch_call", "call_id": "c5", "operation": {"type": "update_file", "path": "a", "diff": "+"}},
    {"type": "apply_patch_call_output", "call_id": "c5", "status": "failed", "output": "no"},
    {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "q"}},
    {"type": "file_search_call", "id": "fs_1", "queries": ["q"], "results": [{"text": "hit"}]},
    {
        "type": "mcp_call",
        "id": "mcp_1",
        "name": "get",
        "arguments": "{}",
        "server_label": "git",
        "error": "no",
        "output": None,
    },
    {"type": "image_generation_call", "id": "ig_1", "result": "AAAA"},
    {"type": "mcp_list_tools", "id": "l", "server_label": "git", "tools": []},
    {"type": "of tomorrow", "x": 1},
]


def test_each_kind_of_item_has_its_event():
    trace = load(ITEMS)
    assert told(trace) == [
        ("constraint", "Be brief.", ["system"]),
        ("requirement", "go", ["user"]),
        ("decision", "hm", ["thinking"]),
        ("decision", "so", ["thinking"]),
        ("decision", "[encrypted reasoning]", ["thinking", "opaque"]),
        ("decision", "I look.", []),
        ("tool_call", "read", []),
        ("tool_result", [{"type": "input_text", "text": "x"}], []),
        ("tool_call", "edit", []),
        ("tool_result", "done", []),
        ("tool_call", "local_shell", []),
        ("tool_result", "a", []),
        ("tool_call", "shell", []),
        ("tool_result", ITEMS[12]["output"], []),
        ("tool_call", "apply_patch", []),
        ("tool_result", "no", []),
        ("tool_call", "web_search", []),
        ("tool_call", "file_search", []),
        ("tool_result", [{"text": "hit"}], []),
        ("tool_call", "get", []),
        ("tool_result", "no", []),
        ("decision", "[image]", ["image", "opaque"]),
        ("decision", json.dumps(ITEMS[19]), ["opaque"]),
        ("decision", json.dumps(ITEMS[20]), ["opaque"]),
    ]
    assert paired(trace) == 7
    by_id = {event["id"]: event for event in trace.events}
    assert (by_id["c4:r"]["exit_code"], by_id["c5:r"]["is_error"], by_id["mcp_1:r"]["is_error"]) == (2, True, True)
    assert by_id["mcp_1"]["server_label"] == "git"
    assert by_id["c1"]["origin"] == {"index": 5, "at": ["arguments"]}
    assert accounted([trace]) == len(ITEMS)


def test_items_can_be_put_together_again_key_by_key():
    assert json.dumps(items(load(ITEMS))) == json.dumps(ITEMS)


def test_a_compaction_opens_a_window():
    trace = load(
        [
            said("user", "go"),
            call("c1"),
            answer("c1"),
            {"type": "compaction", "encrypted_content": "E"},
            said("user", "on"),
        ]
    )
    assert [(window.start, window.stop, window.opened_by) for window in trace.windows] == [
        (0, 3, "start"),
        (3, 5, "auto"),
    ]
    assert told(trace)[3] == ("decision", "[encrypted summary]", ["summary", "opaque"])
    assert tree(trace)["e4"] is None


def test_items_on_lines_are_one_conversation():
    (trace,) = log(said("user", "go"), call("c1"), 5, answer("c1"), {"type": 7})
    assert types(trace) == {"requirement": 1, "tool_call": 1, "tool_result": 1}
    assert trace.events[2]["origin"] == {"line": 4, "at": ["output"]}
    assert [problem.line for problem in trace.problems] == [3, 5]
    assert accounted([trace]) == 5


def test_a_request_with_its_output_is_read_with_instructions_and_usage():
    report = {"input_tokens": 9, "input_tokens_details": {"cached_tokens": 4}, "output_tokens": 3}
    request = {"model": "gpt-5", "instructions": "Be brief.", "input": "hi"}
    trace = load({**request, **response("resp_1", thought("hm"), said("assistant", "yes"), **report)})
    assert [text for _, text, _ in told(trace)] == ["Be brief.", "hi", "hm", "yes"]
    assert trace.usage == [Usage(trace.events[3]["id"], 5, 3, 4)]
    assert trace.extra["request"] | {"input": "", "instructions": None} == trace.extra["request"]
    assert trace.model == "gpt-5"


def test_requests_that_name_the_response_before_are_one_chain_and_a_second_choice_of_it_takes_back_the_first():
    rows = [
        {"request": {"model": "gpt-5", "input": "q1"}, "response": response("r1", said("assistant", "a1"), call("c1"))},
        {
            "request": {"previous_response_id": "r1", "input": [answer("c1")]},
            "response": response("r2", said("assistant", "a2")),
        },
        {
            "request": {"previous_response_id": "r1", "input": [answer("c1", "else")]},
            "response": response("r3", said("assistant", "a3")),
        },
        {"request": {"model": "gpt-5", "input": "other"}, "response": response("r4", said("assistant", "b"))},
    ]
    chain, other = log(*rows)
    assert [(event["type"], event["origin"]["line"]) for event in chain.events] == [
        ("requirement", 1),
        ("decision", 1),
        ("tool_call", 1),
        ("tool_result", 2),
        ("decision", 2),
        ("abandon", 3),
        ("tool_result", 3),
        ("decision", 3),
    ]
    assert chain.events[5]["ref_to"] == ["c1:r"]
    assert chain.events[6]["call_id"] == "c1"
    assert (types(other), chain.ignored) == ({"requirement": 1, "decision": 1}, {})
    assert accounted([chain, other]) == 4


def test_a_log_that_repeats_its_items_is_one_thread_also_where_reasoning_is_left_out():
    first = [said("user", "go")]
    out = [thought("hm", id="rs_1"), call("call_0001", id="fc_1", status="completed")]
    asked = {"type": "function_call", "call_id": "call_0001", "name": "read", "arguments": "{}"}
    second = [*first, asked, answer("call_0001")]
    (trace,) = log(
        {"input": first, **response("r1", *out, input_tokens=5)},
        {"input": second, **response("r2", said("assistant", "done"), input_tokens=8)},
    )
    assert [event["type"] for event in trace.events] == ["requirement", "tool_call", "tool_result", "decision"]
    assert [(usage.event_id, usage.input_tokens) for usage in trace.usage] == [
        ("call_0001", 5),
        (trace.events[3]["id"], 8),
    ]
    assert trace.ignored == {"request that a later one repeats": 1}


@pytest.mark.parametrize(
    "rows",
    [
        [{"timestamp": "2025-01-01T00:00:00Z", "type": "response_item", "payload": said("user", "a")}],
        [{"id": "s", "timestamp": "t", "instructions": None, "git": {}}, said("user", "a"), call("c")],
        [said("user", "a"), {"record_type": "state"}, call("c")],
        [{"input": "question", "output": "answer"}],
        [{"model": "text-embedding-3", "input": "text"}],
        [{"type": "session", "id": "1", "cwd": "/"}, {"type": "compaction", "id": "2", "summary": "x"}],
    ],
)
def test_shapes_of_other_formats_are_left_alone(rows):
    assert not openai_responses.sniff("\n".join(map(json.dumps, rows)).encode())


def test_a_file_without_a_whole_item_is_a_clear_error():
    with pytest.raises(TraceError, match="no message in it is whole"):
        openai_responses.read(decode(b'[{"type": 5}]', "x"))


@needs_corpus
def test_no_file_of_the_corpus_is_claimed():
    """Not even the items of Codex, whose envelope is claimed by its own importer."""
    for path in sorted(CORPUS.rglob("*")):
        if path.is_file():
            assert not openai_responses.sniff(path.read_bytes()[: 1 << 20]), path


def test_damage_gives_sound_traces_or_our_error():
    rows = [
        {"input": [said("user", "go")], **response("r1", *ITEMS[2:8])},
        {"previous_response_id": "r1", "input": ITEMS[6:], "output": ITEMS[:3]},
    ]

    def read(data):
        document = decode(data, "x")
        openai_responses.sniff(document.head)
        return openai_responses.read(document)

    for data in (json.dumps(ITEMS).encode(), "\n".join(map(json.dumps, rows)).encode()):
        for damaged in cut_and_flipped(data, 40):
            survive(read, damaged)
    for changed in with_other_types(ITEMS, 200):
        survive(read, json.dumps(changed).encode())
    for changed in with_other_types(rows, 200):
        survive(read, "\n".join(map(json.dumps, changed)).encode() if isinstance(changed, list) else b"1")
