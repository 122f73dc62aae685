"""pi sessions that went on from an earlier entry, and those that were compacted."""

from __future__ import annotations

import json

import pytest
from importer_checks import accounted, check, own, tree
from test_importer_pi import HEADER, call, entry, load, message, result, text

from context_gc.importers import pi
from context_gc.importers.files.decode import decode
from context_gc.importers.pi.tree import Entry, parents, steps


def node(name, parent, record=None, **fields):
    return (record or message("user", name)) | {"id": name, "parentId": parent} | fields


def grown(*records):
    return load(*records, header={**HEADER, "version": 3})


def summary(name, parent, said="It led nowhere."):
    return node(name, parent, entry("branch_summary", fromId=parent, summary=said))


def compaction(name, parent, kept=None, **fields):
    return node(name, parent, entry("compaction", summary=f"Summary {name}", firstKeptEntryId=kept, **fields))


def windows(trace):
    return [
        (w.opened_by, w.tokens_before, [event["id"] for event in trace.events[w.start : w.stop]]) for w in trace.windows
    ]


# branches


def test_a_branch_that_was_left_is_given_up_and_what_follows_goes_on_beside_it():
    trace = grown(node("a", None), node("b", "a"), node("c", "b"), node("d", "a"), node("e", "d"))
    assert tree(trace) == {"a": None, "b": "a", "c": "b", "b:abandon": "a", "d": "b:abandon", "e": "d"}
    (undone,) = (event for event in trace.events if event["type"] == "abandon")
    assert (undone["ref_to"], undone["content"], undone["origin"]) == (["b"], "rewound by the user", {"line": 5})


def test_a_branch_summary_is_the_reason_that_its_branch_was_given_up_for():
    trace = grown(node("a", None), node("b", "a"), summary("s", "a"), node("c", "s"))
    assert tree(trace) == {"a": None, "b": "a", "b:abandon": "a", "c": "b:abandon"}
    assert trace.events[2]["content"] == "It led nowhere."


def test_a_branch_summary_of_nothing_that_is_in_the_trace_is_a_summary():
    trace = grown(node("a", None), node("x", "a", entry("label", targetId="a")), summary("s", "a"), node("c", "s"))
    assert tree(trace) == {"a": None, "s": "a", "c": "s"}
    assert trace.events[1]["tags"] == ["summary"]


def test_a_session_that_was_begun_anew_gives_up_all_of_it():
    trace = grown(node("a", None), node("b", "a"), node("c", None))
    assert tree(trace) == {"a": None, "b": "a", "a:abandon": None, "c": "a:abandon"}


def test_several_branches_from_one_entry_are_each_given_up():
    trace = grown(node("a", None), node("b", "a"), node("c", "a"), summary("s", "a"), node("d", "s"))
    reasons = [(e["ref_to"], e["content"]) for e in trace.events if e["type"] == "abandon"]
    assert reasons == [(["b"], "rewound by the user"), (["c"], "It led nowhere.")]


def test_a_branch_that_was_taken_up_again_lives_and_the_one_between_is_given_up():
    trace = grown(node("a", None), node("b", "a"), node("c", "a"), node("d", "b"))
    assert tree(trace) == {"a": None, "c": "a", "c:abandon": "a", "b": "c:abandon", "d": "b"}


def test_branches_of_a_branch_that_lost_are_given_up_with_it():
    trace = grown(node("a", None), node("b", "a"), node("c", "b"), node("d", "b"), node("e", "a"))
    assert [(e["id"], e["ref_to"]) for e in trace.events if e["type"] == "abandon"] == [
        ("c:abandon", ["c"]),
        ("b:abandon", ["b"]),
    ]
    assert tree(trace)["d"] == "c:abandon"
    assert tree(trace)["e"] == "b:abandon"


def test_calls_of_a_branch_that_lost_are_no_calls_of_the_one_that_won():
    trace = grown(
        node("a", None),
        node("b", "a", message("assistant", [call("t1")])),
        node("c", "b", result("t1", "old")),
        node("d", "a", message("assistant", [call("t1")])),
        node("e", "d", result("t1", "new")),
    )
    assert [(e["id"], e["call_id"]) for e in trace.events if e["type"] == "tool_result"] == [
        ("t1:r", "t1"),
        ("t1:2:r", "t1:2"),
    ]


