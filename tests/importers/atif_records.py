"""ATIF trajectories in short."""

from __future__ import annotations

import json

from importer_checks import accounted, check

from context_gc.importers import atif
from context_gc.importers.files.decode import decode


def step(source, message="", **more):
    return {"source": source, "message": message, **more}


def call(name, tool="bash", **arguments):
    return {"tool_call_id": name, "function_name": tool, "arguments": arguments}


def acts(message, calls=(), results=(), **more):
    """An agent's step; results as text or as objects."""
    seen = [each if isinstance(each, dict) else {"content": each} for each in results]
    given = {"tool_calls": list(calls)} if calls else {}
    return step("agent", message, **given, **({"observation": {"results": seen}} if seen else {}), **more)


def trajectory(*steps, version="1.8", **more):
    numbered = [{"step_id": number, **each} for number, each in enumerate(steps, 1)]
    agent = {"name": "coder", "version": "2", "model_name": "m"}
    return {"schema_version": f"ATIF-v{version}", "session_id": "s", "agent": agent, "steps": numbered, **more}


def read(value, lines=False):
    data = "\n".join(map(json.dumps, value)) if lines else json.dumps(value)
    document = decode(data.encode(), "trajectory.json")
    assert atif.sniff(document.head)
    traces = atif.read(document)
    check(traces)
    return traces


def only(*steps, **more):
    (trace,) = read(trajectory(*steps, **more))
    assert accounted([trace]) == len(steps)
    return trace


METRICS = {"prompt_tokens": 10, "completion_tokens": 2, "cached_tokens": 4, "prompt_token_ids": [1, 2], "cost_usd": 0.1}
TASK = step("user", "fix it", timestamp="2026-01-01T00:00:01Z")
LOOK = acts("look", [call("c1", path="a")], [{"source_call_id": "c1", "content": "text"}], metrics=METRICS)
NOTICE = step(
    "system",
    "Performed context summarization and handoff to continue task.",
    observation={"results": [{"subagent_trajectory_ref": [{"trajectory_path": "t.summarization-1-summary.json"}]}]},
)
