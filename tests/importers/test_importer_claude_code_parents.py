"""Claude Code sessions as trees: parents, ids, and which result answers which call."""

from __future__ import annotations

from claude_code_records import call, line, load, only, result, says, text, tree, user

# parents


def test_parallel_calls_share_a_parent_and_results_hang_below_their_call():
    trace = load(
        user("u1", None, "Go"),
        says("a1", "u1", "Both", message="m"),
        says("a2", "a1", call("t1"), message="m"),
        line("progress", "p1", "a2"),
        says("a3", "p1", call("t2"), message="m"),
        user("r2", "a3", [result("t2")]),
        user("r1", "a2", [result("t1")]),
        says("a4", "r1", "Done", message="n"),
    )
    assert tree(trace) == {
        "u1": None,
        "a1": "u1",
        "t1": "a1",
        "t2": "a1",
        "t2:r": "t2",
        "t1:r": "t1",
        "a4": "t1:r",
    }


def test_a_call_made_while_the_message_goes_on_is_still_parallel():
    trace = load(
        user("u1", None, "Go"),
        says("a1", "u1", call("t1"), message="m"),
        user("r1", "a1", [result("t1")]),
        says("a2", "r1", call("t2"), message="m"),
        user("r2", "a2", [result("t2"), text("and hurry")]),
        says("a3", "r2", "Done", message="n"),
    )
    assert tree(trace) == {"u1": None, "t1": "u1", "t1:r": "t1", "t2": "u1", "t2:r": "t2", "r2": "t2:r", "a3": "r2"}


def test_a_line_without_a_known_parent_follows_the_line_above():
    trace = load(user("u1", None, "a"), says("a1", None, "b"), user("u2", "lost", "c"), user("u3", None, "d"))
    assert tree(trace) == {"u1": None, "a1": "u1", "u2": "a1", "u3": "u2"}


def test_a_parent_below_its_child_comes_first():
    trace = load(user("u1", None, "a"), says("a2", "a1", "c"), says("a1", "u1", "b"))
    assert list(tree(trace)) == ["u1", "a1", "a2"]


def test_a_circle_of_parents_is_cut():
    trace = load(user("u1", "u1", "a"), says("a1", "a3", "b"), says("a2", "a1", "c"), says("a3", "a2", "d"))
    assert sorted(tree(trace)) == ["a1", "a2", "a3", "u1"]


def test_two_circles_are_no_fork():
    trace = load(user("a", "b", "1"), user("b", "a", "2"), user("c", "d", "3"), user("d", "c", "4"))
    assert sorted(tree(trace)) == ["a", "b", "c", "d"]


# ids and pairing


def test_a_repeated_call_id_is_told_apart_and_paired_in_order():
    trace = load(
        user("u1", None, "Go"),
        says("a1", "u1", call("t1", n=1)),
        user("r1", "a1", [result("t1", "one")]),
        says("a2", "r1", call("t1", n=2)),
        user("r2", "a2", [result("t1", "two")]),
        user("r3", "r2", [result("t1", "again")]),
    )
    results = [(e["id"], e["call_id"], e["result"]) for e in trace.events if e["type"] == "tool_result"]
    assert results == [("t1:r", "t1", "one"), ("t1:2:r", "t1:2", "two"), ("t1:2:r2", "t1:2", "again")]


def test_calls_without_ids_are_paired_in_order():
    bare = {"type": "tool_use", "name": "Bash", "input": {}}
    trace = load(
        user("u1", None, "Go"),
        says("a1", "u1", bare, bare),
        user("r1", "a1", [{"type": "tool_result", "content": "one"}, {"type": "tool_result", "content": "two"}]),
    )
    assert [e["call_id"] for e in trace.events if e["type"] == "tool_result"] == ["a1.0", "a1.1"]


def test_a_result_that_is_a_record_of_its_own_keeps_what_its_message_holds():
    trace = load(
        user("u1", None, "Go"),
        says("a1", "u1", call("t1")),
        line("tool_result", "r1", "a1", {"role": "tool", "content": "fn main() {}"}),
    )
    event = only(trace, "tool_result")
    assert (event["call_id"], event["result"]) == ("t1", "fn main() {}")


def test_a_result_whose_call_was_lost_is_kept():
    event = only(load(user("u1", None, "Go"), user("r1", "u1", [result("t9", "late")])), "tool_result")
    assert (event["id"], event["call_id"], event["parent_id"]) == ("t9:r", "t9", "u1")


def test_ids_are_short_and_lengthened_where_they_collide():
    first, second = "12345678-aaaa-4aaa-8aaa-aaaaaaaaaaaa", "12345678-bbbb-4bbb-8bbb-bbbbbbbbbbbb"
    trace = load(user(first, None, [text("a"), text("b")]), user(second, first, "c"))
    assert list(tree(trace)) == ["12345678", "12345678.1", "12345678-bbbb"]


def test_lines_that_a_resumed_session_copied_are_read_once():
    lines = (user("u1", None, "a"), says("a1", "u1", "b", message="m", usage={"input_tokens": 5}))
    copies = ({**record, "sessionId": "s2"} for record in lines)
    trace = load(*lines, *copies, user("u2", "a1", "c"))
    assert list(tree(trace)) == ["u1", "a1", "u2"]
    assert trace.ignored == {"repeated line": 2}
    assert len(trace.usage) == 1


def test_two_different_lines_of_one_uuid_are_both_kept():
    trace = load(user("u1", None, "a"), user("u1", None, "b"))
    assert tree(trace) == {"u1": None, "u1:2": "u1"}
