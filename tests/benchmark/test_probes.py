"""Probes: an answer has to stand in the prompt byte for byte, and behind all that it replaced."""

from __future__ import annotations

import pytest

from context_gc.benchmark.probes import Probe, clutter, passes, score

LIMIT = Probe("recall", "What is the limit?", ("limit = 7",), ("limit = 3",))


@pytest.mark.parametrize("prompt", ["limit = 7", "limit = 3\nlimit = 7", "a\nlimit = 7\nb"])
def test_an_answer_that_stands_last_passes(prompt):
    assert passes(LIMIT, prompt)


@pytest.mark.parametrize("prompt", ["", "limit = 3", "limit=7", "Limit = 7", "limit = 7\nlimit = 3"])
def test_an_answer_that_is_missing_changed_or_outdated_fails(prompt):
    assert not passes(LIMIT, prompt)


def test_every_needle_is_needed():
    both = Probe("decision", "What and why?", ("a table", "workers share no memory"))
    assert passes(both, "a table, for workers share no memory")
    assert not passes(both, "a table")


def test_a_plan_that_was_given_up_misleads_without_its_mark():
    plan = Probe("decision", "What of the cache?", ("it lost writes",), ("Use a cache.",))
    assert passes(plan, "Use a cache.\nit lost writes")
    assert passes(plan, "[RECEIPT a1] it lost writes")
    assert not passes(plan, "Use a cache.")


def test_clutter_counts_what_is_outdated_wherever_it_stands():
    assert clutter([LIMIT], "limit = 3\nlimit = 7") == 1
    assert clutter([LIMIT], "limit = 7") == 0


def test_scores_are_by_kind():
    told = score([LIMIT, Probe("recall", "Who?", ("Ada",))], "limit = 7")
    assert told["recall"] == (1, 2)
    assert told["artifact"] == (0, 0)
