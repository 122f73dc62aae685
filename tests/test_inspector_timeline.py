"""The timeline's data and the counter: what was sent at each turn, what each pass did, each text counted once."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from context_gc import Budget, Policy, Trace, Window
from context_gc.inspector.compacting import compact
from context_gc.inspector.counting import Remembering
from context_gc.inspector.rows import rows
from context_gc.inspector.timeline_data import Course, course
from context_gc.tokens import COUNTERS, Counter


def reads(turns: int, **fields: Any) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    for turn in range(turns):
        made += [
            {"id": f"c{turn}", "type": "tool_call", "timestamp": turn, "tool_name": "Read",
             "arguments": {"file_path": f"f{turn % 7}"}, **fields},
            {"id": f"r{turn}", "type": "tool_result", "timestamp": turn, "call_id": f"c{turn}",
             "result": f"text {turn} " * 40, **fields},
        ]  # fmt: skip
    return made


def drawn(events: list[dict[str, Any]], policy: Policy, ended: tuple[str, ...] = ()) -> Course:
    found = compact(events, policy, COUNTERS["o200k"], ended)
    state = found.result["budget"]
    told = rows(Trace(events, "native"), Window(0, len(events)), found.result)
    return course(told, found.points, state["passes"] if state else (), policy.budget or Budget(10_000))


POLICY = Policy(stages=("stale-reads",), budget=Budget(1_500))


def test_full_history_only_grows_and_sent_falls_at_passes_alone() -> None:
    told = drawn(reads(30), POLICY)
    assert all(before <= after for (_, before), (_, after) in pairwise(told.full))
    falls = {turn for (_, before), (turn, after) in pairwise(told.sent) if after < before}
    assert falls == {mark.turn for mark in told.marks if mark.before > mark.after}
    assert len(falls) > 1


def test_a_pass_is_told_with_number_moment_freed_and_break_even() -> None:
    mark = drawn(reads(30), POLICY).marks[0]
    lines = mark.tip.splitlines()
    assert lines[0].startswith("Pass 1, ")
    assert lines[1] == f"−{mark.before - mark.after:,} tokens: {mark.before:,} → {mark.after:,}"
    assert lines[-1].startswith("N*: pays after ")
    assert mark.event_id in {event["id"] for event in reads(30)}


def test_no_text_of_the_trace_is_drawn() -> None:
    hostile = [{**each, **{key: each[key] + "<b>" for key in ("id", "call_id") if key in each}} for each in reads(30)]
    mark = drawn(hostile, POLICY).marks[0]
    assert "<b>" in (mark.event_id or "")
    assert "<b>" not in str(mark.drawn)


def test_a_pass_that_freed_nothing_changes_nothing_and_cannot_be_followed() -> None:
    kept = drawn(reads(30, importance="critical"), POLICY)
    idle = [mark for mark in kept.marks if mark.before == mark.after]
    assert idle
    assert all(mark.event_id is None and "nothing could be freed" in mark.tip for mark in idle)


def test_the_end_of_a_scope_is_a_pass_after_the_last_turn() -> None:
    events = reads(9, retain_until="task_end")
    policy = Policy(stages=("stale-reads",), budget=Budget(100_000))
    assert drawn(events, policy).marks == []
    (mark,) = drawn(events, policy, ("task_end",)).marks
    assert "asked" in mark.tip
    assert "when a scope ended" in mark.tip
    assert drawn(events, policy, ("task_end",)).sent[-2:] == [(9, mark.before), (9, mark.after)]


def test_a_scope_that_has_ended_holds_nothing_without_a_budget_either() -> None:
    events = reads(9, retain_until="task_end")
    policy, counter = Policy(stages=("stale-reads",)), COUNTERS["o200k"]
    assert compact(events, policy, counter).result["pruned_ids"] == []
    assert compact(events, policy, counter, ("session_end",)).result["pruned_ids"] == []
    assert compact(events, policy, counter, ("task_end",)).result["pruned_ids"] == ["c0", "r0", "c1", "r1"]


def test_without_a_budget_the_course_ends_at_what_stands_now() -> None:
    events, policy = reads(9), Policy(stages=("stale-reads",))
    told = drawn(events, policy)
    assert told.marks == []
    assert told.sent[-1][1] == compact(events, policy, COUNTERS["o200k"]).result["tokens_after"]


class Tally:
    """Counts characters, and how often it was asked."""

    name = "characters"

    def __init__(self) -> None:
        self.asked = 0

    def count(self, text: str) -> int:
        self.asked += 1
        return len(text)


def test_a_text_is_counted_once_whatever_compactions_ask() -> None:
    tally = Tally()
    counter: Counter = Remembering(tally)
    first = compact(reads(9), Policy(), counter).result["tokens_after"]
    asked = tally.asked
    assert compact(reads(9), Policy(), counter).result["tokens_after"] == first
    assert tally.asked == asked
    assert counter.name == "characters"
    assert counter.count("a new text") == 10
