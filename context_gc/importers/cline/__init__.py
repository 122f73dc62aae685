"""Cline and Roo Code: a task's API history, alone or with the display log and the metadata of its folder.

The history (`api_conversation_history.json`) is what the model was sent, and its entries become events.
The display log (`ui_messages.json`) repeats them for people; it adds times, usage, where the history was
cut for the model, and whether the files were set back to a checkpoint. Records are the entries of both
and the metadata. A task that was set back with its messages has lost them in both files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from ...errors import TraceError
from ...trace import Problem, Trace
from ..dialects.messages import text_at
from ..files.document import Document, kind_of
from ..files.json_roots import Root, first_objects, roots
from ..recording.history import one_line
from ..recording.names import milliseconds
from .display import Display, is_display
from .messages import Teller

name = "cline"

_HISTORIES = ("api_conversation_history.json", "claude_messages.json")
_DISPLAY, _METADATA = "ui_messages.json", "task_metadata.json"
_OURS = re.compile(r"<environment_details>|^<task>|^\[[a-z_]+ for '[^\n]*\] Result:", re.MULTILINE)
_TASK = re.compile(r"\s*</?(?:task|feedback|user_message)>\s*")


def sniff(head: bytes) -> bool:
    """Whether the file is a task's API history or display log."""
    found = first_objects(head)
    if len(found) == 1 and type(found[0].get("messages")) is list and type(found[0].get("version")) is int:
        found = tuple(each for each in found[0]["messages"][:3] if type(each) is dict)
    if not found or head.lstrip()[:1] not in (b"[", b"{"):
        return False
    return all(map(is_display, found[:3])) or (
        all(each.get("role") in ("user", "assistant", "tool") for each in found[:3]) and any(map(_is_ours, found[:3]))
    )


def read(document: Document) -> list[Trace]:
    """The trace of an API history. Raises TraceError for a display log, which does not hold what the model saw."""
    return read_group([document])


def groups(paths: Sequence[str]) -> list[tuple[str, ...]]:
    """For each folder with an API history: that, the display log, the metadata."""
    present = set(paths)
    found = []
    for path in paths:
        folder, _, file = path.rpartition("/")
        base = f"{folder}/" if folder else ""
        if file == _HISTORIES[0] or (file == _HISTORIES[1] and base + _HISTORIES[0] not in present):
            found.append((path, *(base + each for each in (_DISPLAY, _METADATA) if base + each in present)))
    return found


def read_group(documents: Sequence[Document]) -> list[Trace]:
    """One trace. With several files events have `origin` {"file"}. `extra` has `task_id`, the folder's name.

    Raises:
        TraceError: there is no message.
    """
    problems: list[Problem] = []
    messages: list[Root] = []
    logged: list[Root] = []
    metadata: list[Root] = []
    for document in documents:
        found = _found(document, len(documents) > 1, problems)
        file = document.name.rpartition("/")[2]
        kind = metadata if file == _METADATA and len(documents) > 1 else messages
        if found and is_display(found[0].value):
            kind = logged
        elif file == _DISPLAY and len(documents) > 1:
            logged += [each for each in found if "role" not in each.value]
            found = [each for each in found if "role" in each.value]
        kind += found
    if logged and not messages:
        raise TraceError(documents[0].name, "this is a task's display log", f"open its folder, or {_HISTORIES[0]}")
    trace = _trace(documents[0].name, _in_order(messages), Display([each.value for each in logged]))
    if not trace.events:
        raise TraceError(documents[0].name, "it holds no message of a task", "get the whole file")
    trace.problems = problems
    for each in metadata:
        used = each.value.get("model_usage")
        trace.model = trace.model or text_at(used[0] if type(used) is list and used else None, "model_id")
    trace.records_read = len(messages) + len(logged) + len(metadata) - sum(trace.ignored.values())
    folder = documents[0].name.rpartition("/")[0].rpartition("/")[2]
    if folder and len(documents) > 1:
        trace.extra["task_id"] = folder
    return [trace]


def _trace(source: str, messages: Sequence[Root], display: Display) -> Trace:
    display.lay([_role(each.value) for each in messages])
    teller = Teller(name, source, display)
    for index, each in enumerate(messages):
        role, value = _role(each.value), each.value
        time = value.get("ts", value.get("timestamp", display.times.get(index)))
        if value.get("type") == "reasoning" and not role:  # an item that Roo keeps for the Responses API
            teller.take(index, "assistant", value, time, each.origin)
        else:
            content = value["content"] if "content" in value else value.get("text")
            teller.take(index, role, {**value, "role": role or "user", "content": content}, time, each.origin)
    trace = teller.done()
    for kind, count in display.ignored.items():
        trace.ignored[kind] = trace.ignored.get(kind, 0) + count
    said = next((event["content"] for event in trace.events if event["type"] == "requirement"), "")
    trace.title = one_line(_TASK.sub(" ", said[:2_000]))
    return trace


def _found(document: Document, several: bool, problems: list[Problem]) -> list[Root]:
    """The entries of a file; those of an envelope with a version are its messages."""
    try:
        found, damage = roots(document)
    except TraceError as error:
        if not several:
            raise
        problems.append(Problem(None, f"{error} (skipped)", 0))
        return []
    problems += damage
    inner = found[0].value.get("messages") if len(found) == 1 else None
    if type(inner) is list:
        whole = {at for at, each in enumerate(inner) if type(each) is dict}
        for at in sorted(set(range(len(inner))) - whole):
            what = f"messages/{at}: {kind_of(inner[at])} where an object was expected (skipped)"
            problems.append(Problem(None, what))
        found = [Root({"path": f"messages/{at}"}, inner[at]) for at in sorted(whole)]
    return [Root({"file": document.name, **each.origin} if several else each.origin, each.value) for each in found]


def _in_order(messages: list[Root]) -> list[Root]:
    """By time, where messages stand in two files."""
    if len({each.origin.get("file") for each in messages}) < 2:
        return messages
    times = list(_times(messages))
    return [messages[at] for at in sorted(range(len(messages)), key=lambda at: (times[at], at))]


def _times(messages: Sequence[Root]) -> Iterator[int]:
    last = 0
    for each in messages:
        time = milliseconds(each.value.get("ts", each.value.get("timestamp")))
        last = last if time is None else time
        yield last


def _role(value: dict[str, Any]) -> str:
    role = value.get("role", value.get("type"))
    return role if role in ("user", "assistant", "system", "tool") else ""


def _is_ours(value: dict[str, Any]) -> bool:
    if type(value.get("ts")) in (int, float) or type(value.get("modelInfo")) is dict:
        return "content" in value
    content = value.get("content")
    blocks = content if type(content) is list else [{"text": content}]
    return value.get("role") == "user" and any(_OURS.search(text_at(each, "text")) for each in blocks)
