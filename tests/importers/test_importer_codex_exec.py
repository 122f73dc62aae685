"""The events that `codex exec --json` prints: what each kind of item becomes, and what is claimed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from importer_checks import accounted, check

from context_gc.importers import codex, codex_exec
from context_gc.importers.files.decode import decode
from context_gc.outcomes import exit_code, failed
from context_gc.semantics import Command, FileEdit, FileRead, Search, Status, semantics

SAMPLE = Path(__file__).parents[2] / "sample_traces" / "codex-exec.jsonl"
THREAD = {"type": "thread.started", "thread_id": "t1"}


def load_all(*records):
    traces = codex_exec.read(decode("\n".join(map(json.dumps, records)).encode(), "exec.jsonl"))
    check(traces)
    assert accounted(traces) == len(records)
    return traces


def load(*records):
    (trace,) = load_all(*records)
    return trace


def done(key, kind, **fields):
    return {"type": "item.completed", "item": {"id": key, "type": kind, **fields}}


def begun(key, kind, **fields):
    return {"type": "item.started", "item": {"id": key, "type": kind, **fields}}


@pytest.mark.parametrize("record", [THREAD, done("item_0", "agent_message", text="Hi")])
def test_a_stream_is_claimed_and_not_by_the_reader_of_sessions(record):
    head = json.dumps(record).encode()
    assert codex_exec.sniff(head)
    assert not codex.sniff(head)


@pytest.mark.parametrize(
    "record", [{"type": "item.completed", "item": "x"}, {"type": "thread.started"}, {"type": "turn.completed"}, {}]
)
def test_other_records_are_not_claimed(record):
    assert not codex_exec.sniff(json.dumps(record).encode())


def test_each_kind_of_item_has_its_event():
    trace = load(
        THREAD,
        {"type": "turn.started"},
        done("i0", "reasoning", text="hm"),
        begun("i1", "command_execution", command="bash -lc 'cat /a/b.py'", aggregated_output="", status="in_progress"),
        done("i1", "command_execution", command="bash -lc 'cat /a/b.py'", aggregated_output="x", exit_code=0),
        done("i2", "file_change", changes=[{"path": "/a/b.py", "kind": "update"}], status="completed"),
        done("i3", "mcp_tool_call", server="docs", tool="find", arguments={"q": 1}, error={"message": "no"}),
        done("i4", "web_search", query="cart"),
        done("i5", "collab_tool_call", tool="wait", receiver_thread_ids=["t2"], agents_states={"t2": {}}),
        done("i9", "mcp_tool_call", server="docs", tool="get", result={"content": [{"type": "text", "text": "x"}]}),
        done("ia", "file_change", changes=[{"path": "/a"}, {"path": "/b"}], status="failed"),
        done("i6", "agent_message", text="Done."),
        done("i7", "error", message="slow"),
        done("i8", "hologram", data=[1]),
        {"type": "turn.completed", "usage": {"input_tokens": 5}},
    )
    calls = [e for e in trace.events if e["type"] == "tool_call"]
    assert [e["tool_name"] for e in calls] == [
        "shell", "apply_patch", "docs__find", "web_search", "wait", "docs__get", "apply_patch",
    ]  # fmt: skip
    assert [semantics(e) for e in calls[:2]] == [FileRead("/a/b.py"), FileEdit("/a/b.py")]
    assert semantics(calls[3]) == Search("cart")
    results = {e["call_id"]: e for e in trace.events if e["type"] == "tool_result"}
    assert exit_code(calls[0], [results["i1"]]) == 0
    assert results["i3"]["is_error"] is True
    assert results["i5"]["result"] == {"t2": {}}
    assert results["i9"]["result"] == [{"type": "text", "text": "x"}]
    assert "is_error" not in results["i9"]
    assert (calls[6]["arguments"], results["ia"]["is_error"]) == ({"changes": [{"path": "/a"}, {"path": "/b"}]}, True)
    said = [(e["content"], e.get("tags")) for e in trace.events if e["type"] == "decision"]
    assert said == [
        ("hm", ["thinking"]),
        ("Done.", None),
        ('{"id": "i8", "type": "hologram", "data": [1]}', ["opaque"]),
    ]
    assert trace.ignored == {"thread.started": 1, "turn.started": 1, "turn.completed": 1, "error item": 1}
    assert trace.usage == []
    assert trace.title == "t1"


def test_commands_that_run_at_once_hang_side_by_side():
    trace = load(
        done("m", "agent_message", text="Both."),
        begun("a", "command_execution", command="make", status="in_progress"),
        begun("b", "command_execution", command="make test", status="in_progress"),
        done("b", "command_execution", command="make test", aggregated_output="no", exit_code=2, status="failed"),
        done("a", "command_execution", command="make", aggregated_output="ok", exit_code=0, status="completed"),
    )
    assert [(e["id"], e["parent_id"]) for e in trace.events] == [
        ("m", None), ("a", "m"), ("b", "m"), ("b:r", "b"), ("a:r", "a"),
    ]  # fmt: skip
    assert failed(trace.events[2], [trace.events[3]])
    assert not failed(trace.events[1], [trace.events[4]])


def test_a_command_that_was_declined_is_abandoned():
    trace = load(done("a", "command_execution", command="rm -rf /", aggregated_output="", status="declined"))
    assert semantics(trace.events[0]) == Command("rm -rf /")
    assert trace.events[0]["arguments"] == {"command": "rm -rf /"}
    assert [(e["ref_to"], e["content"]) for e in trace.events[2:]] == [(["a"], "declined by the user")]


def test_a_plan_is_a_call_each_time_that_it_is_written():
    first, second = ([{"text": "Fix", "completed": done}] for done in (False, True))
    trace = load(
        begun("p", "todo_list", items=first),
        {"type": "item.updated", "item": {"id": "p", "type": "todo_list", "items": second}},
        done("p", "todo_list", items=second),
    )
    calls = [e for e in trace.events if e["type"] == "tool_call"]
    assert [e["arguments"] for e in calls] == [{"plan": first}, {"plan": second}]
    assert semantics(calls[0]) == Status("update_plan")
    assert [e["result"] for e in trace.events if e["type"] == "tool_result"] == ["", ""]
    assert trace.ignored == {"item.completed": 1}
    assert len(load(done("p", "todo_list", items=second)).events) == 2  # told only at the end


def test_what_is_under_way_tells_nothing_twice():
    trace = load(
        begun("m", "agent_message", text="Do"),
        {"type": "item.updated", "item": {"id": "m", "type": "agent_message", "text": "Done"}},
        done("m", "agent_message", text="Done."),
        done("n", "agent_message", text=" "),
    )
    assert [e["content"] for e in trace.events] == ["Done."]
    assert trace.ignored == {"item.started": 1, "item.updated": 1, "blank text": 1}


def test_each_thread_is_a_trace_of_its_own():
    first, second = load_all(
        THREAD,
        done("i0", "agent_message", text="one"),
        {"type": "thread.started", "thread_id": "t2"},
        {"type": "item.completed", "item": 7},
        done("i0", "agent_message", text="two"),
    )
    assert [e["content"] for e in (*first.events, *second.events)] == ["one", "two"]
    assert [trace.extra["session_id"] for trace in (first, second)] == ["t1", "t2"]
    assert [(p.line, p.text) for p in first.problems] == [(4, "field 'item' is a number, expected an object (skipped)")]


def test_the_sample_shows_what_it_was_written_for():
    (trace,) = codex_exec.read(decode(SAMPLE.read_bytes(), SAMPLE.name))
    check([trace])
    assert trace.problems == []
    assert [e["content"] for e in trace.events if e["type"] == "abandon"] == ["declined by the user"]
    assert [e.get("exit_code") for e in trace.events if e["type"] == "tool_result"].count(1) == 1
    assert sum(semantics(e) == Status("update_plan") for e in trace.events) == 3
