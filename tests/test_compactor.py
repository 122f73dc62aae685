"""ContextGC and compact_events: the documented use, and results that stay as they were."""

from __future__ import annotations

import pytest
from notation import told, trace

from context_gc import (
    Compaction,
    ContextGC,
    DuplicateEvent,
    InvalidEvent,
    Policy,
    StateGraph,
    UnknownParent,
    compact_events,
    get_receipt,
)

KEYS = [
    "prompt", "tokens_before", "tokens_after", "receipts", "pruned_ids", "protected_ids", "compact_events", "decisions",
    "stubs", "warnings", "budget", "graph",
]  # fmt: skip


def client_of(text: str, **policy) -> ContextGC:
    client = ContextGC(Policy(**policy))
    client.extend(trace(text))
    return client


def test_the_quick_start_does_what_it_says():
    client = ContextGC()
    start = {"id": "e001", "type": "decision", "timestamp": 1000, "parent_id": None, "content": "Start config"}
    client.add_event(start)
    client.add_event({"id": "e002", "type": "set_var", "timestamp": 1010, "parent_id": "e001", "key": "x", "value": 10})
    client.add_event({"id": "e003", "type": "set_var", "timestamp": 1020, "parent_id": "e002", "key": "x", "value": 20})
    result = client.compact()
    assert result["prompt"] == "Start config\n[RECEIPT e002]\nx = 20"
    assert result["receipts"] == ["e002"]
    assert result["pruned_ids"] == ["e002"]
    assert [event["id"] for event in result["compact_events"]] == ["e001", "e003"]
    assert isinstance(result["graph"], StateGraph)
    assert result["tokens_before"] > 0
    assert result["tokens_after"] > 0
    original = {"id": "e002", "type": "set_var", "timestamp": 1010, "parent_id": "e001", "key": "x", "value": 10}
    assert client.get_receipt("e002") == {**original, "pruned": True}
    assert get_receipt(result["graph"], "e002") == {**original, "pruned": True}


def test_a_trace_in_one_shot_is_the_same_as_event_by_event():
    text = "a x = 1\nb x = 2\nc call t\nr result c ok\nz abandon b : wrong"
    at_once, client = compact_events(trace(text)), client_of(text)
    assert {key: at_once[key] for key in KEYS[:-1]} == {key: client.compact()[key] for key in KEYS[:-1]}


def test_a_result_is_a_mapping_with_the_documented_keys():
    result = compact_events(trace("a x = 1"))
    assert list(result) == KEYS
    assert len(result) == len(KEYS)
    assert "prompt" in result
    with pytest.raises(KeyError):
        result["summary"]
    with pytest.raises(TypeError):
        result["prompt"] = ""  # type: ignore[index]


def test_nothing_to_prune_is_left_alone():
    events = trace("a x = 1\nb y = 2\nc call t\nr result c ok\nd decision done")
    result = compact_events(events)
    assert result["compact_events"] == events
    assert (result["pruned_ids"], result["receipts"], result["decisions"], result["stubs"]) == ([], [], [], [])
    assert result["tokens_before"] == result["tokens_after"]
    assert result["warnings"] == []


def test_events_come_from_any_iterable():
    events = trace("a x = 1\nb x = 2")
    assert compact_events(iter(events))["prompt"] == compact_events(tuple(events))["prompt"] == "[RECEIPT a]\nx = 2"


@pytest.mark.parametrize(
    ("bad", "error"),
    [
        ({"id": "a", "type": "decision", "timestamp": 1, "content": "again"}, DuplicateEvent),
        ({"id": "b", "type": "decision", "timestamp": 1, "content": "c", "parent_id": "x"}, UnknownParent),
        ({"id": "b", "type": "decision", "timestamp": 1, "content": "c", "parent_id": "b"}, UnknownParent),
        ({"id": "b", "type": "decision", "timestamp": 1}, InvalidEvent),
        ({"id": "b", "type": "set_var", "timestamp": 1, "key": "k", "value": object()}, InvalidEvent),
        (None, InvalidEvent),
    ],
)
def test_a_refused_event_changes_nothing(bad, error):
    client = client_of("a decision first")
    before = client.compact()
    with pytest.raises(error):
        client.add_event(bad)
    with pytest.raises(error):
        client.extend([*trace("z decision fine <"), bad])
    assert client.compact()["prompt"] == before["prompt"] == "first"
    client.extend(trace("z decision fine <a\nb decision b"))
    assert client.compact()["prompt"] == "first\nfine\nb"


