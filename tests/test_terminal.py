"""Terminal: whatever a text holds, what is printed steers nothing."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context_gc.terminal import printable, printable_json


@given(st.text())
def test_any_text_becomes_one_printable_line(text):
    assert printable(text).isprintable()


@pytest.mark.parametrize("text", ["plain", "ä 漢 🔥", "a 'b' \"c\" \\n", ""], ids=ascii)
def test_printable_text_is_left_alone(text):
    assert printable(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [("a\x1b[2Jb", "a\\x1b[2Jb"), ("a\nb\t c\r", "a b c"), ("\x9b31m", "\\x9b31m"), ("\u202etxt", "\\u202etxt")],
    ids=ascii,
)
def test_what_steers_a_terminal_is_shown_as_python_writes_it(text, shown):
    assert printable(text) == shown


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_json_stays_equal(text):
    value = {text: [text]}
    assert json.loads(printable_json(json.dumps(value, ensure_ascii=False))) == value


def test_json_for_a_terminal_has_no_control_characters_or_direction_marks():
    shown = printable_json(json.dumps("\x1b \x7f \x9b \u200b \u2028 \u202e \u2066 \ufeff", ensure_ascii=False))
    assert shown.isprintable()
