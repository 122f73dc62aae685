"""Graph data: positions keep the order of time, what is drawn is bounded, text of a trace is never an id."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

from context_gc import Budget, Compaction, Policy, Trace, Window, compact_events
from context_gc.inspector.event_graph import LEGEND, LINES, LOOKS
from context_gc.inspector.graph_data import FAN, HARD_CAP, GraphData, choose, graph_data, matching
from context_gc.inspector.palette import STATUSES
from context_gc.inspector.rows import Row, rows
from context_gc.inspector.turn_strip import per_turn
from context_gc.timeline import timeline


def reads(number: int, prefix: str = "e") -> list[dict[str, Any]]:
    return [
        {"id": f"{prefix}{n}", "type": "set_var", "timestamp": n, "parent_id": f"{prefix}{n - 1}" if n else None,
         "key": f"k{n % 7}", "value": n}
        for n in range(number)
    ]  # fmt: skip


def inspected(events: list[dict[str, Any]], policy: Policy | None = None) -> tuple[tuple[Row, ...], Compaction]:
    outcome = compact_events(events, policy)
    return rows(Trace(events, "native"), Window(0, len(events)), outcome), outcome


def drawn(events: list[dict[str, Any]], policy: Policy | None = None) -> GraphData:
    found, outcome = inspected(events, policy)
    return graph_data(found, found, outcome)


ABANDONED = [
    {"id": "u", "type": "requirement", "timestamp": 0, "content": "Do it"},
    {"id": "a", "type": "decision", "timestamp": 1, "parent_id": "u", "content": "Try one way"},
    {"id": "b", "type": "decision", "timestamp": 2, "parent_id": "a", "content": "It fails"},
    {"id": "x", "type": "abandon", "timestamp": 3, "parent_id": "u", "ref_to": ["a"], "content": "wrong way"},
    {"id": "c", "type": "decision", "timestamp": 4, "parent_id": "x", "content": "Another way"},
]


def test_time_runs_to_the_right() -> None:
    places = [node["x"] for node in drawn(reads(40)).nodes if node["id"] >= 0]
    assert places == sorted(places)
    assert len(set(places)) == 40


def test_no_two_events_overlap_in_a_lane() -> None:
    by_lane: dict[int, list[int]] = {}
    for node in drawn(ABANDONED).nodes:
        by_lane.setdefault(node["y"], []).append(node["x"])
    assert all(b - a >= 130 for places in by_lane.values() for a, b in pairwise(places))


def test_ids_are_numbers_whatever_the_trace_calls_its_events() -> None:
    data = drawn(reads(3, '__proto__"><script>'))
    assert all(type(node["id"]) is int for node in data.nodes)
    assert "<script>" not in json.dumps([edge["id"] for edge in data.edges])


def test_a_pruned_event_is_told_by_mark_look_and_receipt() -> None:
    data = drawn(reads(9))
    pruned = next(node for node in data.nodes if node["id"] == 0)
    assert pruned["label"].startswith("✂ ")
    assert pruned["look"] == "state pruned"
    receipt = next(node for node in data.nodes if node["id"] == -1)
    assert receipt["shape"] == "diamond"
    assert {edge["to"] for edge in data.edges if edge["from"] == -1} == {0, 1}


def test_clipped_and_waiting_events_keep_their_fill_and_have_a_mark_and_a_border_of_their_own() -> None:
    for theme in ("light", "dark"):
        looks = LOOKS[theme]
        fills = {looks[f"result {status}"]["fill"] for status in ("live", "clipped", "waiting", "protected")}
        assert len(fills) == 1
        assert looks["result waiting"]["dashes"] != looks["result pruned"]["dashes"]
        assert looks["result clipped"]["dashes"] is None  # its dashed border is drawn inside


def test_a_waiting_event_is_marked() -> None:
    outcome = timeline(reads(9), Policy(budget=Budget(10_000))).result
    found = rows(Trace(reads(9), "native"), Window(0, 9), outcome)
    node = next(node for node in graph_data(found, found, outcome).nodes if node["id"] == 0)
    assert node["look"] == "state waiting"
    assert node["label"].startswith("◌ ")
    assert "Would be superseded by e7" in node["title"]


def test_every_status_has_a_look_and_all_that_are_marked_are_in_the_legend() -> None:
    assert {look.split()[-1] for look in LOOKS["light"]} == {*STATUSES, "receipt"}
    assert {status for status, *_ in LEGEND} == {*STATUSES, "receipt"} - {"live"}


def test_a_receipt_of_many_events_is_joined_to_the_first_few_of_them() -> None:
    events = [each | {"key": "k"} for each in reads(200)]
    joined = [edge for edge in drawn(events).edges if edge["kind"] == "stands for"]
    assert [edge["to"] for edge in joined] == list(range(FAN))


def test_a_live_event_has_no_mark() -> None:
    live = next(node for node in drawn(reads(9)).nodes if node["id"] == 8)
    assert "✂" not in live["label"]
    assert live["look"] == "state live"


def test_supersedes_runs_from_the_survivor_to_the_dead() -> None:
    edges = [edge for edge in drawn(reads(8)).edges if edge["kind"] == "supersedes"]
    assert [(edge["from"], edge["to"]) for edge in edges] == [(7, 0)]


def test_an_abandoned_branch_is_a_region_with_its_reason() -> None:
    data = drawn(ABANDONED)
    assert [region["caption"] for region in data.regions] == ["abandoned: wrong way"]
    assert [(edge["from"], edge["to"]) for edge in data.edges if edge["kind"] == "abandons"] == [(3, 1)]


def test_nothing_abandoned_has_no_region() -> None:
    assert drawn(reads(20)).regions == []


def test_every_look_and_line_that_is_used_is_defined_in_both_themes() -> None:
    data = drawn(ABANDONED)
    assert {node["look"] for node in data.nodes} <= set(LOOKS["light"]) == set(LOOKS["dark"])
    assert {edge["kind"] for edge in data.edges} <= set(LINES["light"]) == set(LINES["dark"])


def test_no_edge_is_dashed_but_relations() -> None:
    assert [kind for kind, look in LINES["light"].items() if look["dotted"]] == ["relates"]


def test_a_comfortable_number_is_drawn_and_the_rest_is_told() -> None:
    found, outcome = inspected(reads(5_000))
    span, within = choose(found, "", None)
    assert len(within) == 600
    assert within[-1] is found[-1]
    assert span[1] == found[-1].turn
    everything = graph_data(found, found, outcome)
    assert len(everything.order) == HARD_CAP
    assert everything.hidden == 3_000


def test_the_turns_around_the_selection_are_drawn() -> None:
    found, _ = inspected([event for n in range(900) for event in turn(n)])
    chosen = found[700]
    span, within = choose(found, "", chosen)
    assert span[0] <= chosen.turn <= span[1]
    assert chosen in within


def turn(n: int) -> list[dict[str, Any]]:
    call = {"id": f"c{n}", "type": "tool_call", "timestamp": n, "tool_name": "t", "arguments": {"n": n}}
    return [call, {"id": f"r{n}", "type": "tool_result", "timestamp": n, "call_id": f"c{n}", "result": "ok"}]


def test_turns_of_the_address_are_drawn() -> None:
    found, _ = inspected([event for n in range(9) for event in turn(n)])
    span, within = choose(found, "3-4", None)
    assert span == (3, 4)
    assert [row.id for row in within] == ["c2", "r2", "c3", "r3"]


def test_turns_that_make_no_sense_are_left_alone() -> None:
    found, _ = inspected([event for n in range(9) for event in turn(n)])
    for given in ("4-3", "x", "0-2", "3", "9" * 400 + "x"):
        assert choose(found, given, None)[0] == (1, 9)
    assert choose((), "", None) == ((1, 1), [])


def test_search_looks_into_text_tool_and_reason_without_case() -> None:
    found, _ = inspected(reads(9))
    assert [row.id for row in matching(found, find="K3 =")] == ["e3"]
    assert [row.id for row in matching(found, show=("pruned",))] == ["e0", "e1"]
    assert matching(found, kinds=("call",)) == []
    assert len(matching(found)) == 9


def test_the_strip_adds_up_to_the_full_history() -> None:
    found, outcome = inspected(reads(9))
    assert sum(live + dead for _, live, dead in per_turn(found)) == outcome["tokens_before"]


def test_an_empty_trace_draws_nothing() -> None:
    assert drawn([]).nodes == []
