"""The opt-in stages once more: against naive readings of the design, and what they take for a read."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from notation import told, trace
from properties.invariants import values

from context_gc import ContextGC, Policy, compact_events, semantics
from context_gc.semantics import Build, Command, FileEdit, FileRead, Status

Event = dict[str, Any]
naive = settings(deadline=None, max_examples=300)
NOTICE = "Wasted call — file unchanged since your last Read."
PARTS = ((1, 9), (3, 3), (3, 9), (5, 1))

#: (tool, arguments, what it does, first line, line after the last)
WORK = (
    ("read_file", {"path": "a"}, "read", 0, 99),
    ("view", {"path": "./a"}, "read", 0, 99),
    *[("read_file", {"path": "a", "offset": at, "limit": size}, "read", at, at + size) for at, size in PARTS],
    *[("view", {"path": "a", "view_range": [at, at + size - 1]}, "read", at, at + size) for at, size in PARTS[:2]],
    ("write_file", {"path": "a", "content": "new"}, "write", 0, 99),
    ("edit", {"path": "a", "old_string": "x", "new_string": "y"}, "edit", 0, 0),
)
#: (text, is it a failure, is it shown, does it hold text)
ANSWERS = (
    *[("text", False, True, True)] * 5, ("no", True, False, True), (NOTICE, False, False, True),
    ("text\n[9 lines truncated]", False, False, True), ("", False, True, False),
)  # fmt: skip


@st.composite
def works(draw: Any) -> list[Event]:
    """Calls about one file, each answered at once, later, twice or never. `told` holds the facts for the oracle."""
    events: list[Event] = []
    late: list[Event] = []
    for number in range(draw(st.integers(0, 12))):
        tool, asked, act, start, stop = draw(st.sampled_from(WORK))
        call = {"id": f"c{number}", "type": "tool_call", "timestamp": number, "tool_name": tool, "arguments": asked}
        events.append(call)
        text, bad, shown, full = draw(st.sampled_from(ANSWERS))
        facts = (act, bad, shown or act != "read", full or act != "read", start, stop, tool)
        result = {"id": f"r{number}", "type": "tool_result", "timestamp": number, "call_id": f"c{number}"}
        result |= {"result": text, "facts": list(facts)} | ({"is_error": True} if bad else {})
        when = draw(st.sampled_from(("now", "now", "now", "now", "late", "twice", "never")))
        if when in ("now", "twice"):
            events.append(result)
        if when == "twice":
            late.append({**result, "id": f"s{number}"})
        if when == "late":
            late.append(result)
        while late and draw(st.booleans()):
            events.append(late.pop(0))
    return events + late


def stale(events: list[Event], outdated: bool) -> set[str]:
    """Ids of the calls whose read is dead, by comparing every answer with every later one."""
    answers = [(place, event) for place, event in enumerate(events) if event["type"] == "tool_result"]
    first: dict[str, int] = {}
    for place, event in answers:
        first.setdefault(event["call_id"], place)
    acts = [(place, event) for place, event in answers if first[event["call_id"]] == place and not event["facts"][1]]
    dead = set()
    for place, event in acts:
        act, _, _, text, start, stop, tool = event["facts"]
        if act != "read":
            continue
        for later, other in acts:
            act, _, shown, full, low, high, by = other["facts"]
            between = [each for at, each in acts if place < at < later and each["facts"][0] == "edit"]
            again = [at for at, each in answers if each["call_id"] == event["call_id"] and place < at < later]
            if later <= place or again or (act == "edit" and not outdated) or not shown or text > full:
                continue
            whole = (low, high) == (0, 99)
            if act == "edit" or whole or (not between and tool == by and low <= start and stop <= high):
                dead.add(event["call_id"])
    return dead


@naive
@given(works(), st.booleans())
def test_stale_reads_are_those_of_a_naive_reading(events, outdated):
    policy = Policy(stages=("stale-reads",), outdated_reads=outdated)
    result = compact_events(events, policy)
    found = {each["event_id"]: each for each in result["decisions"]}
    assert {name for name in found if name.startswith("c")} == stale(events, outdated)
    for each in found.values():
        assert each["because"][0] not in found, "a witness stands in the prompt"


def step_by_step(events: list[Event], policy: Policy) -> None:
    client = ContextGC(policy)
    for size, event in enumerate(events, 1):
        client.add_event(event)
        assert values(client.compact()) == values(compact_events(events[:size], policy))


@naive
@given(works(), st.booleans())
def test_stale_reads_are_found_event_by_event_as_at_once(events, outdated):
    step_by_step(events, Policy(stages=("stale-reads",), outdated_reads=outdated))


def calls(tool: str, asked: list[Any], answers: list[tuple[Any, bool]]) -> list[Event]:
    """One call after the other, each with its answer; None for one that waits."""
    events: list[Event] = []
    for number, (given_arguments, (text, bad)) in enumerate(zip(asked, answers, strict=True)):
        call = {"id": f"c{number}", "type": "tool_call", "timestamp": number, "tool_name": tool}
        events.append({**call, "arguments": given_arguments})
        if text is not None:
            result = {"id": f"r{number}", "type": "tool_result", "timestamp": number, "call_id": f"c{number}"}
            events.append({**result, "result": text} | ({"is_error": True} if bad else {}))
    return events


TRIES = st.lists(
    st.sampled_from((("broken", True), ("broken", True), ("no space", True), ("fine", False), (None, False)))
)


@naive
@given(TRIES)
def test_repeated_failures_are_those_of_a_naive_reading(answers):
    events = calls("bash", [{"command": "make"}] * len(answers), answers)
    known = [(number, text, bad) for number, (text, bad) in enumerate(answers) if text is not None]
    expected = set()
    for at, (number, text, bad) in enumerate(known):
        repaired = any(not later for _, _, later in known[at:])
        between = 0 < at < len(known) - 1 and known[at - 1][1] == text == known[at + 1][1]
        if bad and (repaired or between):
            expected.add(f"c{number}")
    policy = Policy(stages=("repeated-failures",))
    found = {each["event_id"] for each in compact_events(events, policy)["decisions"]}
    assert {name for name in found if name.startswith("c")} == expected
    step_by_step(events, policy)


@naive
@given(st.lists(st.tuples(st.booleans(), st.sampled_from((("ok", False), ("ok", False), ("no", True), (None, False))))))
def test_superseded_status_is_that_of_a_naive_reading(snapshots):
    """Whole lists and merged ones: what was answered goes with the next whole one that was."""
    asked = [{"todos": [number], "merge": merged} for number, (merged, _) in enumerate(snapshots)]
    events = calls("todo_write", asked, [answer for _, answer in snapshots])
    good = [number for number, (_, answer) in enumerate(snapshots) if answer == ("ok", False)]
    whole = [number for number in good if not snapshots[number][0]]
    policy = Policy(stages=("superseded-status",))
    found = {each["event_id"] for each in compact_events(events, policy)["decisions"]}
    assert {name for name in found if name.startswith("c")} == {
        f"c{number}" for number in good if number < max(whole, default=0)
    }
    step_by_step(events, policy)


def test_a_read_that_replaced_another_is_followed_to_the_one_that_stands():
    events = trace("""
        c1 call read_file {"path": "a", "offset": 3, "limit": 2}
        r1 result c1 one
        c2 call read_file {"path": "a", "offset": 1, "limit": 9}
        r2 result c2 two
        c3 call read_file {"path": "a"}
        r3 result c3 three
    """)
    assert told(compact_events(events, Policy(stages=("stale-reads",))))[0] == "c1 superseded by c3"


def test_relative_paths_are_taken_from_the_cwd_of_their_event():
    first, answer, again, last = trace("""
        c1 call read_file {"path": "a.py"}
        r1 result c1 one
        c2 call read_file {"path": "/src/a.py"}
        r2 result c2 two
    """)
    policy = Policy(stages=("stale-reads",))
    assert told(compact_events([{**first, "cwd": "/src"}, answer, again, last], policy))
    assert not told(compact_events([{**first, "cwd": "/lib"}, answer, again, last], policy))
    assert not told(compact_events([first, answer, again, last], policy))


def test_results_that_name_the_provider_s_call_id_count_as_well():
    events = trace("""
        c1 call Bash {"command": "make"}
        r1 failed p1 broken
        c2 call Bash {"command": "make"}
        r2 result p2 fine
    """)
    events[0]["call_id"], events[2]["call_id"] = "p1", "p2"
    assert told(compact_events(events, Policy(stages=("repeated-failures",))))


def fact(tool: str, **asked: Any) -> object:
    return semantics.semantics({"type": "tool_call", "tool_name": tool, "arguments": asked})


@pytest.mark.parametrize(
    ("tool", "asked", "read"),
    [
        ("Read", {"file_path": "a"}, FileRead("a")),
        ("Read", {"file_path": "a", "offset": 3, "limit": None}, FileRead("a", 3)),
        ("Read", {"file_path": "a", "offset": "3"}, FileRead("a", partial=True)),
        ("Read", {"file_path": "a", "pages": "1-3"}, FileRead("a", partial=True)),
        ("Read", {"file_path": "a", "path": "b"}, FileRead("a", partial=True)),
        ("view", {"path": "a", "view_range": [1, -1]}, FileRead("a")),
        ("view", {"path": "a", "view_range": [5, 9]}, FileRead("a", 5, 5)),
        ("view", {"path": "a", "view_range": [9, 5]}, FileRead("a", partial=True)),
        ("read_file", {"path": "a", "start_line": 3, "end_line": 9}, FileRead("a", 3, 7)),
        ("read_file", {"path": ["a", "b"]}, None),
        ("Bash", {"command": "cat /a/b.py"}, FileRead("/a/b.py")),
        ("Bash", {"command": "cat -n '/a b'"}, FileRead("/a b")),
        ("Bash", {"command": "sed -n '10,20p' /a"}, FileRead("/a", 10, 11)),
        ("Bash", {"command": "sed -n 5p /a"}, FileRead("/a", 5, 1)),
        ("Bash", {"command": "head -5 /a"}, FileRead("/a", 1, 5)),
        ("Bash", {"command": "nl -ba /a | sed -n '1,3p'"}, FileRead("/a", 1, 3)),
        ("shell", {"command": ["bash", "-lc", "cat a"], "workdir": "/r"}, FileRead("/r/a")),
    ],
)
def test_what_a_call_read(tool, asked, read):
    assert fact(tool, **asked) == read


@pytest.mark.parametrize(
    "command",
    [
        "cat a", "cat /a /b", "cat /a > /b", "cat /a | head", "cat /*.py", "cat -", "cat", "cat $X", "cat '/a",
        "sed -i s/a/b/ /a", "sed -n '1,2p;5p' /a", "sed -n '0,2p' /a", "head /a", "head 20 /a", "head -n -5 /a",
        "head -c 5 /a", "nl -ba /a | sed -i '1,3p'", "nl -ba /a | sed -n '1,3p' /b", "cat /a; rm /a", "cat /a\nrm /a",
    ],
)  # fmt: skip
def test_any_other_command_is_no_read(command):
    assert fact("Bash", command=command) == Command(command)


ODD = st.none() | st.booleans() | st.integers() | st.text(max_size=9) | st.lists(st.integers() | st.text(max_size=9))
KEYS = (
    "path",
    "file_path",
    "offset",
    "limit",
    "view_range",
    "start_line",
    "command",
    "todos",
    "merge",
    "input",
    "mode",
)


@naive
@given(
    st.sampled_from(("Read", "view", "Write", "edit", "apply_patch", "Bash", "Grep", "TodoWrite")),
    st.dictionaries(st.sampled_from(KEYS), ODD | st.sampled_from(("cat /a", "sed -n '1,2p' /a", "head -1 a'", "view"))),
)
def test_no_arguments_are_too_odd_to_be_looked_at(tool, asked):
    known = fact(tool, **asked)
    assert known is None or known == fact(tool, **asked)


@pytest.mark.parametrize(
    ("tool", "asked", "edit"),
    [
        ("Write", {"file_path": "a", "content": "x"}, FileEdit("a", whole=True)),
        ("write_file", {"path": "a", "content": "x", "append": True}, FileEdit("a")),
        ("Write", {"file_path": "a"}, FileEdit("a")),
        ("str_replace_editor", {"command": "create", "path": "a", "file_text": "x"}, FileEdit("a", whole=True)),
        ("Edit", {"file_path": "a", "old_string": "x", "new_string": "y"}, FileEdit("a")),
        ("apply_patch", {"input": "*** Begin Patch\n*** Update File: a/b.py\n@@"}, FileEdit("a/b.py")),
        ("apply_patch", {"input": "*** Update File: a\n*** Add File: b"}, None),
        ("create", {"title": "an issue"}, None),
    ],
)
def test_what_a_call_changed(tool, asked, edit):
    assert fact(tool, **asked) == edit


@pytest.mark.parametrize(
    ("tool", "asked", "whole"),
    [
        ("TodoWrite", {"todos": []}, True),
        ("update_todo_list", {"todos": "[x] a"}, True),
        ("todo_write", {"todos": ["a"], "merge": True}, False),
        ("task_tracker", {"command": "view"}, False),
        ("manage_todo_list", {"operation": "read", "todoList": []}, False),
        ("TodoList", {}, False),
    ],
)
def test_which_status_calls_hold_the_whole_state(tool, asked, whole):
    assert fact(tool, **asked) == Status(tool, whole)


def test_a_command_in_a_list_is_the_command_that_the_shell_runs():
    assert fact("shell", command=["bash", "-lc", "pytest -q"]) == semantics.TestRun("pytest -q")
    assert fact("shell", command=["make", "all"]) == Build("make all")
