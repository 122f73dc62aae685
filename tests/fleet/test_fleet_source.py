"""Sources of a fleet: which units a folder, an archive or a data set has, and what is said where there are none."""

from __future__ import annotations

import json

import pytest
from fleets import in_folder, in_lines, in_parquet, in_zip, messages, rows

from context_gc import TraceError
from context_gc.fleet.source import find
from context_gc.fleet.work import traces_of


@pytest.fixture(autouse=True)
def _parquet():
    pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install 'context-gc[fleet]'")


def keys(source, column=""):
    return [unit.key for unit in find(str(source), column).units]


def lines(path, *values):
    path.write_text("".join(json.dumps(value) + "\n" for value in values), "utf-8")
    return path


@pytest.mark.parametrize("made", [in_folder, in_zip], ids=lambda made: made.__name__)
def test_each_file_is_a_unit(made, tmp_path):
    found = keys(made(tmp_path / "runs", 3))
    assert [name.removeprefix("runs/") for name in found] == ["run-0.json", "run-1.json", "run-2.json"]


@pytest.mark.parametrize("made", [in_lines, in_parquet], ids=lambda made: made.__name__)
def test_each_row_of_a_data_set_is_a_unit(made, tmp_path):
    assert keys(made(tmp_path / "runs", 6)) == [f"runs#{number}" for number in range(1, 7)]


def test_data_sets_in_a_folder_count_by_row_too(tmp_path):
    source = in_folder(tmp_path / "runs", 1)
    in_lines(source / "more.jsonl", 2)
    in_parquet(source / "part.parquet", 2)
    assert keys(source) == ["more.jsonl#1", "more.jsonl#2", "part.parquet#1", "part.parquet#2", "run-0.json"]


def test_a_file_of_one_trace_is_one_unit(tmp_path):
    events = [{"id": f"e{n}", "type": "decision", "timestamp": n, "content": "x"} for n in range(3)]
    assert keys(lines(tmp_path / "trace.jsonl", *events)) == ["trace.jsonl"]
    assert keys(lines(tmp_path / "one.jsonl", {"messages": messages(0)})) == ["one.jsonl"]


def test_a_log_whose_rows_repeat_each_other_is_one_unit(tmp_path):
    talk = messages(0)
    source = lines(tmp_path / "log.jsonl", *({"messages": talk[:size]} for size in (3, 5, 7)))
    assert keys(source) == ["log.jsonl"]
    assert keys(source, "messages") == ["log.jsonl#1", "log.jsonl#2", "log.jsonl#3"]


def test_lines_of_which_a_trace_needs_several_are_one_unit(tmp_path):
    base = {"trace_id": "t", "run_type": "llm", "dotted_order": "1", "inputs": {}, "outputs": {}}
    source = lines(tmp_path / "runs.jsonl", *({**base, "id": str(n), "events": [{"name": "start"}]} for n in range(3)))
    assert keys(source) == ["runs.jsonl"]


def test_files_that_belong_together_are_one_unit(tmp_path):
    task = tmp_path / "tasks" / "task-1"
    task.mkdir(parents=True)
    for name in ("api_conversation_history.json", "ui_messages.json"):
        (task / name).write_text("[]", "utf-8")
    (found,) = find(str(tmp_path / "tasks")).units
    assert (found.kind, found.format, len(found.files)) == ("group", "cline", 2)


def test_blank_lines_are_no_rows_and_numbers_are_those_of_lines(tmp_path):
    text = "\n\n".join(map(json.dumps, rows(2))) + "\n"
    (tmp_path / "runs.jsonl").write_text(text, "utf-8")
    units = find(str(tmp_path / "runs.jsonl")).units
    assert [unit.row for unit in units] == [1, 3]
    assert [next(traces_of(unit)).title for unit in units] == ["run-0", "run-1"]


@pytest.mark.parametrize(
    "value",
    [
        messages(0),
        json.dumps(messages(0)),
        {"messages": messages(0)},
        json.dumps({"messages": messages(0)}),
        "\n".join(map(json.dumps, messages(0))),
    ],
    ids=["list", "text of a list", "object", "text of an object", "text of lines"],
)
@pytest.mark.parametrize("column", ["trajectory", "conversations", "my_runs"])
def test_a_column_may_hold_a_trace_in_any_shape(value, column, tmp_path):
    source = lines(tmp_path / "runs.jsonl", *({"id": n, "model": "gpt-5", column: value} for n in range(2)))
    units = find(str(source), "my_runs" if column == "my_runs" else "").units
    assert len(units) == 2
    (trace,) = traces_of(units[1])
    assert (trace.title, trace.model) == ("1", "gpt-5")
    assert len(trace.events) >= len(messages(0))


def test_nulls_by_which_parquet_fills_up_structs_are_left_out(tmp_path):
    from context_gc.fleet.parquet import parquet_row

    unit = find(str(in_parquet(tmp_path / "runs.parquet", 6))).units[5]
    assert parquet_row(str(tmp_path / "runs.parquet"), unit.start, unit.row, unit.size) == rows(6)[5]


def test_an_empty_folder_says_so(tmp_path):
    with pytest.raises(TraceError, match="there is no trace in it: it is empty"):
        find(str(tmp_path))


def test_what_is_not_there_says_so(tmp_path):
    with pytest.raises(TraceError, match="gone: it cannot be read: no such file"):
        find(str(tmp_path / "gone"))


def test_a_data_set_without_a_column_for_traces_says_which_it_has(tmp_path):
    import pyarrow
    from pyarrow import parquet

    path = tmp_path / "runs.parquet"
    parquet.write_table(pyarrow.table({"prompt": ["a"], "score": [1]}), path)
    with pytest.raises(TraceError, match=r"no column is known to hold a trace .*it has: prompt, score"):
        find(str(path))
    with pytest.raises(TraceError, match="there is no column 'run'"):
        find(str(path), "run")
    with pytest.raises(TraceError, match=r"there is no column 'run' in its first row .it has: instance_id, messages"):
        find(str(in_lines(tmp_path / "runs.jsonl", 2)), "run")


def test_a_damaged_data_set_in_a_folder_is_told_and_the_others_are_read(tmp_path):
    source = in_folder(tmp_path / "runs", 1)
    (source / "cut.parquet").write_bytes(b"PAR1" + bytes(20))
    found = find(str(source))
    assert [unit.key for unit in found.units] == ["run-0.json"]
    assert "cut.parquet: the Parquet file cannot be read" in found.problems[0]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('{"messages": ', "the row is not JSON"),
        ("[1, 2]", "the row is no JSON object"),
        ('{"id": 1}', "there is nothing in the column 'messages'"),
        ('{"messages": "Dear diary"}', "the column 'messages' holds no trace"),
    ],
)
def test_a_row_that_holds_no_trace_says_why(line, told, tmp_path):
    source = in_lines(tmp_path / "runs.jsonl", 2)
    source.write_text(source.read_text("utf-8") + line, "utf-8")
    with pytest.raises(TraceError, match=told):
        next(traces_of(find(str(source)).units[2]))
