"""SWE-agent: trajectories (`.traj`) of 0.x and 1.x, and files that hold nothing but a history.

The history is what the model was shown. The steps of `trajectory` repeat it; they add where the agent
stood, and the last observation, which the model never saw. Records are the entries of both lists.
Demonstrations are counted in `ignored`; of `query` and `messages`, which repeat the prompt at each step,
nothing is read. There are no times.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ...errors import TraceError
from ...trace import Problem, Trace
from ..files.document import Document, kind_of
from ..files.json_roots import decoded, first_objects, roots
from ..recording.history import one_line
from .steps import Step, Teller

name = "swe-agent"

_ISSUE = re.compile(r"\bISSUE:\s*([^\n]+)")


def sniff(head: bytes) -> bool:
    """Whether the file is one object with steps of SWE-agent, or with a history that names its agent."""
    found = first_objects(head)
    return len(found) == 1 and _is_run(found[0])


def read(document: Document) -> list[Trace]:
    """One trace; one for each attempt where an agent tried several times. `extra` has `exit_status` where known.

    Raises:
        TraceError: it holds no step and no message.
    """
    found, problems = roots(document)
    value = found[0].value
    attempts = _dicts(value.get("attempts"))
    runs = [(f"attempts/{place}/", run) for place, run in attempts] or [("", value)]
    traces = [_trace(run, prefix, document.name) for prefix, run in runs]
    if not any(trace.events for trace in traces):
        raise TraceError(document.name, "it holds no step and no message", "get the whole file")
    traces[0].problems[:0] = problems
    return traces


def _is_run(value: dict[str, Any]) -> bool:
    steps, history = _dicts(value.get("trajectory")), _dicts(value.get("history"))
    if steps and "action" in steps[0][1]:
        step = steps[0][1]
        return type(step["action"]) is str and not {"args", "source", "timestamp"} & step.keys()
    if history and type(history[0][1].get("agent")) is str:
        return "role" in history[0][1]
    attempts = _dicts(value.get("attempts"))
    return bool(attempts) and _is_run(attempts[0][1])


def _trace(run: dict[str, Any], prefix: str, source: str) -> Trace:
    problems: list[Problem] = []
    entries = _entries(run.get("history"), f"{prefix}history", problems)
    steps = [Step(at, step) for at, step in _entries(run.get("trajectory"), f"{prefix}trajectory", problems)]
    teller = Teller(name, source, steps)
    for at, entry in entries:
        teller.take(entry, {"path": at})
    trace = teller.done()
    trace.problems = problems
    trace.records_read = len(entries) + len(steps) - sum(trace.ignored.values())
    config = decoded(run.get("replay_config"))
    trace.model = _text_within(config, "agent", "model", "name").replace("replay", "")
    info = run.get("info")
    if type(info) is dict and type(info.get("exit_status")) is str:
        trace.extra["exit_status"] = info["exit_status"]
    said = next((event["content"] for event in trace.events if event["type"] == "requirement"), "")
    issue = _ISSUE.search(said[:10_000])
    trace.title = one_line(issue[1] if issue else said) or prefix.strip("/")
    return trace


def _entries(value: Any, at: str, problems: list[Problem]) -> list[tuple[str, dict[str, Any]]]:
    """The objects of a list, each with its path in the file; what is none is reported."""
    found = []
    for place, entry in enumerate(value if type(value) is list else ()):
        if type(entry) is dict:
            found.append((f"{at}/{place}", entry))
        else:
            problems.append(Problem(None, f"{at}/{place}: {kind_of(entry)} where an object was expected (skipped)"))
    return found


def _dicts(value: Any) -> Sequence[tuple[int, dict[str, Any]]]:
    return [(place, each) for place, each in enumerate(value if type(value) is list else ()) if type(each) is dict]


def _text_within(value: Any, *keys: str) -> str:
    for key in keys:
        value = value.get(key) if type(value) is dict else None
    return value if type(value) is str else ""
