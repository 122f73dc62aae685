"""OpenHands V0: what is forgotten and delegated; pairs, rows and folders; recorded files; damage."""

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
    own,
    paired,
    told,
    types,
)
from openhands_records import GO, act, obs, read, read_all

from context_gc.errors import TraceError
from context_gc.importers import openhands
from context_gc.importers.files.decode import decode
from context_gc.trace import Problem

SAMPLE = Path(__file__).parents[2] / "sample_traces" / "openhands-undo.json"

# windows and delegates


@pytest.mark.parametrize(
    "forgotten",
    [
        {"forgotten_event_ids": [2, 3, 4]},
        {"forgotten_events_start_id": 2, "forgotten_events_end_id": 4},
        {"pruned_event_ids": [2, 3, 4]},
    ],
)
def test_a_condensation_opens_a_window_with_what_it_kept_and_the_summary_in_its_place(forgotten):
    trace = read(
        GO,
        act(2, "message", content="gone"),
        act(3, "run", command="a"),
        obs(4, "run", "A", 3),
        act(5, "run", command="b"),
        obs(6, "run", "B", 5),
        act(7, "condensation", summary="so far", summary_offset=1, **forgotten),
        act(8, "message", content="on"),
    )
    assert [(w.start, w.stop, w.opened_by) for w in trace.windows] == [(0, 6, "start"), (6, 11, "auto")]
    window = trace.events[6:]
    assert [event.get("content", event.get("tool_name", event.get("result"))) for event in window] == [
        "Go",
        "so far",
        "execute_bash",
        "B",
        "on",
    ]
    assert [event.get("repeats") for event in window] == ["e0", None, "a5", "a5:r", None]
    assert window[3]["call_id"] == window[2]["id"]
    assert types(trace) == {"requirement": 1, "decision": 3, "tool_call": 2, "tool_result": 2}


def test_a_second_condensation_replaces_the_first_summary():
    trace = read(
        GO,
        act(1, "message", content="one"),
        act(2, "condensation", forgotten_event_ids=[1], summary="first", summary_offset=1),
        act(3, "message", content="two"),
        act(4, "condensation", forgotten_event_ids=[3], summary="second", summary_offset=1),
    )
    window = trace.windows[-1]
    assert [event["content"] for event in trace.events[window.start : window.stop]] == ["Go", "second"]


def test_a_delegate_has_a_trace_of_its_own():
    events = [
        GO,
        act(1, "delegate", agent="BrowsingAgent", inputs={"task": "look it up"}),
        act(2, "message", "user", content="look it up"),
        act(3, "browse", url="http://x"),
        obs(4, "browse", "page", 3),
        obs(5, "delegate", "found it", 1),
        act(6, "finish", thought="Done"),
    ]
    main, child = read_all(events)
    check([main, child])
    assert accounted([main, child]) == len(events)
    assert told(main)[1:] == [
        ("tool_call", "delegate", []),
        ("tool_result", "found it", []),
        ("decision", "Done", []),
    ]
    assert types(child) == {"requirement": 1, "tool_call": 1, "tool_result": 1}
    assert child.title == "delegate BrowsingAgent"
    assert child.extra["parent_call"] == "a1"


# layouts


def row(history, **more):
    return {
        "instance_id": "x__1",
        "instruction": "Do",
        "metadata": {"llm_config": {"model": "m"}},
        "history": history,
    } | more


def test_rows_give_a_trace_each_and_a_row_without_history_is_a_problem():
    bare = {"action": "message", "content": "Go", "wait_for_response": False}
    lines = [
        row([GO, act(1, "finish", thought="ok")]),
        row([[GO, obs(1, "null", "")], [act(2, "run", command="ls"), obs(3, "run", "a", 2)]], instance_id="x__2"),
        row(None, error="container died"),
        row([bare, {"action": "run", "command": "ls", "thought": "Hm"}, {"observation": "run", "content": "a"}]),
    ]
    data = "\n".join(map(json.dumps, lines)).encode()
    assert openhands.sniff(data)
    traces = read_all(data)
    check(traces)
    assert [types(trace) for trace in traces] == [
        {"requirement": 1, "decision": 1},
        {"requirement": 1, "tool_call": 1, "tool_result": 1},
        {"requirement": 1, "decision": 1, "tool_call": 1, "tool_result": 1},
    ]
    assert traces[0].problems == [Problem(3, "a row without history: container died (skipped)")]
    assert [trace.title for trace in traces] == ["x__1", "x__2", "x__1"]
    assert (traces[0].model, traces[1].events[1]["origin"]) == ("m", {"line": 2, "path": "history/1/0"})
    assert paired(traces[2]) == 1
    assert traces[2].events[2]["arguments"] == {"command": "ls"}


def test_lines_and_wrapped_trajectories_are_read():
    lines = "\n".join(map(json.dumps, [GO, act(1, "finish", thought="ok")])).encode()
    for data in (lines, json.dumps({"trajectory": [GO, act(1, "finish", thought="ok")]}).encode()):
        assert openhands.sniff(data)
        assert types(read_all(data)[0]) == {"requirement": 1, "decision": 1}


