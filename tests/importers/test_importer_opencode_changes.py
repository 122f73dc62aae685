"""opencode sessions that were changed: undone messages, failed answers and compactions."""

from __future__ import annotations

import json

import pytest
from importer_checks import own, survive, tree, with_other_types
from test_importer_opencode import INFO, finish, load, read, says, tool, user


def windows(trace):
    return [(w.opened_by, [event["id"] for event in trace.events[w.start : w.stop]]) for w in trace.windows]


# what was taken back


def undone(trace):
    return [(e["ref_to"], e["content"]) for e in trace.events if e["type"] == "abandon"]


def test_undone_messages_are_given_up():
    trace = load(user("u1", "a"), says("a1", "b"), user("u2", "c"), says("a2", "d"), revert={"messageID": "u2"})
    assert undone(trace) == [(["u2.p0"], "undone by the user (/undo)")]
    assert trace.events[-1]["origin"] == {"path": "info/revert"}
    assert trace.events[-1]["parent_id"] == "a1.p0"


def test_a_part_can_be_undone_with_all_that_follows():
    revert = {"messageID": "a1", "partID": "a1.p2"}
    trace = load(user("u1", "a"), says("a1", "b", tool("t1"), tool("t2")), user("u2", "c"), revert=revert)
    assert [event["id"] for event in trace.events] == [
        "u1.p0",
        "a1.p0",
        "t1",
        "t1:r",
        "t2",
        "t2:r",
        "u2.p0",
        "t2:abandon",
    ]
    assert undone(trace)[0][0] == ["t2"]


@pytest.mark.parametrize("revert", [{}, {"messageID": "unknown"}, None, 3])
def test_a_revert_of_nothing_known_changes_nothing(revert):
    assert undone(load(user("u1", "a"), revert=revert)) == []


# failed answers


def test_an_answer_that_failed_is_given_up():
    error = {"name": "APIError", "data": {"message": "overloaded"}}
    trace = load(user("u1", "a"), says("a1", "b", tool("t1"), error=error), user("u2", "c"))
    assert undone(trace) == [(["a1.p0"], "overloaded")]
    assert tree(trace)["u2.p0"] == "a1.p0:abandon"


def test_an_answer_that_was_interrupted_stays_but_for_calls_without_results():
    error = {"name": "MessageAbortedError", "data": {"message": "aborted"}}
    trace = load(says("a1", "b", tool("t1"), tool("t2", status="pending"), error=error))
    assert undone(trace) == [(["t2"], "aborted")]
    assert undone(load(says("a1", "b", error=error))) == []
    thought = load(says("a1", {"type": "reasoning", "text": "hm"}, error=error))
    assert undone(thought) == [(["a1.p0"], "aborted")]


# compactions


def compacted(**part):
    return [
        user("u1", "a"),
        says("a1", "b", finish(10, 5, 7)),
        user("u2", "c"),
        says("a2", tool("t1")),
        user("u3", {"type": "compaction", **part}),
        says("a3", "All went well.", summary=True, finish="stop"),
        user("u4", "d"),
    ]


def test_a_summary_opens_a_window():
    trace = load(*compacted(auto=True))
    assert windows(trace)[1] == ("auto", ["a3.p0", "u4.p0"])
    assert trace.events[5]["tags"] == ["summary"]
    assert trace.windows[1].tokens_before == 22
    assert "compaction" not in trace.ignored
    assert windows(load(*compacted(auto=False)))[1][0] == "manual"
    assert windows(load(says("a3", "Well.", summary=True)))[0] == ("unknown", ["a3.p0"])


def test_what_the_compaction_kept_is_repeated_in_the_new_window():
    trace = load(*compacted(auto=True, tail_start_id="u2"))
    assert windows(trace)[1] == ("auto", ["u2.p0:2", "t1:2", "t1:2:r", "a3.p0", "u4.p0"])
    assert [event.get("repeats") for event in trace.events[5:]] == ["u2.p0", "t1", "t1:r", None, None]
    assert {event.get("message_id") for event in trace.events[5:9]} == {"a3"}
    assert len(own(trace)) == 7


def test_a_summary_that_failed_opens_no_window():
    messages = compacted(auto=True)
    messages[5]["info"]["error"] = {"name": "ContextOverflowError", "data": {}}
    trace = load(*messages)
    assert len(trace.windows) == 1
    assert undone(trace) == [(["a3.p0"], "ContextOverflowError")]
    assert trace.ignored["compaction"] == 1


def test_a_session_of_other_types_gives_sound_traces_or_our_error():
    messages = compacted(auto=True, tail_start_id="u2")
    messages[3]["info"]["error"] = {"name": "MessageAbortedError", "data": {"message": "x"}}
    for value in with_other_types({"info": {**INFO, "revert": {"messageID": "u4"}}, "messages": messages}, 300):
        survive(read, json.dumps(value).encode())


def test_an_answer_that_failed_is_not_among_what_the_compaction_kept():
    messages = compacted(auto=True, tail_start_id="u2")
    messages[3]["info"]["error"] = {"name": "APIError", "data": {}}
    assert windows(load(*messages))[1] == ("auto", ["u2.p0:2", "a3.p0", "u4.p0"])


def test_an_answer_that_failed_and_was_undone_is_given_up_once():
    answer = says("a1", "b", error={"name": "APIError", "data": {}})
    trace = load(user("u0", "x"), user("u1", "a"), answer, revert={"messageID": "u1"})
    assert undone(trace) == [(["u1.p0"], "undone by the user (/undo)")]
