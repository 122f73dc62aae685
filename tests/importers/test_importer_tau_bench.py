"""τ-bench and τ²-bench: runs, the simulated user's own tools, and damage."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from importer_checks import (
    CORPUS,
    accounted,
    check,
    claimants,
    needs_corpus,
    paired,
    survive,
    told,
    types,
    with_other_types,
)

from context_gc.errors import TraceError
from context_gc.importers import tau_bench
from context_gc.importers.files.decode import decode
from context_gc.trace import Usage

AIRLINE, RETAIL = "toolorchestra_airline.first12.json", "retail_example.json"
INFO = {"agent_info": {"llm": "gpt-5"}, "environment_info": {"domain_name": "retail", "policy": "Be kind."}}


def asked(*names, role="assistant", **more):
    calls = [{"id": name, "name": "get", "arguments": {"id": 1}, "requestor": role} for name in names]
    return {"role": role, "content": None, "tool_calls": calls, **more}


def tool(name, content="ok", requestor="assistant", **more):
    return {"id": name, "role": "tool", "content": content, "requestor": requestor, **more}


TALK = [
    {"role": "assistant", "content": "Hi!", "tool_calls": None, "turn_idx": 0, "timestamp": "1970-01-01T00:00:01"},
    {"role": "user", "content": "Where is my order?", "tool_calls": None, "turn_idx": 1},
    asked("a", "b", usage={"prompt_tokens": 9, "completion_tokens": 2}),
    {"role": "tool", "tool_messages": [tool("b", error=True), tool("a"), tool("u", requestor="user")]},
    asked("u", role="user"),
    tool("u", requestor="user"),
    {"role": "user", "content": "", "tool_calls": None},
]
RUN = {"id": "r1", "task_id": "7", "trial": 2, "reward_info": {"reward": 1.0}, "messages": TALK}
#: of τ-bench, as its results are written
TRAJ = [
    {"role": "system", "content": "# Policy"},
    {"role": "user", "content": "Hello"},
    {
        "content": None,
        "role": "assistant",
        "tool_calls": [{"function": {"arguments": "{}", "name": "get"}, "id": "c", "type": "function"}],
        "function_call": None,
    },
    {"role": "tool", "tool_call_id": "c", "name": "get", "content": "1"},
    {
        "content": None,
        "role": "assistant",
        "tool_calls": [{"function": {"arguments": "{}", "name": "put"}, "id": "c", "type": "function"}],
    },
    {"role": "tool", "tool_call_id": "c", "name": "put", "content": "2"},
]


def load_all(value):
    document = decode(value if isinstance(value, bytes) else json.dumps(value).encode(), "x.json")
    assert claimants(document.head) == {"tau-bench"}
    traces = tau_bench.read(document)
    check(traces)
    return traces


def test_a_run_of_tau2_is_what_the_agent_saw_of_it():
    (trace,) = load_all({"info": INFO, "tasks": [], "simulations": [RUN]})
    assert told(trace) == [
        ("constraint", "Be kind.", ["system"]),
        ("decision", "Hi!", []),
        ("requirement", "Where is my order?", ["user"]),
        ("tool_call", "get", []),
        ("tool_call", "get", []),
        ("tool_result", "ok", []),
        ("tool_result", "ok", []),
    ]
    assert [(e["call_id"], e.get("is_error")) for e in trace.events[-2:]] == [("b", True), ("a", None)]
    assert trace.ignored == {
        "call of a tool of the user": 1,
        "result of a tool of the user": 1,
        "blank message": 1,
    }
    assert trace.usage == [Usage("b", 9, 2)]
    assert trace.events[1]["timestamp"] == 1000
    assert trace.events[0]["origin"] == {"path": "info/environment_info", "field": "policy", "at": ["policy"]}
    assert trace.events[-1]["origin"] == {"path": "simulations/0", "index": 3, "part": 1, "at": ["content"]}
    assert (trace.title, trace.model, trace.extra["reward"]) == ("task 7, trial 2", "gpt-5", 1.0)
    assert trace.extra["domain"] == "retail"
    assert accounted([trace]) == len(TALK)


def test_a_run_of_tau_is_one_trace_and_equal_ids_of_calls_are_told_apart():
    runs = [{"task_id": n, "reward": n, "info": {}, "traj": TRAJ, "trial": 0} for n in (0, 1)]
    traces = load_all(runs)
    assert [(trace.title, trace.extra["reward"]) for trace in traces] == [
        ("task 0, trial 0", 0),
        ("task 1, trial 0", 1),
    ]
    results = [event["call_id"] for event in traces[0].events if event["type"] == "tool_result"]
    assert results == [event["id"] for event in traces[0].events if event["type"] == "tool_call"] == ["c", "c:2"]
    assert traces[1].events[0]["origin"] == {"path": "1", "index": 0, "at": ["content"]}


def test_runs_alone_and_runs_on_lines_are_read():
    assert [trace.title for trace in load_all({"task": {}, "simulation_run": RUN})] == ["task 7, trial 2"]
    assert [
        trace.title for trace in load_all(json.dumps(RUN).encode() + b"\n" + json.dumps(RUN | {"trial": 3}).encode())
    ] == [
        "task 7, trial 2",
        "task 7, trial 3",
    ]


def test_a_run_without_messages_gives_no_trace_and_is_told():
    (trace,) = load_all([{"task_id": 0, "traj": []}, {"task_id": 1, "traj": 5}, {"task_id": 2, "traj": [*TRAJ, 5]}])
    assert [problem.text for problem in trace.problems] == [
        "run 1: its messages are a number (skipped)",
        "run 2, message 6: a number where a message was expected (skipped)",
        "2 runs without messages (left out)",
    ]
    with pytest.raises(TraceError, match="no run in it has a message"):
        tau_bench.read(decode(b'[{"task_id": 0, "traj": [], "info": {"error": "EOF"}}]', "x"))


def test_the_messages_of_a_run_that_gives_no_trace_are_accounted_for():
    blank = {"id": "s", "messages": [{"role": "assistant", "content": " "}, {"role": "user", "content": ""}]}
    traces = load_all({"info": {}, "tasks": [], "simulations": [blank, RUN]})
    assert [trace.ignored["blank message"] for trace in traces] == [3]
    assert accounted(traces) == len(RUN["messages"]) + 2


@needs_corpus
def test_the_airline_runs_hold_what_their_json_says():
    path = CORPUS / "tau2_bench" / AIRLINE
    traces, runs = load_all(path.read_bytes()), json.loads(path.read_bytes())["simulations"]
    assert len(traces) == len(runs) == 12
    for trace, run in zip(traces, runs, strict=True):
        messages = run["messages"]
        roles = Counter(message["role"] for message in messages)
        spoken = sum(message["role"] == "assistant" and bool(message["content"]) for message in messages)
        calls = [call["id"] for message in messages for call in message.get("tool_calls") or ()]
        assert types(trace) == {
            "constraint": 1,
            "requirement": roles["user"],
            "decision": spoken,
            "tool_call": len(calls),
            "tool_result": roles["tool"],
        }
        assert paired(trace) == roles["tool"]
        assert (len(trace.windows), trace.problems, trace.ignored) == (1, [], {})
        assert trace.records_read == len(messages)
        assert trace.extra["reward"] == run["reward_info"]["reward"]
        assert trace.model == "gpt-4.1-mini-2025-04-14"
    assert sum((Counter(types(trace)) for trace in traces), Counter()) == {
        "constraint": 12, "requirement": 69, "decision": 69, "tool_call": 167, "tool_result": 167,
    }  # fmt: skip


@needs_corpus
def test_the_retail_example_holds_what_was_counted_by_hand():
    (trace,) = load_all((CORPUS / "tau2_bench" / RETAIL).read_bytes())
    assert types(trace) == {"requirement": 5, "decision": 5, "tool_call": 5, "tool_result": 5}
    assert paired(trace) == 5
    assert trace.extra | {"task_id": "1", "trial": 0, "termination_reason": "user_stop"} == trace.extra
    assert trace.events[0]["timestamp"] == 1780650000000


def read(data):
    document = decode(data, "x")
    tau_bench.sniff(document.head)
    return tau_bench.read(document)


def test_values_of_other_types_anywhere_give_sound_traces_or_our_error():
    for changed in with_other_types({"info": INFO, "tasks": [], "simulations": [RUN]}, 300):
        survive(read, json.dumps(changed).encode())
    for changed in with_other_types([{"task_id": 0, "reward": 1, "info": {}, "traj": TRAJ}], 200):
        survive(read, json.dumps(changed).encode())
