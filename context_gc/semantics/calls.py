"""Calls: the fact that a tool call states, by its tool and its arguments."""

from __future__ import annotations

import posixpath
from typing import Any

from .code import nested, of_cell
from .commands import of_command, of_patch, of_shell
from .facts import Fact, FileEdit, FileRead, Search, Status
from .tools import ASIDE, FOLDER_KEYS, NEW_TEXT, PATCH_KEYS, PATH_KEYS, TEXT_KEYS, command_of, first, tool_kind

#: pairs of arguments that name the first and the last line of a range
_FROM_TO = (("start_line", "end_line"), ("startLine", "endLine"))
_UNSPANNED = frozenset((*PATH_KEYS, *ASIDE, "command"))
_LISTS = ("todos", "plan", "topics")


def of_call(tool: str, given: dict[str, Any], cwd: str = "") -> Fact | None:
    """What a call did. `cwd` is where it ran, if that is known."""
    kind = tool_kind(tool)
    if kind is None:
        return None
    if kind == "shell":
        return _of_shell(tool, given, cwd)
    if kind == "status":
        return Status(tool, _holds_state(given))
    if kind == "code":
        return of_cell(first(given, ("code",)) or "")
    path = first(given, PATH_KEYS)
    if kind == "search":
        return Search(first(given, TEXT_KEYS) or "", path)
    if any(type(given.get(key)) is list for key in PATH_KEYS):
        return None
    if path is None:
        return of_patch(first(given, PATCH_KEYS) or "") if kind == "edit" else None
    if kind == "read" or given.get("command") == "view":
        return of_read(path, given)
    creates = kind == "write" or given.get("command") == "create"
    appends = given.get("append") or given.get("mode") in ("a", "append")
    return FileEdit(path, whole=creates and not appends and any(type(given.get(key)) is str for key in NEW_TEXT))


def of_read(path: str, given: dict[str, Any]) -> FileRead:
    """A read of the range that its arguments name."""
    span = {key: value for key, value in given.items() if value is not None and key not in _UNSPANNED}
    if sum(key in given for key in PATH_KEYS) > 1:
        return FileRead(path, partial=True)
    if span.keys() <= {"offset", "limit"} and all(type(value) is int and value >= 0 for value in span.values()):
        return FileRead(path, span.get("offset"), span.get("limit"))
    ends = [[span.get(first, 1), span.get(last, -1)] for first, last in _FROM_TO if span.keys() <= {first, last}]
    match ends or list(span.values()) if ends or span.keys() == {"view_range"} else ():
        case [[int(begin), -1]] if begin >= 1:
            return FileRead(path, begin if begin > 1 else None)
        case [[int(begin), int(end)]] if 1 <= begin <= end:
            return FileRead(path, begin, end - begin + 1)
    return FileRead(path, partial=True)


def _of_shell(tool: str, given: dict[str, Any], cwd: str) -> Fact | None:
    script = first(given, ("input",))
    if script and "tools" in script and (call := nested(script)) is not None:
        return of_call(call[0], call[1], cwd)
    text = command_of(given)
    if not text:
        return None
    base = first(given, FOLDER_KEYS) or ""
    known = (bool(cwd) and cwd.startswith("/")) or posixpath.isabs(base)
    return of_shell(text, base, known) or of_command(text, None)


def _holds_state(given: dict[str, Any]) -> bool:
    """Whether a status call holds the whole state: a list of all items, not a change to it nor a question."""
    if given.get("merge") is True or given.get("command") == "view" or given.get("operation") in ("read", "view"):
        return False
    return any(type(value) is list or (key in _LISTS and bool(value)) for key, value in given.items())
