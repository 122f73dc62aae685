"""OpenHands V1: condensations and usage; folders and JSONL; recorded conversations; damage."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from importer_checks import (
    CORPUS,
    accounted,
    check,
    claimants,
    needs_corpus,
    paired,
    types,
)
from openhands_v1_records import acts, event, only, read, read_all, says, sees, stats

from context_gc.errors import TraceError
from context_gc.importers import openhands_v1
from context_gc.importers.files.decode import decode
from context_gc.trace import Usage

SAMPLE = Path(__file__).parents[2] / "sample_traces" / "openhands-v1-rejected.jsonl"

# windows and usage


def test_a_condensation_opens_a_window_with_what_it_kept_and_the_summary_in_its_place():
    trace = read(
        says("u", "Go"),
        acts("a", "c1", "One."),
        sees("o", "c1"),
        acts("b", "c2", "Two.", response="r2"),
        sees("p", "c2"),
        event("CondensationRequest", "q", "environment", reason="manual"),
        event("Condensation", "x", "environment", forgotten_event_ids=["a", "o"], summary="so far", summary_offset=1),
        says("b2", "On", "agent"),
    )
    assert [(w.start, w.stop, w.opened_by) for w in trace.windows] == [(0, 7, "start"), (7, 13, "manual")]
    window = [each.get("content", each.get("tool_name")) or each["result"][0]["text"] for each in trace.events[7:]]
    assert window == ["Go", "so far", "Two.", "terminal", "ok", "On"]
    assert [each.get("repeats") for each in trace.events[7:]] == ["u", None, "b", "c2", "c2:r", None]


def test_usage_comes_from_the_totals_before_a_response_and_lies_on_its_last_event():
    trace = read(
        stats("s0", 50, 5, 99),
        says("u", "Go"),
        stats("s1", 150, 15, 110, cache_read_tokens=40),
        acts("a", "c1"),
        acts("b", "c2"),
        sees("o", "c1"),
        sees("p", "c2"),
        stats("s2", 150, 15, 110, cache_read_tokens=40),
        stats("s4", 350, 35, 220, cache_read_tokens=140, cache_write_tokens=60),
        stats("s3", 900, 90, 990, who="condenser"),
        says("c", "Done", "agent", llm_response_id="r2"),
    )
    assert trace.usage == [Usage("c2", 60, 10, 40, 0), Usage("c", 40, 20, 100, 60)]
    assert trace.model == "m"
    assert trace.ignored == {"ConversationStateUpdateEvent": 5}


# files


def test_the_event_files_of_a_conversation_are_one_group_with_its_state():
    paths = [
        "x/base_state.json",
        "x/events/event-00010-b.json",
        "x/events/event-00002-a.json",
        "y/events/event-00000-c.json",
        "x/events/note.json",
    ]
    assert openhands_v1.groups(paths) == [
        ("x/events/event-00002-a.json", "x/events/event-00010-b.json", "x/base_state.json"),
        ("y/events/event-00000-c.json",),
    ]
    assert openhands_v1.groups(["events/event-00000-c.json"]) == [("events/event-00000-c.json",)]


def test_a_group_keeps_what_is_whole_and_reads_the_model_from_the_state():
    state = {"agent": {"llm": {"model": "claude"}}, "workspace": {"working_dir": "/w"}}
    files = {
        "x/events/event-00000-a.json": json.dumps(says("u", "Go")),
        "x/events/event-00001-b.json": "{bro",
        "x/events/event-00002-c.json": '{"odd": 1}',
        "x/base_state.json": json.dumps(state),
    }
    documents = [decode(data.encode(), path) for path, data in files.items()]
    traces = openhands_v1.read_group(documents)
    check(traces)
    (trace,) = traces
    assert (trace.model, trace.cwd, trace.source, trace.title) == ("claude", "/w", "x", "Go")
    assert trace.events[0]["origin"] == {"file": "x/events/event-00000-a.json"}
    assert accounted(traces) == 4
    assert len(trace.problems) == 2


@pytest.mark.parametrize(
    "value",
    [
        {"kind": "MessageEvent", "id": "x"},
        {"id": 1, "timestamp": "x", "source": "agent", "action": "run", "args": {}},
        {"kind": "Pod", "timestamp": "x", "source": "y"},
        [1],
    ],
)
def test_files_of_others_are_not_claimed(value):
    assert not openhands_v1.sniff(json.dumps(value).encode())


def test_a_file_without_visible_events_is_a_clear_error():
    with pytest.raises(TraceError, match="it holds no event that a model saw"):
        read_all([event("PauseEvent", "p", "user")])


# recorded conversations; goal-events.jsonl and a3f2edad were counted by hand

FOLDERS = {"a3f2edad": 11, "dd0e5779": 11}


def group(folder):
    files = sorted((CORPUS / "openhands_v1").rglob("*.json"))
    names = [path.relative_to(CORPUS / "openhands_v1").as_posix() for path in files]
    (paths,) = (paths for paths in openhands_v1.groups(names) if paths[0].startswith(folder))
    return [decode((CORPUS / "openhands_v1" / path).read_bytes(), path) for path in paths]


@needs_corpus
@pytest.mark.parametrize("folder", FOLDERS)
def test_recorded_folders_hold_what_was_counted(folder):
    documents = group(folder)
    assert len(documents) == FOLDERS[folder]
    assert all(claimants(document.head) == {"openhands-v1"} for document in documents)
    traces = openhands_v1.read_group(documents)
    check(traces)
    (trace,) = traces
    assert types(trace) == {"constraint": 1, "requirement": 3, "tool_call": 3, "tool_result": 3}
    assert trace.ignored == {"SystemPromptUpdateEvent": 1}
    assert (paired(trace), len(trace.windows), len(trace.usage), trace.problems) == (3, 1, 0, [])
    assert accounted(traces) == FOLDERS[folder]
    assert trace.extra["tools"] == ["file_editor", "terminal", "finish", "think"]
    raw = [json.loads(document.data) for document in documents]
    results = [each["observation"]["content"] for each in raw if each["kind"] == "ObservationEvent"]
    assert [each["result"] for each in only(trace, "tool_result")] == results


@needs_corpus
def test_the_recorded_lines_hold_what_was_counted():
    data = (CORPUS / "openhands_v1" / "goal-events.jsonl").read_bytes()
    document = decode(data, "goal-events.jsonl")
    assert claimants(document.head) == {"openhands-v1"}
    traces = openhands_v1.read(document)
    check(traces)
    (trace,) = traces
    assert types(trace) == {"decision": 2, "tool_call": 2, "tool_result": 3}
    assert trace.ignored == {"ConversationStateUpdateEvent": 5}
    assert (paired(trace), len(trace.windows), trace.problems) == (2, 1, [])  # the call of one result is not there
    assert [(u.input_tokens, u.output_tokens, u.cache_read) for u in trace.usage] == [
        (34184, 185, 1115),
        (2327, 192, 33657),
    ]
    assert [each.get("exit_code") for each in only(trace, "tool_result")] == [None, None, 1]
    assert [each.get("is_error") for each in only(trace, "tool_result")] == [True, True, None]
    raw = [json.loads(line) for line in data.splitlines()]
    assert accounted(traces) == len(raw) == 10
    assert [each["origin"]["line"] for each in only(trace, "tool_call")] == [
        number for number, each in enumerate(raw, 1) if each["kind"] == "ActionEvent"
    ]
