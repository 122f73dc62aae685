"""Turns: one model call with the results that follow it, numbered as events come."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from notation import trace

from context_gc import EVENT_TYPES
from context_gc.turns import Turns, model_calls, turn_numbers

CASES = {
    "nothing": ("", []),
    "results end a call": ("a decision look\nc call t\nr result c x\nd decision done", [1, 1, 1, 2]),
    "parallel calls are one": ("c call t\nd call t\nr result c x\ns result d x", [1, 1, 1, 1]),
    "one message with results between its calls": (
        "c call t =m\nr result c x\nd call t =m\ns result d x", [1, 1, 1, 1],
    ),
    "two messages without results between": ("a decision one =m\nb decision two =n", [1, 2]),
    "a message that comes again after another": (
        "a decision one =m\nb decision two =n\nc decision one =m", [1, 2, 3],
    ),
    "what the user says belongs to the answer": (
        "u requirement x\na decision one\nv requirement y\nb decision two", [1, 1, 2, 2],
    ),
    "what the user says twice in a row is one turn": ("u requirement x\nv constraint y\na decision one", [1, 1, 1]),
    "native acts hold their outcome": ("f read a\ng read b\nh edit a", [1, 2, 3]),
    "a native act follows what the model said before it": ("a decision look\nf read a\nb decision done", [1, 1, 2]),
    "an abandon is beside": ("a decision one\nx abandon a\nb decision two", [1, 1, 1]),
    "an error ends a call": ("a decision one\nx error broke\nb decision two", [1, 1, 2]),
    "results before any call": ("r result c x\na decision one", [1, 1]),
}  # fmt: skip


def events_of(text: str) -> list[dict[str, Any]]:
    """The notation, and `=m` at the end of a line for the message that an event is part of."""
    found = []
    for event, line in zip(trace(text.replace(" =m", "").replace(" =n", "")), text.split("\n"), strict=True):
        body, _, message = line.rpartition(" =")
        found.append({**event, "message_id": message} if body else event)
    return found


@pytest.mark.parametrize(("text", "turns"), CASES.values(), ids=CASES)
def test_turns(text, turns):
    assert turn_numbers(events_of(text) if text else []) == turns


KINDS = st.lists(st.tuples(st.sampled_from(EVENT_TYPES), st.sampled_from((None, None, "m", "n", 3))), max_size=30)


@given(KINDS)
def test_turns_begin_at_one_never_fall_and_rise_by_one(kinds):
    events = [{"type": kind} | ({} if message is None else {"message_id": message}) for kind, message in kinds]
    numbers = turn_numbers(events)
    assert numbers[:1] in ([], [1])
    assert all(after - before in (0, 1) for before, after in pairwise(numbers))
    turns = Turns()
    assert [turns.take(event) for event in events] == numbers


@given(KINDS)
def test_results_never_begin_a_turn(kinds):
    events = [{"type": kind} for kind, _ in kinds]
    numbers = turn_numbers(events)
    for place, event in enumerate(events):
        if place and event["type"] in ("tool_result", "error", "abandon"):
            assert numbers[place] == numbers[place - 1]


CALLED = [{"type": "tool_call", "message_id": "m"}, {"type": "tool_result"}]
AFTER = [{"type": "constraint"}, {"type": "decision", "message_id": "n"}]


@pytest.mark.parametrize("tag", ["answer", "approval", "attachment", "environment", "notification", "summary"])
def test_a_decision_that_the_model_was_given_belongs_to_the_call_behind_it(tag):
    events = [*CALLED, {"type": "decision", "tags": [tag]}, *AFTER]
    assert turn_numbers(events) == [1, 1, 2, 2, 2]
    assert model_calls(events) == 2


@pytest.mark.parametrize("tags", [[], ["thinking"], ["opaque"], ["think"]])
def test_a_decision_of_the_model_is_a_call_of_its_own(tags):
    events = [*CALLED, {"type": "decision", "tags": tags}, *AFTER]
    assert turn_numbers(events) == [1, 1, 2, 3, 3]
    assert model_calls(events) == 3


def test_model_calls_are_the_turns_in_which_the_model_wrote_something():
    assert model_calls([]) == 0
    assert model_calls([{"type": "requirement"}, {"type": "decision", "tags": ["environment"]}]) == 0
    assert model_calls([{"type": "requirement"}, *CALLED, {"type": "abandon"}, {"type": "requirement"}]) == 1
    assert model_calls([*CALLED, {"type": "file_edit"}, {"type": "file_read"}]) == 3


def test_what_the_user_ran_is_no_call_of_the_model():
    ran = {"type": "command_run", "tags": ["user"]}
    assert turn_numbers([*CALLED, ran, {"type": "tool_result"}, {"type": "decision"}]) == [1, 1, 2, 2, 2]
    assert model_calls([*CALLED, ran]) == 1


def test_what_a_window_repeats_is_no_further_call():
    repeated = [{**event, "repeats": "x"} for event in CALLED]
    assert model_calls([*CALLED, *repeated, {"type": "decision", "message_id": "n"}]) == 2
