"""ATIF 1.x: trajectories of the Agent Trajectory Interchange Format, with those embedded in or continued by them.

Records are steps. A trajectory and the files that continue it are one trace, each file a window of its own;
files belong together by their names (`x.json`, `x.cont-1.json`, …). Blind spot: a continuation of another
name is a trace of its own; which file a trajectory goes on in is told in its problems.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from ...errors import TraceError
from ...trace import Problem, Trace
from ..dialects.messages import text_at
from ..files.document import Document
from ..files.json_roots import first_objects, roots
from .steps import Steps

name = "atif"

_CONTINUED = re.compile(r"(.+)\.cont-(\d{1,6})\.json")

Segment = tuple[dict[str, Any], dict[str, Any]]  # where a trajectory stands, and the trajectory


def sniff(head: bytes) -> bool:
    """Whether one of the first objects names a version of ATIF as its schema."""
    return any(map(_is_trajectory, first_objects(head)))


def read(document: Document) -> list[Trace]:
    """One trace a trajectory, each followed by those embedded in it, however deeply.

    `extra`: `session_id`, `trajectory_id`, `agent`, `agent_version` where told; `agent_id` of embedded ones.

    Raises:
        TraceError: no trajectory in it has a list of steps.
    """
    found, problems = roots(document)
    return _traces(_chained(_segments(found, problems)), document.name, problems)


def groups(paths: Sequence[str]) -> list[tuple[str, ...]]:
    """Each trajectory with the files that continue it, in their order."""
    continued: dict[str, list[tuple[int, str]]] = {}
    for path in paths:
        named = _CONTINUED.fullmatch(path)
        if named is not None:
            continued.setdefault(named[1] + ".json", []).append((int(named[2]), path))
    known = set(paths)
    found = [
        (*([first] if first in known else []), *(path for _, path in sorted(rest))) for first, rest in continued.items()
    ]
    return [group for group in found if len(group) > 1]


def read_group(documents: Sequence[Document]) -> list[Trace]:
    """The traces of a trajectory and its continuations. Raises TraceError as `read` does."""
    chain: list[Segment] = []
    problems: list[Problem] = []
    for document in documents:
        found, told = roots(document)
        problems += [replace(each, text=f"{document.name}: {each.text}") for each in told]
        chain += [({"member": document.name, **origin}, value) for origin, value in _segments(found, problems)[:1]]
    return _traces([chain], documents[0].name, problems)


def _is_trajectory(value: dict[str, Any]) -> bool:
    return text_at(value, "schema_version").startswith("ATIF-v")


def _segments(found: Iterable[tuple[dict[str, Any], dict[str, Any]]], problems: list[Problem]) -> list[Segment]:
    segments: list[Segment] = []
    for origin, value in found:
        if _is_trajectory(value) or type(value.get("steps")) is list:
            segments.append((origin, value))
        else:
            problems.append(Problem(origin.get("line"), f"{origin.get('path', 'the record')}: no trajectory (skipped)"))
    return segments


def _chained(segments: Iterable[Segment]) -> list[list[Segment]]:
    """Trajectories of one file: one that says that it goes on is followed by its continuation."""
    chains: list[list[Segment]] = []
    for origin, value in segments:
        last = chains[-1][-1][1] if chains else {}
        session = text_at(value, "session_id")
        if text_at(last, "continued_trajectory_ref") and session and session == text_at(last, "session_id"):
            chains[-1].append((origin, value))
        else:
            chains.append([(origin, value)])
    return chains


def _traces(chains: Iterable[list[Segment]], source: str, problems: list[Problem]) -> list[Trace]:
    traces: list[Trace] = []
    todo: list[tuple[list[Segment], bool]] = [(chain, False) for chain in reversed(list(chains)) if chain]
    while todo:
        chain, embedded = todo.pop()
        reader = Steps(name, source, problems)
        for origin, value in chain:
            reader.take(value, origin)
        goes_on = text_at(chain[-1][1], "continued_trajectory_ref")
        if goes_on:
            text = f"it goes on in {goes_on[:200]!r}, which was not read with it (open the folder that holds both)"
            problems.append(Problem(None, text, 0))
        if reader.steps:
            traces.append(reader.done(embedded))
        inner = []
        for origin, value in chain:
            listed = value.get("subagent_trajectories")
            above = f"{origin['path']}/" if "path" in origin else ""
            for place, each in enumerate(listed if type(listed) is list else ()):
                path = f"{above}subagent_trajectories/{place}"
                if type(each) is dict and type(each.get("steps")) is list:
                    inner.append(([({**origin, "path": path}, each)], True))
                else:
                    problems.append(Problem(origin.get("line"), f"{path}: no trajectory (skipped)"))
        todo += reversed(inner)
    if not traces:
        more = "; ".join(each.text for each in problems[:3])
        raise TraceError(source, "no trajectory in it has steps" + (f": {more}" if more else ""), "get the whole file")
    traces[0].problems += problems
    return traces
