"""A grid as texts and back, chips as people write them, and a policy as the controls that stand for it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from context_gc import Budget, Policy
from context_gc.inspector.in_force import policy
from context_gc.inspector.settings import DEFAULTS, GRID
from context_gc.inspector.tune_grid import (
    as_settings,
    grid,
    left_out,
    listed,
    more_keys,
    of_chip,
    offered,
    shown,
    with_values,
)
from context_gc.replay.grid import DEFAULT, cells

MODEL = "claude-sonnet-4-5"  #: its window is 200,000


def test_the_default_grid_is_the_one_of_the_command_line() -> None:
    assert grid(GRID) == {key: list(values) for key, values in DEFAULT.items()}


@pytest.mark.parametrize(
    "given",
    [
        {"min_gain": [5_000, "none"], "commit_when_cold": [True]},
        {"stages": ["lossless", ["stale-reads", "clip"]], "threshold_low": [0.5, 0.75]},
        {"stages": ["stale-reads", "clip"]},
        {"stages": "all", "stubs": "described"},
    ],
)
def test_a_grid_from_a_file_is_the_same_as_texts(given: dict[str, Any]) -> None:
    asked = {**given, "max_tokens": 100_000}
    assert listed(grid(listed(asked))) == listed(asked)
    assert [cell.method.policy for cell in cells(grid(listed(asked)))] == [cell.method.policy for cell in cells(asked)]


@pytest.mark.parametrize(
    ("key", "value"),
    [("min_gain", 5_000), ("max_prompt_tokens", None), ("commit_on_arrival", True), ("commit_on_arrival", False),
     ("threshold_low", 0.75), ("stages", "none"), ("stages", "lossless"), ("stages", ["stale-reads", "clip"]),
     ("stubs", "described"), ("stubs", "none")],
)  # fmt: skip
def test_a_chip_stands_for_its_value(key: str, value: Any) -> None:
    assert of_chip(key, shown(value)) == value


@pytest.mark.parametrize(("written", "value"), [("12,000", 12_000), ("0.6", 0.6), ("none", None), (" yes ", True)])
def test_values_that_people_write_are_understood(written: str, value: Any) -> None:
    assert of_chip("min_gain", written) == value


def test_a_single_list_of_stages_is_one_value() -> None:
    assert grid(listed({"stages": ["stale-reads", "clip"]})) == {"stages": [["stale-reads", "clip"]]}
    assert grid(listed({"stages": ["lossless", "all"]})) == {"stages": ["lossless", "all"]}


def test_what_is_no_value_stays_a_text_for_the_policy_to_refuse() -> None:
    assert of_chip("min_gain", "a lot") == "a lot"
    assert grid(["min_gain=[[[", "x"]) == {"min_gain": ["[[["], "x": [""]}


def test_other_values_of_a_key_leave_the_rest_alone() -> None:
    texts = ('stages="all"', "min_gain=5000", "min_gain=20000", "target=0.4")
    assert with_values(texts, "min_gain", [1]) == ('stages="all"', "min_gain=1", "target=0.4")
    assert with_values(texts, "min_gain", []) == ('stages="all"', "target=0.4")
    assert with_values(texts, "stubs", ["none"]) == (*texts, 'stubs="none"')


def test_chosen_values_and_keys_of_ones_own_are_offered() -> None:
    assert offered("min_gain", [123])[-1] == "123"
    assert more_keys(["min_gain=1", "expected_calls=5"]) == ["expected_calls"]
    assert more_keys(GRID) == []
    assert more_keys(["![x](http://evil.example/x.png)=1", "=1"]) == []


@pytest.mark.parametrize("number", range(0, 72, 5))
def test_the_controls_of_a_policy_of_the_grid_are_that_policy(number: int) -> None:
    base = policy({**DEFAULTS, "pins": ("e1",), "last": "2"}, MODEL)
    tried = cells(DEFAULT, base, 200_000)
    wanted = tried[number % len(tried)].method.policy
    chosen = {**DEFAULTS, **as_settings(wanted, 200_000)}
    assert policy(chosen, MODEL) == wanted
    assert chosen["limit"] == ""
    assert left_out(wanted) == []


def test_a_window_of_ones_own_is_kept_and_a_policy_without_a_budget_has_none() -> None:
    own = Policy(counter="claude", budget=Budget(50_000, min_gain=None, max_prompt_tokens=9_000))
    assert policy({**DEFAULTS, **as_settings(own, 200_000)}, MODEL) == own
    bare = replace(own, budget=None)
    assert policy({**DEFAULTS, "budget": "on", **as_settings(bare, 200_000)}, MODEL) == bare


def test_what_no_control_can_say_is_told() -> None:
    odd = Policy(outdated_reads=True, budget=Budget(1_000, expected_calls=9))
    assert left_out(odd) == ["outdated_reads = True", "expected_calls = 9"]
    assert left_out(Policy(stages=("clip",), counter="claude", budget=Budget(1_000, target=0.1))) == []
