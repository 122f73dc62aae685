"""What an event did, in terms that do not depend on the agent that logged it.

`semantics(event)` gives a fact for native coding events and for the tool calls of known agents alike.
Stages, colours and filters use facts, so that each rule is written once. `shows` on a call, which importers
set, says which lines of which file its answer shows. Blind spots: a tool that is not known by name has no
fact, and neither has a call about several files; a shell command is known by its text alone.
"""

from __future__ import annotations

import posixpath
from typing import Any

from ..events import Event
from .calls import of_call, of_read
from .changes import ANYTHING, Replacement, changes, replacement
from .code import shows
from .commands import is_snapshot, looks_only, of_command, runs_last
from .facts import Build, Command, Commit, Fact, FileEdit, FileRead, Search, Status, TestRun
from .tools import NEW_TEXT, PATH_KEYS, arguments, first, question, tool_kind

__all__ = [
    "ANYTHING",
    "Build",
    "Command",
    "Commit",
    "Fact",
    "FileEdit",
    "FileRead",
    "Replacement",
    "Search",
    "Status",
    "TestRun",
    "arguments",
    "changes",
    "is_snapshot",
    "looks_only",
    "normalise",
    "path_of",
    "question",
    "replacement",
    "runs_last",
    "semantics",
    "shows",
    "tool_kind",
]

_LINE_EDITORS = frozenset(("insert", "append"))  # where a file is open; elsewhere they may be about anything
_SPANS = ("offset", "limit", "view_range", "start_line", "end_line")


def semantics(event: Event) -> Fact | None:
    """The fact that an event states, or None. Results state nothing by themselves: their call does."""
    kind = event["type"]
    if kind == "tool_call":
        cwd = event.get("cwd")
        fact = of_call(event["tool_name"], arguments(event), cwd if type(cwd) is str else "")
        return _as_shown(event, fact) if "shows" in event or "open_file" in event else fact
    if kind == "file_read":
        return of_read(event["path"], {key: event.get(key) for key in _SPANS})
    if kind == "file_edit":
        return FileEdit(event["path"])
    if kind == "artifact_created":
        return FileEdit(event["path"], whole=any(type(event.get(key)) is str for key in NEW_TEXT))
    if kind == "command_run":
        return of_command(event["command"], event["exit_code"])
    if kind == "test_run":
        return TestRun(", ".join(event["test_names"]), event["exit_code"])
    if kind == "build_run":
        return Build(str(event.get("command", "")), event["exit_code"])
    if kind == "git_commit":
        return Commit(event["message"], 0)
    return None


def path_of(event: Event, cwd: str = "") -> str | None:
    """The one path that an event is about, normalised: relative to `cwd` where it lies below it."""
    fact = semantics(event)
    path = getattr(fact, "path", None)
    if path is None and event["type"] == "tool_call":
        path = first(arguments(event), PATH_KEYS)
    return normalise(path, cwd) if path else None


def normalise(path: str, cwd: str = "") -> str:
    """One spelling for one file: `./a`, `/cwd/a`, `a` and `x/../a` are `a`."""
    path = posixpath.normpath(path.replace("\\", "/"))
    base = posixpath.normpath(cwd.replace("\\", "/")) if cwd else ""
    return path[len(base) + 1 :] if base and path.startswith(base.rstrip("/") + "/") else path


def _as_shown(event: Event, fact: Fact | None) -> Fact | None:
    """What a call of a line editor did, which names its file in the answer or has it open."""
    tool, window = event["tool_name"], event.get("shows")
    kind = "edit" if tool in _LINE_EDITORS else tool_kind(tool)
    if kind in ("edit", "write") and isinstance(fact, FileRead):
        return fact
    if kind not in ("read", "edit", "write", "code"):
        return fact
    if type(window) is not dict or type(window.get("path")) is not str:
        opened = event.get("open_file")
        return FileEdit(opened) if kind == "edit" and fact is None and type(opened) is str else fact
    if kind in ("edit", "write") or isinstance(fact, FileEdit):
        return fact if isinstance(fact, FileEdit) else FileEdit(window["path"])
    return of_window(window)


def of_window(window: dict[str, Any]) -> FileRead:
    """A read of what a window shows."""
    path, offset, limit = window["path"], window.get("offset"), window.get("limit")
    if type(offset) is not int or type(limit) is not int:
        return FileRead(path, partial=True)
    return FileRead(path) if offset == 1 and limit == window.get("lines") else FileRead(path, offset, limit)
