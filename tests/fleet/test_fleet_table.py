"""The table of a fleet: what a second run may go on with, what it refuses, what is damaged."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from dataclasses import replace

import pytest
from fleets import CELLS, MODEL, ORDER, held, in_lines, stored, swept

from context_gc import StoreError
from context_gc.fleet import Order, find, sweep_fleet

pytest.importorskip("distributed", reason="dask is not installed: pip install 'context-gc[fleet]'")
pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install 'context-gc[fleet]'")


@pytest.fixture(scope="module")
def client():
    """A worker in this process: what is tested here is what is kept."""
    from distributed import Client

    with Client(n_workers=1, threads_per_worker=1, processes=False, dashboard_address="127.0.0.1:0") as found:
        yield found


@pytest.fixture
def source(tmp_path):
    return in_lines(tmp_path / "runs.jsonl", 5)


@contextmanager
def nobody():
    raise AssertionError("there was nothing to do")
    yield


def test_a_run_that_has_nothing_to_do_asks_for_no_workers(source, tmp_path, client):
    first = swept(source, tmp_path / "out", client)
    again = sweep_fleet(find(str(source)), ORDER, str(tmp_path / "out"), nobody)
    assert [row.to_dict() for row in again.rows] == [row.to_dict() for row in first.rows]


@pytest.mark.parametrize(
    ("other", "named"),
    [
        (Order({"min_gain": [300]}, model=MODEL), "another grid"),
        (replace(ORDER, max_tokens=50_000), "another window"),
        (replace(ORDER, model="gpt-5", max_tokens=9_000), "another model, window"),
        (replace(ORDER, prices={MODEL: {"input": 9}}), "another prices"),
    ],
    ids=["grid", "window", "two", "prices"],
)
def test_a_sweep_with_other_settings_is_refused_unless_it_starts_anew(other, named, source, tmp_path, client):
    swept(source, tmp_path / "out", client, limit=2)
    before = stored(tmp_path / "out")
    with pytest.raises(StoreError, match=f"it holds a sweep with {named} .*--force"):
        swept(source, tmp_path / "out", client, limit=2, order=other)
    assert stored(tmp_path / "out") == before
    swept(source, tmp_path / "out", client, limit=1, order=other, force=True)
    assert {row["unit"] for row in stored(tmp_path / "out")} == {"runs.jsonl#1"}


def test_another_source_is_refused(source, tmp_path, client):
    swept(source, tmp_path / "out", client, limit=1)
    with pytest.raises(StoreError, match="another source"):
        swept(in_lines(tmp_path / "other.jsonl", 2), tmp_path / "out", client)


def test_a_source_that_has_grown_is_gone_on_with_and_one_that_was_rewritten_is_refused(source, tmp_path, client):
    swept(source, tmp_path / "out", client)
    more = in_lines(tmp_path / "more.jsonl", 6)
    shutil.copy(more, source)
    assert swept(source, tmp_path / "out", client).traces == 6
    source.write_text(source.read_text("utf-8").replace("Read everything", "Read all"), "utf-8")
    with pytest.raises(StoreError, match="6 of the traces that it holds have changed since"):
        swept(source, tmp_path / "out", client)


def test_a_damaged_part_is_named_and_without_it_what_stood_in_it_is_swept_again(source, tmp_path, client):
    swept(source, tmp_path / "out", client)
    whole = held(tmp_path / "out")
    part = sorted((tmp_path / "out" / "rows").iterdir())[0]
    part.write_bytes(part.read_bytes()[:100])
    with pytest.raises(StoreError, match=f"{part.name} is damaged.*delete it"):
        swept(source, tmp_path / "out", client)
    part.unlink()
    found = swept(source, tmp_path / "out", client)
    assert (found.traces, found.before) == (5, 4)
    assert held(tmp_path / "out") == whole


def test_a_trace_that_stands_in_two_parts_is_not_counted_twice(source, tmp_path, client):
    swept(source, tmp_path / "out", client)
    part = sorted((tmp_path / "out" / "rows").iterdir())[0]
    shutil.copy(part, part.with_name("part-copy.parquet"))
    with pytest.raises(StoreError, match=r"stands in part-.* and in part-.*delete one of them"):
        swept(source, tmp_path / "out", client)


def test_what_a_killed_process_left_half_written_is_no_part(source, tmp_path, client):
    swept(source, tmp_path / "out", client)
    (tmp_path / "out" / "rows" / ".part-1.parquet.x.tmp").write_bytes(b"PAR1")
    assert swept(source, tmp_path / "out", client).traces == 5


def test_rows_add_up_to_the_totals_exactly(source, tmp_path, client):
    from pyarrow import parquet

    swept(source, tmp_path / "out", client)
    rows, totals = stored(tmp_path / "out"), parquet.read_table(tmp_path / "out" / "totals.parquet").to_pylist()
    assert [total["cell"] for total in totals] == list(range(CELLS))
    for total in totals:
        mine = [row for row in rows if row["cell"] == total["cell"]]
        for name in ("recall_kept", "recall_of", "quotes_of", "recovered", "prompt_tokens", "calls", "passes"):
            assert total[name] == sum(row[name] for row in mine)
        assert total["peak"] == max(row["peak"] for row in mine)
        assert (total["traces"], total["window"]) == (5, 200_000)
        assert total["prompts"] == pytest.approx(sum(row["prompts"] for row in mine))
    assert sum(total["recovered"] for total in totals) > 0
