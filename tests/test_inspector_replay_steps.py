"""Replay steps: what stands at each place of each prompt, why something is out, and where an event stands."""

from __future__ import annotations

import pytest
from inspector_runs import asked, read, run, twice

from context_gc import Budget, Policy
from context_gc.errors import TraceError
from context_gc.inspector.home import SAMPLES
from context_gc.inspector.replay_steps import is_stub, run_at, steps
from context_gc.load import load_traces
from context_gc.replay import context_at

DUPLICATES = Policy(stages=("duplicates",))
BUDGET = Policy(budget=Budget(600, min_gain=0), protect_types=())


@pytest.mark.parametrize(
    "policy", [Policy(stages=()), DUPLICATES, Policy(), BUDGET], ids=["full", "dup", "all", "budget"]
)
@pytest.mark.parametrize("sample", ["claude-code-session.jsonl", "coding_agent.json", "pi-branches.jsonl"])
def test_the_slots_of_every_call_make_the_prompt_that_would_have_been_sent(sample: str, policy: Policy) -> None:
    trace = load_traces(SAMPLES / sample)[0]
    told = steps(trace, policy)
    assert told.steps
    for step in told.steps:
        lines = [text for text in told.slots(step.number) if text is not None]
        assert "\n".join(lines) == context_at(trace, step.number, policy)


def test_a_window_begins_with_nothing_of_the_one_before() -> None:
    trace = run(*read(1, "a.py", "A"), *read(2, "b.py", "B"), *read(3, "c.py", "C"), windows=(4,))
    told = steps(trace, Policy(stages=()))
    assert [step.row.window for step in told.steps] == [1, 1, 2]
    assert told.slots(3) == []
    assert len(told.slots(2)) == 2


def test_what_left_is_told_with_the_decision_of_that_moment() -> None:
    told = steps(run(*twice()), DUPLICATES)
    assert told.steps[2].why == {}
    left = {told.stretch(4).events[seq]["id"]: each for seq, each in told.steps[3].why.items()}
    assert {name: (each.stage, each.because) for name, each in left.items()} == {
        "r3": ("duplicates", ("r1",)), "r3.out": ("duplicates", ("r1",)),
    }  # fmt: skip
    assert told.reasons(4).keys() == told.steps[3].why.keys()
    assert told.reasons(3) == {}


def test_what_is_kept_in_spite_of_a_finding_is_not_told_as_left() -> None:
    told = steps(run(*twice()), Policy(stages=("duplicates",), protect_ids=("r3",)))
    assert [step.why for step in told.steps] == [{}, {}, {}, {}]


def test_a_stub_stands_for_its_run_up_to_what_stands_again() -> None:
    told = steps(run(*twice()), DUPLICATES)
    slots, lines = told.slots(4), ["x"] * 7
    assert [is_stub(text) for text in slots] == [False, False, False, False, False, True, False]
    assert run_at(slots, lines, 5) == range(5, 7)
    assert run_at(["s", None, None], ["x", "x", ""], 0) == range(2)


def test_an_event_is_found_with_its_window_and_its_number_in_the_trace() -> None:
    trace = run(asked(), *read(1, "a.py", "A"), *read(2, "b.py", "B"), windows=(3,))
    trace.events[1]["unsent"] = True
    told = steps(trace, Policy())
    assert told.find("r2.out") == (1, 1)
    assert told.find("r1.out") == (0, 1)
    assert told.numbers == ((1, 3), (4, 5))
    assert told.find("r1") is None


def test_a_trace_without_model_calls_raises() -> None:
    with pytest.raises(TraceError, match="no model call"):
        steps(run(asked()), Policy())
