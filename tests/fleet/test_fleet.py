"""A fleet on two real worker processes: every trace once, whatever dies, stops or is broken."""

from __future__ import annotations

import json
import os
import signal
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from fleets import (
    CELLS,
    MODEL,
    ORDER,
    all_of,
    held,
    in_folder,
    in_lines,
    in_parquet,
    in_zip,
    messages,
    stored,
    swept,
)

from context_gc import load_traces
from context_gc.fleet import Order, find, local
from context_gc.fleet.cluster import batches, run
from context_gc.replay.prices import prices_of
from context_gc.replay.sweep import sweep

pytest.importorskip("distributed", reason="dask is not installed: pip install 'context-gc[fleet]'")
pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install 'context-gc[fleet]'")


@pytest.fixture(scope="module")
def client():
    with local(2) as found:
        yield found


def names(count):
    return [f"run-{number}.json" for number in range(count)]


@dataclass(frozen=True, slots=True)
class Deadly(Order):
    """Kills its worker at traces of the model `deadly`: each time, or only while a file is not there."""

    until: str = ""

    def window(self, model):
        if model == "deadly" and not (self.until and Path(self.until).exists()):
            Path(self.until or os.devnull).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super(Deadly, self).window(model)


def deadly(path, count, at):
    """A data set with one row of the model `deadly`, counted from 1."""
    models = ["deadly" if number == at else MODEL for number in range(1, count + 1)]
    lines = [{"messages": messages(number), "model": model} for number, model in enumerate(models, 1)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return path


def numbered(count):
    return [f"runs.jsonl#{number}" for number in range(1, count + 1)]


def test_a_worker_that_is_killed_while_it_sweeps_loses_no_row_and_doubles_none(tmp_path, client):
    source, mark = deadly(tmp_path / "runs.jsonl", 32, at=16), tmp_path / "killed"
    before = set(client.run(os.getpid).values())
    found = swept(source, tmp_path / "out", client, order=Deadly(ORDER.grid, model=MODEL, until=str(mark)))
    assert mark.exists()
    assert not before <= set(client.run(os.getpid).values())
    assert held(tmp_path / "out") == all_of(numbered(32))
    assert (found.traces, found.faults) == (32, [])


def test_what_a_killed_worker_had_done_and_not_yet_handed_over_is_done_again(tmp_path, client):
    source, killed = in_folder(tmp_path / "runs", 24), []

    def kill(done, of):
        if done >= of // 2 and not killed:
            killed.extend(client.run(os.getpid).values())
            os.kill(killed[0], signal.SIGKILL)

    found = swept(source, tmp_path / "out", client, told=kill)
    assert killed
    assert held(tmp_path / "out") == all_of(names(24))
    assert (found.traces, found.faults) == (24, [])


def test_a_trace_that_kills_every_worker_is_a_row_and_its_neighbours_are_swept(tmp_path, client):
    units = find(str(deadly(tmp_path / "runs.jsonl", 34, at=2))).units
    (first, *_) = batches(units, 2)
    assert [unit.row for unit in first] == [1, 2]
    client.cluster.scheduler.allowed_failures = 0
    kept = []
    run(client, units, Deadly(ORDER.grid), lambda batch, rows: kept.extend(rows))
    dead = [row for row in kept if row["state"] == "failed"]
    assert [row["unit"] for row in dead] == ["runs.jsonl#2"]
    assert "every worker that read it died" in dead[0]["error"]
    assert Counter(row["unit"] for row in kept) == {**dict.fromkeys(numbered(34), CELLS), "runs.jsonl#2": 1}


def test_what_an_interrupted_run_has_done_is_not_done_again(tmp_path, client):
    source, out = in_folder(tmp_path / "runs", 20), tmp_path / "out"

    class Stopped(Exception):
        pass

    def stop(done, of):
        if done >= of // 2:
            raise Stopped

    with pytest.raises(Stopped):
        swept(source, out, client, told=stop)
    before = {path.name: path.stat().st_mtime_ns for path in (out / "rows").iterdir()}
    assert 0 < len(stored(out)) < 20 * CELLS

    heard = []
    found = swept(source, out, client, told=lambda done, of: heard.append(done))
    assert {name: (out / "rows" / name).stat().st_mtime_ns for name in before} == before
    assert (found.before, found.traces, heard[-1]) == (10, 20, 20)
    assert held(out) == all_of(names(20))
    again = swept(source, tmp_path / "whole", client)
    assert [row.to_dict() for row in found.rows] == [row.to_dict() for row in again.rows]


@pytest.mark.parametrize("made", [in_folder, in_zip, in_lines, in_parquet], ids=lambda made: made.__name__)
def test_every_kind_of_source_gives_what_a_sweep_of_its_traces_gives(made, tmp_path, client):
    count = 9
    source = made(tmp_path / f"runs.{made.__name__}", count)
    found = swept(source, tmp_path / "out", client)
    paths = sorted(in_folder(tmp_path / "alone", count).iterdir())
    traces = [replace(load_traces(str(path))[0], model=MODEL) for path in paths]
    alone = sweep(traces, ORDER.cells(1_000_000), prices_of(MODEL), processes=1)
    assert (found.traces, found.faults) == (count, [])
    assert [each.method for each in found.rows] == [each.method for each in alone]
    for here, there in zip(found.rows, alone, strict=True):
        assert here.to_dict() == pytest.approx(there.to_dict())
        assert here.measures.recall == there.measures.recall


def test_a_bad_trace_is_a_row_with_its_error(tmp_path, client):
    source = in_folder(tmp_path / "runs", 3)
    events = [{"id": 1, "type": "decision", "timestamp": 1, "content": "x"}]
    (source / "broken.json").write_text(json.dumps({"events": events}), "utf-8")
    (source / "silent.json").write_text('[{"role": "user", "content": "hello?"}]', "utf-8")
    (source / "README.md").write_text("These are our runs.\n", "utf-8")
    found = swept(source, tmp_path / "out", client)
    assert (found.traces, found.others) == (3, 1)
    (broken, first), (silent, second) = found.faults
    assert (broken, silent) == ("broken.json", "silent.json")
    assert "none of its 1" in first
    assert "it has no model call" in second
    assert len(stored(tmp_path / "out")) == 3 * CELLS + 3


def test_a_model_that_is_not_known_is_an_error_of_its_traces_alone(tmp_path, client):
    source = tmp_path / "runs.jsonl"
    models = [MODEL, "house-1", MODEL]
    lines = [{"messages": messages(n), "model": model} for n, model in enumerate(models)]
    source.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    found = swept(source, tmp_path / "out", client, order=Order(ORDER.grid))
    assert found.traces == 2
    assert [unit for unit, _ in found.faults] == ["runs.jsonl#2"]
    assert "'house-1' is not known" in found.faults[0][1]


def test_a_limit_can_be_raised_later(tmp_path, client):
    source = in_lines(tmp_path / "runs.jsonl", 6)
    assert swept(source, tmp_path / "out", client, limit=2).traces == 2
    assert swept(source, tmp_path / "out", client).traces == 6
    assert held(tmp_path / "out") == all_of(f"runs.jsonl#{number}" for number in range(1, 7))
