"""A run's log holds every event of its bus, in the order that they came, whatever is in them."""

from __future__ import annotations

import json
from datetime import datetime

import pytest
from notation import trace

from context_gc import ContextBus, ContextGC, RunLog, SessionError
from context_gc.run_log import read_log


def test_what_the_engine_publishes_is_in_the_log_in_order(tmp_path):
    bus = ContextBus()
    with RunLog(bus, tmp_path):
        client = ContextGC(bus=bus, run_id="r")
        client.extend(trace("v1 x = 1\nv2 x = 2"))
        client.compact()
        client.expand_receipt("v1")
        client.end_task()
        client.end_session()
    told = list(read_log(tmp_path))
    assert [each["event_type"] for each in told] == [
        "event.added", "event.added", "compaction.committed", "receipt.recovered", "task.ended", "session.ended",
    ]  # fmt: skip
    assert told[0]["data"] == {"run_id": "r", "event_id": "v1", "type": "set_var"}
    assert told[2]["data"]["pruned_ids"] == ["v1"]
    assert all(datetime.fromisoformat(each["at"]).utcoffset() is not None for each in told)


def test_a_log_that_was_closed_gets_nothing_more_and_is_appended_to_by_the_next(tmp_path):
    bus = ContextBus()
    RunLog(bus, tmp_path).close()
    bus.publish("lost", {})
    with RunLog(bus, tmp_path):
        bus.publish("first", {"n": 1})
    with RunLog(bus, tmp_path):
        bus.publish("second", {})
    assert [each["event_type"] for each in read_log(tmp_path)] == ["first", "second"]


@pytest.mark.parametrize("value", ["\ud800", "line\nbreak\u2028", {"deep": [1, {"x": None}]}, float("inf")])
def test_any_value_comes_back(tmp_path, value):
    bus = ContextBus()
    with RunLog(bus, tmp_path):
        bus.publish("odd", {"value": value})
    (told,) = read_log(tmp_path)
    assert told["data"] == {"value": value}


def test_what_is_no_json_is_written_as_its_text(tmp_path):
    bus = ContextBus()
    with RunLog(bus, tmp_path):
        bus.publish("odd", {"when": datetime(2026, 1, 1), "n": 1})
    (told,) = read_log(tmp_path)
    assert told["data"] == {"when": "2026-01-01 00:00:00", "n": 1}


def test_a_damaged_line_is_told_and_the_others_are_read(tmp_path):
    good = json.dumps({"at": "", "event_type": "good", "data": {}})
    (tmp_path / "bus.jsonl").write_text(f'{good}\n{{"at": "\n[]\n{good}\n{good[:20]}')
    told = list(read_log(tmp_path))
    assert [each["event_type"] for each in told] == ["good", "", "", "good", ""]
    assert [each["problem"].partition(":")[0] for each in told if "problem" in each] == ["line 2", "line 3", "line 5"]


def test_a_line_that_was_cut_does_not_take_the_next_one_along(tmp_path):
    (tmp_path / "bus.jsonl").write_text('{"at": "", "event_ty')
    bus = ContextBus()
    with RunLog(bus, tmp_path):
        bus.publish("next", {})
    assert [each["event_type"] for each in read_log(tmp_path)] == ["", "next"]


def test_no_log_is_no_error(tmp_path):
    assert list(read_log(tmp_path)) == []


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(SessionError, match=r"bus\.jsonl"):
        RunLog(ContextBus(), tmp_path / "file")
