"""Recorder: where events hang, and which call a result answers."""

from __future__ import annotations

from time import process_time

import pytest
from importer_checks import tree

from context_gc.importers.recording.recorder import Recorder

AT = {"line": 1}


@pytest.fixture
def recorder():
    made = Recorder("any", "file")
    made.say("user", "Go", AT, "u")
    return made


def test_what_follows_a_call_without_a_result_hangs_beside_it(recorder):
    recorder.call("t1", "bash", {}, AT)
    recorder.say("assistant", "Meanwhile", AT, "a")
    recorder.call("t2", "bash", {}, AT)
    assert tree(recorder.done()) == {"u": None, "t1": "u", "a": "u", "t2": "a"}


def test_what_follows_a_result_hangs_below_it(recorder):
    recorder.call("t1", "bash", {}, AT)
    recorder.call("t2", "bash", {}, AT)
    recorder.result("t2", "ok", AT)
    recorder.say("assistant", "Next", AT, "a")
    assert tree(recorder.done()) == {"u": None, "t1": "u", "t2": "u", "t2:r": "t2", "a": "t2:r"}


def test_what_undoes_a_call_does_not_take_along_what_was_said_meanwhile(recorder):
    place = recorder.call("t1", "bash", {}, AT)
    recorder.say("user", "Not that", AT, "v")
    recorder.abandon([place], "undone", AT, recorder.tip)
    assert tree(recorder.done()) == {"u": None, "t1": "u", "v": "u", "t1:abandon": "v"}


def test_a_result_without_an_id_answers_the_earliest_call_that_waits(recorder):
    for name in ("t1", "t2", "t3"):
        recorder.call(name, "bash", {}, AT)
    recorder.result("t2", "two", AT)
    recorder.result("", "one", AT)
    recorder.result("", "three", AT)
    answers = [event["call_id"] for event in recorder.events if event["type"] == "tool_result"]
    assert answers == ["t2", "t1", "t3"]


def test_a_repeated_id_means_the_nearest_call_that_waits_else_the_nearest(recorder):
    recorder.call("t", "bash", {"n": 1}, AT)
    recorder.call("t", "bash", {"n": 2}, AT)
    for _ in range(3):
        recorder.result("t", "ok", AT)
    answers = [event["call_id"] for event in recorder.events if event["type"] == "tool_result"]
    assert answers == ["t:2", "t", "t:2"]


def test_a_result_that_answers_nothing_is_kept(recorder):
    recorder.result("", "lost", AT)
    recorder.result("t9", "lost", AT)
    assert [event.get("call_id") for event in recorder.events] == [None, "unknown", "t9"]


def test_a_new_window_has_no_calls_that_wait(recorder):
    recorder.call("", "bash", {}, AT)
    recorder.open_window()
    assert recorder.answered("") is None


@pytest.mark.parametrize("name", ["", "t"])
def test_pairing_takes_time_in_proportion_to_the_calls(name):
    def seconds(count):
        recorder = Recorder("any", "file")
        for _ in range(count):
            recorder.call(name, "bash", {}, AT)
        started = process_time()
        for _ in range(2 * count):
            recorder.answered(name).answers += 1
        return process_time() - started

    few, many = (min(seconds(count) for _ in range(3)) for count in (1_000, 12_000))
    assert many < 50 * max(few, 0.000_2)
