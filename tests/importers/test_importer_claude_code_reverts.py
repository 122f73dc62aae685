"""Claude Code sessions: edits that the agent took back are given up, and only where that is certain."""

from __future__ import annotations

import pytest
from claude_code_records import boundary, call, load, result, says, tree, user


def session(*steps, **more):
    """A session of one call after the other: (tool, arguments) or (tool, arguments, more of the result)."""
    records, last = [user("u0", None, "Go", cwd="/p")], "u0"
    for at, (tool, given, *rest) in enumerate(steps, 1):
        records.append(says(f"a{at}", last, call(f"t{at}", tool, **given), cwd="/p"))
        last = f"r{at}"
        records.append(user(last, f"a{at}", [result(f"t{at}", **dict(*rest))], cwd="/p", **more))
    return load(*records, says("end", last, "Done", cwd="/p"))


def edit(old, new, path="/p/a.py", **more):
    return "Edit", {"file_path": path, "old_string": old, "new_string": new, **more}


def run(command, **more):
    return "Bash", {"command": command}, more


def given_up(trace):
    return [event["ref_to"] for event in trace.events if event["type"] == "abandon"]


def test_an_edit_that_a_later_one_swaps_back_is_given_up_alone():
    trace = session(edit("a", "b"), run("pytest -q"), edit("b", "a"))
    assert given_up(trace) == [["t1"]]
    assert tree(trace) == {
        "u0": None,
        "t1": "u0",
        "t1:r": "t1",
        "t2": "u0",
        "t2:r": "t2",
        "t3": "t2:r",
        "t3:r": "t3",
        "t1:abandon": "t3:r",
        "end": "t1:abandon",
    }
    assert trace.events[-2]["content"] == "taken back by a later edit of a.py"


@pytest.mark.parametrize(
    "between",
    [
        run("git commit -am x"),
        run("git commit -am x", is_error=True),
        run("black a.py"),
        run("git status; git add ."),
        run("make test"),
        ("Read", {"file_path": "/p/a.py"}),
        edit("c", "d"),
        ("Task", {"prompt": "Look"}),
        ("mcp__files__move", {"from": "a.py"}),
    ],
)
def test_it_stands_when_something_touched_the_file_in_between(between):
    assert given_up(session(edit("a", "b"), between, edit("b", "a"))) == []


@pytest.mark.parametrize(
    "between",
    [run("git diff a.py"), run("ls && git status"), ("Read", {"file_path": "/p/b.py"}), ("TodoWrite", {"todos": []}),
     ("Grep", {"pattern": "x"}), edit("c", "d", "/p/b.py")],
)  # fmt: skip
def test_what_touched_other_files_does_not_matter(between):
    assert given_up(session(edit("a", "b"), between, edit("b", "a"))) == [["t1"]]


@pytest.mark.parametrize(
    "second",
    [
        edit("b", "a", "/p/b.py"),
        edit("b", "c"),
        edit("b", "a", replace_all=True),
        (*edit("b", "a"), {"is_error": True}),
    ],
)
def test_what_is_no_exact_swap_gives_nothing_up(second):
    assert given_up(session(edit("a", "b"), second)) == []


def test_an_edit_that_is_made_again_stands():
    assert given_up(session(edit("a", "b"), edit("b", "a"), edit("a", "b"))) == [["t1"], ["t2"]]


@pytest.mark.parametrize(
    "command",
    [
        "git checkout -- a.py",
        "git restore a.py",
        "git restore -- ./a.py",
        "cd /p && git checkout -- a.py && git status",
    ],
)
def test_git_takes_back_the_edits_of_the_files_it_names(command):
    trace = session(edit("a", "b"), edit("c", "d"), edit("x", "y", "/p/b.py"), run(command))
    assert given_up(trace) == [["t1"], ["t2"]]


def test_git_takes_back_a_file_whose_name_has_no_ending():
    assert given_up(session(edit("a", "b", "/p/Makefile"), run("git restore Makefile"))) == [["t1"]]


@pytest.mark.parametrize(
    "command",
    [
        "git checkout -- .",
        "git checkout -- /p",
        "git checkout a.py",
        "git checkout main -- a.py",
        "git restore --staged a.py",
        "git restore --source HEAD~1 a.py",
        "git stash",
        "git reset --hard",
        "git checkout -- a.py || true",
        "git checkout -- *.py",
        "cd sub && git checkout -- a.py",
        'cd "other dir" && git checkout -- a.py',
        "git checkout -- b.py",
    ],
)
def test_commands_that_may_undo_less_give_nothing_up(command):
    assert given_up(session(edit("a", "b"), run(command))) == []


def test_a_git_command_that_failed_gives_nothing_up():
    assert given_up(session(edit("a", "b"), run("git checkout -- a.py", is_error=True))) == []


@pytest.mark.parametrize("command", ["git add -A", "git commit -am x", "./release.sh"])
def test_what_git_may_have_recorded_is_not_taken_back(command):
    assert given_up(session(edit("a", "b"), run(command), run("git checkout -- a.py"))) == []


def test_edits_of_an_earlier_window_stand():
    trace = load(
        user("u1", None, "Go"),
        says("a1", "u1", call("t1", *edit("a", "b")[:1], **edit("a", "b")[1])),
        user("r1", "a1", [result("t1")]),
        boundary("c1", "r1"),
        user("c2", "c1", "Summary", isCompactSummary=True),
        says("a2", "c2", call("t2", "Edit", **edit("b", "a")[1])),
        user("r2", "a2", [result("t2")]),
    )
    assert given_up(trace) == []


def test_what_a_rewound_branch_took_back_stands():
    trace = load(
        user("u1", None, "Go"),
        says("a1", "u1", call("t1", "Edit", **edit("a", "b")[1])),
        user("r1", "a1", [result("t1")]),
        says("a2", "r1", "Good?"),
        user("u2", "a2", "No"),
        says("a3", "u2", call("t2", "Edit", **edit("b", "a")[1])),
        user("r2", "a3", [result("t2")]),
        user("u3", "a2", "Yes"),
    )
    assert given_up(trace) == [["u2"]]
