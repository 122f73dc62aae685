"""The command `fleet`: what it prints and writes, and what it refuses with one line."""

from __future__ import annotations

import argparse
import socket

import pytest
from fleets import CELLS, MODEL, in_folder, stored

from context_gc import ContextGCError, InvalidPolicy, Policy, StoreError, TraceError
from context_gc.cli_fleet import add_commands
from context_gc.fleet import cluster

pytest.importorskip("distributed", reason="dask is not installed: pip install 'context-gc[fleet]'")
pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install 'context-gc[fleet]'")

GRID = "max_prompt_tokens = [1000, 4000]\nmin_gain = [300]\n"


@pytest.fixture
def fleet(tmp_path):
    """Run the command on the sessions in `runs`, with a small grid."""
    (tmp_path / "grid.toml").write_text(GRID, "utf-8")

    def run(*more, source="runs", out="out", model=MODEL, workers=("--workers", "1")):
        parser = argparse.ArgumentParser()
        add_commands(parser.add_subparsers())
        command = ["fleet", str(tmp_path / source), "--out", str(tmp_path / out), "--model", model]
        arguments = parser.parse_args([*command, "--grid", str(tmp_path / "grid.toml"), *workers, *more])
        return arguments.run(arguments)

    return run


def test_the_advice_is_printed_and_written_and_a_second_run_has_nothing_to_do(tmp_path, fleet, capsys):
    source = in_folder(tmp_path / "runs", 4)
    (source / "notes.txt").write_text("nothing", "utf-8")
    assert fleet() == 0
    told = capsys.readouterr()
    assert told.out.startswith("4 traces, 27 model calls")
    assert "*max_prompt_tokens=4,000" in told.out
    assert "1 file of no known format" in told.err
    policy = Policy.load(str(tmp_path / "out" / "policy.toml"))
    assert (policy.budget.max_prompt_tokens, policy.budget.min_gain) == (4_000, 300)
    assert len(stored(tmp_path / "out")) == 4 * CELLS + 1

    assert fleet() == 0
    again = capsys.readouterr()
    assert again.out == told.out
    assert "5 files or rows were there already" in again.err


def test_a_report_counts_all_traces_and_shows_the_first(tmp_path, fleet):
    source = in_folder(tmp_path / "runs", 8)
    (source / "empty.json").write_text("", "utf-8")
    assert fleet("--report", str(tmp_path / "report.html")) == 0
    told = (tmp_path / "report.html").read_text("utf-8")
    assert "11 policies on 8 traces with 55 model calls" in told
    assert "What it loses in the first 6 of 8 traces" in told
    assert told.count("<h3>") == 6


def test_what_could_not_be_swept_is_told_and_cannot_steer_the_terminal(tmp_path, fleet, capsys):
    source = in_folder(tmp_path / "runs", 1)
    for number in range(7):
        (source / f"empty\x1b[2J{number}.json").write_text("", "utf-8")
    fleet()
    told = capsys.readouterr().err
    assert "context-gc: empty\\x1b[2J0.json: the file is empty" in told
    assert "and 2 more that could not be swept" in told
    assert "\x1b" not in told


def test_where_no_trace_can_be_swept_the_first_error_is_told(tmp_path, fleet):
    in_folder(tmp_path / "runs", 2)
    with pytest.raises(ContextGCError, match="no trace could be swept: budget: the context window of 'house-1'"):
        fleet(model="house-1")


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:{port}", "nonsense://x"])
def test_a_scheduler_that_does_not_answer_is_told_within_seconds(address, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "PATIENCE", 0.5)
    told = address.format(port=free_port())
    with pytest.raises(ContextGCError, match="the scheduler cannot be reached"), cluster.remote(told):
        pass


def test_a_scheduler_without_workers_is_told_within_seconds(monkeypatch):
    from distributed import LocalCluster

    monkeypatch.setattr(cluster, "PATIENCE", 0.5)
    with (
        LocalCluster(n_workers=0, host="127.0.0.1", dashboard_address="127.0.0.1:0") as empty,
        pytest.raises(ContextGCError, match="the scheduler has no worker"),
        cluster.remote(empty.scheduler_address),
    ):
        pass


def test_a_scheduler_that_runs_already_is_used(tmp_path, fleet, capsys):
    from distributed import LocalCluster

    in_folder(tmp_path / "runs", 2)
    with LocalCluster(n_workers=1, processes=False, protocol="tcp", dashboard_address="127.0.0.1:0") as running:
        fleet("--scheduler", running.scheduler_address, workers=())
    assert capsys.readouterr().out.startswith("2 traces, 13 model calls")


def test_workers_here_and_a_scheduler_elsewhere_contradict_each_other(fleet):
    with pytest.raises(ContextGCError, match="give one of them"):
        fleet("--scheduler", "tcp://127.0.0.1:1")


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (lambda out: out.write_text("mine", "utf-8"), "it is no folder"),
        (lambda out: (out.mkdir(), (out / "thesis.txt").write_text("mine", "utf-8")), "it holds something else"),
        (lambda out: (out.mkdir(), (out / "fleet.json").write_text("{", "utf-8")), "fleet.json cannot be read"),
    ],
    ids=["a file", "a folder in use", "a damaged manifest"],
)
def test_an_out_that_is_not_ours_is_left_alone(made, told, tmp_path, fleet):
    in_folder(tmp_path / "runs", 1)
    made(tmp_path / "out")
    before = sorted((path.name, path.is_file() and path.read_bytes()) for path in tmp_path.rglob("*"))
    with pytest.raises(StoreError, match=told):
        fleet("--force")
    assert sorted((path.name, path.is_file() and path.read_bytes()) for path in tmp_path.rglob("*")) == before


def test_an_out_inside_the_source_is_refused(tmp_path, fleet):
    in_folder(tmp_path / "runs", 1)
    with pytest.raises(StoreError, match="it is inside the source"):
        fleet(out="runs/out")


def test_a_grid_that_contradicts_itself_is_refused_before_anything_is_made(tmp_path, fleet):
    in_folder(tmp_path / "runs", 1)
    (tmp_path / "grid.toml").write_text("threshold_low = 0.95\n", "utf-8")
    with pytest.raises(InvalidPolicy, match=r"threshold_low is 0.95 and threshold_high is 0.92"):
        fleet()
    assert not (tmp_path / "out").exists()


def test_an_empty_source_is_refused(tmp_path, fleet):
    (tmp_path / "runs").mkdir()
    with pytest.raises(TraceError, match="there is no trace in it"):
        fleet()
