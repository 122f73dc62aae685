"""OpenHands V1: conversations of its SDK, a folder of event files or JSONL.

Records are events; `base_state.json` beside a folder of them is one more, read for the model and the
directory alone. What the tools of the agent are stands in `extra["tools"]`, by name. Blind spot: events
of an agent that the conversation ran through ACP are opaque.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ...errors import TraceError
from ...trace import Problem, Trace
from ..dialects.messages import text_at
from ..files.document import Document
from ..files.json_roots import first_objects, roots
from ..recording.history import one_line
from .events import KINDS, Teller

name = "openhands-v1"

_STORED = re.compile(r"((?:.*/)?)events/event-(\d{1,9})-[^/]*\.json")
_STATE = "base_state.json"


def sniff(head: bytes) -> bool:
    """Whether the first objects are events of the SDK."""
    found = first_objects(head)
    return bool(found) and all(map(_is_event, found[:3]))


def read(document: Document) -> list[Trace]:
    """The events of one conversation, one on each line or in a list. Raises TraceError when there is none."""
    return read_group([document])


def groups(paths: Sequence[str]) -> list[tuple[str, ...]]:
    """The event files of each conversation by number, and its state behind them."""
    found: dict[str, list[tuple[int, str]]] = {}
    for path in paths:
        stored = _STORED.fullmatch(path)
        if stored:
            found.setdefault(stored[1], []).append((int(stored[2]), path))
    states = {path.removesuffix(_STATE): path for path in paths if path.rpartition("/")[2] == _STATE}
    return [
        (*(path for _, path in sorted(files)), *([states[folder]] if folder in states else []))
        for folder, files in found.items()
    ]


def read_group(documents: Sequence[Document]) -> list[Trace]:
    """One trace. Events of a folder have `origin` {"file"}.

    Raises:
        TraceError: there is no event.
    """
    problems: list[Problem] = []
    single = len(documents) == 1
    source = documents[0].name if single else documents[0].name.rpartition("events/")[0].rstrip("/")
    teller = Teller(name, source or documents[0].name)
    records = 0
    for document in documents:
        try:
            found, damage = roots(document)
        except TraceError as error:
            if single:
                raise
            problems.append(Problem(None, f"{error} (skipped)"))
            continue
        problems += damage
        for each in found:
            if damage and not each.value:
                continue  # nothing of it is whole, which is told already
            records += 1
            if document.name.rpartition("/")[2] == _STATE:
                _describe(each.value, teller.recorder.trace)
            elif _is_event(each.value) or type(each.value.get("kind")) is str:
                teller.take(each.value, each.origin if single else {"file": document.name} | each.origin)
            else:
                records -= 1
                line = each.origin.get("line")
                problems.append(Problem(line, f"{document.name}: an object that is no event (skipped)"))
    trace = teller.done()
    if not trace.events:
        raise TraceError(trace.source, "it holds no event that a model saw", "get the whole conversation")
    trace.problems = problems
    trace.records_read = records - sum(trace.ignored.values())
    said = next((event["content"] for event in trace.events if event["type"] == "requirement"), "")
    trace.title = one_line(said) or trace.source.rpartition("/")[2]
    return [trace]


def _is_event(value: dict[str, Any]) -> bool:
    kind = text_at(value, "kind")
    return kind in KINDS and "timestamp" in value and type(value.get("source")) is str


def _describe(state: dict[str, Any], trace: Trace) -> None:
    agent, workspace = state.get("agent"), state.get("workspace")
    trace.model = trace.model or text_at(agent.get("llm") if type(agent) is dict else None, "model")
    trace.cwd = text_at(workspace, "working_dir") or trace.cwd
