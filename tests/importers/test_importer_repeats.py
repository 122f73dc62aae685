"""Repeats: prompts that repeat an earlier one are parsed and read from where they go on."""

from __future__ import annotations

import pytest

from context_gc.importers.dialects.messages import Repeats
from context_gc.importers.files.json_roots import decoded


def test_a_list_as_text_that_goes_on_with_an_earlier_one_is_parsed_from_there_on_only():
    repeats = Repeats()
    (first,) = repeats.decoded('[{"a": "]"}]')
    longer = repeats.decoded('[{"a": "]"}, {"b": 2}]')
    assert longer == [{"a": "]"}, {"b": 2}]
    assert longer[0] is first
    longest = repeats.decoded('[{"a": "]"}, {"b": 2},3]')
    assert longest == [{"a": "]"}, {"b": 2}, 3]
    assert [new is old for new, old in zip(longest, longer, strict=False)] == [True, True]


@pytest.mark.parametrize(
    "text",
    [
        "[1",
        "[12]",
        "[1.5, 2]",
        "[1,]",
        "[1, 2",
        "[1, 2] 3",
        "[1, 2]]",
        "[1]]",
        '["1", 2]',
        "[]",
        "",
        " [1, 2]",
        '"[1, 2]"',
        "{}",
        5,
    ],
)
def test_what_does_not_go_on_with_an_earlier_list_is_decoded_as_ever(text):
    repeats = Repeats()
    assert repeats.decoded("[1]") == [1]
    assert repeats.decoded(text) == decoded(text)
    assert repeats.decoded("[]") == []
    assert repeats.decoded("[,1]") == "[,1]"


def test_a_prompt_that_repeats_another_is_read_anew_from_where_it_differs():
    repeats, first = Repeats(), [{"role": "user", "content": words} for words in "abc"]
    one = repeats.messages(first, "user")
    two = repeats.messages([*first[:2], {"role": "user", "content": "x"}, "y"], "user")
    assert [each.parts[0].value for each in two] == ["a", "b", "x", "y"]
    assert [old is new for old, new in zip(one, two, strict=False)] == [True, True, False]
    assert [each.parts[0].value for each in repeats.messages([first], "user")] == ["a", "b", "c"]
    assert [each.parts[0].value for each in repeats.messages([first, ["d"]], "user")] == ["a", "b", "c", "d"]
    assert repeats.messages([None, 5], "user") == []
