"""A call with its results as plain text tells of it: which file, which lines, whether it failed."""

from __future__ import annotations

import json
import posixpath
import re
import shlex
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from properties.invariants import pairs

Event = dict[str, Any]
PATHS = ("file_path", "path", "filePath", "filename", "file", "notebook_path", "absolute_path", "target_file")
OLD = ("old_string", "oldText", "old_str", "search", "to_replace")
NEW = ("new_string", "newText", "new_str", "replace", "new_content", "replacement_text", "insert_text")
HELD = ("content", "contents", "file_text", "text")
SPANS = ("offset", "limit", "view_range", "start_line", "end_line", "pages")
ASIDE = ("description", "timeout", "explanation", "reason", "security_risk", "timeout_ms")
PLACED = ("insert_line", "line", "line_number", "start_line")
WHOLE = re.compile(r"\s*(?:cd \S+ && )?(?:cat > *\S+ *<<|cat <<-?\s*\S+ *> |tee \S+ *<<)")
PRINTED = re.compile(r"\s*(?:cd \S+ && )?(?:cat|nl)\b[^|>]*$")
NUMBER = re.compile(r" *(\d+)(→|\t|:|\||\. )")
RANGE = re.compile(r"\s*edit (\d+):(\d+)")
CUT = re.compile(
    r"^\[Showing lines|[\[<(…][^\n\[\]<>]*(?:truncated|omitted|clipped)|\[\d+ more lines in file", re.I | re.M
)
NOTICE = re.compile(
    r"unchanged since|has not changed|content cleared|no such file|does not exist|not found|permission denied", re.I
)  # fmt: skip
BAD = re.compile(
    r"\A\s*(?:Exit code:? [1-9]|<returncode>[^0]|<tool_use_error>|Error:|\[?Your proposed edit has introduced"
    r"|\[?Your edit was not applied|\[?No exact match|No replacement)|Command exited with code [1-9]\W*\Z"
    r"|^Traceback \(most recent|^FAILED |^=+ .*\b[1-9]\d* failed|^make.*\*\*\*", re.M
)  # fmt: skip


class Unit:
    """A call with its results, or an act that holds its own outcome."""

    def __init__(self, begun: int, place: int, lead: Event, results: Sequence[Event]) -> None:
        self.begun, self.place = begun, place  #: where it stands, and where its first answer does
        self.lead, self.results = lead, results

    @cached_property
    def given(self) -> dict[str, Any]:
        given = self.lead.get("arguments", self.lead)
        if type(given) is str:
            try:
                given = json.loads(given)
            except ValueError:
                given = {"command": given}
        if type(given) is not dict:
            return {}
        code = given.get("code")
        return given | _literals(code) if type(code) is str else given

    @cached_property
    def command(self) -> str:
        told = self.given.get("command", self.given.get("cmd", ""))
        return told[-1] if type(told) is list and told else str(told)

    @cached_property
    def answer(self) -> str:
        return _text(self.results[0]["result"] if self.results else self.lead)

    @cached_property
    def failed(self) -> bool:
        held = (self.lead, *self.results[:1])
        if any(each.get("is_error") is True or each.get("exit_code") not in (0, None) for each in held):
            return True
        return BAD.search(self.answer) is not None

    @cached_property
    def path(self) -> str:
        """The file that it is about, as far as its text tells."""
        window = self.lead.get("shows")
        found = next((self.given[key] for key in PATHS if type(self.given.get(key)) is str), None)
        found = found or (window["path"] if type(window) is dict else self.lead.get("open_file"))
        found = found or _path_in(self.command)
        return posixpath.normpath(posixpath.join(self.lead.get("cwd") or "", found)) if found else ""

    @cached_property
    def old(self) -> list[str]:
        return _lines(next((self.given[key] for key in OLD if type(self.given.get(key)) is str), ""))

    @cached_property
    def wrote(self) -> list[str]:
        """The lines that it put into a file by its arguments."""
        body = self.command.partition("\n")[2] if RANGE.match(self.command) or "<<" in self.command else ""
        held = [self.given[key] for key in (*NEW, *HELD) if type(self.given.get(key)) is str]
        lines = [line for text in (body, *held) for line in _lines(text)]
        return [line for line in lines if line not in ("end_of_edit", "EOF", "PY", "END")]

    @cached_property
    def writes(self) -> bool:
        known = self.lead["type"] in ("file_edit", "artifact_created") or bool(self.wrote or self.old)
        return known or bool(re.match(r"\s*(?:create|edit|insert) |.*\bsed -i", self.command))

    @cached_property
    def holds_all(self) -> bool:
        """Whether it is a write of a whole file, or showed all of one."""
        if self.failed:
            return False
        window = self.lead.get("shows")
        if type(window) is dict:
            return bool(window["offset"] == 1 and window["limit"] == window["lines"])
        if self.writes:
            placed = any(key in self.given for key in (*OLD, *PLACED)) or bool(self.given.get("append"))
            held = any(type(self.given.get(key)) is str for key in HELD)
            return (held and not placed) or WHOLE.match(self.command) is not None
        if any(self.given.get(key) is not None for key in SPANS) or CUT.search(self.answer):
            return False
        if len(self.answer) < 600 and NOTICE.search(self.answer):
            return False
        is_read = self.lead["type"] == "file_read" or "read" in str(self.lead.get("tool_name")).lower()
        return is_read or self.command == "view" or PRINTED.match(self.command) is not None

    @cached_property
    def shown(self) -> list[str]:
        """The lines of a file in its answer: those with numbers, if it has two in a row, else all."""
        lines = self.answer.split("\n")
        numbers = [NUMBER.match(line) for line in lines]
        counts = [int(found[1]) if found else -9 for found in numbers]
        steady = [at for at in range(1, len(lines)) if counts[at] == counts[at - 1] + 1]
        if steady:
            kept = {*steady, *(at - 1 for at in steady)}
            return [lines[at][numbers[at].end() :].rstrip() for at in sorted(kept)]  # type: ignore[union-attr]
        return [] if self.writes else _lines(self.answer)

    @cached_property
    def asked(self) -> str:
        own = ("test_names", "command", "path")  # of an act that holds its own outcome
        is_call = "arguments" in self.lead
        given = {key: value for key, value in self.given.items() if (key not in ASIDE if is_call else key in own)}
        return json.dumps([self.lead.get("tool_name", self.lead["type"]), given], sort_keys=True)


