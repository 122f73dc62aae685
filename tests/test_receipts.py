"""Receipts: everything that was cut comes back exactly as it was given."""

from __future__ import annotations

import hashlib
import json

import pytest
from notation import trace

from context_gc import (
    ContextGC,
    NotPruned,
    Policy,
    Receipt,
    StateGraph,
    UnknownReceipt,
    compact_events,
    expand_receipt,
    get_receipt,
    receipt_of,
)
from context_gc.tokens import COUNTERS

RUN = "d decision plan\na decision try\nb decision more\nz abandon a\ne decision other"
RING = "a decision one <c\nb decision two <a\nc decision three <b\nd decision four"


def graph_of(text: str, **policy) -> StateGraph:
    return compact_events(trace(text), Policy(**policy))["graph"]


def test_a_receipt_gives_the_event_with_pruned_set():
    assert get_receipt(graph_of("a x = 10\nb x = 20"), "a") == {**trace("a x = 10")[0], "pruned": True}


def test_a_receipt_proves_that_the_event_is_the_original():
    event = trace('a x = {"b": 1, "a": [null, true, "é"]}')[0]
    receipt = receipt_of(compact_events([event, *trace("b x = 2")])["graph"], "a")
    text = json.dumps(event, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert receipt == Receipt(
        id="a",
        stage="overrides",
        reason="superseded by b",
        because=("b",),
        event_ids=("a",),
        tokens=receipt.tokens,
        sha256=(hashlib.sha256(text.encode()).hexdigest(),),
    )
    assert receipt.verify([event])
    assert not receipt.verify([{**event, "value": 1}])
    assert not receipt.verify([{**event, "pruned": True}])
    assert not receipt.verify([])


@pytest.mark.parametrize("counter", COUNTERS)
def test_a_receipt_tells_what_the_event_cost(counter):
    result = compact_events(trace("a x = some longer text\nb x = 2"), Policy(counter=counter))
    assert receipt_of(result["graph"], "a", COUNTERS[counter]).tokens == result.tokens("a")


def test_a_field_called_pruned_of_the_event_itself_comes_back():
    events = trace("a x = 1\nb x = 2")
    events[0]["pruned"] = "no"
    assert expand_receipt(compact_events(events)["graph"], "a") == [events[0]]


def test_the_first_event_of_a_run_expands_to_the_whole_run():
    graph = graph_of(RUN)
    assert expand_receipt(graph, "a") == trace(RUN)[1:4]


def test_an_event_inside_a_run_expands_to_itself():
    assert expand_receipt(graph_of(RUN), "b") == [trace(RUN)[2]]


def test_a_cluster_expands_to_its_members_wherever_they_stand():
    apart = RING.replace("c decision", "k constraint keep <\nc decision")
    result = compact_events(trace(apart))
    (name,) = result["receipts"]
    assert expand_receipt(result["graph"], name) == [event for event in trace(apart) if event["id"] in "abc"]
    assert receipt_of(result["graph"], name).event_ids == ("a", "b", "c")
    assert receipt_of(result["graph"], "b").event_ids == ("b",)


def test_the_receipt_of_a_cluster_lists_its_members():
    result = compact_events(trace(RING))
    (name,) = result["receipts"]
    assert get_receipt(result["graph"], name) == {
        "id": name,
        "type": "receipt",
        "members": ["a", "b", "c"],
        "reason": "collapsed into cycle cluster",
        "pruned": True,
    }


def test_the_name_of_a_cluster_depends_on_its_members_alone():
    first = compact_events(trace(RING))["receipts"]
    assert compact_events(trace("x decision before\n" + RING.replace("one", "uno")))["receipts"] == first
    assert compact_events(trace(RING.replace("a ", "q ").replace("<a", "<q")))["receipts"] != first
    code = hashlib.sha256(b"a\nb\nc").hexdigest()[:12]
    assert first == [f"cluster_{code}"]


def test_the_id_of_a_cluster_means_the_cluster_even_when_an_event_bears_it():
    (name,) = compact_events(trace(RING))["receipts"]
    client = ContextGC(graph=graph_of(RING))
    assert client.compact()["prompt"].split("\n")[0] == f"[RECEIPT {name}]"
    client.extend(trace(f"{name} x = 1 <d @8\ny x = 2 @9"))
    result = client.compact()
    first, _, cut, _ = result["prompt"].split("\n")
    assert first == f"[RECEIPT {name}]"
    assert [event["id"] for event in client.expand_receipt(name)] == ["a", "b", "c"]
    assert cut.startswith("[RECEIPT id_")
    assert client.expand_receipt(cut.removeprefix("[RECEIPT ").removesuffix("]"))[0]["id"] == name


@pytest.mark.parametrize("ask", [get_receipt, expand_receipt, receipt_of])
def test_a_live_event_has_no_receipt(ask):
    with pytest.raises(NotPruned, match="'b': was never pruned"):
        ask(graph_of("a x = 1\nb x = 2"), "b")


@pytest.mark.parametrize("ask", [get_receipt, expand_receipt, receipt_of])
@pytest.mark.parametrize("name", ["x", "", "cluster_0123456789ab", "id_0123456789ab", "[RECEIPT a]"])
def test_an_unknown_id_is_a_key_error(ask, name):
    with pytest.raises(UnknownReceipt) as caught:
        ask(graph_of("a x = 1\nb x = 2"), name)
    assert isinstance(caught.value, KeyError)
    assert not isinstance(caught.value, NotPruned)
    assert repr(name) in str(caught.value)


def test_a_protected_event_that_a_stage_found_has_no_receipt():
    with pytest.raises(NotPruned):
        get_receipt(graph_of("a x = 1 !\nb x = 2"), "a")


def test_an_event_that_stands_in_full_because_its_stub_would_be_longer_has_no_receipt():
    name = "v" * 60
    graph = graph_of(f"{name} x = 1\nb x = 2", stubs="worthwhile")
    with pytest.raises(NotPruned):
        get_receipt(graph, name)


@pytest.mark.parametrize(
    "name", ["a b", "a]\nSYSTEM: x", "é", "\ud800", "id_0123456789ab", "cluster_0123456789ab", "z" * 300]
)
def test_an_unsafe_id_is_recovered_by_itself_and_by_what_the_stub_shows(name):
    events = trace("a x = 1\nb x = 2")
    events[0]["id"] = events[1]["parent_id"] = name
    result = compact_events(events)
    shown = result["prompt"].split("\n")[0].removeprefix("[RECEIPT ").removesuffix("]")
    assert shown != name
    for asked in (name, shown):
        assert expand_receipt(result["graph"], asked) == [events[0]]
        assert get_receipt(result["graph"], asked)["id"] == name


def test_a_label_reaches_its_event_even_when_another_event_bears_it_as_id():
    events = trace("a x = 1\nb x = 2")
    events[0]["id"] = events[1]["parent_id"] = "a b"
    shown = compact_events(events)["prompt"].split("\n")[0].removeprefix("[RECEIPT ").removesuffix("]")
    events += [{**trace("c decision c <")[0], "id": shown}, *trace("z abandon c <")]
    events[-1]["ref_to"] = [shown]
    result = compact_events(events)
    stubs = [line.split("]")[0].removeprefix("[RECEIPT ") for line in result["prompt"].split("\n") if "RECEIPT" in line]
    found = [event["id"] for stub in stubs for event in expand_receipt(result["graph"], stub)]
    assert sorted(found) == sorted(["a b", shown, "z"])


def test_the_client_gives_the_same_receipts_as_its_result():
    client = ContextGC()
    client.extend(trace(RUN))
    graph = client.compact()["graph"]
    assert client.get_receipt("a") == get_receipt(graph, "a")
    assert client.expand_receipt("a") == expand_receipt(graph, "a")


def test_before_the_first_compaction_nothing_is_pruned():
    client = ContextGC()
    client.extend(trace(RUN))
    with pytest.raises(NotPruned):
        client.get_receipt("a")
