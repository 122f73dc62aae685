"""The benchmark of reading: its recordings are sound sessions, the same every time, and its table has figures."""

from __future__ import annotations

import pytest

from context_gc import load_traces
from context_gc.benchmark.read import report
from context_gc.benchmark.recordings import RECORDINGS, lines

SIZE = 300_000


@pytest.mark.parametrize("name", [*RECORDINGS])
def test_a_recording_is_read_whole_as_its_format(name):
    text = "\n".join(lines(name, SIZE))
    traces = load_traces(text.encode())
    assert {trace.format for trace in traces} == {name.split()[0]}
    assert all(trace.problems == [] for trace in traces)
    assert sum(event["type"] == "tool_result" for trace in traces for event in trace.events) > 3
    assert text == "\n".join(lines(name, SIZE))
    assert SIZE <= len(text) < 3 * SIZE


def test_the_table_has_a_row_with_figures_for_each_format():
    head, _, row = report(4, ["native"]).split("\n")
    told = dict(zip(head.strip("| ").split(" | "), row.strip("| ").split(" | "), strict=True))
    assert told["format"] == "native"
    assert float(told["file MB"]) >= 4
    assert float(told["× json.loads"]) > 0
    assert float(told["× visible"]) > 0
