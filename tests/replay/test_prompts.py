"""Replay: causal, the same as an agent's loop, linear."""

from __future__ import annotations

from pathlib import Path

import pytest
from replayed import Words, calls, result, says, traced, user

from context_gc import Budget, ContextGC, Policy, TraceError, Usage, compact_events, load_traces
from context_gc.policy import KNOWN_STAGES
from context_gc.replay import context_at, prompts, replay
from context_gc.replay.calls import model_calls, stretches
from context_gc.tokens import COUNTERS, family_of
from context_gc.trace import Trace, Window

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"
SESSIONS = (
    "claude_code/spotter-4d5611e5.jsonl", "claude_code/spotter-8463c716.jsonl", "pi/pi-large-session.jsonl",
    "pi/pi-session.jsonl", "mini_swe_agent/django-13265.traj.json", "swe_agent/pydicom-1458.traj",
    "codex/agentsessions-large.jsonl", "copilot_cli/vct-copilot.jsonl", "openhands_v1/goal-events.jsonl",
)  # fmt: skip
POLICIES = {
    "default": Policy(),
    "all at once": Policy(stages=KNOWN_STAGES, stubs="worthwhile"),
    "passes": Policy(stages=KNOWN_STAGES, budget=Budget(max_tokens=32_000)),
    "arrival and cold": Policy(
        stages=KNOWN_STAGES, budget=Budget(max_tokens=60_000, commit_on_arrival=True, commit_when_cold=True)
    ),
}
SMALL = traced(
    user("Look at a.py"),
    calls("read", path="a.py"),
    result("e1", "x = 1"),
    calls("read", path="b.py"),
    calls("read", path="c.py"),
    result("e3", "y = 1"),
    result("e4", "z = 1"),
    says("Done."),
)


def test_a_prompt_covers_what_came_before_the_first_word_of_its_call():
    found = model_calls(SMALL.events)
    assert [(call.number, call.start, call.stop, call.written) for call in found] == [
        (1, 1, 3, (1,)),
        (2, 3, 7, (3, 4)),
        (3, 7, 8, (7,)),
    ]


def test_a_summary_is_no_word_of_the_model():
    events = traced({"type": "decision", "content": "Earlier: …", "tags": ["summary"]}, says("Go on.")).events
    assert [(call.start, call.written) for call in model_calls(events)] == [(1, (1,))]


def test_what_a_window_repeats_was_not_written_again():
    kept = {**says("kept"), "repeats": "e0"}
    events = traced(kept, {**calls("read", path="a.py"), "repeats": "e1"}, user("Go on."), says("Yes.")).events
    assert [(call.start, call.written) for call in model_calls(events)] == [(3, (3,))]


def test_what_the_user_says_last_is_no_call():
    assert len(model_calls(traced(user("Hi"), says("Hello."), user("Bye")).events)) == 1


def test_calls_are_numbered_through_all_windows():
    trace = traced(user("a"), says("b"), user("c"), says("d"), windows=(Window(0, 2), Window(2, 4, "auto")))
    assert [[call.number for call in stretch.calls] for stretch in stretches(trace)] == [[1], [2]]


def test_what_was_never_sent_is_in_no_prompt():
    trace = traced(user("a"), {**says("lost"), "unsent": True}, says("b"))
    assert context_at(trace, 1, Policy()) == "REQUIREMENT: a"


def test_the_context_at_a_call_is_its_prompt():
    assert context_at(SMALL, 1, Policy()) == "REQUIREMENT: Look at a.py"
    assert context_at(SMALL, 2, Policy()).endswith("RESULT x = 1")


@pytest.mark.parametrize("k", [0, -1, 4])
def test_a_call_that_is_not_there_is_an_error(k):
    with pytest.raises(TraceError, match=f"there is no model call {k}"):
        context_at(SMALL, k, Policy())


@pytest.mark.parametrize("trace", [traced(), traced(user("nobody answers"))], ids=["empty", "no call"])
def test_a_trace_without_a_call_is_an_error(trace):
    with pytest.raises(TraceError, match="it has no model call"):
        replay(trace, Policy())


