"""What an event did, in terms that do not depend on the agent that logged it.

`semantics(event)` gives a fact for native coding events and for the tool calls of known agents alike.
Stages, colours and filters use facts, so that each rule is written once. Blind spots: a tool that is
not known by name has no fact, and neither has a call about several files; a shell command is known by
its text alone, and is a read only where it is nothing but `cat`, `head`, `nl` or `sed -n` of one path
that is known in full.
"""

from __future__ import annotations

import json
import posixpath
import re
import shlex
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from .events import Event


@dataclass(frozen=True, slots=True)
class FileRead:
    """Read a file: all of it, or `limit` lines from line `offset`, as the tool counts them (most from 1)."""

    path: str
    offset: int | None = None
    limit: int | None = None
    partial: bool = False  #: something else narrowed it (pages, a symbol): what it showed is not known

    @property
    def full(self) -> bool:
        """Whether all of the file was asked for."""
        return not self.offset and self.limit is None and not self.partial


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
    """Wrote a to-do list, a plan or the like; `whole` when the arguments hold the whole new state."""

    topic: str
    whole: bool = True


Fact = FileRead | FileEdit | Command | TestRun | Build | Commit | Search | Status

_KINDS = {
    "read": frozenset("read read_file readfile view view_file open_file cat notebookread".split()),
    "write": frozenset("write write_file writefile write_to_file create create_file save_file".split()),
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
    "status": frozenset(
        "todowrite todo_write write_todos update_plan update_todo_list task_tracker todolist set_todo_list"
        " settodolist manage_todo_list".split()
    ),
}

_PATH_KEYS = (
    "file_path", "path", "filePath", "filename", "file", "notebook_path", "absolute_path", "target_file", "uri",
)  # fmt: skip
_NEW_TEXT = ("content", "contents", "file_text", "file_content", "text")
_PATCH_KEYS = ("input", "patch", "patchText", "patch_text")
_ASIDE = frozenset((*_PATH_KEYS, "command", "description", "explanation", "reason", "security_risk"))
_FOLDER_KEYS = ("workdir", "cwd", "working_directory", "dir_path")
#: pairs of arguments that name the first and the last line of a range
_FROM_TO = (("start_line", "end_line"), ("startLine", "endLine"))
_SPANS = ("offset", "limit", "view_range", "start_line", "end_line")
_SHELL = re.compile(r"(?:/\S*/)?(?:ba|z|da)?sh")
_TEXT_KEYS = ("command", "cmd", "pattern", "query", "q", "url", "regex", "prompt")
_LEAD = re.compile(r"\s*(?:cd\s+\S+\s*(?:&&|;)\s*|[A-Z_][A-Z0-9_]*=\S*\s+|timeout\s+\S+\s+|env\s+|sudo\s+|time\s+)*")
_TESTS = re.compile(
    r"(?:python\S*\s+-m\s+)?(?:pytest|unittest|tox|nox)\b|(?:npm|pnpm|yarn|bun)\s+(?:run\s+)?test"
    r"|(?:npx\s+)?(?:jest|vitest|mocha)\b|cargo\s+(?:\w+\s+)?(?:test|nextest)|go\s+test|mvn\s.*\btest"
    r"|(?:\./)?gradlew?\s.*\btest|make\s+(?:\S+\s+)*test|ctest|rspec|mix\s+test|dotnet\s+test"
)
_BUILDS = re.compile(
    r"(?:npm|pnpm|yarn|bun)\s+run\s+build|cargo\s+(?:build|check)|go\s+build|make\b|cmake\b|ninja\b|tsc\b"
    r"|mvn\s.*\b(?:package|compile|install)|(?:\./)?gradlew?\s.*\b(?:build|assemble)|python\S*\s+-m\s+build"
    r"|dotnet\s+build"
)

_SPECIAL = re.compile(r"[|;&<>()$`\\*?\[\]{}~!#\n]")  # what makes a shell do more than run one program
_PRINT = re.compile(r"(\d{1,9})(?:,(\d{0,9}))?p")
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)


