"""Budget: thresholds exact at the boundary, bad values refused by name, and the same after a trip through TOML."""

from __future__ import annotations

import math
from dataclasses import FrozenInstanceError, fields

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from context_gc import Budget, ContextGCError, InvalidPolicy, Policy


def test_the_defaults_are_the_documented_ones():
    budget = Budget(200_000)
    assert (budget.threshold_low, budget.threshold_high, budget.recent_observations) == (0.75, 0.92, 3)
    assert (budget.commit_on_arrival, budget.commit_when_cold) == (False, False)
    assert budget.auto
    assert budget.gain == 20_000
    assert Policy().budget is None


def test_a_budget_never_changes():
    with pytest.raises(FrozenInstanceError):
        Budget(1).max_tokens = 2  # type: ignore[misc]


@pytest.mark.parametrize(
    ("tokens", "level"),
    [
        (0, "ok"),
        (149_999, "ok"),
        (150_000, "compact"),
        (183_999, "compact"),
        (184_000, "emergency"),
        (200_000, "emergency"),
        (999_999, "emergency"),
    ],
)
def test_levels_begin_exactly_at_their_thresholds(tokens, level):
    assert Budget(200_000).level(tokens) == level


@given(st.integers(1, 2_000_000), st.sampled_from((0.1, 0.3, 0.5, 0.7, 0.75, 0.8, 0.9)))
def test_a_level_begins_where_the_share_is_reached(window, low):
    budget = Budget(window, threshold_low=low, threshold_high=0.99, target=low / 2)
    edge = math.ceil(low * window)
    for tokens in (edge - 1, edge, edge + 1):
        assert (budget.level(tokens) == "ok") == (tokens / window < low)


def test_a_cap_makes_passes_begin_at_it_however_large_the_window_is():
    budget = Budget(1_000_000, max_prompt_tokens=150_000)
    assert [budget.level(tokens) for tokens in (149_999, 150_000, 184_000)] == ["ok", "compact", "emergency"]
    assert (budget.target_tokens, budget.gain) == (80_000, 20_000)
    assert Budget(100_000, max_prompt_tokens=150_000).level(75_000) == "compact"


def test_min_gain_is_a_tenth_of_the_window_unless_it_is_given():
    assert [Budget(5_000, min_gain=gain).gain for gain in (None, 0, 7)] == [500, 0, 7]


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ({"threshold_low": 0.95}, ("threshold_low is 0.95", "threshold_high is 0.92")),
        ({"threshold_low": 0.92}, ("threshold_low is 0.92", "threshold_high is 0.92")),
        ({"threshold_high": 0.5}, ("threshold_low is 0.75", "threshold_high is 0.5")),
        ({"target": 0.75}, ("target is 0.75", "threshold_low is 0.75")),
        ({"threshold_low": 0.3}, ("target is 0.4", "threshold_low is 0.3")),
    ],
)
def test_thresholds_that_contradict_each_other_are_refused_with_both_values(given, names):
    with pytest.raises(InvalidPolicy) as caught:
        Budget(100, **given)
    assert all(name in str(caught.value) for name in names)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *[("max_tokens", value) for value in (0, -1, 1.5, True, "200000", None, math.nan)],
        *[("threshold_low", value) for value in (0, -0.1, 1.01, "0.5", None, True, math.nan, math.inf)],
        *[("threshold_high", value) for value in (0, 2, "high")],
        *[("target", value) for value in (0, -1, 40, None)],
        *[("recent_observations", value) for value in (-1, 2.0, None, True)],
        *[("min_gain", value) for value in (-1, 0.5, False)],
        *[("overhead_tokens", value) for value in (-1, None)],
        *[("max_prompt_tokens", value) for value in (0, 1.5)],
        *[("expected_calls", value) for value in (0, -3, 1.5)],
        *[(field, value) for field in ("auto", "commit_on_arrival", "commit_when_cold") for value in (1, None, "true")],
        *[
            (field, value)
            for field in ("cache_read", "cache_write")
            for value in (0, -1, math.inf, math.nan, "1", True)
        ],
    ],
)
def test_a_value_out_of_range_is_refused_by_name(field, value):
    with pytest.raises(InvalidPolicy) as caught:
        Budget(**{"max_tokens": 100, field: value})
    assert f"{field} is {value!r}" in str(caught.value)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, ContextGCError)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"max_token": 5}, "unknown key 'max_token'"),
        ({"threshold_low": 0.5}, "max_tokens is missing"),
        ({"max_tokens": 5, "threshold_low": 0.99}, "threshold_high is 0.92"),
    ],
)
def test_a_mapping_is_read_strictly(given, says):
    for read in (Budget.from_mapping, lambda given: Policy.from_mapping({"budget": given})):
        with pytest.raises(InvalidPolicy, match=says):
            read(given)


