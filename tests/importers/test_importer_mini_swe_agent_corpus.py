"""mini-swe-agent: what the recorded runs hold, and damaged ones."""

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

from context_gc.importers import mini_swe_agent
from context_gc.importers.files.decode import decode

SAMPLE = Path(__file__).parents[2] / "sample_traces" / "mini-swe-agent-rejected.json"


def read_all(data, name="run.traj.json"):
    return mini_swe_agent.read(decode(data if isinstance(data, bytes) else json.dumps(data).encode(), name))


# recorded runs, both counted by hand in the files

RECORDED = {
    "django-13265.traj.json": (
        {"constraint": 1, "requirement": 1, "decision": 125, "tool_call": 156, "tool_result": 155},
        {"exit": 1},
        156,
        "django__django-13265",
    ),
    "test-local.traj.json": (
        {"constraint": 1, "requirement": 1, "decision": 2, "tool_call": 2, "tool_result": 2},
        {},
        0,
        "Please solve this issue: Blah blah blah",
    ),
}


@needs_corpus
@pytest.mark.parametrize("name", RECORDED)
def test_recorded_runs_hold_what_was_counted(name):
    kinds, ignored, reports, title = RECORDED[name]
    data = (CORPUS / "mini_swe_agent" / name).read_bytes()
    document = decode(data, name)
    assert claimants(document.head) == {"mini-swe-agent"}
    (trace,) = mini_swe_agent.read(document)
    check([trace])
    assert types(trace) == kinds
    assert paired(trace) == kinds["tool_result"]
    assert (trace.ignored, trace.problems, len(trace.windows), len(trace.usage)) == (ignored, [], 1, reports)
    assert trace.title.startswith(title)
    raw = json.loads(data)
    assert accounted([trace]) == len(raw if isinstance(raw, list) else raw["messages"])


@needs_corpus
def test_the_long_run_agrees_with_a_count_of_its_own_json():
    raw = json.loads((CORPUS / "mini_swe_agent" / "django-13265.traj.json").read_bytes())["messages"]
    (trace,) = read_all((CORPUS / "mini_swe_agent" / "django-13265.traj.json").read_bytes())
    answered = [each for each in raw if each["role"] == "tool"]
    results = [event for event in trace.events if event["type"] == "tool_result"]
    assert [event["result"] for event in results] == [each["content"] for each in answered]
    assert [event["exit_code"] for event in results] == [each["extra"]["returncode"] for each in answered]
    reports = [each["extra"]["response"]["usage"] for each in raw if each["role"] == "assistant"]
    assert sum(usage.input_tokens + usage.cache_read for usage in trace.usage) == sum(
        r["prompt_tokens"] for r in reports
    )
    assert sum(usage.output_tokens for usage in trace.usage) == sum(r["completion_tokens"] for r in reports)
    words = [each for each in raw if each["role"] == "assistant" and each["content"].strip()]
    assert types(trace)["decision"] == len(words)
