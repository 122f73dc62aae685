"""The budget engine's promises over random traces, budgets and lives."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from budget_invariants import Life, told, whole
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import policies, traces

from context_gc import Budget, ContextGC, Policy, compact_events

Event = dict[str, Any]


@st.composite
def budgets(draw: Any, size: int) -> Budget:
    """A budget that a trace of so many tokens comes near, fills or overflows."""
    low = draw(st.sampled_from((0.3, 0.5, 0.75)))
    share = draw(st.sampled_from((0.2, 0.5, 0.8, 1, 1.2, 2)))
    return Budget(
        max_tokens=max(20, int(share * size)),
        threshold_low=low,
        threshold_high=draw(st.sampled_from((low + 0.01, 0.92, 0.98, 1))),
        target=draw(st.sampled_from((0.05, 0.2, low - 0.01))),
        recent_observations=draw(st.sampled_from((0, 1, 3))),
        min_gain=draw(st.sampled_from((None, 0, 1, 20))),
        auto=draw(st.sampled_from((True, True, True, False))),
        overhead_tokens=draw(st.sampled_from((0, 0, 15))),
        max_prompt_tokens=draw(st.sampled_from((None, None, None, 60))),
        commit_on_arrival=draw(st.booleans()),
        commit_when_cold=draw(st.booleans()),
        expected_calls=draw(st.sampled_from((None, None, 1, 30))),
    )


NUMBERS = st.integers(0, 40)
STEP = st.one_of(
    st.tuples(st.just("feed"), st.integers(1, 3)),
    st.tuples(st.just("feed"), st.integers(1, 3)),
    st.tuples(st.just("feed"), st.integers(1, 8)),
    st.tuples(st.just("add"), st.integers(1, 3)),
    st.tuples(st.just("compact"), st.sampled_from(("", "force", "force", "cold"))),
    st.tuples(st.just("usage"), st.integers(0, 1_000)),
    st.tuples(st.just("restore"), NUMBERS),
    st.tuples(st.sampled_from(("end_task", "end_session"))),
    st.tuples(st.just("explain"), NUMBERS),
    st.tuples(st.just("budget")),
)
STEPS = st.lists(STEP, max_size=4) | st.lists(STEP, min_size=8, max_size=24)


@st.composite
def stories(draw: Any) -> tuple[list[Event], Policy]:
    """A trace, some of it long enough to be worth cutting or clipping, and a policy with a budget for it."""
    events, long = draw(traces(max_size=30)), draw(st.booleans())
    for event in events if long else ():
        for key in ("result", "value", "stdout"):
            if type(event.get(key)) is str:
                event[key] = f"{event[key]} and more\n" * (8 if key == "value" else 30)
    size = compact_events(events, Policy(stages=()))["tokens_before"]
    policy = draw(policies(budget=draw(budgets(size))))
    return events, policy


STORIES = stories()


@settings(max_examples=3 * settings().max_examples)
@given(STORIES, STEPS)
def test_every_promise_holds_at_every_compaction_of_any_life(story, steps):
    Life(*story).play(steps)


@given(STORIES, STEPS)
def test_results_stay_as_they_were_and_looking_changes_nothing(story, steps):
    looked, alone = Life(*story), Life(*story, looks=False)
    read = [told(result) for result in looked.play(steps)]
    late = [told(result) for result in alone.play(steps)]
    assert read == late


@given(STORIES, STEPS)
def test_a_result_that_is_read_late_is_the_one_that_was_given(story, steps):
    """As above, with results that nobody has read before the client moved on."""
    events, policy = story
    early, late = Life(events, policy), ContextGC(policy)
    expected = [told(result) for result in early.play(steps)]
    kept = []
    size = 0
    for verb, *rest in whole(events, steps):
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


@given(STORIES)
def test_a_trace_at_once_is_one_pass_at_its_end(story):
    events, policy = story
    client = ContextGC(policy)
    client.extend(events)
    assert told(compact_events(events, policy)) == told(client.compact())


@given(STORIES, STEPS, st.sampled_from(("", "force", "cold")))
def test_compacting_twice_is_compacting_once(story, steps, how):
    life = Life(*story)
    life.play(steps)
    first = life.compact(how)
    again = life.compact(how)
    notes = {"deferred": "", "unreachable": None}  # of the pass that has just been made, or was not
    assert again["budget"] | notes == first["budget"] | notes
    assert {**told(again), "budget": b""} == {**told(first), "budget": b""}


@given(STORIES, STEPS)
def test_no_pass_is_made_that_nobody_asked_for(story, steps):
    events, policy = story
    policy = replace(policy, budget=replace(policy.budget, auto=False))
    results = Life(events, policy).play([step for step in steps if step != ("compact", "force")])
    assert {each["moment"] for each in results[-1]["budget"]["passes"]} <= {"needed"}


PROGRAM = """
import hashlib
from budget_invariants import Life, told
from hypothesis import Phase, given, seed, settings
from test_budget_lives import STEPS, STORIES

@seed(4)
@settings(max_examples=12, phases=[Phase.generate], database=None, deadline=None)
@given(STORIES, STEPS)
def show(story, steps):
    for result in Life(*story).play(steps):
        digest = hashlib.sha256()
        for key, value in told(result).items():
            digest.update(key.encode() + value)
        print(digest.hexdigest())

show()
"""


def test_two_hash_seeds_give_the_same_bytes():
    folder = Path(__file__).parent
    outputs = []
    for number in ("0", "1"):
        path = os.pathsep.join((str(folder), str(folder.parents[1])))
        environment = {**os.environ, "PYTHONHASHSEED": number, "PYTHONPATH": path}
        command = [sys.executable, "-c", PROGRAM]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        assert done.returncode == 0, done.stderr
        outputs.append(done.stdout.split())
    assert outputs[0] == outputs[1]
    assert len(set(outputs[0])) > 12
