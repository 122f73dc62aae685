"""Guard: what keeps an event as things stand, and as they stood."""

from __future__ import annotations

import pytest
from notation import trace

from context_gc import Policy
from context_gc.guard import Guard


def guard(text: str, **policy) -> Guard:
    made = Guard(trace(text), Policy(**policy))
    made.advance()
    return made


RULES = [
    ("a decision x", {}, None),
    ("a constraint x", {}, "type=constraint"),
    ("a decision x !", {}, "importance=critical"),
    ("a decision x !task", {}, None),
    ("a decision x #user", {}, "tag=user"),
    ("a decision x #pin", {}, None),
    ("a decision x #pin", {"protect_tags": ("pin",)}, "tag=pin"),
    ("a decision x", {"protect_ids": ("a",)}, "id=a"),
    ("a decision x", {"protect_types": ("decision",)}, "type=decision"),
    ("a call mail.send", {"protect_tools": ("send*",)}, "tool=mail.send"),
    ("a read src/a.py", {"protect_paths": ("src/*",)}, "path=src/a.py"),
    ("a read other/a.py", {"protect_paths": ("src/*",)}, None),
    ("a decision x ~task_end", {}, "retain_until=task_end"),
    ("a decision x ~session_end", {}, "retain_until=session_end"),
]


@pytest.mark.parametrize(("text", "policy", "reason"), RULES)
def test_the_rules_of_the_policy(text, policy, reason):
    assert guard(text, **policy).reason(0) == reason


def test_retention_lasts_until_its_scope_ends_for_what_was_there_then():
    made = guard("a decision x ~task_end\nb decision y ~session_end\nc decision z ~task_end")
    made.ended["task_end"] = 2
    assert [made.reason(place) for place in range(3)] == [None, "retain_until=session_end", "retain_until=task_end"]


def test_what_was_restored_is_kept_and_a_rule_of_the_policy_is_named_first():
    made = guard("a decision x\nb constraint y\nc decision z")
    made.pinned |= {0, 1}
    assert [made.reason(place) for place in range(3)] == ["restored", "type=constraint", None]


@pytest.mark.parametrize(
    ("turns", "reasons"),
    [
        (0, [None] * 4),
        (1, [None, None, None, "the last turn"]),
        (3, [None, "one of the last 3 turns", "one of the last 3 turns", "one of the last 3 turns"]),
        (9, ["one of the last 9 turns"] * 4),
    ],
)
def test_the_last_turns_are_kept(turns, reasons):
    made = guard("a read a\nb read b\nc read c\nd read d", protect_recent=turns)
    assert [made.reason(place) for place in range(4)] == reasons


def test_taking_in_events_tells_which_are_no_longer_of_the_last_turns():
    events = trace("a read a\nb read b")
    made = Guard(events, Policy(protect_recent=2))
    assert list(made.advance()) == []
    events += trace("c read c")
    assert list(made.advance()) == [0]
    events += trace("d read d\ne read e")
    assert list(made.advance()) == [1, 2]
    assert list(made.advance()) == []
    assert list(Guard(events, Policy()).advance()) == []


def test_a_moment_tells_what_kept_an_event_then():
    events = trace("a decision x ~task_end\nb read b")
    made = Guard(events, Policy(protect_recent=1))
    made.advance()
    then = made.moment
    events += trace("c read c")
    made.advance()
    made.ended["task_end"] = 3
    made.pinned.add(1)
    assert then.size == 2
    assert [made.reason(place) for place in range(3)] == [None, "restored", "the last turn"]
    assert [made.reason(place, then) for place in range(2)] == ["retain_until=task_end", "the last turn"]
