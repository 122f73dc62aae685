"""Claude Code sessions: what was undone becomes an abandon, and a compaction opens a window."""

from __future__ import annotations

from claude_code_records import REFUSED, boundary, call, line, load, only, result, says, text, tree, user

# what was undone


def test_a_losing_fork_becomes_an_abandon_before_the_winner():
    trace = load(
        user("u1", None, "Start"),
        says("a1", "u1", "Ready"),
        user("b1", "a1", "First try"),
        says("b2", "b1", call("t1")),
        user("b3", "b2", [result("t1")]),
        line("system", "s1", "a1", subtype="turn_duration"),
        user("c1", "s1", "Second try"),  # below the same message, by way of a line that the model never sees
        says("b4", "b3", "late words of the losing branch"),
        says("c2", "c1", "Better"),
    )
    assert tree(trace) == {
        "u1": None,
        "a1": "u1",
        "b1": "a1",
        "t1": "b1",
        "t1:r": "t1",
        "b4": "t1:r",
        "b1:abandon": "a1",
        "c1": "b1:abandon",
        "c2": "c1",
    }
    assert list(tree(trace))[2:] == ["b1", "t1", "t1:r", "b4", "b1:abandon", "c1", "c2"]
    assert only(trace, "abandon")["ref_to"] == ["b1"]


def test_each_of_several_rewinds_abandons_the_branch_before_it():
    trace = load(
        user("u1", None, "Start"),
        *(user(f"b{k}", "u1", f"Try {k}") for k in range(3)),
        user("c", "b2", "x"),
        user("d", "b2", "y"),
    )
    refs = [(event["id"], event["ref_to"]) for event in trace.events if event["type"] == "abandon"]
    assert refs == [("b0:abandon", ["b0"]), ("b1:abandon", ["b1"]), ("c:abandon", ["c"])]


def test_a_fork_inside_a_losing_branch_is_abandoned_with_it():
    trace = load(
        user("u1", None, "Start"),
        user("b", "u1", "x"),
        user("b1", "b", "x1"),
        user("b2", "b", "x2"),
        user("c", "u1", "y"),
    )
    assert [event["ref_to"] for event in trace.events if event["type"] == "abandon"] == [["b1"], ["b"]]


def test_a_rewind_of_the_very_first_prompt_is_seen():
    trace = load(line("progress", "p", None), user("u1", "p", "a"), says("a1", "u1", "b"), user("u2", "p", "c"))
    assert tree(trace) == {"u1": None, "a1": "u1", "u1:abandon": None, "u2": "u1:abandon"}


def test_answers_beside_each_other_are_no_fork():
    trace = load(
        user("u1", None, "Go"),
        says("a1", "u1", call("t1"), message="m"),
        user("r1", "a1", [result("t1")]),
        says("a2", "a1", call("t2"), message="m"),
        user("i1", "a1", "[Request interrupted by user]"),
        user("m1", "a1", "A reminder", isMeta=True),
        user("u2", "a1", "Go on"),
    )
    assert "abandon" not in {event["type"] for event in trace.events}


def test_prompts_without_parents_are_no_fork():
    trace = load(user("u1", None, "a"), user("u2", None, "b"), user("u3", None, "c"))
    assert [event["type"] for event in trace.events] == ["requirement"] * 3


def test_prompts_below_two_different_roots_are_no_fork():
    trace = load(line("progress", "p", None), user("u1", "p", "a"), line("progress", "q", None), user("u2", "q", "b"))
    assert tree(trace) == {"u1": None, "u2": "u1"}


def test_the_branch_that_a_compaction_goes_on_from_wins():
    trace = load(
        user("u1", None, "Start"),
        user("x", "u1", "first"),
        user("y", "u1", "second"),
        boundary("c1", "x"),
        user("c2", "c1", "Summary", isCompactSummary=True),
    )
    assert list(tree(trace)) == ["u1", "y", "y:abandon", "x", "c2"]


def test_a_rejected_call_is_abandoned_and_the_users_words_live():
    said = REFUSED + " To tell you how to proceed, the user said:\nUse the other file."
    trace = load(
        user("u1", None, "Go"),
        says("a1", "u1", call("t1"), message="m"),
        says("a2", "a1", call("t2"), message="m"),
        user("r1", "a1", [result("t1", said, is_error=True)]),
        user("r2", "a2", [result("t2", REFUSED, is_error=True)]),
        user("i1", "r2", [text("[Request interrupted by user for tool use]")]),
    )
    assert tree(trace) == {
        "u1": None,
        "t1": "u1",
        "t2": "u1",
        "t1:r": "t1",
        "t1:abandon": "t1:r",
        "t1:said": "t1:abandon",
        "t2:r": "t2",
        "t2:abandon": "t2:r",
        "i1": "t2:abandon",
    }
    events = {event["id"]: event for event in trace.events}
    assert (events["t1:abandon"]["ref_to"], events["t1:abandon"]["content"]) == (["t1"], "Use the other file.")
    assert (events["t1:said"]["type"], events["t1:said"]["content"]) == ("requirement", "Use the other file.")
    assert events["t2:abandon"]["content"] == "rejected by the user"


def test_an_interrupt_that_undid_nothing_abandons_nothing():
    trace = load(
        user("u1", None, "Go"),
        says("a1", "u1", call("t1")),
        user("r1", "a1", [result("t1", "all done")]),
        user("i1", "r1", "[Request interrupted by user]"),
    )
    assert [event["type"] for event in trace.events] == ["requirement", "tool_call", "tool_result", "requirement"]


def test_words_between_a_call_and_its_rejection_are_not_abandoned():
    trace = load(
        user("u1", None, "Go"),
        says("a1", "u1", call("t1")),
        line("attachment", "q1", "a1", attachment={"type": "queued_command", "prompt": "wait"}),
        user("r1", "q1", [result("t1", REFUSED)]),
    )
    assert tree(trace) == {"u1": None, "t1": "u1", "q1": "u1", "t1:r": "t1", "t1:abandon": "t1:r"}


def test_a_rewind_to_before_the_first_prompt_begins_the_session_anew():
    trace = load(
        {"type": "file-history-snapshot", "messageId": "u1", "snapshot": {}, "isSnapshotUpdate": False},
        user("u1", None, "a"),
        says("a1", "u1", "b"),
        user("u2", "a1", "c"),
        {"type": "last-prompt", "leafUuid": "u1", "sessionId": "s"},
        user("u3", None, "d"),
        says("a3", "u3", "e"),
    )
    assert only(trace, "abandon")["ref_to"] == ["u1"]
    assert tree(trace) == {"u1": None, "a1": "u1", "u2": "a1", "u1:abandon": None, "u3": "u1:abandon", "a3": "u3"}


def test_a_second_prompt_without_a_parent_is_no_rewind_in_another_session_or_before_an_answer():
    other = load(user("u1", None, "a"), says("a1", "u1", "b"), user("u2", None, "c", sessionId="t"))
    assert "abandon" not in {event["type"] for event in other.events}
    unanswered = load(user("u1", None, "a"), user("u2", None, "b"), says("a2", "u2", "c"))
    assert "abandon" not in {event["type"] for event in unanswered.events}


def test_a_restored_state_of_the_code_is_no_branch():
    trace = load(
        user("u1", None, "a"),
        says("a1", "u1", "b"),
        {"type": "file-history-snapshot", "messageId": "u1", "snapshot": {"messageId": "u1"}, "isSnapshotUpdate": True},
        user("u2", "a1", "c"),
    )
    assert tree(trace) == {"u1": None, "a1": "u1", "u2": "a1"}
    assert trace.ignored == {"file-history-snapshot": 1}
