"""Compaction under a budget: when a pass is made, what it commits, and what stands between two passes."""

from __future__ import annotations

from typing import Any

import pytest
from notation import trace

from context_gc import Budget, Compaction, ContextBus, ContextGC, Policy, compact_events

Event = dict[str, Any]
TEXT = "some words that cost a few tokens each time"


def client(text: str = "", *, stages: Any = None, **budget: Any) -> ContextGC:
    given = {"stages": stages} if stages is not None else {}
    made = ContextGC(Policy(counter="chars4", budget=Budget(**({"max_tokens": 1_000} | budget)), **given))
    made.extend(trace(text) if text.strip() else [])
    return made


def writes(start: int, stop: int) -> str:
    """Writes of one variable, 12 tokens each: all but the last are dead."""
    return "\n".join(f"v{number} x = {TEXT} @{number}" for number in range(start, stop))


def work(start: int, stop: int, size: int = 100) -> str:
    """Units of a call and its result, a good `size` tokens each: all live."""
    return "\n".join(
        f'c{number} call probe {{"n": {number}}}\nr{number} result c{number} {"word " * (4 * size // 5)}'
        for number in range(start, stop)
    )


def passes(made: ContextGC) -> list[tuple[str, int]]:
    return [(each.moment, each.size) for each in made.budget.passes]


def full(text: str) -> str:
    return compact_events(trace(text), Policy(stages=()))["prompt"]


# below the threshold


def test_below_the_threshold_the_prompt_is_the_full_history_byte_for_byte():
    made = client(writes(0, 60))
    result = made.compact()
    assert result["budget"]["usage"] == pytest.approx(0.72)
    assert result["prompt"] == full(writes(0, 60))
    assert result["tokens_after"] == result["tokens_before"]
    assert (result["pruned_ids"], result["receipts"], passes(made)) == ([], [], [])
    assert {each["kept"] for each in result["decisions"]} == {"it waits for the next pass"}
    assert result["budget"]["waiting_tokens"] == 59 * 12


@pytest.mark.parametrize(("reported", "made"), [(149_999, []), (150_000, [("compact", 2)])])
def test_a_pass_begins_exactly_at_the_threshold(reported, made):
    each = client(writes(0, 2), max_tokens=200_000, min_gain=1)
    each.compact()
    each.record_usage(reported)
    each.compact()
    assert passes(each) == made


def test_no_pass_is_made_for_a_live_history_however_full_below_an_emergency():
    made = client(work(0, 8))
    assert made.compact()["budget"]["level"] == "compact"
    assert passes(made) == []


# one batch


def test_all_that_is_dead_goes_in_one_batch_and_the_next_prompts_extend_it():
    made = client(writes(0, 62))
    assert made.compact()["prompt"] == full(writes(0, 62))
    made.extend(trace(writes(62, 64)))
    result = made.compact()
    (done,) = made.budget.passes
    assert (done.moment, done.size, done.first_changed, done.evicted) == ("compact", 64, "v0", 0)
    assert list(done.pruned_ids) == result["pruned_ids"] == [f"v{number}" for number in range(63)]
    assert done.tokens_before - done.tokens_after == done.gain > 700
    assert result["prompt"] == f"[RECEIPT v0] +62\nx = {TEXT}"
    made.extend(trace(writes(64, 70)))
    assert made.compact()["prompt"].startswith(result["prompt"] + "\n")
    assert len(passes(made)) == 1


def test_a_batch_that_frees_less_than_min_gain_is_put_off_and_says_so():
    made = client(f"{writes(0, 5)}\n{work(0, 7)}")
    assert made.compact()["pruned_ids"] == []
    made = client(f"{writes(0, 5)}\n{work(0, 7)}", min_gain=40)
    assert made.compact()["budget"]["deferred"] == ""
    made = client(f"{writes(0, 5)}\n{work(0, 7)}", min_gain=46)
    told = made.compact()["budget"]["deferred"]
    assert "a pass would free 44 tokens" in told
    assert "min_gain 46" in told
    assert passes(made) == []


def test_a_batch_that_was_put_off_is_tried_again_once_more_is_dead():
    made = client(f"{writes(0, 5)}\n{work(0, 7)}", min_gain=46)
    made.compact()
    made.extend(trace(writes(5, 6)))
    assert made.compact()["budget"]["passes"] == []
    made.extend(trace(writes(6, 10)))
    assert [each["gain"] >= 46 for each in made.compact()["budget"]["passes"]] == [True]


def test_a_batch_that_does_not_pay_within_the_calls_that_are_expected_is_put_off():
    text = f"{writes(0, 12)}\n{work(0, 6)}"
    assert passes(compacted(client(text))) == [("compact", 24)]
    made = compacted(client(text, expected_calls=5))
    assert passes(made) == []
    assert "and 5 are expected" in made.budget.deferred
    assert passes(compacted(client(text, expected_calls=500))) == [("compact", 24)]


def compacted(made: ContextGC) -> ContextGC:
    made.compact()
    return made


# an emergency


