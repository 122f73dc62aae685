"""Compare: figures of two replays, what only one prompt holds, and both prompts as a diff."""

from __future__ import annotations

import pytest
from inspector_runs import asked, read, run, twice

from context_gc import Policy
from context_gc.inspector.compare_data import Side, curves, figures, sentence
from context_gc.inspector.compare_prompts import only, prompts
from context_gc.inspector.diff_rows import CLIPPED, CUT, MARKED, SAME
from context_gc.inspector.home import SAMPLES
from context_gc.inspector.replay_data import costs
from context_gc.inspector.replay_steps import steps
from context_gc.load import load_traces
from context_gc.replay.prices import Prices
from context_gc.tokens import COUNTERS, family_of
from context_gc.trace import Trace

FULL, DUPLICATES = Policy(stages=()), Policy(stages=("duplicates",))
PRICES = Prices("m", 1.0, 4.0, 0.1, 1.25, min_prefix=0, as_of="2026-11")


def side(name: str, trace: Trace, policy: Policy, prices: Prices | None = None) -> Side:
    told = steps(trace, policy, measure=True)
    return Side(name, told, costs(told, prices, trace.model), COUNTERS[family_of(trace.model)])


def pair(one: Policy, two: Policy, trace: Trace | None = None, prices: Prices | None = None) -> tuple[Side, Side]:
    trace = trace or run(*twice())
    return side("the policy in force", trace, one, prices), side("full history", trace, two, prices)


def test_the_sentence_tells_tokens_and_costs_of_both() -> None:
    one, two = pair(DUPLICATES, FULL, prices=PRICES)
    told = sentence(one, two, False)
    assert told.startswith(
        f"The policy in force sends {one.sent:,} tokens in 4 model calls, full history {two.sent:,}: −"
    )
    assert f"−{two.sent - one.sent:,} (−" in told
    assert "It costs $0." in told


def test_without_prices_the_sentence_and_the_figures_leave_costs_out() -> None:
    one, two = pair(DUPLICATES, FULL)
    assert "costs" not in sentence(one, two, False)
    assert "cost" not in {each.name for each in figures(one, two)}


def test_the_same_policy_twice_makes_no_difference() -> None:
    one, two = pair(DUPLICATES, DUPLICATES, prices=PRICES)
    assert "no difference" in sentence(one, two, False)
    assert {each.change for each in figures(one, two)} <= {"0", "same"}
    assert only(one, two, 4, False) == []
    assert {row.fate for row in prompts(one, two, 4, False).rows} == {SAME}
    assert prompts(one, two, 4, False).changes == ()


def test_figures_tell_how_far_both_are_apart() -> None:
    told = {each.name: each for each in figures(*pair(DUPLICATES, FULL, prices=PRICES))}
    assert told["tokens sent"].change.startswith("−")
    assert told["cost"].change.startswith("−$")
    assert told["model calls"] == ("model calls", "4", "4", "0", "")
    assert {"M1", "M2", "M3", "M4", "M5", "M6", "M7", "M9"} <= told.keys()
    assert told["M5"].change == "same"


def test_curves_are_aligned_by_call_and_the_full_history_is_drawn_for_one_trace_only() -> None:
    one, two = pair(DUPLICATES, FULL)
    told = curves(one, two, False)
    assert [each["style"] for each in told["series"]] == ["full", "other", "sent"]
    assert told["count"] == 4
    assert told["series"][2]["values"] == [step.row.tokens for step in one.steps.steps]
    short = side("the other run", run(*read(1, "a.py", "A")), DUPLICATES)
    runs = curves(one, short, True)
    assert [len(each["values"]) for each in runs["series"]] == [1, 4]


def test_what_only_one_prompt_holds_is_listed_with_what_cut_it_in_the_other() -> None:
    one, two = pair(DUPLICATES, FULL)
    found = only(one, two, 4, False)
    assert {(each.side, each.number, each.id) for each in found} == {(1, 6, "r3"), (1, 7, "r3.out")}
    assert {each.other for each in found} == {"duplicate of r1"}
    assert [each.tokens for each in found] == sorted((each.tokens for each in found), reverse=True)
    assert only(one, two, 3, False) == []


