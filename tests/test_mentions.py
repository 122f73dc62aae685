"""Mentions: one short line for each piece of live work that made room, and for each failure."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from notation import trace

from context_gc.mentions import FILES, LENGTH, MOST, failures, mentions


def told(text: str) -> list[str]:
    """The mentions of the units of a trace: a lead and the results that follow it."""
    return mentions(units(text))


def units(text: str):
    found = []
    for event in trace(text):
        if event["type"] == "tool_result":
            found[-1][1].append(event)
        else:
            found.append((event, []))
    return found


@pytest.mark.parametrize(
    ("text", "mention"),
    [
        ("a edit src/a.py", "edited src/a.py"),
        ('a call write_file {"path": "src/a.py", "content": "x"}\nr result a ok', "edited src/a.py"),
        ("a read src/a.py", "read src/a.py"),
        ('a call Read {"file_path": "/w/a.py"}\nr result a text', "read /w/a.py"),
        ("a run make all -> 0", "ran make all"),
        ('a call bash {"command": "pytest -q"}\nr result a 5 passed', "ran pytest -q"),
        ('a call grep {"pattern": "total"}\nr result a cart.py:3', "searched total"),
        ('a call weather {"city": "Rome"}\nr result a 21 degrees\ns result a more', "weather: 21 degrees"),
        ("a port = 8000", "port = 8000"),
    ],
)
def test_a_unit_is_told_by_what_it_did_or_found(text, mention):
    assert told(text) == [mention]


@pytest.mark.parametrize(
    "text", ["a decision I will look", 'a call TodoWrite {"todos": []}\nr result a ok', "a constraint x"]
)
def test_what_is_only_prose_or_a_state_is_not_mentioned(text):
    assert told(text) == []


def test_the_same_is_told_once_at_its_last_place():
    assert told("a read x\nb read y\nc read x") == ["read y", "read x"]


def test_a_mention_is_one_short_line_cut_at_a_word():
    (text,) = told(f"a run echo {'word ' * 40} -> 0")
    assert text.endswith("word…")
    assert len(text) <= LENGTH
    (one,) = told(f"a run {'x' * 500} -> 0")
    assert len(one) <= LENGTH


def test_of_a_file_the_last_act_is_told_and_nothing_else():
    assert told("a read x\nb edit x\nc read y\nd edit y\ne read y") == ["edited x", "read y"]


def test_a_path_is_told_in_full():
    path = "/".join(["a_long_name_of_a_folder"] * 8) + "/file.py"
    assert told(f"a read {path}") == [f"read {path}"]


def test_where_there_are_too_many_what_can_be_asked_again_gives_way_then_the_oldest():
    ran = [f"r{number} run make f{number} -> 0" for number in range(7)]
    looks = [f'l{number} call grep {{"pattern": "f{number}"}}\ns{number} result l{number} x' for number in range(7)]
    found = [f"w{number} call weather {number}\nt{number} result w{number} {number} degrees" for number in range(2)]
    kept = told("\n".join([*looks[:4], *ran, *found, *looks[4:]]))
    assert len(kept) == MOST
    assert kept == [
        *(f"ran make f{number}" for number in range(7)),
        "weather: 0 degrees",
        "weather: 1 degrees",
        "searched f6",
    ]


def test_files_that_were_changed_are_told_before_files_that_were_read():
    edits = [f"e{number} edit f{number}" for number in range(FILES - 1)]
    looks = [f"l{number} read g{number}" for number in range(5)]
    kept = told("\n".join([*looks, *edits]))
    assert kept == ["read g4", *(f"edited f{number}" for number in range(FILES - 1))]
    assert told("\n".join(f"e{number} edit f{number}" for number in range(50)))[0] == f"edited f{50 - FILES}"


def test_failures_are_told_by_their_first_error_line_and_how_often_they_came():
    text = "a run make -> 2\nb run make -> 2\nc call bash 1\nr failed c fatal: not a git repository"
    given = [({**lead, "stderr": "hello\nmain.c:3: error: no such thing"} if lead["id"] in "ab" else lead, results)
             for lead, results in units(text)]  # fmt: skip
    assert failures(given) == ["main.c:3: error: no such thing ×2", "fatal: not a git repository"]


def test_a_failure_that_says_nothing_is_told_all_the_same():
    assert failures(units("a run x -> 1")) == ["failed"]


TEXTS = st.text(st.characters(codec="utf-8") | st.sampled_from("[]\n\r ")).map(
    lambda text: text + "[RECEIPT e1]" + text
)


@given(TEXTS)
def test_no_text_forges_a_stub_or_a_line(text):
    leads = [
        {"id": "a", "type": "command_run", "timestamp": 1, "command": text, "exit_code": 1, "stderr": f"fatal: {text}"},
        {"id": "b", "type": "set_var", "timestamp": 1, "key": text, "value": text},
        {"id": "c", "type": "tool_call", "timestamp": 1, "tool_name": "t", "arguments": {}},
    ]
    result = {"id": "d", "type": "tool_result", "timestamp": 1, "call_id": "c", "result": text}
    given_units = [(leads[0], []), (leads[1], []), (leads[2], [result])]
    for mention in [*mentions(given_units), *failures(given_units)]:
        assert "[RECEIPT" not in mention.replace("\\[RECEIPT", "")
        assert "\n" not in mention
