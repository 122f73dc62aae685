"""ATIF files: continuations, embedded subagents, damage, and what the package atif reads in them."""

from __future__ import annotations

import json

import pytest
from atif_records import LOOK, NOTICE, TASK, acts, call, read, step, trajectory
from importer_checks import accounted, check, cut_and_flipped, paired, survive, told, with_other_types

from context_gc import TraceError
from context_gc.importers import atif
from context_gc.importers.files.decode import decode
from context_gc.importers.files.document import Document

FIRST = trajectory(TASK, LOOK, continued_trajectory_ref="trajectory.cont-1.json")
SECOND = trajectory(
    TASK | {"is_copied_context": True},
    step("user", "You pick up: …", is_copied_context=True),
    acts("questions?", is_copied_context=True),
    acts("done", [call("c1")], ["ok"]),
    step("user", "thanks"),
)


def check_continued(trace):
    assert [(w.start, w.opened_by) for w in trace.windows] == [(0, "start"), (4, "auto")]
    assert told(trace)[4:] == [
        ("requirement", "fix it", ["user"]),
        ("decision", "You pick up: …", ["summary"]),
        ("decision", "questions?", []),
        ("decision", "done", []),
        ("tool_call", "bash", []),
        ("tool_result", "ok", []),
        ("requirement", "thanks", ["user"]),
    ]
    assert [event.get("copied", False) for event in trace.events[4:]] == [True] * 3 + [False] * 4
    assert accounted([trace]) == 7


def test_a_folders_trajectory_and_its_continuation_are_one_trace():
    documents = [
        Document(f"run/trajectory{end}.json", json.dumps(value).encode())
        for end, value in (("", FIRST), (".cont-1", SECOND))
    ]
    (trace,) = atif.read_group(documents)
    check([trace])
    check_continued(trace)
    assert trace.events[4]["origin"] == {"member": "run/trajectory.cont-1.json", "path": "steps/0"}
    assert (trace.problems, trace.source) == ([], "run/trajectory.json")


def test_trajectories_of_one_file_that_go_on_from_one_another_are_one_trace():
    (trace,) = read([FIRST, SECOND], lines=True)
    check_continued(trace)
    first, second = read([trajectory(TASK), trajectory(TASK)])
    assert len(first.events) == len(second.events) == 1


def test_a_trajectory_that_goes_on_elsewhere_says_so():
    (trace,) = read(FIRST)
    assert [problem.text for problem in trace.problems] == [
        "it goes on in 'trajectory.cont-1.json', which was not read with it (open the folder that holds both)"
    ]


def test_files_belong_together_by_their_names():
    paths = ["a/t.cont-10.json", "a/t.cont-2.json", "a/t.json", "a/t.summarization-1.json", "b/t.json", "c.cont-1.json"]
    assert atif.groups(paths) == [("a/t.json", "a/t.cont-2.json", "a/t.cont-10.json")]
    assert atif.groups(["d.cont-1.json", "d.cont-2.json"]) == [("d.cont-1.json", "d.cont-2.json")]


def test_embedded_subagents_follow_the_trajectory_that_holds_them():
    inner = trajectory(step("user", "deeper"), trajectory_id="sub-2")
    sub = trajectory(step("user", "look it up"), acts("found"), trajectory_id="sub-1", subagent_trajectories=[inner])
    main, first, second = read(trajectory(TASK, LOOK, subagent_trajectories=[sub, 5]))
    assert [trace.title for trace in (main, first, second)] == [
        "fix it",
        "subagent sub-1: look it up",
        "subagent sub-2: deeper",
    ]
    assert (first.extra["agent_id"], second.extra["agent_id"]) == ("sub-1", "sub-2")
    place = "subagent_trajectories/0/subagent_trajectories/0/steps/0"
    assert second.events[0]["origin"] == {"path": place}
    assert [problem.text for problem in main.problems] == ["subagent_trajectories/1: no trajectory (skipped)"]


# damage


def test_what_is_damaged_is_reported_with_its_place():
    bad = acts("x", [None, call("c")], [3, "ok"]) | {"observation": {"results": [3, {"content": "ok"}]}}
    (trace,) = read(trajectory(TASK, bad) | {"steps": [TASK, 5, bad]})
    assert [problem.text for problem in trace.problems] == [
        "steps/1: a number where an object was expected (skipped)",
        "steps/2: result 0 is a number, not an object (skipped)",
        "steps/2: call 0 is null, not an object (skipped)",
    ]
    assert paired(trace) == 1


def test_a_file_without_steps_is_an_error():
    with pytest.raises(TraceError, match=r"no trajectory in it has steps \(get the whole file\)"):
        read(trajectory())


@pytest.mark.parametrize(
    ("head", "claimed"),
    [
        ('{"schema_version": "ATIF-v1.6", "steps": [{"message": "' + "x" * 300_000, True),
        ('{"agent": {}, "schema_version": "ATIF-v1.0"}', True),
        ('{"schema_version": "2.0"}', False),
        ('{"schema_version": 3}', False),
        ("ATIF-v1.6", False),
    ],
)
def test_sniff(head, claimed):
    assert atif.sniff(head.encode()) is claimed


def damaged_read(data):
    document = decode(data, "damaged")
    atif.sniff(document.head)
    return atif.read(document)


SOUND = trajectory(TASK, LOOK, NOTICE, step("user", "…"), acts("", [call("a"), call("b")], ["x"]))


def test_damaged_files_give_sound_traces_or_our_error():
    value = SOUND | {"subagent_trajectories": [trajectory(TASK, LOOK, trajectory_id="x")]}
    for data in cut_and_flipped(json.dumps(value, indent=1).encode()):
        survive(damaged_read, data)
    for copy in with_other_types([value, FIRST, SECOND], 250):
        survive(damaged_read, json.dumps(copy).encode())


def test_the_package_atif_reads_the_same_steps_calls_and_results():
    package = pytest.importorskip("atif", reason="a cross-check against the package atif, where it is installed")
    for value in (SOUND, FIRST, SECOND):
        found = package.Trajectory.model_validate(value)
        (trace,) = read(value)
        results = [each for each in found.steps for each in (each.observation.results if each.observation else ())]
        calls = [each for step in found.steps for each in step.tool_calls or ()]
        ours = [event for event in trace.events if "repeats" not in event]
        assert accounted([trace]) == len(found.steps)
        assert sum(event["type"] == "tool_call" for event in ours) == len(calls)
        assert sum(event["type"] == "tool_result" for event in ours) == sum(
            each.content is not None for each in results
        )
