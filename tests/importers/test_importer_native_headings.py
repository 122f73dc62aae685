"""The line that begins a native trace: what a trace has beside its events, and several traces in one file."""

from __future__ import annotations

import json

import pytest
from importer_checks import accounted, claimants, with_other_types

from context_gc.importers import native
from context_gc.importers.files.decode import decode
from context_gc.trace import Usage, Window


def event(name):
    return {"id": name, "type": "decision", "timestamp": 1, "content": name}


def lines(*values):
    return "\n".join(map(json.dumps, values)).encode()


def heading(**told):
    return {"trace": {"version": 1, **told}}


def test_a_heading_tells_title_model_windows_and_usage():
    report = {"event_id": "b", "input_tokens": 5, "output_tokens": 1, "cache_read": 2, "cache_write": 3}
    windows = [{"first": "a", "opened_by": "start"}, {"first": "b", "opened_by": "auto", "tokens_before": 9}]
    data = lines(heading(title="t", model="m", windows=windows, usage=[report]), event("a"), event("b"))
    (trace,) = native.read(decode(data, "x"))
    assert (trace.title, trace.model, trace.problems, trace.records_read) == ("t", "m", [], 3)
    assert trace.windows == [Window(0, 1), Window(1, 2, "auto", 9)]
    assert trace.usage == [Usage("b", 5, 1, 2, 3)]


def test_each_heading_begins_a_trace_with_ids_of_its_own():
    data = lines(event("a"), heading(title="two"), event("a"), event("a"), heading(title="three"))
    traces = native.read(decode(data, "x"))
    assert [len(trace.events) for trace in traces] == [1, 1, 0]
    assert [trace.title for trace in traces] == ["", "two", "three"]
    assert [problem.line for problem in traces[0].problems] == [4]
    assert accounted(traces) == 5


def test_windows_and_usage_of_events_that_are_not_there_are_reported():
    told = heading(windows=[{"first": "a"}, {"first": "gone"}, 7], usage=[{"event_id": "gone"}, None])
    (trace,) = native.read(decode(lines(told, event("a")), "x"))
    assert trace.windows == [Window(0, 1, "unknown")]
    assert [problem.text for problem in trace.problems] == [
        "2 context windows begin at no event that is there (left out)",
        "2 usage reports are about no event that is there (left out)",
    ]


@pytest.mark.parametrize(
    "data", [lines(heading()), lines(heading(x="y" * 5_000_000), event("a"))], ids=["alone", "long"]
)
def test_a_heading_is_enough_for_native_to_claim_a_file(data):
    assert claimants(decode(data, "x").head) == {"native"}


@pytest.mark.parametrize(
    "value", [{"trace": {}}, {"trace": {"version": "1"}}, {"trace": {"version": 1}, "id": 1}], ids=str
)
def test_what_only_looks_like_a_heading_is_none(value):
    assert not native.is_heading(value)


def test_a_damaged_heading_loses_no_event():
    for damaged in with_other_types(heading(title="t", windows=[{"first": "a"}], usage=[{"event_id": "a"}], extra={})):
        traces = native.read(decode(lines(event("a"), damaged, event("b")), "x"))
        assert [each["id"] for trace in traces for each in trace.events] == ["a", "b"]
