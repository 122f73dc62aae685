"""Sweeps beside the server: the same rows as in this process, never twice, stopped, failed, and left alone."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import streamlit

from context_gc import Budget, Policy, Trace, Window
from context_gc.inspector.tune_scatter import points, tip
from context_gc.inspector.tune_sweep import Run, _environment, runs, start, stop
from context_gc.inspector.tune_worker import Order, lighter
from context_gc.replay.advice import recommend
from context_gc.replay.baselines import FULL, LastEvents
from context_gc.replay.grid import cells
from context_gc.replay.measures import Loss, Measures, Share
from context_gc.replay.prices import Prices, prices_of
from context_gc.replay.sweep import Row, prepare, sweep

SONNET = prices_of("claude-sonnet-4-5")
GRID = {"max_tokens": [4_000], "stages": ["lossless"], "min_gain": [100, 800], "recent_observations": [2, 5]}


def session(turns: int = 30) -> Trace:
    """Reads of five files again and again; each is named in what the agent says later."""
    events: list[dict[str, Any]] = [
        {"id": "u", "type": "requirement", "timestamp": 1, "content": "Look", "tags": ["user"]}
    ]
    for turn in range(turns):
        events += [
            {"id": f"c{turn}", "type": "tool_call", "timestamp": 1 + turn, "tool_name": "Read",
             "arguments": {"file_path": f"src/f_{turn % 5}.py"}},
            {"id": f"r{turn}", "type": "tool_result", "timestamp": 1 + turn, "call_id": f"c{turn}",
             "result": f"value_{turn} = {turn}\n" * 40},
            {"id": f"d{turn}", "type": "decision", "timestamp": 1 + turn,
             "content": f"So value_{max(0, turn - 9)} it is"},
        ]  # fmt: skip
    return Trace(events, "native", windows=[Window(0, len(events))], model="claude-sonnet-4-5")


def order(trace: Trace | None = None, prices: Prices = SONNET, processes: int = 1) -> Order:
    return Order([("a trace", trace or session(), prices)], [FULL, LastEvents(6), *cells(GRID)], processes)


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    streamlit.cache_resource.clear()
    yield
    for run in list(runs().values()):
        stop(run)


def finished(run: Run) -> Run:
    assert run.thread is not None
    run.thread.join(60)
    assert not run.is_running
    return run


@pytest.mark.parametrize("processes", [1, 2])
def test_a_sweep_beside_the_server_finds_what_one_in_this_process_finds(processes: int) -> None:
    run = finished(start(order(processes=processes), "scope", ""))
    here = sweep([prepare(session(), SONNET)], [FULL, LastEvents(6), *cells(GRID)], processes=1)
    assert run.fault == ""
    assert [row.to_dict() for row in run.rows] == [row.to_dict() for row in here]
    assert (run.done, run.of) == (len(here), len(here))


def test_the_same_sweep_is_begun_once_and_kept() -> None:
    first = start(order(), "scope", "")
    assert start(order(), "scope", "") is first
    finished(first)
    assert start(order(), "scope", "") is first
    assert list(runs().values()) == [first]


def test_another_trace_or_other_prices_are_another_sweep() -> None:
    keys = {
        start(order(), "scope", "").key,
        start(order(), "another scope", "").key,
        start(order(prices=SONNET.for_an_hour()), "scope", "").key,
    }
    assert len(keys) == 3


def test_a_sweep_that_is_stopped_ends_and_can_be_begun_anew() -> None:
    run = start(order(session(900)), "scope", "")
    stop(run)
    assert finished(run).rows == ()
    assert runs() == {}
    assert start(order(), "scope", "") is not run


def test_a_trace_that_cannot_be_replayed_is_left_out_and_told() -> None:
    quiet = Trace(
        [{"id": "u", "type": "requirement", "timestamp": 0, "content": "Hi"}], "native", windows=[Window(0, 1)]
    )
    both = Order([("quiet", quiet, SONNET), ("a trace", session(), SONNET)], [FULL, *cells(GRID)], 1)
    run = finished(start(both, "scope", ""))
    assert len(run.rows) == 5
    assert [told.partition(":")[0] for told in run.left_out] == ["quiet"]
    alone = finished(start(Order([("quiet", quiet, SONNET)], [FULL], 1), "scope", ""))
    assert "it has no model call" in alone.fault
    assert alone.rows == ()


def test_a_sweep_that_failed_is_begun_anew_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    failed = finished(start(order(), "scope", ""))
    assert "No such file" in failed.fault
    monkeypatch.undo()
    again = finished(start(order(), "scope", ""))
    assert again is not failed
    assert again.fault == ""


def test_a_process_that_dies_leaves_a_sweep_that_says_so() -> None:
    broken = Order([("a trace", session(), SONNET)], [object()], 1)  # type: ignore[list-item]  # no method
    run = finished(start(broken, "scope", ""))
    assert "AttributeError" in run.fault


@pytest.mark.skipif(os.name != "posix", reason="only there a process has a session of its own")
def test_a_worker_ends_when_nobody_listens_any_more() -> None:
    worker = subprocess.Popen(
        [sys.executable, "-m", "context_gc.inspector.tune_worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        env=_environment(), start_new_session=True,
    )  # fmt: skip
    assert worker.stdin is not None
    assert worker.stdout is not None
    worker.stdout.close()
    worker.stdin.write(pickle.dumps(order(session(300), processes=2)))
    worker.stdin.close()
    assert worker.wait(60) == -signal.SIGKILL


def test_only_recommended_rows_keep_the_list_of_what_was_lost() -> None:
    loss = Loss("M1", 3, "value_1", "r1", 2)

    def row(name: str, cost: float, kept: int) -> Row:
        told = Measures(recall=Share(kept, 1_000), lost=[loss])
        return Row(name, {"min_gain": 1}, Policy(), cost, 1 - cost, 1.0, 1, 1, 1, 0, 0, told)

    rows = [
        row("cheap but lossy", 0.1, 900),
        row("best", 0.4, 999),
        row("best at floor", 0.6, 999),
        row("dear", 0.5, 999),
    ]
    light = {each.method: each.measures for each in lighter(rows)}
    assert [name for name, told in light.items() if told.lost] == ["best", "best at floor"]
    assert [told.recall for told in light.values()] == [each.measures.recall for each in rows]
    assert all(each.measures.lost for each in rows)


def test_points_tell_their_kind_and_which_one_is_in_the_controls() -> None:
    rows = sweep([prepare(session(), SONNET)], [FULL, LastEvents(6), *cells(GRID)], processes=1)
    advice = recommend(rows)
    chosen = rows[3].policy
    assert chosen is not None
    data = points(rows, advice, "M1", False, chosen)
    by_place = {point["at"]: point for point in data["points"]}
    assert [by_place[at]["kind"] for at in (0, 1)] == ["baseline", "baseline"]
    assert [by_place[at]["loads"] for at in (0, 1)] == [True, False]
    assert [point["kind"] for point in data["points"]].count("best") == (advice.best is not None)
    (here,) = [point for point in data["points"] if point["chosen"]]
    assert (here["x"], here["y"]) == (rows[3].cost, rows[3].measures.recall.ratio)
    assert len(data["points"]) + sum(point["more"] for point in data["points"]) == len(rows)
    assert all(point["x"] == rows[point["at"]].cost for point in data["points"])
    assert all(point["x"] == rows[point["at"]].floor for point in points(rows, advice, "M2", True, chosen)["points"])
    assert "misses M1" in tip(rows[1])
    assert "misses" not in tip(rows[0])


def test_a_policy_that_is_in_no_row_is_not_marked() -> None:
    rows = sweep([prepare(session(), SONNET)], [FULL, *cells(GRID)], processes=1)
    data = points(rows, recommend(rows), "M1", False, Policy(budget=Budget(77)))
    assert not any(point["chosen"] for point in data["points"])