def test_a_missing_parent_is_taken_as_none_and_named():
    result = compact_events(trace("a decision a <gone\nb decision b <a"))
    assert result["prompt"] == "a\nb"
    assert result["warnings"] == ["'a' has a parent that is not in the trace; taken as having none"]


def test_a_list_that_is_out_of_order_is_put_in_order():
    assert compact_events(trace("b decision b @2 <a\nc decision c @3 <b\na decision a @1 <"))["prompt"] == "a\nb\nc"


def test_a_list_whose_parents_come_first_keeps_its_order_whatever_the_timestamps():
    assert compact_events(trace("b decision b @9 <\nc decision c @3 <b\na decision a @1 <"))["prompt"] == "b\nc\na"


def test_compacting_twice_gives_the_same():
    client = client_of("a x = 1\nb x = 2\nz abandon a")
    first, second = client.compact(), client.compact()
    assert {key: first[key] for key in KEYS[:-1]} == {key: second[key] for key in KEYS[:-1]}


@pytest.mark.parametrize(
    "text",
    [
        "y abandon c\nz abandon c <\nc call t <\nr result c ok",  # both wait for a target that comes later
        "t decision t\ny abandon x\nz abandon t\nx decision x",  # one of them is abandoned itself
        "r result c ok\nz abandon r\nc call t <",  # a result is abandoned before its call is there
        "a x = 1\nb x = 2\ny abandon b\nc x = 3 <\nz abandon c",  # the value that shadowed another goes, twice
        "c call t\nr result c ok\nd call t <\ns result d ok\nq result c more <",  # a late result undoes a duplicate
        "d decision d\nc call t\nz abandon d\nr result c ok <c !",  # what protects a branch comes after its end
    ],
)
def test_it_does_not_matter_when_it_was_compacted(text):
    events = trace(text)
    batch = compact_events(events, Policy(stubs="described"))
    for moments in range(2 ** (len(events) - 1)):
        client = ContextGC(Policy(stubs="described"))
        for place, event in enumerate(events):
            client.add_event(event)
            if moments >> place & 1:
                client.compact()
        result = client.compact()
        assert {key: result[key] for key in KEYS[:-1]} == {key: batch[key] for key in KEYS[:-1]}


def test_a_stub_follows_when_what_it_stands_for_is_found_by_another_stage():
    graph = StateGraph()
    graph.extend(trace("a decision a <b\nb x = 1 <a"))
    client = ContextGC(graph=graph)
    assert client.compact()["prompt"].startswith("[RECEIPT cluster_")
    client.extend(trace("c x = 2 <b @9"))
    result = client.compact()
    assert result["prompt"] == "a\n[RECEIPT b]\nx = 2"
    assert result["receipts"] == ["b"]


def test_a_witness_that_comes_to_be_needed_leaves_its_cluster():
    graph = StateGraph()
    graph.extend(trace("c call t <\nr result c ok <d\nd decision d <r"))
    client = ContextGC(graph=graph)
    assert len(client.compact()["pruned_ids"]) == 3
    client.extend(trace("e call t <d @8\ns result e ok @9"))
    result = client.compact()
    assert told(result)[-2:] == ["e duplicate of c", "s duplicate of c"]
    assert {event["id"] for event in result["compact_events"]} == {"c", "r"}


def test_a_result_that_is_first_read_later_is_what_it_was():
    client = client_of("a x = 1\nc call t")
    early = client.compact()
    client.extend(trace("b x = 2\nr result c ok <c !\nz abandon a"))
    client.compact()
    assert early["prompt"] == "x = 1\nCALL t({})"
    assert (early["pruned_ids"], early["protected_ids"], early["receipts"]) == ([], [], [])
    assert early["warnings"] == ["'c' has no result yet"]
    assert early["tokens_before"] == early["tokens_after"] == compact_events(trace("a x = 1\nc call t"))["tokens_after"]
    assert early.tokens("a") > 0
    with pytest.raises(KeyError):
        early.tokens("b")
    with pytest.raises(KeyError):
        early.event("z")


def test_a_result_shares_nothing_that_can_change():
    client = client_of('a x = {"n": [1]}')
    result = client.compact()
    result["compact_events"][0]["value"]["n"].append(2)
    result.event("a")["value"]["n"].append(3)
    result["graph"].add_node(trace("q decision q")[0])
    assert client.compact()["prompt"] == 'x = {"n": [1]}'
    assert client.compact()["graph"].seq("q") is None


