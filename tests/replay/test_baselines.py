"""Baselines: what each leaves in the prompt, call by call."""

from __future__ import annotations

import pytest
from replayed import Words, calls, result, says, traced, user

from context_gc.render import line
from context_gc.replay import context_at, replay
from context_gc.replay.baselines import BASELINES, CLEARED, FULL, LastEvents, LastTokens, Masking

#: three reads of ten words each, one a call
TRACE = traced(
    user("go"),
    calls("read", path="a.py"),
    result("e1", "a " * 9),
    calls("read", path="b.py"),
    result("e3", "b " * 9),
    calls("read", path="c.py"),
    result("e5", "c " * 9),
    says("done"),
)
LINES = [line(event) for event in TRACE.events]


def last(method):
    return context_at(TRACE, 4, method, Words()).split("\n")


def test_full_history_is_every_line():
    assert context_at(TRACE, 4, FULL, Words()) == "\n".join(LINES[:7])


def test_the_last_events_are_kept_and_nothing_else():
    assert last(LastEvents(2)) == LINES[5:7]
    assert last(LastEvents(50)) == LINES[:7]


@pytest.mark.parametrize(("keep", "start"), [(13, 5), (12, 6), (10, 6), (9, 7)])
def test_the_last_tokens_are_kept_by_whole_events(keep, start):
    # the last result has 10 words, its call 3
    assert context_at(TRACE, 4, LastTokens(keep), Words()) == "\n".join(LINES[start:7])


def test_sliding_masks_every_observation_but_the_last_ones():
    assert last(Masking(1)) == [*LINES[:2], CLEARED, LINES[3], CLEARED, *LINES[5:7]]
    assert last(Masking(3)) == LINES[:7]


def test_masking_in_batches_waits_until_it_frees_enough():
    # each of three masks frees 10 - 5 words
    assert last(Masking(0, batch=16)) == LINES[:7]
    assert last(Masking(0, batch=15)).count(CLEARED) == 3
    passes = [each.first_changed for each in replay(TRACE, Masking(0, batch=8), Words()).calls]
    assert passes == [None, None, "e2", None]


def test_a_trigger_asks_for_the_tokens_of_the_full_history():
    # 2, 15, 28 and 41 words
    assert [each.full for each in replay(TRACE, Masking(0, trigger=41), Words()).calls] == [2, 15, 28, 41]
    assert last(Masking(0, trigger=41)).count(CLEARED) == 3
    assert last(Masking(0, trigger=42)) == LINES[:7]


def test_what_is_shorter_than_its_mask_stays():
    short = traced(user("go"), calls("ask"), result("e1", "yes"), says("done"))
    assert context_at(short, 2, Masking(0), Words()).endswith("RESULT yes")


def test_a_native_observation_is_masked_below_its_line():
    native = traced(user("go"), {"type": "file_read", "path": "a.py", "text": "word " * 20}, user("and"), says("done"))
    assert context_at(native, 2, Masking(0), Words()).split("\n")[1:3] == ["READ a.py", CLEARED]


@pytest.mark.parametrize("method", BASELINES, ids=lambda method: method.name)
def test_every_baseline_counts_what_stands_in_its_prompt(method):
    for each in replay(TRACE, method, Words()).calls:
        text = context_at(TRACE, each.call.number, method, Words())
        assert each.tokens == Words().count(text)
