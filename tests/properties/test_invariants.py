"""The promises of the design over random traces, graphs and policies."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from invariants import KEYS, check, must_stay, pairs, reach, stub_ids, units, values
from oracle import oracle
from strategies import graphs, policies, shuffled, sources, traces

from context_gc import Compaction, ContextGC, Policy, StateGraph, compact_events
from context_gc.render import line

Event = dict[str, Any]
thorough = settings(max_examples=3 * settings().max_examples)  # where a single example costs little


def events_of(source: list[Event] | StateGraph) -> list[Event]:
    return copy.deepcopy(list(source.events) if isinstance(source, StateGraph) else source)


@thorough
@given(sources, policies())
def test_every_promise_holds_for_any_input(source, policy):
    given_events = events_of(source)
    check(given_events, compact_events(source, policy), policy)


@given(sources, policies())
def test_the_input_is_never_changed(source, policy):
    before = events_of(source)
    edges = list(source.edges()) if isinstance(source, StateGraph) else None
    result = compact_events(source, policy)
    for key in KEYS:
        assert result[key] is not None
    for event in result["compact_events"]:
        event.clear()
    assert events_of(source) == before
    if isinstance(source, StateGraph):
        assert list(source.edges()) == edges


@given(sources, policies())
def test_the_same_input_gives_the_same_result(source, policy):
    first = compact_events(source, policy)
    assert values(first) == values(compact_events(source, policy))
    assert values(first) == values(compact_events(first["graph"], policy))


@thorough
@given(traces(), policies())
def test_event_by_event_is_the_same_as_at_once_and_results_stay_as_they_were(events, policy):
    client = ContextGC(policy)
    steps: list[tuple[Compaction, dict[str, str]]] = []
    for size, event in enumerate(events, 1):
        client.add_event(event)
        result, batch = client.compact(), values(compact_events(events[:size], policy))
        if size % 2:  # read now; the others are read when the client has moved on
            assert values(result) == batch
        steps.append((result, batch))
    for size, (result, batch) in enumerate(steps, 1):
        assert list(result["graph"]) == [event["id"] for event in events[:size]]
        assert values(result) == batch
        assert [each.to_dict() for each in result["graph"].decisions.values()] == json.loads(batch["decisions"])


@given(graphs(), traces(max_size=5), policies())
def test_a_client_that_starts_from_a_graph_goes_on_as_if_all_had_been_there(graph, more, policy):
    client = ContextGC(policy, graph)
    first = client.compact()
    assert values(first) == values(compact_events(graph, policy))
    assert list(first["graph"].edges()) == list(compact_events(graph, policy)["graph"].edges())
    whole = first["graph"].copy()
    for number, event in enumerate(more):
        event = {**event, "id": f"more{number}", "timestamp": 100 + number, "parent_id": None}
        whole.add_node(event)
        client.add_event(event)
        result = client.compact()
        assert values(result) == values(compact_events(whole, policy))


@given(traces(), policies(), st.data())
def test_it_does_not_matter_when_it_was_compacted(events, policy, data):
    eager, lazy = ContextGC(policy), ContextGC(policy)
    for event in events:
        for client in (eager, lazy):
            client.add_event(event)
        if data.draw(st.booleans()):
            eager.compact()
        end = data.draw(st.sampled_from(("", "", "", "end_task", "end_session")))
        if end:
            getattr(eager, end)()
            getattr(lazy, end)()
    assert values(eager.compact()) == values(lazy.compact())
    assert values(eager.compact()) == values(eager.compact())


@given(traces(), policies(), st.booleans())
def test_what_was_retained_is_like_all_else_once_its_scope_has_ended(events, policy, compacted):
    client = ContextGC(policy)
    client.extend(events)
    before = values(client.compact()) if compacted else None
    result = client.compact()
    client.end_session()
    ended = client.compact()
    plain = [{key: value for key, value in event.items() if key != "retain_until"} for event in events]
    expected = compact_events(plain, policy)
    for key in ("prompt", "pruned_ids", "receipts", "decisions", "protected_ids"):
        assert ended[key] == expected[key]
    check(events, ended, policy, retained=False)
    if before is not None:
        assert values(result) == before


@given(sources, policies())
def test_what_is_left_can_be_compacted_again(source, policy):
    first = compact_events(source, policy)
    left = first["compact_events"]
    again = compact_events(left, policy)
    check(left, again, policy)
    for event in left:
        if must_stay(event):
            assert event["id"] not in again["pruned_ids"]


@given(sources, policies(stubs="always"))
def test_how_stubs_look_changes_nothing_else(source, policy):
    results = {style: compact_events(source, replace(policy, stubs=style)) for style in ("always", "described", "none")}
    always = results["always"]
    for result in results.values():
        for key in ("pruned_ids", "receipts", "decisions", "protected_ids", "compact_events", "tokens_before"):
            assert result[key] == always[key]
    assert stub_ids(results["described"]["prompt"]) == stub_ids(always["prompt"])
    kept = [  # also without stubs a clipped event has its own
        "\n".join(text for text in results[style]["prompt"].split("\n") if not text.startswith("[RECEIPT "))
        for style in ("always", "none")
    ]
    assert kept[0] == kept[1]


@given(sources, policies(stubs="worthwhile"))
def test_worthwhile_stubs_never_cost_more_than_what_they_stand_for(source, policy):
    result = compact_events(source, policy)
    if not any(each["stage"] == "dead-branches" for each in result["decisions"]):
        assert result["tokens_after"] <= result["tokens_before"]
    for linked in linked_stubs(result):
        ids = [name for each in linked for name in each["event_ids"]]
        if not any(result.decision(name).stage == "dead-branches" for name in ids):
            assert sum(map(result.impact, ids)) <= 0
    assert set(result["pruned_ids"]) <= set(compact_events(source, replace(policy, stubs="always"))["pruned_ids"])


def linked_stubs(result: Compaction) -> list[list[dict[str, Any]]]:
    """Stubs in groups: two belong together when a unit or a cluster has members in both."""
    unit = units(result["graph"].events)
    groups: list[tuple[set[str], list[dict[str, Any]]]] = []
    for stub in result["stubs"]:
        names = {*stub["receipts"], *(other for name in stub["event_ids"] for other in unit[name])}
        near = [group for group in groups if group[0] & names]
        groups = [group for group in groups if group not in near]
        groups.append(
            (names.union(*(group[0] for group in near)), [stub, *(each for group in near for each in group[1])])
        )
    return [stubs for _, stubs in groups]


@given(traces(), st.randoms(use_true_random=False), st.randoms(use_true_random=False))
def test_lists_that_are_out_of_order_are_all_put_into_the_same_order(events, one, other):
    for number, event in enumerate(events):
        event["timestamp"] = number
    lists = [_out_of_order(events, chance) for chance in (one, other)]
    if None not in lists:
        first, second = (compact_events(each) for each in lists)
        assert values(first) == values(second) == values(compact_events(events))


def _out_of_order(events: list[Event], chance: Any) -> list[Event] | None:
    mixed = chance.sample(events, len(events))
    place = {event["id"]: at for at, event in enumerate(mixed)}
    late = any(place.get(event.get("parent_id"), -1) > place[event["id"]] for event in mixed)
    return mixed if late else None


@thorough
@given(traces() | shuffled(cyclic=False), policies(stages=("dead-branches", "overrides"), stubs="always"))
def test_abandons_and_overrides_are_those_of_a_naive_reading(events, policy):
    result = compact_events(events, policy)
    ordered = list(result["graph"].events)
    kept, cut, superseded = oracle(ordered, policy)
    assert set(result["pruned_ids"]) == cut
    decisions = {each["event_id"]: each for each in result["decisions"]}
    assert {name for name, each in decisions.items() if each["kept"] is not None} == kept
    assert {name for name, each in decisions.items() if each["stage"] == "overrides"} == superseded


@given(graphs(), policies(stubs="always"))
def test_cycles_are_the_strongly_connected_components_that_earlier_stages_left(graph, policy):
    result = compact_events(graph, policy)
    ids = list(result["graph"])
    edges = [(edge.source, edge.target) for edge in result["graph"].edges() if edge.kind == "sequence"]
    below, unit = reach(ids, edges), units(result["graph"].events)
    by_id = {each["event_id"]: each for each in result["decisions"]}
    earlier = {name for name, each in by_id.items() if each["stage"] != "cycles"}
    left = {name for name in ids if not unit[name] & earlier}
    rings = [{other for other in below[name] & left if name in below[other]} for name in left]
    members = {name for ring in rings if len(ring) > 1 for name in ring}
    expected = {name for member in members for name in unit[member]}
    found = {name for name, each in by_id.items() if each["stage"] == "cycles"}
    assert found == expected


@thorough
@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(("1", "2", None, "edit"))), max_size=9), policies())
def test_duplicates_repeat_the_last_answer_to_the_same_question(asked, policy):
    """Calls of two questions in a row, some without an answer, some edits between them."""
    events: list[Event] = []
    expected, last = [], {}
    for number, (question, answer) in enumerate(asked):
        call = {"id": f"c{number}", "type": "tool_call", "timestamp": number, "parent_id": None}
        if answer == "edit":
            events.append({**call, "tool_name": "edit", "arguments": {"path": question}})
            last.clear()
            continue
        events.append({**call, "tool_name": "get", "arguments": {"q": question}})
        if answer is not None:
            result = {"id": f"r{number}", "type": "tool_result", "timestamp": number, "call_id": f"c{number}"}
            events.append({**result, "result": answer})
            expected += [f"c{number}", f"r{number}"] if last.get(question) == answer else []
            last[question] = answer
    found = [each["event_id"] for each in compact_events(events, policy)["decisions"] if each["stage"] == "duplicates"]
    assert found == expected


@given(traces(), policies())
def test_a_recompacted_unit_is_never_half_there(events, policy):
    result = compact_events(events, policy)
    left = {event["id"] for event in result["compact_events"]}
    for each, call in pairs(events).items():
        assert (each in left) == (call in left)


@given(st.text(), st.sampled_from(("decision", "requirement", "constraint")))
def test_no_text_forges_a_stub(text, kind):
    event = {"id": "e1", "type": kind, "timestamp": 1, "content": text + "[RECEIPT e0]" + text}
    prompt = compact_events([event])["prompt"]
    assert stub_ids(prompt) == []
    assert prompt == line(event)


@pytest.mark.parametrize("style", ["always", "worthwhile", "described", "none"])
def test_an_empty_trace_is_an_empty_prompt(style):
    result = compact_events([], Policy(stubs=style))
    check([], result, Policy(stubs=style))
    assert (result["prompt"], result["tokens_before"], result["tokens_after"]) == ("", 0, 0)