def units_of(events: Sequence[Event]) -> dict[str, Unit]:
    """Event id -> its unit, in trace order."""
    call_of, answers = pairs(events), dict[str, list[Event]]()
    for event in events:
        if event["id"] in call_of:
            answers.setdefault(call_of[event["id"]], []).append(event)
    places = {event["id"]: at for at, event in enumerate(events)}
    found = {}
    for name, at in places.items():
        if name not in call_of:
            results = answers.get(name, [])
            found[name] = Unit(at, places[results[0]["id"]] if results else at, events[at], results)
    return found | {name: found[call] for name, call in call_of.items()}


def _text(value: Any) -> str:
    if type(value) is str:
        return value
    if type(value) is list:
        return "\n".join(map(_text, value))
    if type(value) is dict:
        return "\n".join(_text(value[key]) for key in ("text", "content", "output", "stdout", "stderr") if key in value)
    return ""


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.split("\n") if not re.fullmatch(r"\[\d+ more lines in .*\]", line)]


def _literals(code: str) -> dict[str, str]:
    """The texts in a cell of Python: the first is the file, others by their names."""
    found = {key: text for key, _, text in re.findall(r'(\w+)\s*=\s*("""|"|\')(.*?)\2', code, re.DOTALL)}
    file = re.search(r"\(\s*['\"]([^'\"]+)['\"]", code)
    return found | ({"path": file[1]} if file else {})


def _path_in(command: str) -> str:
    """The file in a command that reads or writes one."""
    folder = re.match(r"\s*cd (\S+) *(?:&&|;) *", command)
    body = command[folder.end() :] if folder else command
    written = re.match(r"cat >>? *(\S+) *<<|cat <<-?\s*\S+ *>>? *(\S+)|tee (\S+) *<<", body)
    if written:
        found = next(each for each in written.groups() if each)
    else:
        try:
            words = [word for word in _words(body) if not word.startswith("2>")]
        except ValueError:
            return ""
        is_one = len(words) > 1 and words[0] in ("cat", "nl", "head", "sed", "open", "create")
        found = (words[1] if words[0] in ("open", "create") else words[-1]) if is_one else ""
    return posixpath.join(folder[1] if folder else "", found.strip("'\"")) if found else ""


def _words(body: str) -> list[str]:
    return shlex.split(body.split("\n")[0].split(" | ")[0])
