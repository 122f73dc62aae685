"""What the tune page says of a replay: the answer, the measures, what was lost by group, the passes, the range."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from context_gc import Budget, Policy, Trace, Window
from context_gc.inspector.tune_chart import drawn
from context_gc.inspector.tune_data import (
    Costs,
    answer,
    change,
    costs,
    is_timeless,
    lost,
    lost_sentence,
    made,
    measures,
    money,
    per_cent,
    places,
    rewritten,
    span,
)
from context_gc.replay.baselines import FULL
from context_gc.replay.calibration import Calibration
from context_gc.replay.measures import Loss, Measures, Share
from context_gc.replay.prices import Prices
from context_gc.replay.prompts import Replay, readings, replay

PRICES = Prices("a-model", input=1.0, output=5.0, cache_read=0.1, cache_write=1.25, min_prefix=1, as_of="2026-11")
TIGHT = Policy(stages=("stale-reads",), budget=Budget(2_000, min_gain=200))


def session(turns: int = 40, step: int = 1_000) -> Trace:
    """Reads of seven files again and again; a later one makes the earlier ones stale."""
    events: list[dict[str, Any]] = [
        {"id": "u", "type": "requirement", "timestamp": 1, "content": "Look", "tags": ["user"]}
    ]
    for turn in range(turns):
        events += [
            {"id": f"c{turn}", "type": "tool_call", "timestamp": 1 + turn * step, "tool_name": "Read",
             "arguments": {"file_path": f"src/f_{turn % 7}.py"}},
            {"id": f"r{turn}", "type": "tool_result", "timestamp": 1 + turn * step, "call_id": f"c{turn}",
             "result": f"value_{turn} = {turn}\n" * 12},
        ]  # fmt: skip
    half = len(events) // 2 + 1
    return Trace(events, "native", windows=[Window(0, half), Window(half, len(events), "auto")])


def lived(policy: Policy = TIGHT, trace: Trace | None = None) -> tuple[Replay, Costs]:
    shared = readings(trace or session())
    done, full = replay(shared, policy), replay(shared, FULL)
    return done, costs(done, full, PRICES, "ideal", Calibration())


def told(**given: Any) -> Measures:
    return Measures(**given)


def test_the_answer_tells_both_costs_and_the_change_growth_as_growth() -> None:
    done, found = lived()
    said = answer(done, found)
    assert said.startswith("Over 40 recorded model calls this policy would have cost $")
    assert f"{money(found.bill.total)}, {money(found.full.total)} with full history: +" in said
    assert "on prompts" in said


def test_a_policy_that_changes_nothing_makes_no_difference() -> None:
    done, found = lived(Policy(stages=()))
    assert answer(done, found).endswith("with full history: no difference. ")


def test_without_prices_the_answer_tells_tokens() -> None:
    done, _ = lived()
    sent = sum(each.tokens for each in done.calls)
    assert f"would have sent {sent:,} tokens" in answer(done, None)
    assert "$" not in answer(done, None)


def test_what_was_lost_is_told_by_measure() -> None:
    said = lost_sentence(
        told(
            recall=Share(95, 100), sole_source=Share(7, 10), quotes=Share(3, 4), instructions=Share(18, 20),
            faults=Counter({"a result without its call": 1}),
        )
    )  # fmt: skip
    assert said == (
        "What it lost: 5 of 100 identifiers that the agent used again were gone, 3 of them told by a tool's result "
        "alone; 1 of 4 texts that edits quote could not be read any more; instructions did not stand byte for byte "
        "2 times; 1 half of a call and its result stood alone."
    )


def test_nothing_lost_is_said_and_so_is_that_nothing_was_asked() -> None:
    kept = "Every instruction stands byte for byte and no call lost its result."
    good = told(recall=Share(3, 3), instructions=Share(2, 2))
    assert lost_sentence(good) == f"Nothing that the agent went on to use was missing. {kept}"
    assert lost_sentence(told()).startswith("The agent used nothing again that it had seen")


def test_measures_say_whether_their_target_is_met() -> None:
    rows = {each.name: each for each in measures(told(recall=Share(994, 1_000), quotes=Share(98, 100)), None)}
    assert list(rows) == [f"M{n}" for n in range(1, 10)]
    assert (rows["M1"].met, rows["M1"].value, rows["M1"].target) == (False, "99.40 %", "≥ 99.5 %")
    assert (rows["M9"].met, rows["M9"].listed) == (True, True)
    assert (rows["M2"].met, rows["M2"].value) == (True, "nothing asked")
    assert (rows["M5"].target, rows["M6"].met, rows["M8"].value) == ("100 %", True, "no prices")
    assert (rows["M3"].met, rows["M7"].met) == (None, None)


def test_a_ratio_below_one_is_never_shown_as_all() -> None:
    assert [per_cent(ratio) for ratio in (1.0, 0.99999, 0.5)] == ["100 %", "99.99 %", "50.00 %"]


def test_losses_are_grouped_as_a_report_groups_them() -> None:
    losses = [
        Loss("M2", 5, "b", "e1", 2),
        Loss("M1", 9, "a", "e2", 1),
        Loss("M2", 6, "c", "e3", 1),
        Loss("M2", 7, "c", "e3", 2),
    ]
    found = lost(losses)
    assert [(each.measure, each.what, each.calls, each.call, each.distance) for each in found] == [
        ("M1", "a", 1, 9, 1), ("M2", "c", 2, 6, 1), ("M2", "b", 1, 5, 2),
    ]  # fmt: skip
    assert lost([]) == ()


def test_passes_are_told_with_whether_they_paid() -> None:
    done, found = lived()
    rows = made(done, found)
    assert rows
    assert [each.call for each in rows] == [each.call for each in found.paybacks]
    assert all((each.net is not None) and each.gain > 0 and each.event_id for each in rows)
    unpriced = made(done, None)
    assert [(each.call, each.net, each.even) for each in unpriced] == [(each.call, None, "") for each in rows]
    assert made(lived(Policy(stages=()))[0], None) == []


def test_a_pass_that_freed_nothing_is_on_the_chart_and_not_in_the_list() -> None:
    done, found = lived(Policy(stages=(), protect_recent=99, budget=Budget(900)))
    assert done.passes
    assert made(done, found) == []
    assert {mark["gains"] for mark in drawn(done, found, Budget(900), 900, (1, 40), "v")["marks"]} == {False}


def test_without_a_budget_rewritten_prompts_are_counted() -> None:
    done, found = lived()
    assert rewritten(lived(Policy(stages=("stale-reads",)))[0]) > rewritten(done) == len(made(done, found)) > 0
    assert rewritten(lived(Policy(stages=()))[0]) == 0


def test_a_trace_without_times_is_recognised() -> None:
    assert is_timeless(replay(session(step=0), FULL)) is False  # all at one time: the cache is warm, and that is known
    bare = session()
    for event in bare.events:
        event["timestamp"] = 0
    assert is_timeless(replay(bare, FULL)) is True
    assert is_timeless(replay(session(), FULL)) is False


def test_an_event_is_placed_in_its_window_and_the_last_is_the_default() -> None:
    found = places(session())
    assert found["u"] == ("1", 1)
    assert found["r39"] == ("", 81)


@pytest.mark.parametrize(
    ("given", "expected"),
    [("", (1, 40)), ("3-9", (3, 9)), ("3-900", (3, 40)), ("9-3", (1, 40)), ("0-3", (1, 40)), ("x-y", (1, 40)),
     ("39-39", (1, 40)), ("1-99999999999999999999999", (1, 40)), ("٣-٩", (1, 40))],
)  # fmt: skip
def test_a_range_that_makes_no_sense_is_all_calls(given: str, expected: tuple[int, int]) -> None:
    assert span(given, 40) == expected


def test_changes_have_their_sign() -> None:
    assert [change(*pair) for pair in ((80, 100), (110, 100), (1, 1), (1, 0))] == [
        "−20.0 %",
        "+10.0 %",
        "0.0 %",
        "0.0 %",
    ]
    assert [money(sum) for sum in (1_234.5, 0.01234, 0)] == ["$1,234.50", "$0.0123", "$0.00"]


def test_the_chart_is_given_what_each_call_costs_in_parts_that_add_up() -> None:
    done, found = lived()
    data = drawn(done, found, TIGHT.budget, 2_000, (1, 40), "v")
    cost = data["cost"]
    for place, charge in enumerate(found.bill.charges):
        parts = cost["read"][place] + cost["fresh"][place] + cost["output"][place]
        assert parts == pytest.approx(charge.cost, abs=3e-7)
    assert cost["spent"] == pytest.approx([charge.cost for charge in found.full.charges], abs=1e-6)
    assert {mark["call"] for mark in data["marks"] if mark["gains"]} == {each.call for each in made(done, found)}
    assert data["windows"] == [each.window for each in done.calls]


def test_the_chart_has_no_thresholds_without_a_budget_and_no_bars_without_prices() -> None:
    done, found = lived(Policy(stages=("stale-reads",)))
    assert [name for name, _, _ in drawn(done, found, None, 2_000, (1, 40), "v")["thresholds"]] == ["window 2,000"]
    assert drawn(done, None, None, 2_000, (1, 40), "v")["cost"] is None
    low = drawn(done, found, Budget(2_000, max_prompt_tokens=750), 2_000, (1, 40), "v")["thresholds"][1]
    assert low == ("low 75 %", 750.0, "threshold")