def test_an_emergency_brings_usage_down_to_the_target():
    made = client(work(0, 9))
    result = made.compact()
    (done,) = made.budget.passes
    assert done.moment == "emergency"
    assert result["budget"]["usage"] <= 0.4
    assert done.unreachable is None
    assert [name for name in done.pruned_ids if name[0] == "c"] == [f"c{number}" for number in range(6)]
    assert result.decision("c0").reason == "evicted to make room"
    assert made.expand_receipt("c0") == trace(work(0, 6))[:12]


def test_an_emergency_that_cannot_reach_the_target_says_what_holds_the_space():
    words = "word " * 700
    made = client(f"u requirement {words}\n{work(0, 2)}\nd decision {words[:100]}", overhead_tokens=30)
    lost = made.compact()["budget"]["unreachable"]
    assert lost["target"] == 400
    holds = dict(lost["holds"])
    assert holds["protected (type=requirement)"] > 870
    assert holds["overhead"] == 30
    assert 200 < holds["the last observations"] < 300
    assert sum(holds.values()) == lost["tokens"]
    told = str(made.budget.unreachable)
    assert "400" in told
    assert "protected (type=requirement)" in told


def test_a_pass_that_can_free_nothing_is_recorded_once_until_something_can_be_freed():
    made = client(f"u requirement {'word ' * 750}")
    first = made.compact()
    assert [(each.gain, each.pruned_ids) for each in made.budget.passes] == [(0, ())]
    assert made.budget.unreachable is not None
    for number in range(3):
        made.extend(trace(f"d{number} decision go on <"))
        assert made.compact()["prompt"].startswith(first["prompt"])
    assert len(passes(made)) == 1
    made.extend(trace(f"{work(0, 2)}\n{work(2, 6, size=10)}"))
    made.compact()
    assert len(passes(made)) == 2
    assert made.budget.passes[1].gain > 150


def test_a_history_is_the_same_at_once_as_one_pass_at_its_end():
    text = f"{writes(0, 20)}\n{work(0, 12)}"
    made, policy = client(text), Policy(counter="chars4", budget=Budget(1_000))
    at_once = compact_events(trace(text), policy)
    assert len(at_once["budget"]["passes"]) == 1
    assert said(at_once) == said(made.compact())


def said(result: Compaction) -> dict[str, Any]:
    return {key: result[key] for key in result if key != "graph"}


# the meter


def test_what_the_provider_counted_corrects_the_meter_and_only_what_came_after_is_estimated():
    made = client(work(0, 3))
    estimate = made.compact()["tokens_after"]
    made.record_usage(input_tokens=10, output_tokens=999, cache_read=400, cache_write=90)
    state = made.budget
    assert (state.tokens, state.reported, state.correction) == (500, True, 500 - estimate)
    made.extend(trace(work(3, 4)))
    assert made.budget.tokens == 500 + made.compact()["tokens_after"] - estimate
    made.record_usage(930)
    made.compact()
    assert [moment for moment, _ in passes(made)] == ["emergency"]


@pytest.mark.parametrize("figures", [(-1,), (1.5,), (True,), ("5",), (1, -1), (1, 0, -1), (1, 0, 0, -1)])
def test_a_figure_that_is_no_count_is_refused(figures):
    with pytest.raises(ValueError, match="usage"):
        client().record_usage(*figures)


def test_declared_overhead_counts_from_the_start():
    made = client(writes(0, 50), overhead_tokens=150)
    result = made.compact()
    assert result["budget"]["passes"][0]["tokens_before"] == 750
    assert result["budget"]["tokens"] == result["tokens_after"] + 150


def test_asking_how_things_stand_makes_no_pass():
    made = client(f"{writes(0, 70)}\n{work(0, 3)}")
    assert made.budget.level == "emergency"
    assert made.explain("v0").reason == "it waits for the next pass"
    assert made.explain("v0").detail == "Would be superseded by v69"
    assert made.budget.passes == ()


def test_without_a_budget_nothing_is_metered():
    made = ContextGC()
    made.extend(trace(writes(0, 3)))
    made.record_usage(10**9)
    assert made.budget is None
    assert made.compact()["budget"] is None
    assert made.compact()["pruned_ids"] == ["v0", "v1"]


def test_the_bus_hears_of_a_pass_and_of_nothing_else():
    bus, heard = ContextBus(), []
    bus.subscribe("compaction.started", lambda data: heard.append(("started", data)))
    bus.subscribe("compaction.committed", lambda data: heard.append(("committed", data)))
    made = ContextGC(Policy(counter="chars4", budget=Budget(1_000)), bus=bus, run_id="run")
    made.extend(trace(writes(0, 60)))
    made.compact()
    assert heard == []
    made.extend(trace(writes(60, 70)))
    made.compact()
    (first, started), (second, committed) = heard
    assert (first, second) == ("started", "committed")
    assert (started["run_id"], started["level"], started["reason"]) == ("run", "compact", "compact")
    assert committed["pass"] == made.budget.passes[0].to_dict()
    assert committed["pruned_ids"] == [f"v{number}" for number in range(69)]
