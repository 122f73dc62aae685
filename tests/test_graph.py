"""StateGraph: nodes in trace order, typed edges, private copies."""

from __future__ import annotations

import pytest
from notation import trace

from context_gc import DuplicateEvent, Edge, InvalidEvent, StateGraph, UnknownParent, compact_events
from context_gc.graph import EDGE_KINDS


def graph_of(text: str) -> StateGraph:
    graph = StateGraph()
    graph.extend(trace(text))
    return graph


def test_nodes_stand_in_the_order_of_their_arrival():
    graph = graph_of("b decision b @9\na decision a @1\nc decision c @5")
    assert list(graph) == ["b", "a", "c"]
    assert [graph.seq(name) for name in graph] == [0, 1, 2]
    assert len(graph) == 3
    assert "a" in graph
    assert "x" not in graph
    assert graph.seq("x") is None


def test_edges_follow_from_the_fields_of_events():
    graph = graph_of("d decision d\nc call t\nr result c ok <d\nz abandon c d <\nx error bad <")
    graph.add_node({**trace("y error bad <")[0], "related_to": "r"})
    assert list(graph.edges()) == [
        Edge("d", "c", "sequence"),
        Edge("d", "r", "sequence"),
        Edge("c", "r", "answers"),
        Edge("z", "c", "abandons"),
        Edge("z", "d", "abandons"),
        Edge("y", "r", "relates"),
    ]


def test_two_events_may_be_joined_by_several_edges():
    graph = graph_of("c call t\nr result c ok")
    assert [edge.kind for edge in graph.edges()] == ["sequence", "answers"]
    graph.add_edge("c", "r", "relates")
    graph.add_edge("c", "r", "relates")
    assert [edge.kind for edge in graph.edges()] == ["sequence", "answers", "relates", "relates"]


def test_a_survivor_points_at_what_it_replaced():
    graph = compact_events(trace("a x = 1\nb x = 2\nc call t <\nr result c ok\nd call t <\ns result d ok"))["graph"]
    assert [edge for edge in graph.edges() if edge.kind == "supersedes"] == [
        Edge("b", "a", "supersedes"),
        Edge("c", "d", "supersedes"),
        Edge("c", "s", "supersedes"),
    ]


def test_an_abandon_supersedes_nothing():
    graph = compact_events(trace("a decision a\nz abandon a"))["graph"]
    assert {edge.kind for edge in graph.edges()} == {"sequence", "abandons"}


def test_an_edge_to_what_is_not_there_is_left_out():
    graph = graph_of("a decision a <missing\nr result nowhere ok <\nz abandon nothing <")
    assert list(graph.edges()) == []


def test_a_result_is_joined_to_its_call_by_the_providers_id_too():
    events = trace("c call get\nr result call_0 ok")
    events[0]["call_id"] = "call_0"
    graph = StateGraph()
    graph.extend(events)
    assert Edge("c", "r", "answers") in list(graph.edges())


def test_a_parent_may_come_later():
    graph = graph_of("b decision b <a\na decision a <")
    assert graph.parents(0) == [1]
    assert list(graph.children(1)) == [0]
    assert graph.backward == [0]


def test_children_are_known_whenever_they_are_asked_for():
    graph = graph_of("b decision b <a\nc decision c <b")
    assert list(graph.children(0)) == [1]
    graph.extend(trace("a decision a <\nd decision d <a"))
    assert sorted(graph.children(2)) == [0, 3]
    graph.add_edge("c", "d")
    assert list(graph.children(1)) == [3]
    assert sorted(graph.parents(3)) == [1, 2]


def test_a_parent_in_its_place_is_left_alone():
    assert graph_of("a decision a\nb decision b").backward == []


@pytest.mark.parametrize(
    ("source", "target", "kind"), [("a", "x", "sequence"), ("x", "a", "sequence"), ("a", "b", "knows")]
)
def test_an_edge_needs_two_events_and_a_known_kind(source, target, kind):
    graph = graph_of("a decision a\nb decision b")
    with pytest.raises(InvalidEvent):
        graph.add_edge(source, target, kind)
    assert len(list(graph.edges())) == 1


@pytest.mark.parametrize("kind", EDGE_KINDS)
def test_an_edge_of_any_kind_can_be_added(kind):
    graph = graph_of("a decision a\nb decision b <")
    graph.add_edge("a", "b", kind)
    assert list(graph.edges()) == [Edge("a", "b", kind)]


def test_an_event_that_is_its_own_parent_has_none():
    graph = graph_of("a decision a <a")
    graph.add_edge("a", "a")
    assert graph.parents(0) == []
    assert list(graph.children(0)) == []


def test_extend_takes_all_or_nothing():
    graph = graph_of("a decision a")
    with pytest.raises(DuplicateEvent):
        graph.extend(trace("b decision b <missing\na decision a"))
    with pytest.raises(InvalidEvent):
        graph.extend([*trace("c decision c"), {"id": "d"}])
    with pytest.raises(UnknownParent):
        graph.extend(trace("c decision c\nd decision d <missing"), parents_first=True)
    assert list(graph) == ["a"]
    graph.extend(trace("b decision b <a\nc decision c"))
    assert list(graph) == ["a", "b", "c"]
    assert list(graph.children(0)) == [1]


def test_extend_takes_nothing_when_the_source_itself_fails():
    def source():
        yield trace("a decision a")[0]
        raise OSError("the disk is gone")

    graph = StateGraph()
    with pytest.raises(OSError, match="gone"):
        graph.extend(source())
    assert len(graph) == 0


def test_what_is_passed_in_is_neither_kept_nor_changed():
    events = trace('a x = {"n": [1]}')
    graph = StateGraph()
    graph.extend(events)
    events[0]["value"]["n"].append(2)
    events[0]["key"] = "y"
    assert graph.event("a") == trace('a x = {"n": [1]}')[0]
    graph.event("a")["value"]["n"].append(3)
    assert graph.event("a")["value"] == {"n": [1]}


def test_a_further_field_with_a_structure_is_copied_too():
    event = {**trace("a decision a")[0], "source": {"line": [1]}}
    graph = StateGraph()
    graph.add_node(event)
    event["source"]["line"].append(2)
    assert graph.event("a")["source"] == {"line": [1]}


def test_an_unknown_event_is_a_key_error():
    with pytest.raises(KeyError):
        StateGraph().event("a")


def test_a_copy_goes_its_own_way():
    graph = graph_of("a decision a\nb decision b")
    graph.add_edge("b", "a", "relates")
    copy = graph.copy()
    copy.add_node(trace("c decision c")[0])
    copy.add_edge("c", "a")
    assert list(graph) == ["a", "b"]
    assert list(graph.edges()) == [Edge("a", "b", "sequence"), Edge("b", "a", "relates")]
    assert len(list(copy.edges())) == 3


def test_networkx_gets_every_node_and_every_edge():
    networkx = pytest.importorskip("networkx")
    graph = compact_events(trace("a x = 1\nb x = 2\nz abandon b"))["graph"]
    made = graph.to_networkx()
    assert isinstance(made, networkx.MultiDiGraph)
    assert dict(made.nodes(data="event")) == {name: graph.event(name) for name in graph}
    assert sorted((u, v, key) for u, v, key in made.edges(keys=True)) == sorted(map(tuple, graph.edges()))
    assert all(data["kind"] == key for _, _, key, data in made.edges(keys=True, data=True))
