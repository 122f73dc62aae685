"""Claude Code sessions that go on from one another: each line is read once, and where one left another is told."""

from __future__ import annotations

from claude_code_records import call, check, forked, jsonl, load_folder, of, result, says, tree, user
from importer_checks import accounted

from context_gc.load import load_trace

A, B, C = (f"{letter * 8}-0000-4000-8000-000000000000" for letter in "abc")


def folder(root, files):
    traces = load_folder(root, files)
    for trace in traces:
        check(trace)
    return traces


FIRST = of(A, user("u1", None, "Go"), says("a1", "u1", call("t1")), user("r1", "a1", [result("t1")]),
           timestamp="2026-01-01T00:00:00Z")  # fmt: skip
LATER = of(B, user("u2", "r1", "And now"), says("a2", "u2", "Yes"), timestamp="2026-01-02T00:00:00Z")


def test_a_resumed_session_is_read_from_where_the_other_ends(tmp_path):
    copies = of(B, *FIRST)
    first, later = folder(tmp_path, {f"{A}.jsonl": FIRST, f"{B}.jsonl": copies + LATER})
    assert (list(tree(first)), list(tree(later))) == (["u1", "t1", "t1:r"], ["u2", "a2"])
    assert later.extra["resumes"] == {"session": A, "event": "t1:r"}
    assert later.ignored == {"line of the session that it goes on from": 3}
    assert accounted([first, later]) == 8
    assert "resumes" not in first.extra


def test_which_session_was_first_does_not_depend_on_names(tmp_path):
    copies = of(A, *FIRST)
    later, first = folder(tmp_path, {f"{A}.jsonl": copies + LATER, f"{B}.jsonl": FIRST})
    assert later.extra["resumes"]["event"] == "t1:r"
    assert list(tree(first)) == ["u1", "t1", "t1:r"]


def test_a_fork_from_the_middle_names_the_line_that_it_left(tmp_path):
    copies = [{**each, "uuid": "n0"} for each in forked(B, A, FIRST[0])]
    new = of(B, says("b1", "n0", "Otherwise"), timestamp="2026-01-01T00:00:00Z")
    first, later = folder(tmp_path, {f"{A}.jsonl": FIRST, f"{B}.jsonl": copies + new})
    assert len(first.events) == 3
    assert list(tree(later)) == ["b1"]
    assert later.extra["resumes"] == {"session": A, "event": "u1"}


def test_a_file_that_says_it_was_forked_comes_later_than_its_origin(tmp_path):
    new = of(A, says("b1", "u1", "Otherwise"), timestamp="2026-01-01T00:00:00Z")
    later, first = folder(tmp_path, {f"{A}.jsonl": forked(A, B, FIRST[0]) + new, f"{B}.jsonl": of(B, *FIRST)})
    assert (list(tree(later)), list(tree(first))) == (["b1"], ["u1", "t1", "t1:r"])
    assert later.extra["resumes"] == {"session": B, "event": "u1"}


def test_a_session_is_called_what_its_file_is_called_though_it_began_with_lines_of_another():
    data = jsonl(FIRST + LATER)
    assert load_trace(data, f"project/{B}.jsonl").extra["session_id"] == B
    assert load_trace(data, "copy.jsonl").extra["session_id"] == A


def test_a_chain_of_resumes_names_the_nearest(tmp_path):
    second = of(B, *FIRST) + LATER
    third = of(C, *second) + of(C, user("u3", "a2", "Last"), timestamp="2026-01-03T00:00:00Z")
    traces = folder(tmp_path, {f"{A}.jsonl": FIRST, f"{B}.jsonl": second, f"{C}.jsonl": third})
    assert [list(tree(trace)) for trace in traces] == [["u1", "t1", "t1:r"], ["u2", "a2"], ["u3"]]
    assert [trace.extra.get("resumes") for trace in traces] == [
        None,
        {"session": A, "event": "t1:r"},
        {"session": B, "event": "a2"},
    ]


def test_a_session_that_holds_nothing_of_its_own_is_an_empty_trace(tmp_path):
    copies = [
        {**record, "sessionId": B, "forkedFrom": {"sessionId": A, "messageUuid": record["uuid"]}} for record in FIRST
    ]
    first, later = folder(tmp_path, {f"{A}.jsonl": FIRST, f"{B}.jsonl": copies})
    assert (len(first.events), later.events) == (3, [])
    assert later.extra["resumes"] == {"session": A, "event": "t1:r"}


def test_a_fork_that_is_opened_alone_holds_all_and_says_what_it_goes_on_from():
    trace = load_trace(jsonl(forked(B, A, *FIRST) + LATER))
    assert list(tree(trace)) == ["u1", "t1", "t1:r", "u2", "a2"]
    assert trace.extra["resumes"] == {"session": A}


def test_different_lines_of_one_uuid_are_kept_in_both(tmp_path):
    first, second = folder(
        tmp_path, {f"{A}.jsonl": of(A, user("u1", None, "a")), f"{B}.jsonl": of(B, user("u1", None, "b"))}
    )
    assert [len(first.events), len(second.events)] == [1, 1]
    assert "resumes" not in second.extra
