"""Verdicts: what holds for each event, and what held at any time before."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context_gc.verdicts import WAITING, Verdict, Verdicts

DEAD, LATER = Verdict(0, 7), Verdict(1, 9)


@pytest.mark.parametrize(
    ("verdict", "cut", "held"),
    [
        (Verdict(0, 7), True, None),
        (Verdict(0, 7, seam=True), True, None),
        (Verdict(0, 7, kept="importance=critical"), False, "importance=critical"),
        (Verdict(0, 7, waiting=True), False, WAITING),
        (Verdict(0, 7, kept="type=constraint", waiting=True), False, "type=constraint"),
        (Verdict(0, 7, clipped=True), False, None),
        (Verdict(0, 7, clipped=True, waiting=True), False, WAITING),
    ],
)
def test_an_event_is_cut_unless_it_is_kept_clipped_or_waits(verdict, cut, held):
    assert (verdict.cut, verdict.held) == (cut, held)


def test_verdicts_are_what_was_recorded_last():
    verdicts = Verdicts()
    verdicts.record(3, DEAD)
    verdicts.record(1, DEAD)
    verdicts.record(3, LATER)
    verdicts.record(1, None)
    assert dict(verdicts) == {3: LATER}
    assert verdicts.log == [(3, DEAD), (1, DEAD), (3, LATER), (1, None)]


def test_becoming_records_only_what_changes_in_trace_order():
    verdicts = Verdicts()
    verdicts.become({2: DEAD, 1: DEAD})
    verdicts.become({2: DEAD, 5: LATER, 0: DEAD})
    assert dict(verdicts) == {2: DEAD, 5: LATER, 0: DEAD}
    assert verdicts.log == [(1, DEAD), (2, DEAD), (0, DEAD), (1, None), (5, LATER)]


CHANGES = st.lists(st.dictionaries(st.integers(0, 5), st.sampled_from((DEAD, LATER)), max_size=4), max_size=8)


@given(CHANGES)
def test_what_held_at_any_time_can_be_told_and_stays(steps):
    verdicts = Verdicts()
    known = [(0, {})]
    for step in steps:
        verdicts.become(step)
        known.append((len(verdicts.log), step))
    told = [verdicts.at(version) for version, _ in known]
    verdicts.become({})
    assert told == [step for _, step in known]
    assert verdicts == {}
