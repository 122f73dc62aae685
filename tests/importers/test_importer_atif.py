"""ATIF: steps of all versions, results with and without ids, compactions."""

from __future__ import annotations

import json

import pytest
from atif_records import LOOK, METRICS, NOTICE, TASK, acts, call, only, step, trajectory
from importer_checks import claimants, told

from context_gc.trace import Usage


def test_each_kind_of_step_has_its_events():
    trace = only(
        step("system", "be brief"),
        TASK,
        LOOK | {"reasoning_content": "hm", "timestamp": "2026-01-01T00:00:02Z"},
        acts("done", model_name="other"),
    )
    assert told(trace) == [
        ("constraint", "be brief", ["system"]),
        ("requirement", "fix it", ["user"]),
        ("decision", "hm", ["thinking"]),
        ("decision", "look", []),
        ("tool_call", "bash", []),
        ("tool_result", "text", []),
        ("decision", "done", []),
    ]
    assert [event["timestamp"] % 60_000 for event in trace.events] == [0, 1000, 2000, 2000, 2000, 2000, 2000]
    assert trace.events[4]["origin"] == {"path": "steps/2"}
    assert trace.usage == [Usage("c1", 6, 2, 4)]
    assert (trace.title, trace.model) == ("fix it", "m")
    assert trace.extra == {"session_id": "s", "agent": "coder", "agent_version": "2"}


@pytest.mark.parametrize("version", [f"1.{minor}" for minor in range(9)])
def test_every_version_is_claimed_and_read(version):
    trace = only(TASK, LOOK, version=version)
    assert len(trace.events) == 4
    assert claimants(json.dumps(trajectory(TASK, version=version)).encode()) == {"atif"}


@pytest.mark.parametrize(
    ("results", "pairs"),
    [
        ([{"source_call_id": "b", "content": "2"}, {"source_call_id": "a", "content": "1"}], [("b", "2"), ("a", "1")]),
        (["1", "2"], [("a", "1"), ("b", "2")]),
        (["after both"], [("b", "after both")]),
        (["1", {"source_call_id": "a", "content": "x"}], [("b", "1"), ("a", "x")]),
        (["1", "2", "3"], [("a", "1"), ("b", "2"), ("b", "3")]),
        ([{"source_call_id": "zz", "content": "?"}], [("zz", "?")]),
    ],
    ids=["ids", "order", "one for both", "mixed", "more than calls", "unknown id"],
)
def test_results_are_paired_by_id_else_by_order(results, pairs):
    trace = only(TASK, acts("", [call("a"), call("b")], results))
    assert [(e["call_id"], e["result"]) for e in trace.events if e["type"] == "tool_result"] == pairs


def test_what_is_observed_without_a_call_is_read_by_the_model_and_said_by_nobody():
    trace = only(TASK, acts("{bad json", results=["Your response has errors."]))
    assert told(trace)[-1] == ("decision", "Your response has errors.", ["observation"])
    trace = only(
        TASK, acts("", results=[{"content": [{"type": "text", "text": "a"}, {"type": "image", "source": {}}]}])
    )
    assert told(trace)[1:] == [("decision", "a", ["observation"]), ("decision", "[image]", ["image", "observation"])]


def test_images_and_sounds_are_placeholders_with_their_blocks():
    image = {"type": "image", "source": {"media_type": "image/png", "path": "a.png"}}
    audio = {"type": "audio", "source": {"media_type": "audio/wav", "path": "a.wav"}}
    trace = only(step("user", [{"type": "text", "text": "see"}, image]), acts("", [call("c")], [{"content": [audio]}]))
    assert told(trace)[:2] == [
        ("requirement", "see", ["user"]),
        ("requirement", "[image image/png]", ["user", "image"]),
    ]
    assert trace.events[1]["block"] == image
    assert trace.events[3]["result"] == [audio]


def test_facts_about_a_result_are_kept():
    extra = {"exit_code": 1, "is_error": True}
    reference = [{"trajectory_id": "sub-1", "session_id": "s"}]
    results = [{"content": "x", "extra": extra}, {"subagent_trajectory_ref": reference}]
    trace = only(TASK, acts("", [call("a"), call("b")], results))
    first, second = (event for event in trace.events if event["type"] == "tool_result")
    assert (first["exit_code"], first["is_error"], second["agent_id"], second["result"]) == (1, True, "sub-1", "")


def test_steps_that_say_nothing_are_counted():
    trace = only(TASK, acts("", metrics=METRICS), step("system", " "))
    assert trace.ignored == {"step without content": 2}


# compactions


@pytest.mark.parametrize(
    "notice",
    [
        NOTICE,
        step("system", "Performed context summarization and handoff to continue task."),
        step("system", "x", extra={"context_management": {"type": "compaction", "boundary": "replace"}}),
        step("system", "", observation={"results": [{"subagent_trajectory_ref": {"session_id": "s-summarization-1"}}]}),
    ],
    ids=["terminus", "message", "extra", "reference"],
)
def test_a_compaction_opens_a_window_that_begins_with_the_task_and_the_summary(notice):
    trace = only(step("system", "be brief"), TASK, LOOK, notice, step("user", "The other agent: …"), acts("on"), TASK)
    assert [(w.start, w.opened_by, w.tokens_before) for w in trace.windows] == [(0, "start", None), (5, "auto", 12)]
    assert told(trace)[5:] == [
        ("constraint", "be brief", ["system"]),
        ("requirement", "fix it", ["user"]),
        ("decision", "The other agent: …", ["summary"]),
        ("decision", "on", []),
        ("requirement", "fix it", ["user"]),
    ]
    assert [event.get("repeats") for event in trace.events[5:]] == ["e1", "e2", None, None, None]
    assert trace.ignored == {"notice of a compaction": 1}


def test_a_notice_that_holds_the_summary_is_the_summary():
    long = "Summary. " * 40
    results = {"results": [{"content": long}]}
    trace = only(TASK, LOOK, step("system", "Context compaction", observation=results), step("user", "and now this"))
    assert told(trace)[4:] == [
        ("requirement", "fix it", ["user"]),
        ("decision", long, ["summary"]),
        ("requirement", "and now this", ["user"]),
    ]


def test_what_a_person_says_right_after_a_compaction_stays_theirs():
    trace = only(TASK, LOOK, NOTICE, step("user", "Go on with the tests."))
    assert told(trace)[-1] == ("requirement", "Go on with the tests.", ["user"])