def test_the_event_files_of_a_session_are_one_group():
    paths = ["s/events/10.json", "s/events/0.json", "s/events/2.json", "t/events/1.json", "s/metadata.json"]
    assert openhands.groups(paths) == [("s/events/0.json", "s/events/2.json", "s/events/10.json")]
    files = {
        "s/events/0.json": GO,
        "s/events/1.json": None,
        "s/events/2.json": act(2, "finish", thought="ok"),
    }
    documents = [decode(json.dumps([event]).encode(), path) for path, event in files.items()]
    documents.append(decode(b"{bro", "s/events/3.json"))
    (trace,) = openhands.read_group(documents)
    check([trace])
    assert [event["origin"] for event in trace.events] == [
        {"file": "s/events/0.json", "path": "0"},
        {"file": "s/events/2.json", "path": "0"},
    ]
    assert len(trace.problems) == 2
    assert trace.source == "s"


def test_what_is_no_event_is_a_problem_with_its_place():
    trace = read(GO, 7, {"id": 3})
    assert [problem.text for problem in trace.problems] == [
        "element 1: a number where an object was expected (skipped)",
        "2: an object without action and observation where an event was expected (skipped)",
    ]


@pytest.mark.parametrize(
    "value",
    [
        [{"action": "x", "observation": "y", "args": {}}],
        {"trajectory": [{"action": "ls", "observation": "a", "response": "b"}]},
        {"history": [{"role": "user", "content": "x", "agent": "main"}]},
        [{"role": "user", "content": "x"}],
        {"events": [{"id": "a", "type": "decision", "timestamp": 0, "content": "x"}]},
    ],
)
def test_files_of_others_are_not_claimed(value):
    assert not openhands.sniff(json.dumps(value).encode())


@pytest.mark.parametrize("value", [[act(0, "null")], {"instruction": "x", "history": []}])
def test_files_without_a_conversation_are_clear_errors(value):
    with pytest.raises(TraceError, match="it holds no event of a conversation"):
        read_all(value)


# recorded files; the two trajectories and the first row of each output were counted by hand

PRONTO = ({"requirement": 2, "decision": 3, "tool_call": 2, "tool_result": 2}, {"null": 4, "finish without text": 1}, 0)
RECORDED = {
    "prontoqa-output.jsonl": [
        *([PRONTO] * 5),
        ({"requirement": 2, "decision": 2, "tool_call": 1, "tool_result": 1}, PRONTO[1], 0),
    ],
    "resolver-output.jsonl": [
        ({"requirement": 1, "decision": 4, "tool_call": 3, "tool_result": 3}, {}, 0),
        ({"requirement": 1, "decision": 22, "tool_call": 21, "tool_result": 21}, {}, 0),
    ],
    "traj-basic.json": [({"requirement": 1, "decision": 2, "tool_call": 1, "tool_result": 1}, {}, 2)],
    "traj-basic_interactions.json": [({"requirement": 3, "decision": 2}, {"finish without text": 1}, 0)],
    "traj-wrong_initial_state.json": [({"requirement": 1, "decision": 4, "tool_call": 3, "tool_result": 3}, {}, 4)],
}


@needs_corpus
def test_the_table_names_every_recorded_file():
    assert sorted(RECORDED) == sorted(path.name for path in (CORPUS / "openhands").iterdir())


@needs_corpus
@pytest.mark.parametrize("name", RECORDED)
def test_recorded_files_hold_what_was_counted(name):
    data = (CORPUS / "openhands" / name).read_bytes()
    document = decode(data, name)
    assert claimants(document.head) == {"openhands"}
    traces = openhands.read(document)
    check(traces)
    assert [(types(trace), trace.ignored, len(trace.usage)) for trace in traces] == RECORDED[name]
    assert [paired(trace) for trace in traces] == [types(trace).get("tool_result", 0) for trace in traces]
    assert {(len(trace.windows), len(trace.problems)) for trace in traces} == {(1, 0)}
    assert all("repeats" not in event for trace in traces for event in trace.events)


@needs_corpus
@pytest.mark.parametrize("name", RECORDED)
def test_recorded_files_agree_with_a_count_of_their_own_json(name):
    data = (CORPUS / "openhands" / name).read_bytes()
    histories = (
        [json.loads(line)["history"] for line in data.splitlines()] if name.endswith("l") else [json.loads(data)]
    )
    flat = [
        [half for each in history for half in (each if isinstance(each, list) else [each])] for history in histories
    ]
    traces = read_all(data)
    assert accounted(traces) == sum(map(len, flat))
    for trace, events in zip(traces, flat, strict=True):
        ran = [each for each in events if each.get("action") not in (None, "message", "finish")]
        seen = [each["content"] for each in events if each.get("observation") not in (None, "null")]
        assert types(trace).get("tool_call", 0) == len(ran)
        assert [event["result"] for event in own(trace) if event["type"] == "tool_result"] == seen


@needs_corpus
def test_usage_of_the_recorded_trajectory_is_the_providers():
    (trace,) = read_all((CORPUS / "openhands" / "traj-wrong_initial_state.json").read_bytes())
    reports = [(u.input_tokens, u.output_tokens, u.cache_read, u.cache_write) for u in trace.usage]
    assert reports == [(4, 95, 0, 3471), (6, 111, 3471, 139), (6, 85, 3610, 188), (6, 67, 3798, 129)]
    assert [event["exit_code"] for event in trace.events if "exit_code" in event] == [0]
