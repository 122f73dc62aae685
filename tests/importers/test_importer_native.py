"""The native format, in every shape that people write it in."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from importer_checks import accounted

from context_gc.errors import TraceError, UnknownFormat
from context_gc.load import load_trace, load_traces
from context_gc.trace import Problem

EVENTS = [
    {"id": "e1", "type": "set_var", "timestamp": 0, "key": "x", "value": {"deep": [1, 1.0, True, None]}},
    {"id": "e2", "type": "tool_call", "timestamp": 5, "parent_id": "e1", "tool_name": "f", "arguments": {}},
    {"id": "e3", "type": "tool_result", "timestamp": 6, "parent_id": "e2", "call_id": "e2", "result": "ok", "own": 1},
]


def jsonl(events):
    return "\n".join(json.dumps(event) for event in events)


SHAPES = {
    "jsonl": jsonl(EVENTS),
    "jsonl with CRLF": jsonl(EVENTS).replace("\n", "\r\n") + "\r\n",
    "array": json.dumps(EVENTS),
    "array after a blank line": "\n" + json.dumps(EVENTS),
    "pretty array": json.dumps(EVENTS, indent=2),
    "events object": json.dumps({"events": EVENTS}),
    "pretty events object": json.dumps({"version": 1, "events": EVENTS, "more": []}, indent=4),
    "pretty objects in a row": "\n".join(json.dumps(event, indent=2) for event in EVENTS),
    "objects on one line": jsonl(EVENTS).replace("\n", " "),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_every_shape_gives_the_same_events(shape, mark):
    trace = load_trace((mark + SHAPES[shape]).encode())
    assert (trace.events, trace.problems, trace.format) == (EVENTS, [], "native")
    assert [(window.start, window.stop, window.opened_by) for window in trace.windows] == [(0, 3, "start")]


def test_a_pretty_single_object_is_a_trace_of_one_event():
    assert load_trace(json.dumps(EVENTS[0], indent=2).encode()).events == EVENTS[:1]
    assert load_trace(b'{"id": "a",\n "type": "decision", "timestamp": 1, "content": ""}').events[0]["id"] == "a"


def test_the_events_object_describes_its_trace():
    trace = load_trace(json.dumps({"title": "T", "model": "m", "cwd": "/d", "events": EVENTS}).encode())
    assert (trace.title, trace.model, trace.cwd) == ("T", "m", "/d")


def test_an_empty_events_object_is_an_empty_trace():
    trace = load_trace(b'{"title": "nothing yet", "events": [ ]}')
    assert (trace.events, trace.title, len(trace.windows)) == ([], "nothing yet", 1)


def test_an_events_object_of_another_kind_is_not_claimed():
    for other in (b'{"events": [], "expected": {}}', b'{"events": [{"id": 1, "event": "model"}]}'):
        with pytest.raises(UnknownFormat):
            load_traces(other)


def test_an_invalid_event_is_skipped_and_named_with_its_line():
    broken = {**EVENTS[1], "timestamp": -1}
    trace = load_trace(jsonl([EVENTS[0], broken, EVENTS[2]]).encode())
    assert [event["id"] for event in trace.events] == ["e1", "e3"]
    text = "event 'e2': field 'timestamp' is -1, expected a whole number >= 0 (skipped)"
    assert trace.problems == [Problem(2, text)]
    assert (trace.records_read, accounted([trace])) == (2, 3)


def test_a_problem_of_the_whole_file_keeps_no_record_out():
    trace = load_trace(jsonl(EVENTS).encode() + b"\n\0\xff\n")
    assert [problem.records for problem in trace.problems] == [0, 0, 1]
    assert (trace.records_read, accounted([trace])) == (len(EVENTS), len(EVENTS) + 1)


def test_problems_come_in_the_order_of_their_lines():
    text = json.dumps({**EVENTS[0], "id": ""}) + "\n" + jsonl(EVENTS) + "\n{\n" + json.dumps(EVENTS[0])
    assert [problem.line for problem in load_trace(text.encode()).problems] == [1, 5, 6]


def test_an_invalid_element_of_an_array_is_named_with_line_and_index():
    broken = {**EVENTS[1], "type": "nonsense"}
    trace = load_trace(json.dumps([EVENTS[0], broken, 7, EVENTS[2]], indent=1).encode())
    assert [event["id"] for event in trace.events] == ["e1", "e3"]
    assert [problem.line for problem in trace.problems] == [16, 24]
    assert trace.problems[0].text.startswith("element 1: event 'e2': field 'type' is 'nonsense', expected one of ")
    assert trace.problems[1].text == "element 2: a number where an object was expected (skipped)"


def test_a_repeated_id_keeps_the_first_event():
    trace = load_trace(jsonl([EVENTS[0], {**EVENTS[1], "id": "e1"}]).encode())
    assert trace.events == EVENTS[:1]
    assert trace.problems == [Problem(2, "event 'e1': an event with this id is already there (skipped)")]


def test_a_missing_parent_is_left_as_it_is():
    trace = load_trace(jsonl(EVENTS[1:]).encode())
    assert trace.events == EVENTS[1:]
    assert trace.problems == []


def test_a_damaged_first_line_does_not_hide_the_format():
    trace = load_trace(('{"id": "e0", "ty\n' + jsonl(EVENTS)).encode())
    assert trace.events == EVENTS
    assert [problem.line for problem in trace.problems] == [1]


def test_a_list_on_the_first_line_does_not_hide_the_lines_below():
    trace = load_trace(("[1]\n" + jsonl(EVENTS)).encode())
    assert trace.events == EVENTS
    assert trace.problems == [Problem(1, "a list where an object was expected (skipped)")]


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("wrap", ["%s", '{"events": %s'])
def test_a_cut_array_keeps_the_events_before_the_cut(indent, wrap):
    text = wrap % json.dumps(EVENTS, indent=indent)
    trace = load_trace(text[: text.index('"own"')].encode())
    assert trace.events == EVENTS[:2]
    assert len(trace.problems) == 1
    assert trace.problems[0].text.startswith("element 2: not JSON")


@pytest.mark.parametrize("indent", [None, 2])
def test_an_array_is_taken_up_again_after_a_damaged_element(indent):
    text = json.dumps(EVENTS, indent=indent).replace('"tool_name"', "tool_name")
    trace = load_trace(text.encode())
    assert [event["id"] for event in trace.events] == ["e1", "e3"]
    assert len(trace.problems) >= 1


def test_a_file_of_broken_events_only_is_an_error_with_the_first_reasons():
    broken = [{**event, "timestamp": "now"} for event in EVENTS]
    with pytest.raises(TraceError, match=r"none of its 3 events is whole: line 1: event 'e1': field 'timestamp'"):
        load_traces(jsonl(broken).encode())


def test_lone_surrogates_survive():
    event = {"id": "\ud800", "type": "decision", "timestamp": 1, "content": "\udfff"}
    assert load_trace(json.dumps(event).encode()).events == [event]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(VALUES, min_size=1, max_size=6), st.sampled_from([None, 0, 2]), st.booleans(), st.booleans())
def test_what_was_written_is_read_back_equal(values, indent, ascii_only, as_array):
    events = [
        {"id": f"e{place}", "type": "set_var", "timestamp": place, "key": "k", "value": value, "extra": [value]}
        for place, value in enumerate(values)
    ]
    if as_array:
        text = json.dumps(events, indent=indent, ensure_ascii=ascii_only)
    else:
        text = "\n".join(json.dumps(event, indent=indent, ensure_ascii=ascii_only) for event in events)
    assert load_trace(text.encode("utf-8", "surrogatepass")).events == events


@pytest.mark.parametrize(
    "before", [{"title": 'a "b" \\ c'}, {"meta": {"x": [1, {"events": 2}]}}, {"n": None, "k": -1.5}]
)
def test_a_wrapper_may_hold_anything_before_its_events(before):
    trace = load_trace(json.dumps({**before, "events": EVENTS}).encode())
    assert (trace.format, trace.events) == ("native", EVENTS)