def test_the_graph_that_a_client_starts_from_is_copied():
    graph = StateGraph()
    graph.extend(trace("a x = 1\nb x = 2"))
    graph.add_edge("b", "a", "relates")
    client = ContextGC(graph=graph)
    client.extend(trace("c x = 3 <b @9"))
    assert client.compact()["pruned_ids"] == ["a", "b"]
    assert list(graph) == ["a", "b"]
    assert dict(graph.decisions) == {}
    assert ("b", "a", "relates") in [tuple(edge) for edge in client.compact()["graph"].edges()]


def test_protected_ids_are_all_that_protection_keeps_found_or_not():
    text = "k constraint c\nu decision said #user\nc call t\nr result c ok !\nd decision d ~task_end\ne decision e"
    assert compact_events(trace(text))["protected_ids"] == ["k", "u", "c", "r", "d"]


def test_ending_a_session_ends_its_task():
    client = client_of("a x = 1 ~task_end\nb x = 2 ~session_end\nc x = 3")
    assert client.compact()["pruned_ids"] == []
    client.end_session()
    assert client.compact()["pruned_ids"] == ["a", "b"]


def test_what_comes_after_the_end_of_a_task_belongs_to_the_next():
    client = client_of("a x = 1 ~task_end")
    client.end_task()
    client.extend(trace("b x = 2 <a @5 ~task_end\nc x = 3 @6"))
    result = client.compact()
    assert told(result) == ["a superseded by c", "b superseded by c, kept: retain_until=task_end"]
    client.end_task()
    assert client.compact()["pruned_ids"] == ["a", "b"]
    assert result["pruned_ids"] == ["a"]


def test_decisions_and_stubs_tell_all_that_was_decided():
    result = compact_events(trace("a x = 1\nd decision d\ny abandon d : slow\nb x = 2 !\nc x = 3"))
    assert result["decisions"][0] == {
        "event_id": "a",
        "stage": "overrides",
        "reason": "superseded by c",
        "because": ["c"],
        "cluster": None,
        "kept": None,
        "clipped": False,
    }
    assert result["stubs"] == [
        {"text": "[RECEIPT a] +2 slow", "receipts": ["a", "d", "y"], "event_ids": ["a", "d", "y"]},
    ]
    assert result["decisions"][-1]["kept"] == "importance=critical"


def test_impact_is_what_the_fate_of_each_event_adds():
    result = compact_events(trace("a x = a long value here\nd decision d\nb x = 2 <a\nz abandon d"))
    assert sum(map(result.impact, ("a", "d", "b", "z"))) == result["tokens_after"] - result["tokens_before"]
    assert result.impact("b") == 0


@pytest.mark.parametrize(
    ("name", "status", "reason", "detail"),
    [
        ("a", "pruned", "superseded by c", ""),
        ("b", "protected", "importance=critical", "Would be superseded by c"),
        ("c", "kept", "no stage found it dead", ""),
        ("k", "protected", "type=constraint", ""),
        ("z", "pruned", "abandon event pruned alongside its own target branch", ""),
        ("y", "kept", "part of its branch is kept", "Would be pruned alongside its own target branch"),
    ],
)
def test_explain_tells_what_became_of_an_event(name, status, reason, detail):
    client = client_of(
        "a x = 1\nb x = 2 !\nc x = 3\nk constraint c <\nd decision d <\nz abandon d\n"
        "f decision f <\ng decision g !\ny abandon f"
    )
    told_so = client.explain(name)
    assert (told_so.status, told_so.reason, told_so.detail) == (status, reason, detail)
    assert told_so.event["id"] == name
    assert str(told_so).splitlines()[0].startswith(f"Event: {name} (")


def test_an_unknown_event_cannot_be_explained():
    with pytest.raises(KeyError):
        client_of("a x = 1").explain("q")


def test_every_oddity_is_a_warning_that_names_the_first_few():
    text = (
        "".join(f"r{n} result nowhere x <\n" for n in range(5))
        + "c call t <\nz abandon <\ny abandon gone <\nx error e <"
    )
    events = trace(text)
    events[-1]["related_to"] = "gone"
    said = compact_events(events)["warnings"]
    assert "'r0', 'r1', 'r2' and 2 more, each answers no call in the trace" in said
    assert "'c' has no result yet" in said
    assert "'z' abandons nothing" in said
    assert "'y' abandons an event that is not in the trace" in said
    assert "'x' relates to an event that is not in the trace" in said
    assert len(said) == 5


def test_a_result_shows_itself_in_short():
    assert repr(compact_events(trace("a x = 1\nb x = 2"))) == "<Compaction of 2 events: 1 pruned>"
    assert isinstance(compact_events([]), Compaction)
