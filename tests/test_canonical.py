"""Canonical JSON: one text for one value, and copies that share nothing."""

from __future__ import annotations

import hashlib
import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context_gc.canonical import canonical, digest, own, readable

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


@given(JSON)
def test_canonical_text_is_sorted_json_without_spaces(value):
    assert canonical(value) == json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert json.loads(canonical(value)) == value


@given(JSON)
def test_readable_text_is_json_with_keys_as_they_come(value):
    assert readable(value) == json.dumps(value, ensure_ascii=False)


@given(JSON)
def test_a_copy_is_equal_and_of_the_same_types(value):
    assert canonical(own(value)) == canonical(value)


@given(st.dictionaries(st.text(), st.integers()))
def test_the_order_of_keys_does_not_matter(value):
    assert digest(value) == digest(dict(reversed(value.items())))


@pytest.mark.parametrize(
    ("one", "other"), [(1, 1.0), (1, True), (0, False), ("1", 1), ([], {}), (None, "null"), ([[]], [])]
)
def test_values_of_different_types_have_different_texts(one, other):
    assert canonical(one) != canonical(other)
    assert digest(one) != digest(other)


def test_the_digest_is_sha256_of_the_text():
    assert digest({"b": 1, "a": "é"}) == hashlib.sha256('{"a":"é","b":1}'.encode()).hexdigest()


def test_a_lone_surrogate_has_a_digest():
    assert digest("\ud800") != digest("\ud801")


def test_a_copy_shares_no_list_and_no_dict():
    value = {"a": [1, {"b": [2]}], "c": {}}
    copy = own(value)
    copy["a"][1]["b"].append(3)
    copy["c"]["new"] = 1
    assert value == {"a": [1, {"b": [2]}], "c": {}}


def test_one_list_in_two_places_is_no_ring():
    shared = [1]
    copy = own([shared, shared])
    copy[0].append(2)
    assert copy == [[1, 2], [1]]


def test_a_ring_is_refused():
    ring: dict[str, object] = {}
    ring["a"] = [ring]
    with pytest.raises(TypeError, match="contains itself"):
        own(ring)


@pytest.mark.parametrize("value", [{1}, b"x", object(), {1: 2}, [{(): 1}]])
def test_what_is_not_json_is_refused(value):
    with pytest.raises(TypeError):
        own(value)


def test_subclasses_of_json_types_become_plain():
    class Name(str):
        pass

    copy = own([Name("a"), (1, 2), {"k": Name("b")}])
    assert copy == ["a", [1, 2], {"k": "b"}]
    assert type(copy[0]) is type(copy[2]["k"]) is str
    assert type(copy[1]) is list


def test_depth_is_no_matter():
    deep: object = 1
    for _ in range(3 * sys.getrecursionlimit()):
        deep = {"a": [deep]}
    copy = own(deep)
    text = canonical(copy)
    assert text == canonical(deep) == readable(deep).replace(" ", "")
    assert text.startswith('{"a":[{"a":[')
    assert len(digest(deep)) == 64


def test_an_integer_of_any_size_has_a_text():
    huge = 10**5_000
    assert canonical([huge]) != canonical([huge + 1])
    assert canonical(huge) in canonical({"a": huge})
