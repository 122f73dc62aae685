"""Two hundred turns of an agent at the real SDKs: no request is refused, and compaction changes no outcome."""

from __future__ import annotations

import itertools
import json

import pytest
from callers import Caller, Machine, each_provider, texts_of
from providers import Says

from context_gc import Budget, ContextGC, Policy
from context_gc.policy import KNOWN_STAGES

WINDOW = 12_000
TIGHT = Policy(stages=KNOWN_STAGES, budget=Budget(max_tokens=WINDOW))
TOOLS = ("step", "look")


def without_compaction(machine):
    """The messages of the whole history, made by hand."""
    messages = [{"role": "user", "content": "go"}]
    while (said := machine.model(messages)).calls:
        for tool, given in said.calls:
            messages.append({"role": "user", "content": machine.run(tool, given)})
    return messages


def run(name, machine, policy=TIGHT, **more):
    client = ContextGC(policy)
    with Caller(name, machine.model, WINDOW) as caller:
        answer = caller(client, "go", TOOLS, run_tool=machine.run, max_rounds=260, system="Be brief.", **more)
        answer = getattr(answer, "answer", answer)
    assert caller.provider.refused == []
    return answer, caller.provider, client


@each_provider
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_200_turns_end_in_the_same_state_with_and_without_compaction(name, stream):
    full, tight = (Machine(200, thinks=True) for _ in range(2))
    history = without_compaction(full)
    answer, provider, client = run(name, tight, stream=stream)
    assert (tight.state, tight.number, tight.log) == (full.state, full.number, full.log)
    assert (answer.response_text, answer.metrics.rounds, answer.is_finished) == ("Done at 200.", 201, True)
    assert max(map(provider.size, provider.requests)) < WINDOW < len(json.dumps(history)) // 4
    assert len(client.budget.passes) > 1


@each_provider
def test_the_model_asks_back_what_was_cut_and_ends_in_the_same_state(name):
    full, tight = (Machine(120, asks_at=100) for _ in range(2))
    without_compaction(full)
    roomy = Policy(stages=KNOWN_STAGES, budget=Budget(max_tokens=WINDOW, recent_observations=8))
    _, provider, _ = run(name, tight, roomy)
    assert (tight.state, tight.log) == (full.state, full.log)
    assert '"heron-417"' in str(tight.log)
    asked = [each for each in provider.requests if "recover_receipt" in json.dumps(each["messages"])]
    assert asked
    assert Machine.FACT not in json.dumps(provider.requests[-len(asked) - 1]["messages"])


@each_provider
def test_what_was_recovered_stays_for_the_next_turns_and_then_goes_like_the_rest(name):
    """Here a pass is made every other turn, and keeps little more than the last one."""
    machine, asks = Machine(80, width=4), []

    def model(messages):
        if machine.number < 40 or asks:
            return machine.model(messages)
        asks.append(machine.asked_back(messages, list(texts_of(messages))))
        return Says(calls=(("recover_receipt", asks[0]),))

    client = ContextGC(Policy(budget=Budget(max_tokens=4_000, recent_observations=5, min_gain=0)))
    with Caller(name, model) as caller:
        caller(client, "go", TOOLS, run_tool=machine.run, max_rounds=90)
    held = ["number 1 state" in json.dumps(each["messages"]) for each in caller.provider.requests]
    asked = 41
    assert held[asked - 1 : asked + 9] == [False] + [True] * 8 + held[asked + 8 : asked + 9]
    assert not held[-1]
    assert caller.provider.refused == []


@each_provider
def test_a_loop_of_the_caller_without_run_tool(name):
    full, tight = (Machine(80) for _ in range(2))
    without_compaction(full)
    client = ContextGC(TIGHT)
    with Caller(name, tight.model, WINDOW) as caller:
        sdk = caller.client()
        answer = caller(client, "go", TOOLS, client=sdk)
        calls = 1
        while answer.tool_calls:
            results = {each.id: tight.run(each.name, each.arguments) for each in answer.tool_calls}
            answer = caller(client, None, TOOLS, tool_results=results, client=sdk)
            calls += 1
    assert caller.provider.refused == []
    assert (tight.state, tight.log, calls) == (full.state, full.log, 81)


@each_provider
def test_between_two_passes_each_request_goes_on_from_the_one_before(name):
    _, provider, client = run(name, Machine(60), offer_receipts=False)
    sent = [json.dumps(unmarked(each["messages"]))[:-1] for each in provider.requests]
    broken = sum(not after.startswith(before.rstrip("]}")) for before, after in itertools.pairwise(sent))
    assert broken == len(client.budget.passes) > 0


def unmarked(value):
    if isinstance(value, list):
        return [unmarked(each) for each in value]
    if isinstance(value, dict):
        value = {key: unmarked(each) for key, each in value.items() if key != "cache_control"}
        if isinstance(value.get("content"), str) and value.get("role") == "user":
            value["content"] = [{"type": "text", "text": value["content"]}]
    return value