def test_what_the_policy_in_force_cut_is_a_change_with_its_stub() -> None:
    told = prompts(*pair(DUPLICATES, FULL), 4, False)
    assert [row.fate for row in told.rows] == [SAME] * 5 + [CUT] * 2
    (change,) = told.changes
    assert (change.start, change.stop, change.stub) == (5, 7, "[RECEIPT r3] +1")
    assert sum(row.impact for row in told.rows) == told.tokens_after - told.tokens_before
    assert told.number(5) == 6


def test_what_only_the_policy_in_force_holds_is_marked() -> None:
    told = prompts(*pair(FULL, DUPLICATES), 4, False)
    assert [row.fate for row in told.rows] == [SAME] * 5 + [MARKED] * 2
    assert told.rows[5].before == "[RECEIPT r3] +1"
    assert told.rows[6].before == ""
    assert told.rows[6].after.startswith("RESULT def parse")


def test_what_both_cut_is_left_out_and_numbers_stay_those_of_the_trace() -> None:
    trace = run(*twice())
    described = Policy(stages=("duplicates",), stubs="described")
    told = prompts(*pair(DUPLICATES, described, trace), 4, False)
    assert [told.number(row.seq) for row in told.rows] == [1, 2, 3, 4, 5, 6]
    assert told.rows[5].fate == MARKED
    assert only(*pair(DUPLICATES, described, trace), 4, False) == []


def test_a_clipped_result_is_told_as_clipped() -> None:
    trace = run(*read(1, "a.py", "line\n" * 3_000), *read(2, "b.py", "B"), *read(3, "c.py", "C"))
    told = prompts(*pair(Policy(stages=("clip",), clip_over=200), FULL, trace), 3, False)
    assert told.rows[1].fate == CLIPPED
    assert [each.fate for each in told.changes] == [CLIPPED]


@pytest.mark.parametrize("sample", ["claude-code-session.jsonl", "coding_agent.json", "support_agent.json"])
def test_the_diff_of_two_policies_holds_both_prompts_on_every_sample(sample: str) -> None:
    trace = load_traces(SAMPLES / sample)[0]
    one, two = pair(Policy(), FULL, trace)
    for step in one.steps.steps:
        told = prompts(one, two, step.number, False)
        before = [row.before for row in told.rows if row.before]
        assert before == [text for text in two.steps.slots(step.number) if text is not None]
        assert sum(row.impact for row in told.rows) == told.tokens_after - told.tokens_before


def test_runs_are_aligned_by_equal_texts() -> None:
    other = run(asked("Fix the parser"), *read(1, "b.py", "B = 1"), *read(2, "z.py", "Z"), *read(3, "y.py", "Y"))
    one, two = side("the open run", run(*twice()), FULL), side("the other run", other, FULL)
    told = prompts(one, two, 4, True)
    fates = [(row.fate, row.number) for row in told.rows]
    assert fates == [
        (SAME, 1),
        (MARKED, 2),
        (MARKED, 3),
        (SAME, 4),
        (SAME, 5),
        *((CUT, at) for at in (4, 5)),
        *((MARKED, at) for at in (6, 7)),
    ]
    found = only(one, two, 4, True)
    assert {each.id for each in found if each.side} == {"r2", "r2.out"}
    assert {each.id for each in found if not each.side} == {"r1", "r1.out", "r3", "r3.out"}


def test_of_the_shorter_run_its_last_prompt_is_shown() -> None:
    short = side("the other run", run(*read(1, "a.py", "A"), *read(2, "b.py", "B")), FULL)
    one = side("the open run", run(*twice()), FULL)
    assert short.at(4).number == 2
    assert prompts(one, short, 4, True).tokens_before == short.steps.step(2).row.tokens
    assert "in 2: " in sentence(one, short, True)