def semantics(event: Event) -> Fact | None:
    """The fact that an event states, or None. Results state nothing by themselves: their call does."""
    kind = event["type"]
    if kind == "tool_call":
        return _of_call(event["tool_name"], arguments(event))
    if kind == "file_read":
        return _of_read(event["path"], {key: event.get(key) for key in _SPANS})
    if kind == "file_edit":
        return FileEdit(event["path"])
    if kind == "artifact_created":
        return FileEdit(event["path"], whole=any(type(event.get(key)) is str for key in _NEW_TEXT))
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
    if kind == "shell":
        text = _command(given)
        return (_of_shell(text, given) or _of_command(text, None)) if text else None
    if kind == "status":
        return Status(tool, _holds_state(given))
    path = _first(given, _PATH_KEYS)
    if kind == "search":
        return Search(_first(given, _TEXT_KEYS) or "", path)
    if any(type(given.get(key)) is list for key in _PATH_KEYS):
        return None
    if path is None:
        patched = set(_PATCHED.findall(_first(given, _PATCH_KEYS) or "")) if kind == "edit" else ()
        return FileEdit(patched.pop().strip()) if len(patched) == 1 else None
    if kind == "read" or given.get("command") == "view":
        return _of_read(path, given)
    creates = kind == "write" or given.get("command") == "create"
    appends = given.get("append") or given.get("mode") in ("a", "append")
    return FileEdit(path, whole=creates and not appends and any(type(given.get(key)) is str for key in _NEW_TEXT))


def _of_read(path: str, given: dict[str, Any]) -> FileRead:
    span = {key: value for key, value in given.items() if value is not None and key not in _ASIDE}
    if sum(key in given for key in _PATH_KEYS) > 1:
        return FileRead(path, partial=True)
    if span.keys() <= {"offset", "limit"} and all(type(value) is int and value >= 0 for value in span.values()):
        return FileRead(path, span.get("offset"), span.get("limit"))
    ends = [[span.get(first, 1), span.get(last, -1)] for first, last in _FROM_TO if span.keys() <= {first, last}]
    match ends or list(span.values()) if ends or span.keys() == {"view_range"} else ():
        case [[int(first), -1]] if first >= 1:
            return FileRead(path, first if first > 1 else None)
        case [[int(first), int(last)]] if 1 <= first <= last:
            return FileRead(path, first, last - first + 1)
    return FileRead(path, partial=True)


def _of_shell(text: str, given: dict[str, Any]) -> FileRead | None:
    """A read, where the whole command is one plain read of one path that does not depend on what went before."""
    if len(text) > 4_096 or not text.startswith(("cat ", "nl ", "head ", "sed ")):
        return None
    text, piped, after = text.partition(" | ")
    if _SPECIAL.search(text + after):
        return None
    try:
        words, after_words = shlex.split(re.sub(r"^head -(?=\d)", "head -n ", text)), shlex.split(after)
    except ValueError:
        return None
    if piped and (words[:2] != ["nl", "-ba"] or after_words[:2] != ["sed", "-n"]):
        return None
    match [*words[:-1], *after_words[1:]]:
        case ["cat"] | ["cat", "-n"] | ["nl"] | ["nl", "-ba"]:
            span = "1,p"
        case ["head", "-n", count]:
            span = f"1,{count}p"
        case ["sed", "-n", span] | ["nl", "-ba", "-n", span]:
            pass
        case _:
            return None
    base = next((given[key] for key in _FOLDER_KEYS if type(given.get(key)) is str), "")
    path, lines = posixpath.join(base, words[-1]), _PRINT.fullmatch(span)
    if lines is None or lines[1] == "0" or words[-1].startswith("-") or not path.startswith("/"):
        return None
    if lines[2] == "":
        return FileRead(path)
    return FileRead(path, int(lines[1]), max(int(lines[2] or lines[1]) - int(lines[1]), 0) + 1)


def _holds_state(given: dict[str, Any]) -> bool:
    """Whether a status call holds the whole state: a list of all items, not a change to it nor a question."""
    if given.get("merge") is True or given.get("command") == "view" or given.get("operation") in ("read", "view"):
        return False
    return any(type(value) is list or (key in ("todos", "plan") and bool(value)) for key, value in given.items())


def _command(given: dict[str, Any]) -> str | None:
    """The text of a shell command; of `["bash", "-lc", "make"]` it is `make`."""
    for key in ("command", "cmd"):
        parts = given.get(key)
        if type(parts) is list and parts and all(type(part) is str for part in parts):
            if len(parts) == 3 and _SHELL.fullmatch(parts[0]) and parts[1] in ("-c", "-lc"):
                return str(parts[2])
            return shlex.join(parts)
    return _first(given, _TEXT_KEYS)


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
