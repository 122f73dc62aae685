"""Reading: what was read of traces, what was left out and why, as counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from .trace import Trace
from .turns import turn_numbers
from .units import Units
from .warnings import warnings

_SAID = frozenset(("requirement", "constraint", "tool_result", "abandon", "error"))


def report(trace: Trace) -> dict[str, Any]:
    """What a trace holds, as JSON values. Events that a later window repeats count as events, and nowhere else."""
    own = [event for event in trace.events if "repeats" not in event]
    units = Units.of(trace.events)
    calls = [
        place for place, event in enumerate(trace.events) if event["type"] == "tool_call" and "repeats" not in event
    ]
    answered = sum(bool(units.results(place)) for place in calls)
    turns = zip(trace.events, turn_numbers(trace.events), strict=True)
    return {
        "format": trace.format,
        "title": trace.title,
        "model": trace.model,
        "cwd": trace.cwd,
        "events": len(trace.events),
        "types": dict(sorted(Counter(event["type"] for event in trace.events).items())),
        "windows": [asdict(window) for window in trace.windows],
        "model_calls": len({turn for event, turn in turns if event["type"] not in _SAID and "repeats" not in event}),
        "tool_calls": len(calls),
        "answered": answered,
        "open_calls": len(calls) - answered,
        "results": sum(event["type"] == "tool_result" for event in own),
        "orphan_results": len(units.orphans),
        "usage_reports": len(trace.usage),
        "records_read": trace.records_read,
        "ignored": dict(sorted(trace.ignored.items())),
        "problems": [asdict(problem) for problem in trace.problems],
        "warnings": warnings(trace.events),
    }


def summary(traces: Sequence[Trace]) -> dict[str, Any]:
    """How many records of a file were read, left out by kind, and reported as problems."""
    problems = [problem for trace in traces for problem in trace.problems]
    ignored: Counter[str] = Counter()
    for trace in traces:
        ignored.update(trace.ignored)
    return {
        "records_read": sum(trace.records_read for trace in traces),
        "ignored": dict(sorted(ignored.items())),
        "records_reported": sum(problem.records for problem in problems),
        "problems": len(problems),
    }
