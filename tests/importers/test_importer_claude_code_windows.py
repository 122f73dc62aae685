"""Claude Code sessions: what opens a context window, and what stands at its beginning."""

from __future__ import annotations

from claude_code_records import REFUSED, boundary, call, load, only, result, says, tree, user

from context_gc.importers.claude_code import log


def test_a_compaction_opens_a_window_with_its_summary():
    trace = load(
        user("u1", None, "a"),
        boundary("c1", "u1", trigger="manual", preTokens=9),
        user("c2", "c1", "This session is being continued", isCompactSummary=True),
        says("a1", "c2", "b"),
    )
    assert [(w.start, w.stop, w.opened_by, w.tokens_before) for w in trace.windows] == [
        (0, 1, "start", None),
        (1, 3, "manual", 9),
    ]
    assert trace.events[1]["tags"] == ["summary"]
    assert tree(trace) == {"u1": None, "c2": None, "a1": "c2"}


def test_a_summary_whose_boundary_was_lost_opens_a_window_too():
    trace = load(
        user("u1", None, "a"),
        boundary("c1", "u1", trigger="auto"),
        user("c2", "c1", "Summary", isCompactSummary=True),
        user("c3", "c2", "Summary", isCompactSummary=True),
    )
    assert [(w.start, w.stop, w.opened_by) for w in trace.windows] == [
        (0, 1, "start"),
        (1, 2, "auto"),
        (2, 3, "unknown"),
    ]


def test_a_file_that_begins_with_a_boundary_has_one_window():
    trace = load(boundary("c1", "x", trigger="auto"), user("c2", "c1", "Summary", isCompactSummary=True))
    assert [(w.start, w.stop, w.opened_by) for w in trace.windows] == [(0, 1, "auto")]


def test_a_late_answer_does_not_reach_into_the_window_before():
    trace = load(
        user("u1", None, "a"),
        says("a1", "u1", call("t1")),
        boundary("c1", "a1"),
        user("c2", "c1", "Summary", isCompactSummary=True),
        user("r1", "a1", [result("t1", REFUSED)]),
    )
    assert (trace.events[-1]["parent_id"], trace.events[-1]["call_id"]) == ("c2", "t1")


def test_a_rewind_from_behind_a_compaction_opens_a_window_with_what_was_before_it():
    trace = load(
        user("u1", None, "a"),
        says("a1", "u1", call("t1"), message="m"),
        says("a2", "a1", call("t2"), message="m"),
        user("r1", "a1", [result("t1", "one")]),
        user("r2", "a2", [result("t2", "two")]),
        user("b1", "r2", "b"),
        boundary("c1", "b1"),
        user("c2", "c1", "Summary", isCompactSummary=True),
        user("d1", "r2", "d"),
        says("d2", "d1", "e"),
    )
    assert [(w.start, w.stop, w.opened_by) for w in trace.windows] == [
        (0, 6, "start"),
        (6, 7, "unknown"),
        (7, 14, "rewind"),
    ]
    assert [(event["id"], event["parent_id"], event.get("repeats")) for event in trace.events[7:]] == [
        ("u1:2", None, "u1"),
        ("t1:2", "u1:2", "t1"),
        ("t2:2", "u1:2", "t2"),
        ("t1:2:r", "t1:2", "t1:r"),
        ("t2:2:r", "t2:2", "t2:r"),
        ("d1", "t2:2:r", None),
        ("d2", "d1", None),
    ]


def test_a_second_rewind_from_there_is_an_abandon_in_that_window():
    trace = load(
        user("u1", None, "a"),
        user("b1", "u1", "b"),
        boundary("c1", "b1"),
        user("c2", "c1", "Summary", isCompactSummary=True),
        user("d1", "u1", "d"),
        user("e1", "u1", "e"),
    )
    assert only(trace, "abandon")["ref_to"] == ["d1"]
    assert (tree(trace)["d1:abandon"], tree(trace)["e1"]) == ("u1:2", "d1:abandon")
    assert [window.opened_by for window in trace.windows] == ["start", "unknown", "rewind"]


def test_a_rewind_behind_a_compaction_stays_in_its_window():
    trace = load(
        user("u1", None, "a"),
        boundary("c1", "u1"),
        user("c2", "c1", "Summary", isCompactSummary=True),
        says("a1", "c2", "Ready"),
        user("d1", "a1", "d"),
        user("e1", "a1", "e"),
    )
    assert len(trace.windows) == 2
    assert only(trace, "abandon")["ref_to"] == ["d1"]


def test_what_a_compaction_kept_stands_behind_its_summary():
    kept = {"headUuid": "u2", "tailUuid": "a2", "anchorUuid": "c2"}
    trace = load(
        user("u1", None, "a"),
        user("u2", "u1", "b"),
        says("a2", "u2", "c"),
        boundary("c1", "a2", trigger="auto", preservedSegment=kept),
        user("c2", "c1", "Summary", isCompactSummary=True),
        user("u3", "c2", "d"),
    )
    assert [(event["id"], event["parent_id"]) for event in trace.events[3:]] == [
        ("c2", None),
        ("u2:2", "c2"),
        ("a2:2", "u2:2"),
        ("u3", "a2:2"),
    ]
    assert [event["message_id"] for event in trace.events[4:6]] == ["kept4", "kept4"]


def test_what_a_compaction_lists_as_kept_stands_before_its_summary_where_that_is_what_it_says():
    kept = {"uuids": ["u1", "lost", 7], "anchorUuid": "c1"}
    trace = load(
        user("u1", None, "a"),
        user("u2", "u1", "b"),
        boundary("c1", "u2", preservedMessages=kept),
        user("c2", "c1", "Summary", isCompactSummary=True),
    )
    assert [event["id"] for event in trace.events[2:]] == ["u1:2", "c2"]


def test_a_kept_segment_whose_lines_are_not_there_is_left_out():
    kept = {"headUuid": "lost", "tailUuid": "u1", "anchorUuid": "c2"}
    trace = load(
        user("u1", None, "a"),
        boundary("c1", "u1", preservedSegment=kept),
        user("c2", "c1", "Summary", isCompactSummary=True),
    )
    assert [event["id"] for event in trace.events] == ["u1", "c2"]


def test_what_is_repeated_has_a_bound(monkeypatch):
    monkeypatch.setattr(log, "MOST_REPEATED", 3)
    records, last = [user("u1", None, "a"), says("a1", "u1", "b"), user("b0", "a1", "c")], "b0"
    for at in range(1, 4):
        records.append(boundary(f"c{at}", last))
        records.append(user(f"d{at}", f"c{at}", "Summary", isCompactSummary=True))
        last = f"b{at}"
        records.append(user(last, "a1", f"again {at}"))
    trace = load(*records)
    assert [event["repeats"] for event in trace.events if "repeats" in event] == ["u1", "a1"]
    assert [window.opened_by for window in trace.windows].count("rewind") == 3
