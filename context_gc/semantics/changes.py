"""Changes: which files an event may have changed, and which text it put in the place of which."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from ..events import Event
from .calls import of_call
from .code import nested, skill
from .commands import touched_by
from .facts import FileEdit
from .patches import patched
from .tools import NEW_TEXT, PATCH_KEYS, arguments, command_of, first, tool_kind

ANYTHING = None  #: any file may have been changed
_RUNS = frozenset(("command_run", "build_run", "test_run", "git_commit"))
_OLD = ("old_string", "oldText", "old_str", "to_replace", "search", "old_text")
_NEW = ("new_string", "newText", "new_str", "new_content", "replace", "new_text", "replacement_text")
_AT = ("insert_line", "line_number", "line")
_INSERTED = ("new_str", "insert_text", "content", "text")
_TYPED = re.compile(r"\s*edit (\d{1,7}):(\d{1,7})[ \t\r]*\n(.*?)(?:\n?end_of_edit\s*)?$", re.DOTALL)


class Replacement(NamedTuple):
    """What an edit says about itself: `new` stands there now, and `old` stood there before.

    Of an edit of numbered lines `old` is None, and `lines` says how many there were.
    """

    old: str | None
    new: str
    lines: int = 0
    begin: int | None = None  #: the first of the numbered lines


def changes(event: Event) -> frozenset[str] | None:
    """The files whose contents an event may have changed, as it spells them; ANYTHING when that is not known.

    Of a tool call only what its name is known for: one of an unknown name gives none.
    """
    kind = event["type"]
    if kind in ("file_edit", "artifact_created"):
        return frozenset((event["path"],))
    if kind == "command_run":
        return touched_by(event["command"])
    if kind in _RUNS:
        return ANYTHING
    return _of_call(event) if kind == "tool_call" else frozenset()


def _of_call(event: Event) -> frozenset[str] | None:
    tool, given = event["tool_name"], arguments(event)
    kind = tool_kind(tool)
    if kind == "shell":
        script = first(given, ("input",))
        if script and "tools" in script:
            call = nested(script)
            return ANYTHING if call is None else _of_call({**event, "tool_name": call[0], "arguments": call[1]})
        text = command_of(given)
        return touched_by(text) if text else ANYTHING
    if kind not in ("write", "edit", "code"):
        return frozenset()
    fact = of_call(tool, given)
    if isinstance(fact, FileEdit):
        return frozenset((fact.path,))
    if fact is not None:
        return frozenset()
    opened, window = event.get("open_file"), event.get("shows")
    if type(window) is dict and type(window.get("path")) is str:
        return frozenset((window["path"],))
    if type(opened) is str and kind == "edit":
        return frozenset((opened,))
    return frozenset(patched(first(given, PATCH_KEYS) or "")) or ANYTHING


def replacement(event: Event) -> Replacement | None:
    """What an edit of one place in one file replaced by what; None for all else."""
    if event["type"] != "tool_call":
        return None
    kind, given = tool_kind(event["tool_name"]), arguments(event)
    if kind == "code":
        found = skill(first(given, ("code",)) or "")
        given = found[1] if found else {}
    elif kind != "edit":
        return None
    typed = _TYPED.match(given["command"]) if type(given.get("command")) is str else None
    if typed is not None:
        begin, end = int(typed[1]), int(typed[2])
        return Replacement(None, typed[3], end - begin + 1, begin) if begin <= end else None
    return None if given.get("replace_all") or given.get("replaceAll") else _replaced(given)


def _replaced(given: dict[str, Any]) -> Replacement | None:
    old = next((given[key] for key in _OLD if type(given.get(key)) is str), None)
    new = next((given[key] for key in _NEW if type(given.get(key)) is str), None)
    if old is not None:
        return Replacement(old, new) if old and new is not None else None
    begin, end = given.get("start_line"), given.get("end_line")
    if new is not None and type(begin) is int and type(end) is int and begin <= end:
        return Replacement(None, new, end - begin + 1, begin)
    line = next((given[key] for key in _AT if type(given.get(key)) is int), None)
    text = next((given[key] for key in _INSERTED if type(given.get(key)) is str), None)
    return Replacement("", text) if line is not None and text is not None else None


def written(event: Event) -> str | None:
    """The whole new text of a file that a call holds in its arguments; None when it holds none."""
    given = arguments(event) if event["type"] == "tool_call" else event
    return next((given[key] for key in NEW_TEXT if type(given.get(key)) is str), None)
