"""Grids, sweeps and the advice that follows from them."""

from __future__ import annotations

from dataclasses import replace as changed

import pytest
from replayed import calls, result, says, traced, user

from context_gc import InvalidPolicy, Policy, TraceError
from context_gc.replay.advice import CONDITIONS, misses, recommend
from context_gc.replay.baselines import BASELINES, FULL, Masking
from context_gc.replay.grid import DEFAULT, STAGE_SETS, cells, load
from context_gc.replay.measures import Measures, Share
from context_gc.replay.prices import prices_of
from context_gc.replay.sweep import Row, sweep

PRICES = prices_of("claude-sonnet-4-5")


def session(turns):
    """An agent that reads one file after the other, in prompts that grow by about 600 tokens a turn."""
    events = [user("Read everything under src and tell what is there.")]
    for turn in range(turns):
        events += [
            calls("read", path=f"src/part_{turn}.py"),
            result(f"e{len(events)}", f"VALUE_{turn} = {turn}\n" + "x = compute(value, other)\n" * 60),
        ]
    return traced(*events, says("VALUE_0 is the first."), model="claude-sonnet-4-5")


# grids


def test_a_grid_is_every_combination_of_its_lists():
    found = cells({"stubs": ["always", "worthwhile"], "protect_recent": [0, 3]})
    assert [tuple(cell.values.values()) for cell in found] == [
        ("always", 0),
        ("always", 3),
        ("worthwhile", 0),
        ("worthwhile", 3),
    ]
    assert found[3].method.policy == Policy(stubs="worthwhile", protect_recent=3)
    assert found[3].method.name == "stubs=worthwhile, protect_recent=3"


def test_combinations_that_differ_in_nothing_stand_once():
    # without the stage and without a budget nothing is clipped
    found = cells({"stages": ["default", "all"], "clip_over": [500, 900]})
    assert [cell.method.policy.stages for cell in found] == [STAGE_SETS["default"], *[STAGE_SETS["all"]] * 2]


def test_keys_of_the_budget_make_a_budget():
    (found,) = cells({"max_tokens": [50_000], "min_gain": 1_000})
    assert found.method.policy.budget.min_gain == 1_000


def test_the_window_is_taken_from_outside_where_the_grid_does_not_say_it():
    (found,) = cells({"min_gain": [1_000]}, max_tokens=70_000)
    assert found.method.policy.budget.max_tokens == 70_000


def test_combinations_that_contradict_themselves_are_left_out():
    found = cells({"threshold_low": [0.5, 0.95], "max_tokens": [50_000]})
    assert [cell.values["threshold_low"] for cell in found] == [0.5]


def test_a_list_of_stages_is_one_value_and_a_list_of_lists_several():
    assert len(cells({"stages": ["overrides", "cycles"]})) == 1
    assert len(cells({"stages": [["overrides"], ["cycles"]]})) == 2


@pytest.mark.parametrize(
    ("grid", "told"),
    [
        ({"colour": [1]}, "unknown key 'colour'"),
        ({"clip_over": []}, "clip_over has no values"),
        ({"stages": ["everything"]}, "unknown set of stages 'everything'"),
        ({"threshold_low": [0.95], "max_tokens": [50_000]}, "threshold_low is 0.95 and threshold_high is 0.92"),
        ({"clip_over": list(range(1, 200)), "min_gain": list(range(1, 200)), "max_tokens": 9}, "at most 10,000"),
        ({"min_gain": [5]}, "max_tokens is missing"),
    ],
)
def test_a_bad_grid_says_what_is_wrong(grid, told):
    with pytest.raises(InvalidPolicy, match=told):
        cells(grid)


def test_a_grid_is_read_from_toml(tmp_path):
    path = tmp_path / "grid.toml"
    path.write_text('stages = ["none", "all"]\nclip_over = [500]\n', "utf-8")
    assert len(cells(load(str(path)))) == 2


@pytest.mark.parametrize("name", ["nowhere.toml", "."])
def test_a_grid_that_cannot_be_read_is_named(tmp_path, name):
    with pytest.raises(InvalidPolicy, match="the grid cannot be read"):
        load(str(tmp_path / name))


