"""Timeline: a recorded trace taken in turn by turn, as an agent would have lived it."""

from __future__ import annotations

import pytest
from notation import trace
from test_budgeted import TEXT, work, writes

from context_gc import Budget, ContextGC, InvalidEvent, Policy, compact_events
from context_gc.timeline import timeline
from context_gc.turns import turn_numbers

POLICY = Policy(counter="chars4", budget=Budget(1_000))
LONG = f"{writes(0, 30)}\n{work(0, 14)}"


def by_turn(events, policy):
    """The client in a loop: its results after each turn."""
    client, numbers, results = ContextGC(policy), turn_numbers(events), []
    for place, event in enumerate(events):
        client.add_event(event)
        if place + 1 == len(events) or numbers[place + 1] != numbers[place]:
            results.append(client.compact())
    return client, results


def test_each_turn_is_a_point_and_the_passes_are_those_of_a_client_in_a_loop():
    events = trace(LONG)
    client, results = by_turn(events, POLICY)
    told = timeline(events, POLICY)
    assert [point.turn for point in told.points] == sorted(set(turn_numbers(events)))
    assert [(point.full, point.tokens) for point in told.points] == [
        (result["tokens_before"], result["tokens_after"]) for result in results
    ]
    assert [point.passed for point in told.points if point.passed] == list(client.budget.passes)
    assert len(client.budget.passes) > 1
    assert told.result["prompt"] == results[-1]["prompt"]
    assert told.points[-1].size == len(events)


def test_without_a_budget_the_last_point_is_the_compaction_of_the_whole():
    events = trace(LONG)
    told = timeline(events, Policy(counter="chars4"))
    whole = compact_events(events, Policy(counter="chars4"))
    assert told.result["prompt"] == whole["prompt"]
    assert (told.points[-1].full, told.points[-1].tokens) == (whole["tokens_before"], whole["tokens_after"])
    assert {point.passed for point in told.points} == {None}


def test_an_empty_trace_has_no_points():
    told = timeline([], POLICY)
    assert told.points == ()
    assert told.result["prompt"] == ""


def test_scopes_that_end_are_ended_after_the_last_event_with_a_pass():
    events = trace(f"v1 x = {TEXT} ~task_end\nv2 x = {TEXT} ~session_end @2\nv3 x = {TEXT} @3")
    assert timeline(events, POLICY).result["pruned_ids"] == []
    assert timeline(events, POLICY, ended=["task_end"]).result["pruned_ids"] == ["v1"]
    both = timeline(events, POLICY, ended=["task_end", "session_end"]).result
    assert both["pruned_ids"] == ["v1", "v2"]
    assert both["budget"]["passes"][-1]["moment"] == "asked"


def test_a_pinned_event_stays_with_its_unit():
    events = trace(work(0, 14))
    assert {"c0", "r0"} <= set(timeline(events, POLICY).result["pruned_ids"])
    pinned = timeline(events, POLICY, pinned=["r0", "unknown"]).result
    assert {"c0", "r0"} & set(pinned["pruned_ids"]) == set()
    assert pinned.protected("r0") == "restored"


def test_a_trace_out_of_order_is_put_into_order_first():
    events = trace(f"b decision second <a @2\na decision first < @1\n{writes(10, 90)}")
    told = timeline(events, POLICY)
    assert told.result["prompt"].startswith("first\nsecond\n")
    assert told.points[-1].size == len(events)


def test_a_trace_with_cycles_is_taken_in_at_once():
    events = [
        {"id": "a", "type": "decision", "timestamp": 1, "content": TEXT * 9, "parent_id": "b"},
        {"id": "b", "type": "decision", "timestamp": 2, "content": TEXT * 9, "parent_id": "a"},
        {"id": "c", "type": "decision", "timestamp": 3, "content": "c", "parent_id": "b"},
    ]
    told = timeline(events, Policy())
    assert told.result["pruned_ids"] == ["a", "b"]
    assert [point.size for point in told.points] == [3]


def test_a_wrong_event_is_refused():
    with pytest.raises(InvalidEvent):
        timeline([{"id": "a"}], POLICY)


def test_the_events_are_not_changed():
    events = trace(LONG)
    timeline(events, POLICY, ended=["task_end"], pinned=["r0"])
    assert events == trace(LONG)
