"""A dump of what opencode tells its plugins, row by row -> sessions.

A row is ["event", {"event": {type, properties}}] or [hook, input, output]; events alone, {type, properties}, are read
as well. Messages and parts come whole whenever they change, their text also in pieces in between: the last counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ...trace import Problem
from ..files.document import BLANK, kind_of, parse_at
from ..files.fields import items, mapping, text
from .session import REMOVED, UNDONE, Gone, Message, Part, Session

HOOKS = ("event", "chat.message", "chat.params", "tool.definition", "experimental.chat.system.transform")


@dataclass(slots=True)
class Rows:
    """The rows of a dump. `kinds`: of each row its line, what it is counted as when left out, and its session."""

    sessions: dict[str, Session] = field(default_factory=dict)
    kinds: list[tuple[int, str, str]] = field(default_factory=list)
    _parts: dict[str, Part] = field(default_factory=dict)
    _messages: dict[str, Message] = field(default_factory=dict)
    lines: dict[int, list[int]] = field(default_factory=dict)  #: by id() of a part or message: the rows it is made of
    _asked: list[tuple[str, str, int, str, dict[str, int]]] = field(default_factory=list)

    def take(self, line: int, row: Any) -> None:
        """Read one row."""
        kind, given = unwrapped(row)
        self.kinds.append((line, kind, ""))
        name = text(given.get("sessionID")) or text(mapping(given.get("info")).get("sessionID"))
        origin = {"line": line}
        if kind.startswith("session.") and type(given.get("info")) is dict:
            name = name or text(given["info"].get("id"))
            session = self._session(name)
            session.info, session.origin = given["info"], origin
        elif kind == "message.updated":
            self._message(name, mapping(given.get("info")), line)
        elif kind == "message.part.updated":
            self._part(name, mapping(given.get("part")), line)
        elif kind == "message.part.delta":
            self._delta(given, line)
        elif kind == "chat.message":
            self._message(name, mapping(given.get("message")), line)
            for part in items(given.get("parts")):
                self._part(name, mapping(part), line)
        elif kind in ("message.removed", "message.part.removed"):
            self._removed(given, name, line)
        elif kind == "experimental.chat.system.transform":
            model = text(mapping(given.get("model")).get("id"))
            prompt = "\n\n".join(filter(None, map(text, items(given.get("system")))))
            self._asked.append((name, model, len(self._session(name).messages), prompt, origin))
        self.kinds[-1] = line, kind, name

    def done(self) -> list[Session]:
        """The sessions, in the order in which they began."""
        models: dict[str, set[str]] = {}
        for session in self.sessions.values():
            models[session.name] = {text(message.info.get("modelID")) for message in session.messages}
            session.take_back()
        for name, model, number, prompt, origin in self._asked:
            if model in models[name]:  # others are those of helpers, such as the one that finds a title
                # that of the first answer stands before all; the others before the answer that they were made for
                prompts = self.sessions[name].prompts
                prompts.setdefault(max(number - 1, 0) if prompts else 0, []).append((prompt, origin))
        return list(self.sessions.values())

    def _session(self, name: str) -> Session:
        return self.sessions.setdefault(name, Session(name))

    def _message(self, session: str, info: dict[str, Any], line: int) -> Message:
        name = text(info.get("id"))
        message = self._messages.get(name)
        if message is None:
            message = self._messages[name] = Message(info, {"line": line})
            self._session(session or text(info.get("sessionID"))).messages.append(message)
        message.info, message.origin = info, {"line": line}
        self.lines[id(message)] = [line]
        return message

    def _part(self, session: str, value: dict[str, Any], line: int) -> None:
        name, home = text(value.get("id")) or f"L{line}", text(value.get("messageID"))
        part = self._parts.get(name)
        if part is None:
            message = self._messages.get(home) or self._message(session, {"id": home}, line)
            part = self._parts[name] = Part(value, {"line": line})
            message.parts.append(part)
        part.value, part.origin = value, {"line": line}
        self.lines[id(part)] = [line]

    def _delta(self, given: dict[str, Any], line: int) -> None:
        part, key = self._parts.get(text(given.get("partID"))), text(given.get("field"))
        if part is not None and key and type(given.get("delta")) is str:
            part.value = {**part.value, key: text(part.value.get(key)) + given["delta"]}
            self.lines[id(part)].append(line)

    def _removed(self, given: dict[str, Any], session: str, line: int) -> None:
        gone: Message | Part | None = self._messages.get(text(given.get("messageID")))
        if "partID" in given:
            gone = self._parts.get(text(given.get("partID")))
        if gone is not None and gone.gone is None:
            undone = "revert" in self._session(session).info
            gone.gone = Gone(UNDONE if undone else REMOVED, {"line": line})
            self.lines[id(gone)].append(line)


def rows(document_text: str, problems: list[Problem]) -> Iterator[tuple[int, Any]]:
    """The rows of a dump with the numbers of their lines; what is none is reported."""
    for number, line in enumerate(document_text.split("\n"), 1):
        line = line.strip(BLANK)
        at = 0
        while at < len(line):
            try:
                value, at = parse_at(line, at)
            except ValueError as error:
                problems.append(Problem(number, f"not JSON: {error} (line skipped)"))
                break
            if unwrapped(value)[0]:
                yield number, value
            else:
                problems.append(Problem(number, f"{kind_of(value)} that is no row of a dump (skipped)"))
            while at < len(line) and line[at] in BLANK:
                at += 1


def unwrapped(row: Any) -> tuple[str, dict[str, Any]]:
    """A row's kind and what it holds; "" for what is no row."""
    if type(row) is list and row and type(row[0]) is str:
        given = mapping(row[1]) if len(row) > 1 else {}
        if row[0] != "event":
            return row[0][:60], {**given, **(mapping(row[2]) if len(row) > 2 else {})}
        row = given
    event = mapping(row).get("event", row)
    event = mapping(event).get("payload", event)
    kind, told = mapping(event).get("type"), mapping(event).get("properties")
    return (kind[:60], told) if type(kind) is str and type(told) is dict else ("", {})
