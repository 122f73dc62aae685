"""A client that was saved goes on where it was: same prompt, receipts, passes; also after a kill."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest
from notation import PIVOT, trace

from context_gc import Budget, ContextGC, Policy, ReceiptStore, SessionError, UnknownReceipt, load_trace

ROOT = Path(__file__).parents[1]
KILLS = 50


def calls(count, start=0, words=120):
    """Calls with long answers, in the order that an agent makes them."""
    found = []
    for number in range(start, start + count):
        before = found[-1]["id"] if found else (f"r{number - 1}" if number else None)
        found.append(
            {"id": f"c{number}", "type": "tool_call", "timestamp": 2 * number, "parent_id": before,
             "tool_name": "ask", "arguments": {"n": number}}
        )  # fmt: skip
        found.append(
            {"id": f"r{number}", "type": "tool_result", "timestamp": 2 * number + 1, "parent_id": f"c{number}",
             "call_id": f"c{number}", "result": f"answer {number} " * words}
        )  # fmt: skip
    return found


TIGHT = Policy(budget=Budget(3_000, commit_on_arrival=True))
POLICIES = [Policy(), Policy(stubs="worthwhile"), TIGHT, Policy(budget=Budget(3_000), stubs="described")]


def grown(policy, size=30):
    client = ContextGC(policy)
    for event in calls(size):
        client.add_event(event)
        client.compact()
    return client


@pytest.mark.parametrize("policy", POLICIES, ids=["plain", "worthwhile", "arrival", "described"])
def test_the_prompt_and_the_passes_are_the_same_after_loading(tmp_path, policy):
    client = grown(policy)
    client.extend(trace(PIVOT.replace("c1", "t1").replace("c2", "t2").replace("r1", "a1")))
    client.compact()
    client.save(tmp_path)
    loaded = ContextGC.load(tmp_path)
    before, after = client.compact(), loaded.compact()
    keys = [key for key in before if key != "graph"]
    assert {key: before[key] for key in keys} == {key: after[key] for key in keys}
    assert loaded.policy == client.policy
    assert loaded.run_id == client.run_id
    for name in after["receipts"]:
        assert loaded.expand_receipt(name) == client.expand_receipt(name)


def test_a_loaded_client_goes_on_as_the_first_one_would(tmp_path):
    client = grown(TIGHT, 20)
    client.record_usage(2_000)
    client.restore(client.compact()["pruned_ids"][0])
    client.save(tmp_path)
    loaded = ContextGC.load(tmp_path)
    for event in calls(20, start=20):
        for each in (client, loaded):
            each.add_event(event)
        assert client.compact()["prompt"] == loaded.compact()["prompt"]
    assert client.budget == loaded.budget
    assert len(client.budget.passes) > 2


def test_saving_again_appends_and_leaves_what_was_written(tmp_path):
    client = grown(Policy(), 3)
    client.save(tmp_path)
    (file,) = tmp_path.glob("runs/*/trace.jsonl")
    first = file.read_bytes()
    client.extend(calls(3, start=3))
    client.save(tmp_path)
    assert file.read_bytes().startswith(first)
    assert [event["id"] for event in load_trace(file).events] == [event["id"] for event in calls(6)]


def test_events_that_were_added_and_not_compacted_are_saved_as_well(tmp_path):
    client = grown(TIGHT, 10)
    client.extend(calls(2, start=10))
    client.save(tmp_path)
    loaded = ContextGC.load(tmp_path)
    assert loaded.compact()["prompt"] == client.compact()["prompt"]


def test_scopes_that_have_ended_stay_ended(tmp_path):
    client = ContextGC()
    client.extend(trace("v1 x = 1 ~task_end\nv2 x = 2"))
    client.compact()
    client.end_task()
    client.save(tmp_path)
    assert ContextGC.load(tmp_path).compact()["pruned_ids"] == ["v1"]


def test_a_restored_event_stays_restored(tmp_path):
    client = ContextGC()
    client.extend(trace("v1 x = 1\nv2 x = 2"))
    client.compact()
    client.restore("v1")
    client.save(tmp_path)
    assert ContextGC.load(tmp_path).compact()["pruned_ids"] == []


def test_edges_that_were_added_by_hand_are_saved(tmp_path):
    from context_gc import StateGraph

    graph = StateGraph()
    for event in trace("a decision one <\nb decision two <"):
        graph.add_node(event)
    graph.add_edge("a", "b")
    graph.add_edge("b", "a")
    client = ContextGC(graph=graph)
    result = client.compact()
    client.save(tmp_path)
    assert ContextGC.load(tmp_path).compact()["prompt"] == result["prompt"]
    assert "cluster_" in result["prompt"]


def test_receipts_outlive_the_process(tmp_path):
    client = grown(TIGHT)
    client.save(tmp_path)
    cut = client.compact()["pruned_ids"]
    with ReceiptStore(tmp_path / "receipts.db") as store:
        for name in cut:
            (event,) = store.recover(name, client.run_id)
            assert event == next(each for each in calls(30) if each["id"] == name)
        assert store.verify() == []


def test_two_runs_of_one_directory_are_apart(tmp_path):
    first, second = ContextGC(run_id="one"), ContextGC(run_id="two")
    first.extend(trace("v1 x = 1\nv2 x = 2"))
    second.extend(trace("v1 y = 5\nv2 y = 6"))
    for client in (first, second):
        client.compact()
        client.save(tmp_path)
    assert ContextGC.load(tmp_path, "one").compact()["prompt"] == "[RECEIPT v1]\nx = 2"
    assert ContextGC.load(tmp_path).compact()["prompt"] == "[RECEIPT v1]\ny = 6"
    with ReceiptStore(tmp_path / "receipts.db") as store:
        assert store.recover("v1", "one")[0]["value"] == 1
        assert store.recover("v1", "two")[0]["value"] == 5


def test_a_store_gets_each_receipt_when_it_is_made():
    store = ReceiptStore()
    client = ContextGC(TIGHT, store=store, run_id="r")
    for event in calls(30):
        client.add_event(event)
        for name in client.compact()["pruned_ids"]:
            assert store.recover(name, "r") == [client._graph.event(name)]


@pytest.mark.parametrize("run_id", ["../out", "", ".hidden", "a/b", "x" * 101])
def test_a_run_id_that_is_no_folder_name_is_refused(tmp_path, run_id):
    client = ContextGC(run_id=run_id)
    if run_id:
        with pytest.raises(SessionError, match="run"):
            client.save(tmp_path)
        with pytest.raises(SessionError, match="run"):
            ContextGC.load(tmp_path, run_id)
    else:
        client.save(tmp_path)
        assert ContextGC.load(tmp_path, client.run_id).run_id == client.run_id


def test_a_trace_that_was_changed_is_refused(tmp_path):
    client = grown(Policy(), 3)
    client.save(tmp_path)
    (file,) = tmp_path.glob("runs/*/trace.jsonl")
    file.write_bytes(file.read_bytes().replace(b"answer 1", b"answer 7", 1))
    with pytest.raises(SessionError, match=r"trace\.jsonl"):
        ContextGC.load(tmp_path)


@pytest.mark.parametrize(
    "change",
    [
        lambda state: state.update(version=99),
        lambda state: state["budget"]["book"].append(["nowhere", "eviction", "nowhere", None, False, False, False]),
        lambda state: state["budget"].pop("passes"),
        lambda state: state.update(ended=3),
        lambda state: state.update(edges=[["c0"]]),
        lambda state: state.update(edges=["abc"]),
        lambda state: state.update(edges=[[[], "c0", "sequence"]]),
        lambda state: state.pop("sha256"),
        lambda state: state.update(policy="stages = 3"),
    ],
)
def test_a_damaged_state_is_an_error_that_names_the_file(tmp_path, change):
    grown(TIGHT).save(tmp_path)
    (file,) = tmp_path.glob("runs/*/state.json")
    state = json.loads(file.read_text())
    change(state)
    file.write_text(json.dumps(state))
    with pytest.raises((SessionError, ValueError), match=r"state\.json"):
        ContextGC.load(tmp_path)


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"null", b"\xff", b"[" * 100_000])
def test_what_is_no_state_is_an_error(tmp_path, text):
    grown(Policy(), 2).save(tmp_path)
    (file,) = tmp_path.glob("runs/*/state.json")
    file.write_bytes(text)
    with pytest.raises(SessionError, match=r"state\.json"):
        ContextGC.load(tmp_path)


def test_a_directory_without_a_run_is_an_error(tmp_path):
    with pytest.raises(SessionError):
        ContextGC.load(tmp_path)
    with pytest.raises(SessionError):
        ContextGC.load(tmp_path, "nothing")


LOOP = """
import json, sys
from context_gc import Budget, ContextGC, Policy
client = ContextGC(Policy(budget=Budget(3_000)), run_id="r")
for number in range(10_000):
    parent = f"r{number - 1}" if number else None
    client.add_event({"id": f"c{number}", "type": "tool_call", "timestamp": number, "parent_id": parent,
                      "tool_name": "ask", "arguments": {"n": number}})
    client.add_event({"id": f"r{number}", "type": "tool_result", "timestamp": number, "parent_id": f"c{number}",
                      "call_id": f"c{number}", "result": f"answer {number} " * 120})
    result = client.compact()
    client.save(sys.argv[1])
    print(json.dumps([number, result["receipts"]]), flush=True)
"""


def test_a_kill_at_any_moment_loses_nothing_that_was_saved(tmp_path):
    """A process that saves in a loop is killed, 50 times: each time the run loads and has all it reported."""
    random.seed(7)
    for kill in range(KILLS):
        folder = tmp_path / str(kill)
        command = [sys.executable, "-c", LOOP, str(folder)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
            lines = [process.stdout.readline() for _ in range(random.randrange(1, 14))]
            process.kill()
            lines += process.stdout.readlines()
        number, receipts = [json.loads(line) for line in lines if line.endswith("\n")][-1]
        client = ContextGC.load(folder, "r")
        result = client.compact()
        assert f"RESULT answer {number} " in result["prompt"]
        with ReceiptStore(folder / "receipts.db") as store:
            assert store.verify() == []
            for name in receipts:
                assert store.recover(name, "r") == [client._graph.event(name)]
            with pytest.raises(UnknownReceipt):
                store.get("c9999", "r")