@pytest.mark.parametrize("given", [5, "200k", [], True])
def test_a_budget_of_a_policy_is_a_budget(given):
    with pytest.raises(InvalidPolicy, match="budget"):
        Policy(budget=given)


def test_an_error_in_a_policy_file_names_the_file(tmp_path):
    path = tmp_path / "p.toml"
    path.write_text("[budget]\nmax_tokens = 100\nthreshold_low = 0.95\n", "utf-8")
    with pytest.raises(InvalidPolicy) as caught:
        Policy.load(path)
    assert str(path) in str(caught.value)
    assert "threshold_low is 0.95" in str(caught.value)
    assert "threshold_high is 0.92" in str(caught.value)


SHARES = st.floats(0.001, 1)
BUDGETS = st.fixed_dictionaries(
    {"max_tokens": st.integers(1, 10**12)},
    optional={
        "threshold_low": SHARES,
        "threshold_high": SHARES,
        "target": SHARES,
        "recent_observations": st.integers(0, 99),
        "min_gain": st.none() | st.integers(0, 10**6),
        "auto": st.booleans(),
        "overhead_tokens": st.integers(0, 10**6),
        "max_prompt_tokens": st.none() | st.integers(1, 10**6),
        "commit_on_arrival": st.booleans(),
        "commit_when_cold": st.booleans(),
        "expected_calls": st.none() | st.integers(1, 500),
        "cache_read": st.floats(0.01, 2),
        "cache_write": st.floats(0.01, 5),
    },
)


@given(BUDGETS)
def test_toml_gives_an_equal_budget_back(given):
    try:
        budget = Budget(**given)
    except InvalidPolicy:
        assume(False)
    policy = Policy(stubs="described", budget=budget)
    again = Policy.from_toml(policy.to_toml())
    assert again == policy
    assert [getattr(again.budget, field.name) for field in fields(budget)] == [
        getattr(budget, field.name) for field in fields(budget)
    ]


def test_toml_without_a_budget_table_has_none():
    assert Policy.from_toml(Policy().to_toml()).budget is None
    assert "budget" not in Policy().to_toml()


@pytest.mark.parametrize(
    ("kept", "removed", "calls"),
    [(0, 100, 0.0), (100_000, 20_000, 57.5), (20_000, 100_000, 2.3), (100, 0, math.inf), (100, -5, math.inf)],
)
def test_break_even_is_the_formula_of_the_price(kept, removed, calls):
    assert Budget(1).break_even(kept, removed) == pytest.approx(calls)


def test_a_pass_is_free_where_a_write_costs_no_more_than_a_read():
    assert Budget(1, cache_read=1.0, cache_write=1.0).break_even(100, 1) == 0.0
    assert Budget(1, cache_read=1.0, cache_write=0.5).break_even(100, 1) == 0.0


def test_a_pass_pays_within_the_calls_that_are_expected():
    assert Budget(1).pays(10**9, 1)
    budget = Budget(1, expected_calls=57)
    assert not budget.pays(100_000, 20_000)
    assert budget.pays(99_000, 20_000)
    assert not budget.pays(0, 0)


def test_the_window_of_a_known_model_is_taken_by_its_name():
    budget = Budget.for_model("claude-haiku-4-5", threshold_low=0.6)
    assert (budget.max_tokens, budget.threshold_low) == (200_000, 0.6)
    with pytest.raises(InvalidPolicy, match="some-model"):
        Budget.for_model("some-model")
