"""Replay data: the player gets each text once and each call's changes, and every call can be put together from them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from inspector_runs import asked, read, run, twice

from context_gc import Budget, Policy
from context_gc.inspector import replay_data
from context_gc.inspector.home import SAMPLES
from context_gc.inspector.replay_data import NOTHING, OWN, answer, costs, dollars, film
from context_gc.inspector.replay_steps import Steps, steps
from context_gc.load import load_traces
from context_gc.replay import context_at
from context_gc.replay.prices import Prices
from context_gc.trace import Trace

DUPLICATES = Policy(stages=("duplicates",))
BUDGET = Policy(budget=Budget(3_000, min_gain=0), protect_types=())
PRICES = Prices("m", 1.0, 4.0, 0.1, 1.25, min_prefix=0, as_of="2026-11")


def drawn(trace: Trace, policy: Policy, prices: Prices | None = None) -> tuple[Steps, dict[str, Any]]:
    told = steps(trace, policy)
    return told, json.loads(json.dumps(film(told, trace, costs(told, prices, trace.model))))


def prompt(data: dict[str, Any], number: int) -> str:
    """The prompt of a call as the player puts it together."""
    call = data["calls"][number - 1]
    start = data["windows"][call["w"]][0]
    refs: dict[int, int] = {}
    for each in data["calls"][:number]:
        if each["w"] == call["w"]:
            refs |= {place: ref for place, ref, *_ in each["changes"]}
    texts = [
        data["events"][start + place][4] if ref == OWN else data["others"][ref - 1][0]
        for place, ref in sorted(refs.items())
        if ref != NOTHING
    ]
    return "\n".join(texts)


@pytest.mark.parametrize("policy", [Policy(stages=()), Policy(), BUDGET], ids=["full", "default", "budget"])
@pytest.mark.parametrize("sample", ["claude-code-session.jsonl", "research_agent.json", "tour.json"])
def test_the_player_can_put_together_the_prompt_of_every_call(sample: str, policy: Policy) -> None:
    trace = load_traces(SAMPLES / sample)[0]
    told, data = drawn(trace, policy)
    for step in told.steps:
        assert prompt(data, step.number) == context_at(trace, step.number, policy)


def test_what_stays_as_it_was_is_not_sent_again() -> None:
    _, data = drawn(run(*twice()), Policy(stages=()))
    assert [len(call["changes"]) for call in data["calls"]] == [1, 2, 2, 2]
    assert len(data["events"]) == 9
    assert data["others"] == []


def test_a_stub_is_sent_as_another_text_with_its_reason_and_witness() -> None:
    _, data = drawn(run(*twice()), DUPLICATES)
    assert data["others"] == [["[RECEIPT r3] +1"]]
    (stub, gone) = data["calls"][3]["changes"]
    assert stub[:2] == [5, 1]
    assert gone[:2] == [6, NOTHING]
    assert data["reasons"][stub[2]] == ["duplicates", "duplicate of r1", 1]


def test_a_long_text_is_sent_in_part_and_told_in_full_when_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay_data, "ROOM", 2_000)
    long = "x" * 5_000
    told, data = drawn(run(*read(1, "a.py", long), *read(2, "b.py", "B")), Policy(stages=()))
    text, more = data["events"][1][4:]
    assert len(text) + more == len(f"RESULT {long}")
    assert len(text) < 2_000
    assert answer(told, 0, 1, 0) == answer(told, 0, 1, 2) == f"RESULT {long}"
    assert [answer(told, 0, 9, 0), answer(told, 3, 0, 0), answer(told, 0, 1, 99), answer(told, 0, 3, 2)] == [None] * 4


def test_short_texts_are_sent_whole() -> None:
    _, data = drawn(run(*twice()), Policy(stages=()))
    assert all(len(event) == 5 for event in data["events"])


def test_without_prices_there_is_no_cost_and_the_reason_is_told() -> None:
    _, data = drawn(run(*twice(), model="made-up"), Policy())
    assert all("cost" not in call for call in data["calls"])
    assert (
        data["prices"]
        == "No costs: no prices are known for made-up. Choose a model whose prices count, on the Tune page."
    )
    assert "the trace names no model" in drawn(run(*twice()), Policy())[1]["prices"]


def test_with_prices_each_call_has_its_cost_and_the_table_its_date() -> None:
    told, data = drawn(run(*twice(), model="m"), Policy(), PRICES)
    assert data["dated"] == "prices of 2026-11"
    assert [call["cost"] for call in data["calls"]] == [dollars(cost) for cost in costs(told, PRICES, "m").each]
    assert all(call["cost"].startswith("$") for call in data["calls"])


def test_a_pass_tells_its_moment_what_it_did_and_what_it_cost() -> None:
    events = [asked(), *[event for at in range(1, 30) for event in read(at, f"f{at}.py", f"line {at}\n" * 40)]]
    told, data = drawn(run(*events, model="m"), BUDGET, PRICES)
    passes = [call["pass"] for call in data["calls"] if "pass" in call]
    assert passes
    assert passes[0]["told"].startswith("Pass 1, at the ")
    assert "tokens behind the first change are written to the cache anew" in passes[0]["told"]
    assert any(word in passes[0]["told"] for word in ("won $", "lost $"))
    assert len(passes) == len(told.replay.passes)


def test_a_cold_cache_is_told_with_the_pause_and_a_warm_one_is_not() -> None:
    events = [*read(1, "a.py", "A"), *read(2, "b.py", "B", minute=1), *read(3, "c.py", "C", minute=41)]
    _, data = drawn(run(*events), Policy(stages=()))
    assert [call.get("cold") for call in data["calls"]] == [None, None, "40 minutes after the call before"]


@pytest.mark.parametrize(
    ("amount", "told"),
    [(12.304, "$12.30"), (0.0042, "$0.0042"), (-0.5, "−$0.5000"), (0.0, "$0.0000"), (-1234.5, "−$1,234.50")],
)
def test_dollars_have_as_many_digits_as_tell_something(amount: float, told: str) -> None:
    assert dollars(amount) == told