@pytest.mark.parametrize("parent", ["unknown", "b", 5, "c"])
def test_an_entry_without_a_known_earlier_parent_follows_the_one_above_it(parent):
    trace = grown(node("a", None), node("b", parent), node("c", "b"))
    assert tree(trace) == {"a": None, "b": "a", "c": "b"}


def test_steps_take_in_every_entry_once_and_no_circle_is_possible():
    names = [("a", "c"), ("b", "a"), ("c", "b"), ("d", "a"), ("a", "d"), ("e", "a")]
    entries = [Entry(n, 0, name, "message", {"parentId": parent}) for n, (name, parent) in enumerate(names)]
    taken = [step.place for step in steps(parents(entries)) if step.winner < 0]
    assert sorted(taken) == list(range(len(entries)))


def test_a_chain_of_100_000_entries_is_no_problem():
    entries = [Entry(n, 0, str(n), "message", {}) for n in range(100_000)]
    assert len(list(steps(parents(entries)))) == 100_000


# compactions


def test_a_compaction_opens_a_window_with_the_summary_and_what_was_kept():
    trace = grown(
        node("a", None),
        node("b", "a", message("assistant", [text("Look"), call("t1", path="x")])),
        node("c", "b", result("t1", isError=True)),
        compaction("s", "c", kept="b", tokensBefore=1234),
        node("d", "s"),
    )
    assert windows(trace) == [
        ("start", None, ["a", "b", "t1", "t1:r"]),
        ("unknown", 1234, ["s", "b:2", "t1:2", "t1:2:r", "d"]),
    ]
    kept = trace.events[5:8]
    assert [event["repeats"] for event in kept] == ["b", "t1", "t1:r"]
    assert [event["origin"] for event in kept] == [event["origin"] for event in trace.events[1:4]]
    assert {event["message_id"] for event in trace.events[4:8]} == {"s"}
    assert (kept[2]["call_id"], kept[2]["is_error"]) == ("t1:2", True)
    assert len(own(trace)) == 6


def test_what_an_earlier_compaction_made_is_not_kept_but_what_it_kept_is():
    trace = grown(node("a", None), compaction("s", "a", "a"), node("b", "s"), compaction("t", "b", "a"), node("c", "t"))
    assert [names for _, _, names in windows(trace)] == [["a"], ["s", "a:2", "b"], ["t", "a:3", "b:2", "c"]]


@pytest.mark.parametrize("kept", ["unknown", None, 3, "d"])
def test_a_compaction_that_kept_nothing_known_begins_with_its_summary(kept):
    trace = grown(node("a", None), compaction("s", "a", kept), node("d", "s"))
    assert [names for _, _, names in windows(trace)] == [["a"], ["s", "d"]]


def test_what_was_cut_off_before_a_compaction_is_not_kept():
    aborted = message("assistant", [text("I'll")], stopReason="aborted")
    trace = grown(node("a", None), node("b", "a", aborted), compaction("s", "b", "a"))
    assert [names for _, _, names in windows(trace)] == [["a", "b", "b:abandon"], ["s", "a:2"]]


def test_a_rewind_to_before_a_compaction_opens_a_window_with_what_was_said_until_there():
    trace = grown(node("a", None), node("b", "a"), compaction("s", "b", "b"), node("c", "s"), node("d", "a"))
    assert windows(trace)[2] == ("rewind", None, ["a:2", "d"])
    assert [event["type"] for event in trace.events].count("abandon") == 0


def test_a_rewind_between_windows_repeats_the_summary_that_held_there():
    records = [node("a", None), compaction("s", "a", "a"), node("b", "s"), compaction("t", "b"), node("c", "b")]
    assert windows(grown(*records))[3] == ("rewind", None, ["s:2", "a:3", "b:2", "c"])


def test_the_first_version_counts_entries_from_the_header_and_leaves_out_lines_that_pi_cannot_read():
    said = [message("user", name) for name in "abcd"]
    kept = entry("compaction", summary="S", firstKeptEntryIndex=2, tokensBefore=7)
    rows = [json.dumps(each) for each in (HEADER, *said, kept)]
    joined = "\n".join([rows[0], rows[1] + rows[2], rows[3], rows[4], rows[5]])
    for text_of_file, expected in (("\n".join(rows), "bcd"), (joined, "d")):
        (trace,) = pi.read(decode(text_of_file.encode(), "session.jsonl"))
        check([trace])
        assert accounted([trace]) == 6
        assert "".join(event["content"] for event in trace.events if "repeats" in event) == expected
