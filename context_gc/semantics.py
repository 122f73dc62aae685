"""What an event did, in terms that do not depend on the agent that logged it.

`semantics(event)` gives a fact for native coding events and for the tool calls of known agents alike.
Stages, colours and filters use facts, so that each rule is written once. Blind spots: a tool that is
not known by name has no fact; a shell command is known by its text alone.
"""

from __future__ import annotations

import json
import posixpath
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from .events import Event


@dataclass(frozen=True, slots=True)
class FileRead:
    """Read a file: all of it, or `limit` lines from line `offset` (1-based)."""

    path: str
    offset: int | None = None
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class FileEdit:
    """Changed a file; `whole` when the arguments hold its whole new text."""

    path: str
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Command:
    """Ran a shell command."""

    text: str
    exit_code: int | None = None


@dataclass(frozen=True, slots=True)
class TestRun(Command):
    """Ran tests."""


@dataclass(frozen=True, slots=True)
class Build(Command):
    """Ran a build."""


@dataclass(frozen=True, slots=True)
class Commit(Command):
    """Made a commit."""


@dataclass(frozen=True, slots=True)
class Search:
    """Looked for something: in files, or on the web."""

    query: str
    path: str | None = None


@dataclass(frozen=True, slots=True)
class Status:
    """Wrote a to-do list, a plan or the like: the whole new state."""

    topic: str


Fact = FileRead | FileEdit | Command | TestRun | Build | Commit | Search | Status

_KINDS = {
    "read": frozenset("read read_file readfile view view_file open_file cat notebookread".split()),
    "write": frozenset("write write_file writefile write_to_file create_file save_file".split()),
    "edit": frozenset(
        "edit edit_file multiedit notebookedit replace replace_in_file str_replace str_replace_editor"
        " str_replace_based_edit_tool apply_diff apply_patch insert_content search_and_replace".split()
    ),
    "shell": frozenset(
        "bash shell sh exec exec_command execute_command run_command run_shell_command local_shell terminal"
        " powershell".split()
    ),
    "search": frozenset(
        "grep glob search ls list list_files list_directory find find_file search_files search_file_content"
        " codebase_search web_search websearch webfetch web_fetch fetch".split()
    ),
    "status": frozenset("todowrite todo_write write_todos update_plan update_todo_list task_tracker".split()),
}

_PATH_KEYS = (
    "file_path", "path", "filePath", "filename", "file", "notebook_path", "absolute_path", "target_file", "uri",
)  # fmt: skip
_TEXT_KEYS = ("command", "cmd", "pattern", "query", "q", "url", "regex", "prompt")
_LEAD = re.compile(r"\s*(?:cd\s+\S+\s*(?:&&|;)\s*|[A-Z_][A-Z0-9_]*=\S*\s+|timeout\s+\S+\s+|env\s+|sudo\s+|time\s+)*")
_TESTS = re.compile(
    r"(?:python\S*\s+-m\s+)?(?:pytest|unittest|tox|nox)\b|(?:npm|pnpm|yarn|bun)\s+(?:run\s+)?test"
    r"|(?:npx\s+)?(?:jest|vitest|mocha)\b|cargo\s+(?:\w+\s+)?(?:test|nextest)|go\s+test|mvn\s+.*\btest"
    r"|(?:\./)?gradlew?\s+.*\btest|make\s+(?:\S+\s+)*test|ctest|rspec|mix\s+test|dotnet\s+test"
)
_BUILDS = re.compile(
    r"(?:npm|pnpm|yarn|bun)\s+run\s+build|cargo\s+(?:build|check)|go\s+build|make\b|cmake\b|ninja\b|tsc\b"
    r"|mvn\s+.*\b(?:package|compile|install)|(?:\./)?gradlew?\s+.*\b(?:build|assemble)|python\S*\s+-m\s+build"
    r"|dotnet\s+build"
)


def semantics(event: Event) -> Fact | None:
    """The fact that an event states, or None. Results state nothing by themselves: their call does."""
    kind = event["type"]
    if kind == "tool_call":
        return _of_call(event["tool_name"], arguments(event))
    if kind == "file_read":
        return FileRead(event["path"], _whole(event.get("offset")), _whole(event.get("limit")))
    if kind == "file_edit":
        return FileEdit(event["path"])
    if kind == "artifact_created":
        return FileEdit(event["path"], whole=True)
    if kind == "command_run":
        return _of_command(event["command"], event["exit_code"])
    if kind == "test_run":
        return TestRun(", ".join(event["test_names"]), event["exit_code"])
    if kind == "build_run":
        return Build(str(event.get("command", "")), event["exit_code"])
    if kind == "git_commit":
        return Commit(event["message"], 0)
    return None


@lru_cache(maxsize=4_096)
def tool_kind(tool: str) -> str | None:
    """What a tool is known to do by its name or its last part: read, write, edit, shell, search or status."""
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
    return given if type(given) is dict else {}


def path_of(event: Event, cwd: str = "") -> str | None:
    """The one path that an event is about, normalised: relative to `cwd` where it lies below it."""
    fact = semantics(event)
    path = getattr(fact, "path", None)
    if path is None and event["type"] == "tool_call":
        path = _first(arguments(event), _PATH_KEYS)
    return normalise(path, cwd) if path else None


def normalise(path: str, cwd: str = "") -> str:
    """One spelling for one file: `./a`, `/cwd/a`, `a` and `x/../a` are `a`."""
    path = posixpath.normpath(path.replace("\\", "/"))
    base = posixpath.normpath(cwd.replace("\\", "/")) if cwd else ""
    return path[len(base) + 1 :] if base and path.startswith(base.rstrip("/") + "/") else path


def _of_call(tool: str, given: dict[str, Any]) -> Fact | None:
    kind = tool_kind(tool)
    if kind is None:
        return None
    path, text = _first(given, _PATH_KEYS), _first(given, _TEXT_KEYS)
    if kind == "shell":
        return _of_command(text, None) if text else None
    if kind == "status":
        return Status(tool)
    if kind == "search":
        return Search(text or "", path)
    if path is None:
        return None
    if kind == "read" or given.get("command") == "view":
        return FileRead(path, _whole(given.get("offset")), _whole(given.get("limit")))
    return FileEdit(path, whole=kind == "write")


def _of_command(text: str, exit_code: int | None) -> Command:
    body = text[_LEAD.match(text).end() :]  # type: ignore[union-attr]  # every part of it is optional
    if _TESTS.match(body):
        return TestRun(text, exit_code)
    if _BUILDS.match(body):
        return Build(text, exit_code)
    if re.match(r"git\s+(?:-\S+\s+)*commit\b", body):
        return Commit(text, exit_code)
    return Command(text, exit_code)


def _first(given: dict[str, Any], keys: tuple[str, ...]) -> str | None:
    for key in keys:
        value = given.get(key)
        if type(value) is str and value:
            return value
        if type(value) is list and value and all(type(part) is str for part in value):
            return " ".join(value)
    return None


def _whole(value: Any) -> int | None:
    return value if type(value) is int else None
