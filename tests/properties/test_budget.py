"""The budget engine's promises over random traces, budgets and lives."""

from __future__ import annotations

from typing import Any

from budget_invariants import Life, told
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import policies, traces

from context_gc import Budget, ContextGC, Policy, compact_events

Event = dict[str, Any]


@st.composite
def budgets(draw: Any, **fixed: Any) -> Budget:
    """Windows that a short trace fills."""
    low = draw(st.sampled_from((0.3, 0.5, 0.75)))
    given = {
        "max_tokens": draw(st.sampled_from((20, 60, 120, 250, 600))),
        "threshold_low": low,
        "threshold_high": draw(st.sampled_from((low + 0.01, 0.92, 1))),
        "target": draw(st.sampled_from((0.05, 0.2, low - 0.01))),
        "recent_observations": draw(st.sampled_from((0, 1, 3))),
        "min_gain": draw(st.sampled_from((None, 0, 1, 20))),
        "auto": draw(st.sampled_from((True, True, True, False))),
        "overhead_tokens": draw(st.sampled_from((0, 0, 15))),
        "max_prompt_tokens": draw(st.sampled_from((None, None, 40))),
        "commit_on_arrival": draw(st.booleans()),
        "commit_when_cold": draw(st.booleans()),
        "expected_calls": draw(st.sampled_from((None, None, 1, 30))),
    }
    return Budget(**(given | fixed))


NUMBERS = st.integers(0, 40)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("feed"), st.integers(1, 8)),
        st.tuples(st.just("feed"), st.integers(1, 8)),
        st.tuples(st.just("add"), st.integers(1, 3)),
        st.tuples(st.just("compact"), st.sampled_from(("", "force", "force", "cold"))),
        st.tuples(st.just("usage"), st.integers(0, 600)),
        st.tuples(st.just("restore"), NUMBERS),
        st.tuples(st.sampled_from(("end_task", "end_session"))),
        st.tuples(st.just("explain"), NUMBERS),
        st.tuples(st.just("budget")),
    ),
    max_size=12,
)
TRACES = traces(max_size=30)


def budgeted(**fixed: Any) -> st.SearchStrategy[Policy]:
    return budgets(**fixed).flatmap(lambda budget: policies(budget=budget))


@settings(max_examples=3 * settings().max_examples)
@given(TRACES, budgeted(), STEPS)
def test_every_promise_holds_at_every_compaction_of_any_life(events, policy, steps):
    Life(events, policy).play(steps)


@given(TRACES, budgeted(), STEPS)
def test_results_stay_as_they_were_and_looking_changes_nothing(events, policy, steps):
    looked, alone = Life(events, policy), Life(events, policy, looks=False)
    read = [told(result) for result in looked.play(steps)]
    late = [told(result) for result in alone.play(steps)]
    assert read == late


@given(TRACES, budgeted(), STEPS)
def test_a_result_that_is_read_late_is_the_one_that_was_given(events, policy, steps):
    """As above, with results that nobody has read before the client moved on."""
    early, late = Life(events, policy), ContextGC(policy)
    expected = [told(result) for result in early.play(steps)]
    kept = []
    size = 0
    for verb, *rest in [*steps, ("feed", len(events)), ("compact", "")]:
        if verb in ("feed", "add"):
            late.extend(events[size : size + rest[0]])
            size = min(len(events), size + rest[0])
        if verb in ("feed", "compact"):
            how = rest[0] if verb == "compact" else ""
            kept.append(late.compact(force=how == "force", cold=how == "cold"))
        elif verb == "usage":
            late.record_usage(rest[0])
        elif verb == "restore" and kept and (names := kept[-1]["receipts"]):
            late.restore(names[rest[0] % len(names)])
        elif verb in ("end_task", "end_session"):
            getattr(late, verb)()
    assert [told(result) for result in kept] == expected


@given(TRACES, budgeted())
def test_a_trace_at_once_is_one_pass_at_its_end(events, policy):
    client = ContextGC(policy)
    client.extend(events)
    assert told(compact_events(events, policy)) == told(client.compact())


@given(TRACES, budgeted(), STEPS, st.sampled_from(("", "force", "cold")))
def test_compacting_twice_is_compacting_once(events, policy, steps, how):
    life = Life(events, policy)
    life.play(steps)
    first = life.compact(how)
    again = life.compact(how)
    notes = {"deferred": "", "unreachable": None}  # of the pass that has just been made, or was not
    assert again["budget"] | notes == first["budget"] | notes
    assert {**told(again), "budget": b""} == {**told(first), "budget": b""}


@given(TRACES, budgeted(auto=False), STEPS)
def test_no_pass_is_made_that_nobody_asked_for(events, policy, steps):
    results = Life(events, policy).play([step for step in steps if step != ("compact", "force")])
    assert results[-1]["budget"]["passes"] == []
