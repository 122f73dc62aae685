"""Tokens: the fast features equal the regular expressions that define them; nothing ever fails."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from notation import trace

from context_gc import ContextGC, compact_events
from context_gc.tokens import COUNTERS, Features, family_of, features


def by_definition(text: str) -> Features:
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+", text)
    marks = re.findall(r"[^\w\s_]+|_+", text)
    han = len(re.findall("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]", text))
    hangul = len(re.findall("[\u1100-\u11ff\u3130-\u318f\uac00-\ud7af]", text))
    return Features(
        words=len(words),
        long_words=sum((len(w) - 1) // 5 for w in words),
        digits=sum(-(-len(run) // 3) for run in re.findall(r"[0-9]+", text)),
        marks=len(marks),
        mark_chars=sum(map(len, marks)),
        newlines=len(re.findall(r"\n\s*", text)),
        gaps=len(re.findall(r" {2,}|\t+", text)),
        han=han,
        hangul=hangul,
        other=sum(ord(c) > 127 for c in text) - han - hangul,
    )


@given(st.text() | st.text(alphabet="aBcDE01_ .-\n\t\r \u00a0é漢한\ud800", max_size=60))
def test_the_fast_features_are_those_of_the_definition(text: str) -> None:
    assert features(text) == by_definition(text)


@pytest.mark.parametrize("name", COUNTERS)
@given(text=st.text(alphabet=st.characters()))
def test_no_text_makes_a_counter_fail(name: str, text: str) -> None:
    assert COUNTERS[name].count(text) >= 0


@pytest.mark.parametrize("name", COUNTERS)
def test_an_empty_text_has_no_tokens(name: str) -> None:
    assert COUNTERS[name].count("") == 0


def test_the_families_differ_as_they_were_measured() -> None:
    code = "def restore(self, receipt_id: str) -> dict[str, Any]:\n    return self._events[receipt_id]\n" * 20
    counts = {name: counter.count(code) for name, counter in COUNTERS.items()}
    assert counts["chars4"] < counts["o200k"] < counts["claude"] < counts["claude-4.7+"]
    assert len(code) / counts["o200k"] == pytest.approx(3.5, rel=0.2)


def test_scripts_without_spaces_are_not_counted_by_quarters() -> None:
    assert COUNTERS["o200k"].count("漢字仮名交じり文" * 25) > 2 * COUNTERS["chars4"].count("漢字仮名交じり文" * 25)


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("claude-3-5-sonnet-20241022", "claude"),
        ("claude-opus-4-20250514", "claude"),
        ("claude-opus-4-5-20251101", "claude"),
        ("claude-opus-4-6", "claude"),
        ("claude-sonnet-4.7", "claude-4.7+"),
        ("claude-opus-4-8", "claude-4.7+"),
        ("claude-opus-5", "claude-4.7+"),
        ("claude-opus-5-5[1m]", "claude-4.7+"),
        ("anthropic/claude-haiku-5.5", "claude-4.7+"),
        ("claude-instant", "claude"),
        ("gpt-5.1", "o200k"),
        ("", "o200k"),
    ],
)
def test_the_family_follows_from_the_model(model: str, family: str) -> None:
    assert family_of(model) == family


class Letters:
    """An exact counter of one's own: every character is a token."""

    name = "letters"

    def count(self, text: str) -> int:
        return len(text)


def test_a_counter_of_ones_own_counts_in_place_of_the_policys() -> None:
    events = trace("d decision four\nx k = 1")
    result = compact_events(events, counter=Letters())
    assert result["tokens_before"] == len("four\n") + len("k = 1\n")
    client = ContextGC(counter=Letters())
    client.extend(events)
    assert client.compact()["tokens_after"] == result["tokens_after"]
