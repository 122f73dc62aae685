"""Gemini contents: a bare list, a chat save, a request, and JSONL."""

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
from context_gc.importers import gemini_contents
from context_gc.importers.files.decode import decode
from context_gc.trace import Usage

SAMPLE = Path(__file__).parents[2] / "sample_traces" / "gemini-contents-chat.json"


def content(role, *parts, **fields):
    return {"role": role, "parts": [{"text": part} if isinstance(part, str) else part for part in parts], **fields}


def call(tool, **arguments):
    return {"functionCall": {"name": tool, "args": arguments}}


def response(tool, output, **fields):
    return {"functionResponse": {"name": tool, "response": {"output": output}, **fields}}


def read(data):
    return gemini_contents.read(decode(data, "chat.json"))


def load(value):
    (trace,) = read(json.dumps(value).encode())
    check([trace])
    return trace


def test_each_kind_of_part_has_its_event():
    thought = {"text": "hm", "thought": True, "thoughtSignature": "S"}
    trace = load(
        [
            content("user", "Fix it", {"fileData": {"fileUri": "gs://a", "mimeType": "image/png"}}),
            content("model", thought, "Yes", call("read_file", path="a")),
            content("user", response("read_file", "text")),
            content("model", {"executableCode": {"language": "PYTHON", "code": "1/0"}}),
            content("model", {"codeExecutionResult": {"outcome": "OUTCOME_FAILED", "output": "error"}}),
            content("model", {"newKind": 1}, {}),
        ]
    )
    assert told(trace) == [
        ("requirement", "Fix it", ["user"]),
        ("requirement", "[image image/png]", ["user", "image"]),
        ("decision", "hm", ["thinking"]),
        ("decision", "Yes", []),
        ("tool_call", "read_file", []),
        ("tool_result", "text", []),
        ("tool_call", "executableCode", []),
        ("tool_result", "error", []),
        ("decision", '{"newKind": 1}', ["opaque"]),
    ]
    assert trace.events[2]["signature"] == "S"
    assert trace.events[7]["is_error"] is True
    assert accounted([trace]) == 6


def test_calls_without_ids_are_answered_in_order_and_those_with_ids_by_them():
    pair = [call("a"), call("b")]
    trace = load([content("model", *pair), content("user", response("a", 1), response("b", 2))])
    assert [event["call_id"] for event in trace.events[2:]] == ["c1", "c1.1"]
    for number, each in enumerate(pair):
        each["functionCall"]["id"] = f"x{number}"
    trace = load([content("model", *pair), content("user", response("b", 2, id="x1"), response("a", 1, id="x0"))])
    assert [event["call_id"] for event in trace.events[2:]] == ["x1", "x0"]


def test_a_request_has_a_system_instruction():
    trace = load(
        {"contents": [content("user", "Hi")], "systemInstruction": content("system", "Be brief."), "model": "m"}
    )
    assert told(trace) == [("constraint", "Be brief.", ["system"]), ("requirement", "Hi", ["user"])]
    assert [event["origin"] for event in trace.events] == [{"path": "systemInstruction"}, {"path": "contents/0"}]
    assert (trace.model, trace.title, accounted([trace])) == ("m", "Hi", 2)
    assert told(load({"contents": [content("user", "Hi")], "systemInstruction": "Brief."}))[0][1] == "Brief."


def test_a_compressed_chat_begins_with_the_summary_and_one_in_between_opens_a_window():
    snapshot = content("user", "<state_snapshot>x</state_snapshot>")
    assert len(load([snapshot, content("model", "ok")]).windows) == 1
    trace = load({"history": [content("user", "Hi"), snapshot, content("model", "ok")]})
    assert [(w.start, w.stop) for w in trace.windows] == [(0, 1), (1, 3)]
    assert trace.events[1]["tags"] == ["summary"]


def test_contents_may_stand_one_on_a_line_and_know_their_usage():
    usage = {"promptTokenCount": 10, "cachedContentTokenCount": 4, "candidatesTokenCount": 3, "thoughtsTokenCount": 2}
    rows = [content("user", "Hi"), content("model", "Yes", usageMetadata=usage), content("user", " ")]
    (trace,) = read("\n".join(map(json.dumps, rows)).encode())
    assert tree(trace) == {"c1": None, "c2": "c1"}
    assert [event["origin"] for event in trace.events] == [{"line": 1}, {"line": 2}]
    assert trace.usage == [Usage("c2", 6, 5, 4)]
    assert trace.ignored == {"empty content": 1}


def test_what_is_no_content_is_reported():
    trace = load({"history": [5, {"role": "user"}, {"role": "user", "parts": 7}, content("user", "Hi")]})
    assert [problem.text for problem in trace.problems] == [
        "history/0: a number where a content was expected (skipped)",
        "history/1: field 'parts' is missing, expected a list (skipped)",
        "history/2: field 'parts' is a number, expected a list (skipped)",
    ]
    assert accounted([trace]) == 4


def test_a_file_without_an_object_is_a_clear_error():
    with pytest.raises(TraceError):
        read(b"[1, 2]")


@pytest.mark.parametrize(
    ("value", "claimed"),
    [
        ([content("user", "Hi")], True),
        ({"history": [content("user", "Hi")]}, True),
        ({"contents": [content("user", "Hi")], "model": "m"}, True),
        (content("model", call("x")), True),
        ([{"role": "user", "content": "Hi"}], False),
        ([{"role": "user", "parts": [{"type": "text", "content": "Hi"}]}], False),  # gen_ai messages
        ([{"role": "user", "parts": [{"type": "text", "text": "Hi"}]}], False),
        ([{"role": "user", "parts": []}], False),
        ({"candidates": [{"content": content("model", "x")}]}, False),
        ({"method": "generateContentStream", "response": [{"candidates": []}]}, False),
        ({"history": []}, False),
        ([[]], False),
    ],
)
def test_contents_are_known_by_their_parts(value, claimed):
    assert gemini_contents.sniff(json.dumps(value).encode()) is claimed


def test_a_list_longer_than_the_head_is_known():
    data = json.dumps([content("user", "Hi"), content("model", "x" * 200_000)], indent=1).encode()
    assert gemini_contents.sniff(data[:66_000])


def test_the_sample_is_claimed_by_this_format_alone_and_is_read_without_problems():
    check_sample(gemini_contents, SAMPLE)
