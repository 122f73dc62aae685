"""Which lines of a file an answer shows, and whether a later one shows them still."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from context_gc.shown import Lines, numbered_lines, shown_lines, still_shown

FILE = [f"line {number}" for number in range(1, 41)]


def numbered(lines, first=1, sign="\t"):
    return "\n".join(f"{number:>6}{sign}{line}" for number, line in enumerate(lines, first))


@pytest.mark.parametrize("sign", ["\t", "→", ":", "|", ". "])
def test_numbers_and_what_stands_around_them_are_set_aside(sign):
    text = (
        f"[File: /a.py (40 lines total)]\n(4 more lines above)\n{numbered(FILE[4:9], 5, sign)}\n(31 more lines below)"
    )
    assert shown_lines(text).lines == FILE[4:9]
    assert numbered_lines(text).lines == FILE[4:9]


def test_of_two_stretches_of_numbers_the_longer_one_is_the_file():
    text = numbered(FILE[:2]) + "\nand\n" + numbered(FILE[10:20], 11)
    assert shown_lines(text).lines == FILE[10:20]


@pytest.mark.parametrize("text", ["a\n1: b\nc", "2\tx\n1\ty", "1\tx\n2: y", "7\tonly one"])
def test_lines_that_do_not_count_up_are_left_as_they_are(text):
    assert shown_lines(text).lines == text.split("\n")
    assert numbered_lines(text) is None


def test_notes_of_the_tool_are_no_lines_of_the_file():
    text = (
        "a\nb  \n\n<system-reminder>be careful\n</system-reminder>\n[12 more lines in file. Use offset=3 to continue]"
    )
    assert shown_lines(text).lines == ["a", "b"]


def test_what_stands_in_a_row_is_still_shown():
    assert still_shown(Lines(FILE[5:15]), Lines(FILE[3:20]), 0, ())
    assert still_shown(Lines(FILE[5:15]), Lines(FILE[5:15]), 0, ())


def test_what_is_not_all_there_is_not():
    assert not still_shown(Lines(FILE[5:15]), Lines(FILE[3:14]), 0, ())
    assert not still_shown(Lines(FILE[5:15]), Lines(FILE[3:14]), 9, ())
    assert not still_shown(Lines(FILE[5:15]), Lines([]), 9, ())


def test_as_few_lines_as_prove_nothing_are_never_found():
    assert not still_shown(Lines(["}", "", "end"]), Lines(["}", "", "end"]), 0, ())
    assert still_shown(Lines(["a", "", "b", "c"]), Lines(["a", "", "b", "c"]), 0, ())


def test_an_edit_may_part_the_text_once():
    new = [*FILE[:10], "inserted", *FILE[10:]]
    assert still_shown(Lines(FILE[5:15]), Lines(new), 1, ())
    assert not still_shown(Lines(FILE[5:15]), Lines(new), 0, ())
    twice = [*FILE[:8], "inserted", *FILE[8:12], "inserted", *FILE[12:]]
    assert not still_shown(Lines(FILE[5:15]), Lines(twice), 1, ())


def test_lines_that_an_edit_replaced_need_not_be_shown():
    new = [*FILE[:8], "other", *FILE[10:]]
    assert still_shown(Lines(FILE[5:15]), Lines(new), 1, {FILE[8], FILE[9]})
    assert not still_shown(Lines(FILE[5:15]), Lines(new), 1, {FILE[8]})
    assert still_shown(Lines(FILE[5:15]), Lines(new), 1, (), replaced=2)
    assert not still_shown(Lines(FILE[5:15]), Lines(new), 1, (), replaced=1)


def test_another_order_is_not_the_same_text():
    assert not still_shown(Lines(FILE[5:15]), Lines([*FILE[10:20], *FILE[:10]]), 1, ())


LINES = st.lists(st.sampled_from("abc}") | st.just(""), max_size=12)


@settings(deadline=None, max_examples=300)
@given(LINES, LINES, st.integers(0, 3))
def test_what_is_still_shown_stands_line_by_line_in_what_shows_it(old, new, edits):
    if still_shown(Lines(old), Lines(new), edits, ()):
        rest = iter(new)
        assert all(line in rest for line in old if line)
