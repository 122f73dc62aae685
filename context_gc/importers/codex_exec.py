"""Codex exec: the events that `codex exec --json` prints while it works (thread.started, item.completed …).

The stream names what was done, not the tools: commands, patches and plans stand under the names that Codex has
for its tools. It holds neither the prompt nor the directory of a command, and no times; the tokens that it
reports are those of a whole turn, so they are not read as a model call's.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from ..canonical import readable
from ..trace import Problem, Trace
from .files.document import BLANK, Document, kind_of, objects
from .files.fields import text
from .recording.history import History
from .recording.recorder import Recorder

name = "codex-exec"

ITEM_EVENTS = frozenset(("item.started", "item.updated", "item.completed"))
SAID = frozenset(("agent_message", "reasoning", "plan"))
UNDER_WAY = frozenset(("command_execution", "mcp_tool_call", "collab_tool_call"))  #: items whose start tells the call
FAILED = frozenset(("failed", "declined"))

Item = dict[str, Any]


def sniff(head: bytes) -> bool:
    """Whether one of the first 50 lines begins a thread or tells of an item."""
    return any(map(_claims, objects(head.decode("utf-8", "replace").lstrip(BLANK), 50)))


def read(document: Document) -> list[Trace]:
    """One trace for each thread that was started. Records are the file's JSON objects; damaged ones are reported.

    A command or a tool of a server is a call from when it started. `extra` holds `session_id`.
    """
    records, problems = document.records()
    streams = [_Stream(document.name)]
    for line, record in records:
        kind, item = record.get("type"), record.get("item")
        kind = kind[:60] if type(kind) is str else "untyped record"
        if kind in ITEM_EVENTS and type(item) is not dict:
            problems.append(Problem(line, f"field 'item' is {kind_of(item)}, expected an object (skipped)"))
            continue
        if kind == "thread.started" and streams[-1].count:
            streams.append(_Stream(document.name))
        streams[-1].take(kind, record, {"line": line})
    traces = [stream.done() for stream in streams]
    traces[0].problems = sorted(problems, key=lambda problem: problem.line or 0)
    return traces


def _claims(record: Mapping[str, Any]) -> bool:
    kind, item = record.get("type"), record.get("item")
    if kind == "thread.started":
        return type(record.get("thread_id")) is str
    if type(kind) is not str or kind not in ITEM_EVENTS or type(item) is not dict:
        return False
    return type(item.get("id")) is str and type(item.get("type")) is str


class _Stream:
    """The events of one thread."""

    def __init__(self, source: str) -> None:
        self.recorder = Recorder(name, source)
        self.count = 0  #: records that were taken
        self._session = ""
        self._begun: set[str] = set()  # ids of items whose call was read
        self._planned = False

    def take(self, kind: str, record: dict[str, Any], origin: Mapping[str, Any]) -> None:
        """Read one record."""
        self.count += 1
        if kind in ITEM_EVENTS:
            left_out = self._item(kind, record["item"], origin)
        else:
            left_out = kind
            if kind == "thread.started":
                self._session = self._session or text(record.get("thread_id"))
        if left_out:
            self.recorder.ignore(left_out)

    def done(self) -> Trace:
        """The thread's trace."""
        trace = History(self.recorder).done(self._session)
        trace.records_read = self.count - sum(trace.ignored.values())
        return trace

    def _item(self, when: str, item: Item, origin: Mapping[str, Any]) -> str:
        kind, key = text(item.get("type")), text(item.get("id"))
        if kind == "todo_list":
            return self._todo(when, item, origin)
        if when == "item.updated" or (when == "item.started" and kind not in UNDER_WAY) or kind == "error":
            return when if kind != "error" else "error item"
        if kind in SAID:
            said = text(item.get("text"))
            voice = self.recorder.think if kind == "reasoning" else self._speak
            return "" if voice(said, origin, key) is not None else "blank text"
        tool, given = _called(kind, item)
        if not tool:
            self.recorder.add("decision", {"content": readable(item), "tags": ["opaque"]}, origin, key)
            return ""
        if not key or key not in self._begun:
            self._begun.add(key)
            self.recorder.call(key, tool, given, origin)
        if when == "item.completed":
            value, more = _outcome(kind, item)
            failed = text(item.get("status")) in FAILED or item.get("error") is not None
            self.recorder.result(key, value, origin, failed, **more)
            if item.get("status") == "declined":
                call = self.recorder.answered(key)
                self.recorder.abandon([call.place] if call else [], "declined by the user", origin)
        return ""

    def _speak(self, said: str, origin: Mapping[str, Any], key: str) -> int | None:
        return self.recorder.say("assistant", said, origin, key)

    def _todo(self, when: str, item: Item, origin: Mapping[str, Any]) -> str:
        """A plan that the agent wrote, as a call with an empty result; at the end of a turn it is only told again."""
        if when == "item.completed" and self._planned:
            return when
        self._planned = True
        self.recorder.call("", "update_plan", {"plan": item.get("items")}, origin, text(item.get("id")))
        self.recorder.result("", "", origin)
        return ""


def _called(kind: str, item: Item) -> tuple[str, Any]:
    """The tool that an item stands for and its arguments, as far as they are told; "" for no tool."""
    if kind == "command_execution":
        command = item.get("command")
        return "shell", {"command": _split(command) if type(command) is str else command}
    if kind == "file_change":
        changes = item.get("changes")
        alone = changes[0] if type(changes) is list and len(changes) == 1 else None
        return "apply_patch", alone if type(alone) is dict else {"changes": changes}
    if kind == "mcp_tool_call":
        return f"{text(item.get('server'))}__{text(item.get('tool'))}", item.get("arguments")
    if kind == "collab_tool_call":
        told = {key: item[key] for key in ("receiver_thread_ids", "prompt") if item.get(key) is not None}
        return text(item.get("tool")) or "collab", told
    if kind == "web_search":
        return "web_search", {key: item[key] for key in ("query", "action") if key in item}
    return "", None


def _outcome(kind: str, item: Item) -> tuple[Any, dict[str, Any]]:
    """The result that an item holds, and what more it says of it."""
    if kind == "command_execution":
        code = item.get("exit_code")
        return _or_blank(item.get("aggregated_output")), {"exit_code": code} if type(code) is int else {}
    if kind == "mcp_tool_call":
        result, error = item.get("result"), item.get("error")
        value = result.get("content", result) if type(result) is dict else result
        return _or_blank(value if value is not None else error), {}
    if kind == "collab_tool_call":
        return _or_blank(item.get("agents_states")), {}
    return text(item.get("status")), {}


def _split(command: str) -> Any:
    """A command as Codex was given it: it prints a list of words as one line of shell."""
    try:
        words = shlex.split(command)
    except ValueError:
        return command
    return words if len(words) == 3 and words[1] in ("-c", "-lc") else command


def _or_blank(value: Any) -> Any:
    return "" if value is None else value
