"""Tools by name, and what their arguments are called: which field holds a path, a text, a command."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from ..canonical import canonical
from ..events import Event

_KINDS = {
    "read": frozenset(
        "read read_file readfile view view_file open_file cat notebookread open goto goto_line scroll_up"
        " scroll_down".split()
    ),
    "write": frozenset("write write_file writefile write_to_file create create_file save_file".split()),
    "edit": frozenset(
        "edit edit_file multiedit notebookedit replace replace_in_file str_replace str_replace_editor"
        " str_replace_based_edit_tool file_editor apply_diff apply_patch insert_content search_and_replace".split()
    ),
    "shell": frozenset(
        "bash shell sh exec exec_command execute_command execute_bash run_command run_shell_command shell_command"
        " local_shell local_shell_call terminal powershell write_stdin write_bash".split()
    ),
    "search": frozenset(
        "grep glob search ls list list_files list_directory find find_file search_files search_file_content rg"
        " codebase_search web_search websearch google_web_search webfetch web_fetch fetch fetchurl fetch_url"
        " tool_search search_dir search_file".split()
    ),
    "status": frozenset(
        "todowrite todo_write write_todos update_plan update_todo update_todo_list task_tracker todolist"
        " set_todo_list settodolist manage_todo_list update_topic".split()
    ),
    "code": frozenset("execute_ipython_cell run_ipython".split()),
}

PATH_KEYS = (
    "file_path", "path", "filePath", "filename", "file", "notebook_path", "absolute_path", "target_file", "uri",
)  # fmt: skip
NEW_TEXT = ("content", "contents", "file_text", "file_content", "text")
PATCH_KEYS = ("input", "patch", "patchText", "patch_text")
FOLDER_KEYS = ("workdir", "cwd", "working_directory", "dir_path")
TEXT_KEYS = ("command", "cmd", "pattern", "query", "q", "url", "regex", "prompt")
#: arguments that say why or how a call is made, and not what it asks
ASIDE = frozenset("description explanation reason security_risk timeout timeout_ms timeoutMs toolCallId".split())
_EDITOR = ("str_replace_editor ", "str_replace_based_edit_tool ")
_SHELL = re.compile(r"(?:/\S*/)?(?:ba|z|da)?sh")


@lru_cache(maxsize=4_096)
def tool_kind(tool: str) -> str | None:
    """What a tool is known to do by its name or its last part.

    One of read, write, edit, shell, search, status, code (Python cells with file skills).
    """
    name = re.split(r"__|[./:]", tool)[-1].lower()
    return next((kind for kind, names in _KINDS.items() if name in names), None)


def arguments(event: Event) -> dict[str, Any]:
    """The arguments of a call as a dict; a JSON string (as OpenAI sends them) is parsed, else `{}`."""
    given = event["arguments"]
    if type(given) is str and given[:1] == "{":
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            return {}
    if type(given) is not dict:
        return {}
    typed = given.get("command")
    return (_typed(typed) or given) if type(typed) is str and typed.startswith(_EDITOR) else given


def _typed(line: str) -> dict[str, Any]:
    """The fields of an editor's command that was typed as one line: `str_replace_editor view a.py --view_range 1 9`."""
    try:
        words = shlex.split(line)
    except ValueError:
        return {}
    if len(words) < 3:
        return {}
    given: dict[str, Any] = {"command": words[1], "path": words[2]}
    options: dict[str, list[str]] = {}
    name = ""
    for word in words[3:]:
        name = word[2:] if word.startswith("--") else name
        options.setdefault(name, []).extend(() if word.startswith("--") else (word,))
    for key, values in options.items():
        numbers = [int(value) for value in values if re.fullmatch(r"-?\d{1,9}", value)]
        is_number = key in ("view_range", "insert_line") and len(numbers) == len(values)
        given[key] = (numbers if key == "view_range" else numbers[0]) if is_number and numbers else " ".join(values)
    return given


def question(event: Event) -> tuple[str, ...]:
    """What a call asks, as something that equals only the same question: without what says why, or for how long.

    Of a shell command that is its text and its folder.
    """
    tool, given = event["tool_name"], arguments(event)
    cwd = event.get("cwd")
    at = cwd if type(cwd) is str else ""
    text = command_of(given) if tool_kind(tool) == "shell" else None
    if text:
        more = {key: value for key, value in given.items() if key not in ASIDE and key not in ("command", "cmd")}
        return tool, at, text, canonical(more) if more else ""
    if not given:
        return tool, at, canonical(event["arguments"])
    return tool, at, canonical({key: value for key, value in given.items() if key not in ASIDE})


def first(given: dict[str, Any], keys: Sequence[str]) -> str | None:
    """The first of these arguments that is a text; a list of texts is joined."""
    for key in keys:
        value = given.get(key)
        if type(value) is str and value:
            return value
        if type(value) is list and value and all(type(part) is str for part in value):
            return " ".join(value)
    return None


def command_of(given: dict[str, Any]) -> str | None:
    """The text of a shell command; of `["bash", "-lc", "make"]` it is `make`."""
    for key in ("command", "cmd"):
        parts = given.get(key)
        if type(parts) is list and parts and all(type(part) is str for part in parts):
            if len(parts) == 3 and _SHELL.fullmatch(parts[0]) and parts[1] in ("-c", "-lc"):
                return str(parts[2])
            return shlex.join(parts)
    return first(given, TEXT_KEYS)