def test_usage_beats_the_estimate_of_what_was_written():
    trace = traced(user("a"), says("one two three"), user("b"), says("four"), usage=[Usage("e1", 10, 77)])
    assert [each.output for each in replay(trace, Policy(), Words()).calls] == [77, 1]


def test_idle_time_is_unknown_without_times():
    trace = traced(*({**event, "timestamp": 0} for event in (user("a"), says("b"), user("c"), says("d"))))
    assert [(each.idle, each.cold) for each in replay(trace, Policy()).calls] == [(None, False), (None, False)]


def test_the_cache_is_cold_after_its_time_and_not_before():
    def at(seconds):
        events = (user("a"), {**says("b"), "timestamp": 1_000}, user("c"), {**says("d"), "timestamp": 1_000 + seconds})
        return replay(traced(*events), Policy(), ttl=300).calls[1].cold

    assert (at(300_000), at(300_001)) == (False, True)


def test_what_the_provider_reports_of_its_cache_beats_the_clock():
    events = (user("a"), says("b"), user("c"), says("d"))
    lost = [Usage("e1", 5, 1, 0, 9_000), Usage("e3", 5, 1, 0, 9_500)]
    held = [Usage("e1", 5, 1, 0, 9_000), Usage("e3", 5, 1, 9_000, 500)]
    assert replay(traced(*events, usage=lost), Policy()).calls[1].cold
    assert not replay(traced(*events, usage=held), Policy(), ttl=0.001).calls[1].cold


def test_a_change_names_the_first_event_whose_text_changed():
    trace = traced(
        user("a"),
        {"type": "set_var", "key": "x", "value": 1},
        user("b"),
        {"type": "set_var", "key": "x", "value": 2},
        user("c"),
        says("d"),
    )
    last = replay(trace, Policy(), Words()).calls[-1]
    assert (last.first_changed, last.common) == ("e1", Words().count("REQUIREMENT: a"))


@pytest.mark.parametrize("name", POLICIES)
def test_what_comes_later_changes_no_prompt(name):
    policy = POLICIES[name]
    cut = Trace(SMALL.events[:4], "native", windows=[Window(0, 4)])
    other = traced(*SMALL.events[:4], user("Something else"), says("entirely"))
    first = [context_at(trace, 2, policy) for trace in (SMALL, cut, other)]
    assert len(set(first)) == 1


needs_corpus = pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus of real traces is not beside the checkout")


@needs_corpus
@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("path", SESSIONS)
def test_a_real_session_gives_what_an_agents_loop_gives_byte_for_byte(path, name):
    policy = POLICIES[name]
    trace = load_traces(CORPUS / path)[0]
    counter = COUNTERS[family_of(trace.model)]
    lived = prompts(trace, policy, counter)
    for stretch in stretches(trace):
        client, size = ContextGC(policy, counter=counter), 0
        for call in stretch.calls:
            row, text = next(lived)
            client.extend(stretch.events[size : call.start])
            size = call.start
            result = client.compact(cold=row.cold)
            assert (text, row.tokens) == (result["prompt"], result["tokens_after"])
    assert next(lived, None) is None


@needs_corpus
@pytest.mark.parametrize("path", SESSIONS)
def test_the_future_of_a_real_session_changes_no_prompt(path):
    policy = POLICIES["passes"]
    trace = load_traces(CORPUS / path)[0]
    counter = COUNTERS[family_of(trace.model)]
    for stretch in stretches(trace):
        for at in {len(stretch.calls) // 3, len(stretch.calls) - 1} if stretch.calls else ():
            call = stretch.calls[at]
            first = {key: stretch.events[call.start].get(key) for key in ("timestamp", "message_id")}
            another = {**first, "id": "another future", "type": "decision", "content": "Stop here."}
            past = [*stretch.events[: call.start], another]
            other = Trace(past, trace.format, windows=[Window(0, len(past))])
            assert context_at(other, at + 1, policy, counter) == context_at(trace, call.number, policy, counter)


def test_at_the_end_a_replay_without_a_budget_is_a_compaction_of_what_came_before():
    last = replay(SMALL, Policy(), Words()).calls[-1]
    done = compact_events(SMALL.events[:7], counter=Words())
    assert (last.full, last.tokens) == (done["tokens_before"], done["tokens_after"])
