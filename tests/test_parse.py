"""Parse: what `canonical` and `readable` write is read back, at any depth; all else is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context_gc.canonical import canonical, readable
from context_gc.parse import _parse_deep, parse

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters()), inner, max_size=4),
    max_leaves=12,
)


@given(JSON)
def test_every_value_is_read_back(value):
    for text in (canonical(value), readable(value), f" \n{readable(value)}\t"):
        assert canonical(parse(text)) == canonical(_parse_deep(text, True)) == canonical(value)


@given(
    st.text('[]{}:,"1ab -.e0x\\')
    | JSON.map(readable).flatmap(lambda text: st.integers(0, len(text)).map(lambda at: text[:at]))
)
def test_both_ways_refuse_the_same_texts(text):
    def outcome(read: Any) -> str:
        try:
            return canonical(read(text))
        except ValueError:
            return "refused"

    if "0x" not in text:
        assert outcome(lambda text: _parse_deep(text, False)) == outcome(parse) == outcome(json.loads)


def test_any_depth_is_read():
    text = '[{"a":' * 100_000 + "1" + "}]" * 100_000
    assert canonical(parse(text)) == canonical(parse(text, unique=True)) == text


@pytest.mark.parametrize("value", [10**6_000, -(10**6_000), [{"a": 10**6_000}, 7]], ids=["plus", "minus", "inside"])
def test_whole_numbers_of_any_size_are_read(value):
    assert parse(canonical(value)) == value


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "expecting value at character 0"),
        ("[1 2]", "at character 3"),
        ("[1,]", "at character 3"),
        ('{"a" 1}', "at character 5"),
        ("{1: 2}", "at character 1"),
        ('{"a": 1,}', "at character 8"),
        ("1 2", "extra data at character 2"),
        ("[0xff 1]", "at character 6"),
        ("9" * 5_000, "a number with too many digits"),
        ("[" * 100_000, "at character 100000"),
        ("[" * 100_000 + "x", "at character 100000"),
        ("[" * 100_000 + "]" * 99_999, "at character 199999"),
        ("[" * 100_000 + "]" * 100_001, "extra data at character 200000"),
        ("{" * 100_000, "at character 1"),
        ('{"a":' * 100_000 + "9" * 5_000, "a number with too many digits"),
    ],
)
def test_what_is_not_json_is_refused_with_its_place(text, says):
    with pytest.raises(ValueError, match=says + "$") as caught:
        parse(text)
    assert type(caught.value) is ValueError


@pytest.mark.parametrize(
    "text", ['{"a": 1, "b": {"a": 2, "a": 3}}', '{"a": 0x1, "a": 2}', '{"a":' * 50_000 + '{"a":1,"a":1}']
)
def test_a_key_that_is_there_twice_is_refused_where_that_is_asked_for(text):
    with pytest.raises(ValueError, match=r"^the key 'a' is there twice$"):
        parse(text, unique=True)


def test_else_the_last_one_counts():
    assert parse('{"a": 1, "a": 2}') == {"a": 2}
    assert parse('{"a": 0x1, "a": 0x2}') == {"a": 2}
