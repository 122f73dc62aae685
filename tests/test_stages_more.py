"""The opt-in stages once more: against naive readings of the design."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from notation import told, trace
from properties.invariants import values

from context_gc import ContextGC, Policy, compact_events

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
    """Ids of the calls that are dead, by comparing every answer with every later one."""
    answers = [(place, event) for place, event in enumerate(events) if event["type"] == "tool_result"]
    first: dict[str, int] = {}
    for place, event in answers:
        first.setdefault(event["call_id"], place)
    acts = [(place, event) for place, event in answers if first[event["call_id"]] == place and not event["facts"][1]]
    asked = {event["id"]: place for place, event in enumerate(events) if event["type"] == "tool_call"}
    changed = [place for place in asked.values() if events[place]["tool_name"] in ("edit", "write_file")]
    dead = set()
    for place, event in acts:
        was, _, _, text, start, stop, tool = event["facts"]
        for later, other in acts:
            act, _, shown, full, low, high, by = other["facts"]
            between = [at for at in changed if asked[event["call_id"]] < at < later]
            again = [at for at, each in answers if each["call_id"] == event["call_id"] and place < at < later]
            if later <= place or again or (act == "edit" and not outdated) or not shown or text > full:
                continue
            whole = (low, high) == (0, 99)
            if was != "read":
                if act == "write":
                    dead.add(event["call_id"])
            elif act == "edit" or whole or (not between and tool == by and low <= start and stop <= high):
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
