"""ATIF 1.8: a trajectory with its subagents. What it has no field for stands in `extra` fields, or is lost and told.

A step is what one model call thinks, says and calls, with the results of these calls. A context window opens
with a system step that tells of the compaction; what was carried over follows it as copied context. Branches
that were given up are lost as such: their steps stand among the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import TraceError
from ..policy import Policy
from ..trace import Trace
from .atif_steps import Steps
from .written import Written, document, line, origin_of

name = "atif"
holds_many = False

_VERSION = "ATIF-v1.8"


def write(traces: Sequence[Trace], as_lines: bool, policy: Policy | None = None) -> Written:
    """A trajectory with the traces of its subagents behind it; as lines any traces, one trajectory each.

    Raises:
        TraceError: a trace has no events; or a compaction is wanted: what it leaves is a prompt, not a trace.
    """
    if policy is not None:
        raise TraceError("--to atif", "what a compaction leaves is no trace", "use a format of messages")
    for trace in traces:
        if not trace.events:
            raise TraceError(trace.source, "a trace without events is no trajectory", "choose another with --trace N")
    lost: dict[str, int] = {}
    if as_lines:
        return Written("".join(line(_trajectory(family, lost)) for family in families(traces)), lost)
    return Written("".join(document(_trajectory(family, lost)) for family in families(traces)), lost)


def families(traces: Sequence[Trace]) -> list[list[Trace]]:
    """Traces with those of their subagents: one that has an `agent_id` belongs to the trace before it."""
    found: list[list[Trace]] = []
    for trace in traces:
        if found and type(trace.extra.get("agent_id")) is str:
            found[-1].append(trace)
        else:
            found.append([trace])
    return found


def _trajectory(family: Sequence[Trace], lost: dict[str, int]) -> dict[str, Any]:
    main, *others = family
    inner: list[dict[str, Any]] = []
    taken: set[str] = set()
    for number, each in enumerate(others, 1):
        made = _alone(each, lost)
        told = each.extra.get("agent_id") or f"subagent-{number}"
        made["trajectory_id"] = told if told not in taken else f"{told}-{number}"
        taken.add(made["trajectory_id"])
        inner.append(made)
    return _alone(main, lost) | ({"subagent_trajectories": inner} if inner else {})


def _alone(trace: Trace, lost: dict[str, int]) -> dict[str, Any]:
    about = {key: value for key, value in trace.extra.items() if type(value) is str and value}
    agent = {"name": about.get("agent") or origin_of(trace), "version": about.get("agent_version") or "unknown"}
    agent |= {"model_name": trace.model} if trace.model else {}
    made: dict[str, Any] = {
        "schema_version": _VERSION,
        "session_id": about.get("session_id") or trace.title or "unknown",
    }
    made |= {"trajectory_id": about["trajectory_id"]} if "trajectory_id" in about else {}
    steps = Steps(lost)
    made |= {"agent": agent, "steps": steps.of(trace)}
    return made | ({"final_metrics": steps.metrics} if steps.metrics else {})
