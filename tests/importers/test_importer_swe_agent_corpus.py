"""SWE-agent: what the recorded runs hold, and damaged ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from importer_checks import (
    CORPUS,
    accounted,
    check,
    claimants,
    needs_corpus,
    paired,
    types,
)

from context_gc.importers import swe_agent
from context_gc.importers.files.decode import decode

SAMPLE = Path(__file__).parents[2] / "sample_traces" / "swe-agent-undo.traj"


def read_all(data, name="run.traj"):
    return swe_agent.read(decode(data if isinstance(data, bytes) else json.dumps(data).encode(), name))


def only(trace, kind):
    return [event for event in trace.events if event["type"] == kind]


# recorded runs; the numbers of humanevalfix and pydicom-1458 were counted by hand in the files

RECORDED = {
    "ctf-katy.traj": ((16, 18), {}, 1, 8, "submitted"),
    "function_calling_simple.traj": ((5, 5), {}, 0, 2, None),
    "humanevalfix.traj": ((5, 5), {}, 0, 2, "submitted"),
    "marshmallow-default.traj": ((14, 14), {}, 1, 5, "submitted"),
    "marshmallow-fcr-from_source.traj": ((13, 13), {}, 0, 5, "submitted"),
    "marshmallow-function_calling.traj": ((11, 11), {}, 1, 4, "submitted"),
    "pydicom-1458.traj": ((12, 12), {"demonstration": 1}, 3, 4, "submitted"),
    "sonnet35-django-14631.traj": ((56, 56), {"demonstration": 22, "exit": 2}, 8, 26, "submitted (exit_cost)"),
}


@needs_corpus
def test_the_table_names_every_recorded_run():
    assert sorted(RECORDED) == sorted(path.name for path in (CORPUS / "swe_agent").iterdir())


@needs_corpus
@pytest.mark.parametrize("name", RECORDED)
def test_recorded_runs_hold_what_was_counted(name):
    (decisions, acts), ignored, errors, windows, status = RECORDED[name]
    data = (CORPUS / "swe_agent" / name).read_bytes()
    document = decode(data, name)
    assert claimants(document.head) == {"swe-agent"}
    (trace,) = swe_agent.read(document)
    check([trace])
    given = {"constraint": 1, "requirement": 1, "decision": decisions, "tool_call": acts, "tool_result": acts}
    assert types(trace) == given
    assert paired(trace) == acts
    assert (trace.ignored, trace.problems, len(trace.windows)) == (ignored, [], 1)
    assert sum(event.get("is_error") is True for event in trace.events) == errors
    assert sum("shows" in event for event in trace.events) == windows
    assert trace.extra.get("exit_status") == status
    raw = json.loads(data)
    assert accounted([trace]) == len(raw["history"]) + len(raw.get("trajectory", ()))


@needs_corpus
@pytest.mark.parametrize("name", RECORDED)
def test_calls_and_results_are_the_recorded_ones_counted_from_the_file_itself(name):
    raw = json.loads((CORPUS / "swe_agent" / name).read_bytes())
    (trace,) = read_all((CORPUS / "swe_agent" / name).read_bytes())
    mine = [each for each in raw["history"] if not each.get("is_demo")]
    acted = [each for each in mine if each["role"] == "assistant" and not each["action"].startswith("exit_")]
    assert len(only(trace, "tool_call")) == len(acted)
    heard = [each["content"] for each in mine[2:] if each["role"] != "assistant"]
    assert [event["result"] for event in only(trace, "tool_result")][: len(heard)] == heard
