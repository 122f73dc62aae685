"""Prices: the dated table, the names that traces give, and prices of one's own."""

from __future__ import annotations

import re

import pytest

from context_gc import InvalidPolicy
from context_gc.replay.prices import Prices, as_of, load_overrides, models, prices_of


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("claude-sonnet-4-5", "claude-sonnet-4-5"),
        ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
        ("anthropic/claude-sonnet-4.5", "claude-sonnet-4-5"),
        ("us.anthropic.claude-opus-4-5-20251101-v1:0", "claude-opus-4-5"),
        ("claude-opus-4-6[1m]", "claude-opus-4-6"),
        ("GPT-5.1-Codex", "gpt-5-1"),
        ("gpt-4o-2024-08-06", "gpt-4o"),
        ("gpt-4o-mini", "gpt-4o-mini"),
        ("gpt-5.6", "gpt-5-6"),
        ("kimi-k2.6", "kimi-k2-6"),
    ],
)
def test_a_model_is_known_by_the_names_that_traces_give(given, found):
    assert prices_of(given).model == found


@pytest.mark.parametrize("given", ["", "gpt-5.1-codex-mini-turbo", "claude-sonnet", "my-model", "gpt-4omni"])
def test_a_name_that_is_only_alike_is_not_guessed(given):
    with pytest.raises(InvalidPolicy, match="is not known"):
        prices_of(given)


def test_the_table_is_dated_and_says_where_it_is_from():
    told = prices_of("claude-opus-4-5")
    assert re.fullmatch(r"20\d\d-\d\d", as_of())
    assert told.as_of == as_of()
    assert told.source.startswith("genai-prices ")
    assert len(models()) >= 25


@pytest.mark.parametrize("model", models())
def test_every_row_is_plausible(model):
    told = prices_of(model)
    assert 0 < told.r < 1
    assert 1 <= told.w <= 2
    assert told.input < told.output
    assert told.min_prefix >= 512
    assert told.window is None or told.window >= 32_000


def test_the_ratios_are_those_of_the_providers():
    told = prices_of("claude-sonnet-4-5")
    assert (told.r, told.w) == (pytest.approx(0.1), 1.25)
    assert (told.for_an_hour().w, told.for_an_hour().ttl) == (2.0, 3_600)
    assert prices_of("gpt-5").w == 1.0  # no fee for writing


def test_a_provider_without_an_hour_says_so():
    with pytest.raises(InvalidPolicy, match="no one-hour cache"):
        prices_of("gpt-5").for_an_hour()


def test_prices_of_ones_own_come_first_and_are_filled_up_from_the_table():
    told = prices_of("claude-sonnet-4-5", {"claude-sonnet-4-5": {"input": 1.0}})
    assert (told.input, told.output) == (1.0, prices_of("claude-sonnet-4-5").output)


def test_a_model_of_ones_own_needs_input_and_output():
    told = prices_of("house-1", {"house-1": {"input": 2.0, "output": 4.0}})
    assert (told.r, told.w) == (1.0, 1.0)
    with pytest.raises(InvalidPolicy, match="output is missing"):
        prices_of("house-1", {"house-1": {"input": 2.0}})


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"input": 0.0, "output": 1.0}, "input is 0"),
        ({"input": 1.0, "output": 1.0, "cache_read": 0.0}, "cache_read is 0"),
        ({"input": -1.0, "output": 1.0}, "input is -1.0"),
        ({"input": float("nan"), "output": 1.0}, "input is nan"),
        ({"input": "1", "output": 1.0}, "input is '1'"),
        ({"input": 1.0, "output": 1.0, "colour": 3}, "unknown key 'colour'"),
    ],
)
def test_impossible_prices_are_refused(given, told):
    with pytest.raises(InvalidPolicy, match=re.escape(told)):
        prices_of("house-1", {"house-1": given})


def test_overrides_are_read_from_toml(tmp_path):
    path = tmp_path / "prices.toml"
    path.write_text('["house-1"]\ninput = 2.0\noutput = 4.0\n', "utf-8")
    assert prices_of("house-1", load_overrides(str(path))) == Prices("house-1", 2.0, 4.0, 2.0, 2.0, as_of="", source="")


@pytest.mark.parametrize("text", ["input = 2.0", "not toml ["], ids=["no table", "no TOML"])
def test_a_bad_file_is_refused_by_name(tmp_path, text):
    path = tmp_path / "prices.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(InvalidPolicy, match=r"prices\.toml"):
        load_overrides(str(path))


def test_a_missing_file_is_refused_by_name(tmp_path):
    with pytest.raises(InvalidPolicy, match=r"nowhere\.toml"):
        load_overrides(str(tmp_path / "nowhere.toml"))