def test_the_grid_that_is_shipped_has_policies():
    assert len(cells(DEFAULT, max_tokens=200_000)) >= 27


# sweeps


def test_the_full_history_costs_what_it_costs():
    (row,) = sweep([session(6)], [FULL], PRICES, processes=1)
    assert (row.cost, row.floor, row.passes) == (1.0, 1.0, 0)
    assert not misses(row)


def test_sliding_masks_cost_more_than_they_save_where_only_the_system_prompt_survives():
    traces = [session(40)]
    sliding, batched = sweep(traces, [Masking(3), Masking(3, batch=6_000)], PRICES, processes=1)
    assert sliding.tokens < batched.tokens
    assert batched.cost < 1 < sliding.floor
    assert batched.floor < sliding.floor


def test_every_row_comes_in_the_order_of_its_cell_also_from_other_processes():
    grid = cells({"max_prompt_tokens": [2_000, 4_000, 8_000], "min_gain": [500], "max_tokens": [20_000]})
    heard = []
    alone = sweep([session(12)], grid, PRICES, processes=1)
    spread = sweep([session(12)], grid, PRICES, processes=2, told=lambda done, of: heard.append((done, of)))
    assert [row.to_dict() for row in spread] == [row.to_dict() for row in alone]
    assert heard == [(1, 3), (2, 3), (3, 3)]


def test_several_traces_add_up():
    one, two = (sweep(traces, [FULL], PRICES, processes=1)[0] for traces in ([session(5)], [session(5), session(5)]))
    assert (two.tokens, two.calls) == (2 * one.tokens, 2 * one.calls)
    assert two.cost == 1.0


def test_a_trace_without_calls_or_with_an_unknown_model_says_so():
    with pytest.raises(TraceError, match="no model call"):
        sweep([traced(user("hi"), model="claude-sonnet-4-5")], [FULL], processes=1)
    with pytest.raises(InvalidPolicy, match="'house-1' is not known"):
        sweep([changed(session(3), model="house-1")], [FULL], processes=1)


# advice


def row(name, cost, floor=None, passes=0, **broken):
    told = Measures()
    for measure, ratio in broken.items():
        setattr(told, measure, Share(round(1_000 * ratio), 1_000))
    policy = Policy(protect_ids=(name,))
    return Row(name, {"n": name}, policy, cost, floor or cost, 1.0, 1, 1, 1, passes, 0, told)


def test_the_cheapest_that_loses_nothing_is_recommended():
    rows = [row("dear", 0.9), row("cheap", 0.5), row("lossy", 0.3, recall=0.99)]
    told = recommend(rows)
    assert told.best.method == "cheap"
    assert [each.method for each in told.runners_up] == ["dear"]
    assert told.price_of["M1"] == pytest.approx(0.2)
    assert told.price_of["M2"] == 0
    assert told.failing["M1"] == 1


@pytest.mark.parametrize(
    ("measure", "good", "bad"),
    [("recall", 0.995, 0.994), ("sole_source", 0.97, 0.969), ("instructions", 1.0, 0.999), ("quotes", 0.98, 0.979)],
)
def test_each_condition_holds_at_its_border_and_not_below(measure, good, bad):
    assert not misses(row("a", 1, **{measure: good}))
    assert len(misses(row("a", 1, **{measure: bad}))) == 1


def test_one_fault_of_integrity_is_too_many():
    broken = row("a", 0.1)
    broken.measures.faults["a result without its call"] = 1
    assert misses(broken) == {"M6"}
    assert recommend([broken, row("b", 0.9)]).best.method == "b"


def test_where_nothing_meets_the_conditions_nothing_is_recommended():
    told = recommend([row("a", 0.5, recall=0.5)])
    assert (told.best, told.runners_up, set(told.price_of)) == (None, (), set(CONDITIONS))


def test_ties_go_to_fewer_passes_and_floor_ranks_by_the_other_cost():
    rows = [row("many", 0.5, 0.6, 9), row("few", 0.5, 0.9, 1)]
    assert recommend(rows).best.method == "few"
    assert recommend(rows, floor=True).best.method == "many"


def test_a_baseline_is_never_recommended():
    rows = sweep([session(5)], [*BASELINES], PRICES, processes=1)
    assert recommend(rows).best is None
