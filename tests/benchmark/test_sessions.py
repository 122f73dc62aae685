"""Sessions: what the sums say follows from the rows, and is not said where it does not hold."""

from __future__ import annotations

import pytest

from context_gc.benchmark.sessions import ANTHROPIC, Results, findings, table
from context_gc.policy import Policy
from context_gc.replay.advice import recommend
from context_gc.replay.baselines import FULL, Masking
from context_gc.replay.measures import Measures, Share
from context_gc.replay.sweep import Row


def row(name, cost, floor, recall=1.0, policy=None, values=None):
    told = Measures(recall=Share(round(1_000 * recall), 1_000), prompt_tokens=100)
    return Row(name, values or {}, policy, cost, floor, 1.0, 100, 10, 5, 0, 0, told)


def results(ours, sliding=2.0, batched=0.6, clearing=(0.7, 1.5)):
    rows = (
        row(FULL.name, 1.0, 1.0),
        row(Masking(10).name, 0.8, sliding),
        row(Masking(10, batch=20_000).name, 0.6, batched),
        *(row(rule.name, *clearing, recall=0.98) for rule in ANTHROPIC),
        ours,
    )
    advice = recommend(rows)
    return Results((), rows, {}, advice, recommend(rows, floor=True), None, 1)


GOOD = row("ours", 0.6, 0.65, policy=Policy(), values={"n": 1})


def test_a_policy_that_is_cheaper_and_forgets_less_is_said_to_be():
    told = findings(results(GOOD))
    assert "reproduced" in told[0]
    assert "**not**" not in told[0]
    assert all("no worse in any of these" in line for line in told if line.startswith("Against"))
    assert "misses M1" in told[2]


@pytest.mark.parametrize(("clearing", "lost"), [((0.5, 0.9), "cost ideal"), ((0.7, 0.6), "cost floor")])
def test_a_policy_that_is_dearer_is_said_to_be(clearing, lost):
    (first, _) = [line for line in findings(results(GOOD, clearing=clearing)) if line.startswith("Against")]
    assert f"is worse in {lost}. The other" in first


@pytest.mark.parametrize(("sliding", "batched"), [(0.9, 0.6), (2.0, 1.1)])
def test_a_table_that_does_not_come_out_is_said_not_to(sliding, batched):
    assert "**not** reproduced" in findings(results(GOOD, sliding, batched))[0]


def test_where_no_policy_meets_the_conditions_what_they_miss_is_said():
    told = findings(results(row("ours", 0.6, 0.6, recall=0.9, policy=Policy(), values={"n": 1})))
    assert told[-1].startswith("`recommend` finds none")
    assert "M1 by 1" in told[-1]


def test_the_recommended_row_stands_out():
    assert "| **ours** | 100.0 % | 60.0 % | 65.0 % |" in table(results(GOOD).rows, GOOD)[-1]
    assert "**" not in table(results(GOOD).rows)[-1]
