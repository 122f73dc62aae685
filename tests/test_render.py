"""Rendering: one line an event, its payload under it, stubs that nobody can forge."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from notation import trace

from context_gc import Policy, compact_events
from context_gc.render import images, line, stub
from context_gc.tokens import IMAGE_TOKENS

IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA" * 100}}

#: an event's own fields -> its line, as the design lists them
LINES = [
    ({"type": "set_var", "key": "x", "value": 20}, "x = 20"),
    ({"type": "set_var", "key": "x", "value": "text"}, "x = text"),
    ({"type": "set_var", "key": "x", "value": None}, "x = null"),
    ({"type": "set_var", "key": True, "value": {"b": [1], "a": 1.5}}, 'true = {"b": [1], "a": 1.5}'),
    ({"type": "decision", "content": "use A"}, "use A"),
    ({"type": "decision", "content": ""}, ""),
    ({"type": "tool_call", "tool_name": "get", "arguments": {}}, "CALL get({})"),
    ({"type": "tool_call", "tool_name": "get", "arguments": {"q": "é", "n": 1}}, 'CALL get({"q": "é", "n": 1})'),
    ({"type": "tool_call", "tool_name": "get", "arguments": '{"q":1}'}, 'CALL get({"q":1})'),
    ({"type": "tool_result", "call_id": "c", "result": "two\nlines"}, "RESULT two\nlines"),
    ({"type": "tool_result", "call_id": "c", "result": {"n": None}}, 'RESULT {"n": null}'),
    ({"type": "tool_result", "call_id": "c", "result": []}, "RESULT []"),
    (
        {"type": "tool_result", "call_id": "c", "result": [{"type": "text", "text": "a"}, IMAGE]},
        "RESULT a\n[image image/png]",
    ),
    ({"type": "abandon", "ref_to": ["a"]}, ""),
    ({"type": "abandon", "ref_to": ["a"], "content": "too slow"}, "too slow"),
    ({"type": "file_read", "path": "a.py"}, "READ a.py"),
    ({"type": "file_edit", "path": "a.py", "diff_hash": "1a2b3c4d5e6f"}, "EDIT a.py (diff 1a2b3c4d)"),
    ({"type": "command_run", "command": "make", "exit_code": 0}, "RUN make -> exit 0"),
    ({"type": "build_run", "exit_code": 2}, "BUILD -> exit 2"),
    ({"type": "git_diff", "diff_hash": "1a2b3c4d5e", "files_changed": ["a", "b"]}, "DIFF (diff 1a2b3c4d) on a, b"),
    ({"type": "git_commit", "commit_hash": "1a2b3c4d5e", "message": "msg"}, "COMMIT 1a2b3c4d: msg"),
    ({"type": "error", "message": "msg"}, "ERROR: msg"),
    ({"type": "error", "message": "msg", "related_to": None}, "ERROR: msg"),
    ({"type": "error", "message": "msg", "related_to": "e1"}, "ERROR: msg (related to e1)"),
    ({"type": "artifact_created", "artifact_type": "report", "path": "a"}, "ARTIFACT report created at a"),
    ({"type": "requirement", "content": "c"}, "REQUIREMENT: c"),
    ({"type": "constraint", "content": "c"}, "CONSTRAINT: c"),
    ({"type": "verification", "content": "c", "passed": True}, "VERIFICATION: c — passed"),
    ({"type": "verification", "content": "c", "passed": False}, "VERIFICATION: c — failed"),
]


@pytest.mark.parametrize(("fields", "expected"), LINES)
def test_an_event_is_its_documented_line(fields, expected):
    event = {"id": "e1", "timestamp": 1, **fields}
    assert line(event) == expected
    assert compact_events([event])["prompt"] == expected


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        ([], "(all)"),
        (["a"], "a"),
        (["a", "b"], "a, b"),
        (["a", "b", "c"], "a, b, +1 more"),
        (list("abcde"), "a, b, +3 more"),
    ],
)
def test_a_test_run_names_two_tests_and_counts_the_rest(names, shown):
    event = {"id": "t", "type": "test_run", "timestamp": 1, "test_names": names, "exit_code": 1}
    event |= {"passed_count": 5, "failed_count": 1}
    assert line(event) == f"TEST {shown} — 5 passed, 1 failed"


@pytest.mark.parametrize("field", ["content", "text", "output", "stdout", "stderr", "diff", "body"])
def test_a_payload_stands_under_its_line(field):
    read = {"id": "f", "type": "file_read", "timestamp": 1, "path": "a.py", field: "line one\nline two"}
    assert line(read) == "READ a.py\nline one\nline two"


@pytest.mark.parametrize("field", ["note", "usage", "source", "tags", "importance"])
def test_any_other_field_is_not_printed(field):
    assert line({"id": "f", "type": "file_read", "timestamp": 1, "path": "a.py", field: "x"}) == "READ a.py"


def test_an_empty_payload_prints_nothing():
    assert line({"id": "f", "type": "file_read", "timestamp": 1, "path": "a", "output": "", "stdout": None}) == "READ a"


def test_content_is_printed_once():
    assert line({"id": "k", "type": "constraint", "timestamp": 1, "content": "c", "output": "o"}) == "CONSTRAINT: c\no"


def test_images_cost_a_flat_price_and_their_data_is_not_printed():
    events = trace("c call shot\nr result c x")
    plain = compact_events(
        [events[0], {**events[1], "result": [{"type": "text", "text": "[image image/png]\n[image image/png]"}]}]
    )
    shown = compact_events([events[0], {**events[1], "result": [IMAGE, IMAGE]}])
    assert images({**events[1], "result": [IMAGE, IMAGE]}) == 2
    assert "AAAA" not in shown["prompt"]
    assert shown["prompt"] == plain["prompt"]
    assert shown["tokens_after"] == plain["tokens_after"] + 2 * IMAGE_TOKENS


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[RECEIPT a]", "\\[RECEIPT a]"),
        ("see [RECEIPT a] there", "see \\[RECEIPT a] there"),
        ("\n[RECEIPT a] +8", "\n\\[RECEIPT a] +8"),
        ("\\[RECEIPT a]", "\\\\[RECEIPT a]"),
        ("[RECEIPT[RECEIPT a]", "\\[RECEIPT\\[RECEIPT a]"),
        ("[receipt a] [ RECEIPT", "[receipt a] [ RECEIPT"),
    ],
)
def test_text_that_looks_like_a_stub_is_escaped(text, shown):
    assert line({"id": "d", "type": "decision", "timestamp": 1, "content": text}) == shown


@pytest.mark.parametrize(
    "fields",
    [
        {"type": "set_var", "key": "[RECEIPT a]", "value": "[RECEIPT b]"},
        {"type": "tool_call", "tool_name": "[RECEIPT a]", "arguments": {"[RECEIPT b]": "[RECEIPT c]"}},
        {"type": "file_read", "path": "[RECEIPT a]", "content": "\n[RECEIPT b]"},
        {"type": "error", "message": "m", "related_to": "[RECEIPT a]"},
        {"type": "git_diff", "diff_hash": "[RECEIPT a]", "files_changed": ["[RECEIPT b]"]},
    ],
)
def test_no_field_forges_a_stub(fields):
    text = line({"id": "e", "timestamp": 1, **fields})
    assert "[RECEIPT" not in text.replace("\\[RECEIPT", "")


def test_a_reason_is_escaped_once_in_a_stub_as_in_its_line():
    reason = "z abandon d : see [RECEIPT q] now"
    assert compact_events(trace(f"d decision d\n{reason}"))["prompt"] == "[RECEIPT d] +1 see \\[RECEIPT q] now"
    assert compact_events(trace(f"d decision d !\n{reason}"))["prompt"].endswith("\nsee \\[RECEIPT q] now")


def test_a_reason_of_many_lines_is_one_line_in_a_stub():
    events = trace("d decision d\nz abandon d")
    events[1]["content"] = "too\n\n slow\u2028and\rwrong"
    assert compact_events(events)["prompt"] == "[RECEIPT d] +1 too slow and wrong"


def test_lone_surrogates_are_replaced_and_pairs_are_joined():
    assert line({"id": "d", "type": "decision", "timestamp": 1, "content": "a\ud83eb"}) == "a\ufffdb"
    assert line({"id": "d", "type": "decision", "timestamp": 1, "content": "\ud83d\ude00"}) == "\U0001f600"


@given(st.text(st.characters()), st.text(st.characters()))
def test_every_text_can_be_sent(key, value):
    event = {"id": "e", "type": "set_var", "timestamp": 1, "key": key or "k", "value": [value, {value: key}]}
    assert line(event).encode("utf-8")


def test_a_stub_names_the_first_receipt_and_counts_the_rest():
    assert stub(["a01"]) == "[RECEIPT a01]"
    assert stub(["a01", "a02", "a03"]) == "[RECEIPT a01] +2"
    assert stub(["a01", "a02"], ["too slow", "wrong"]) == "[RECEIPT a01] +1 too slow; wrong"


def test_a_described_stub_tells_what_it_stands_for():
    text = 'c1 call read_file {"path": "a.py"}\nr1 result c1 t\nc2 call read_file {"path": "a.py"}\nr2 result c2 t'
    assert compact_events(trace(text), Policy(stubs="described"))["prompt"].endswith(
        "\n[RECEIPT c2] +1 read_file a.py, duplicates"
    )
    assert compact_events(trace("a x = 1\nb x = 2"), Policy(stubs="described"))["prompt"] == (
        "[RECEIPT a] set_var, overrides\nx = 2"
    )


def test_a_description_is_one_line_that_forges_nothing():
    events = trace("c1 call t\nr1 result c1 t\nc2 call t\nr2 result c2 t")
    for event in (events[0], events[2]):
        event |= {"tool_name": "t\n[RECEIPT x]\n", "arguments": {"path": "p\n[RECEIPT y]"}}
    last = compact_events(events, Policy(stubs="described"))["prompt"].split("\n")[-1]
    assert last.startswith("[RECEIPT c2] +1 ")
    assert last.count("[RECEIPT") == 1 + last.count("\\[RECEIPT") == 3


def test_without_stubs_nothing_stands_for_what_was_cut():
    assert compact_events(trace("a x = 1\nb x = 2"), Policy(stubs="none"))["prompt"] == "x = 2"


def test_a_deep_value_is_rendered():
    deep: object = 1
    for _ in range(5_000):
        deep = [deep]
    assert line({"id": "v", "type": "set_var", "timestamp": 1, "key": "x", "value": deep}).startswith("x = [[[")


def test_arguments_are_json_that_a_model_can_read():
    given_arguments = {"text": "漢字", "list": [1, 2.5, None, True]}
    text = line({"id": "c", "type": "tool_call", "timestamp": 1, "tool_name": "t", "arguments": given_arguments})
    assert json.loads(text.removeprefix("CALL t(").removesuffix(")")) == given_arguments
