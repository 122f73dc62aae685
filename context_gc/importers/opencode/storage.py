"""The storage folder of opencode, one file for each session, message and part -> sessions.

session/<project>/<session>.json, message/<session>/<message>.json and part/<message>/<part>.json; the first layout had
session/info/<session>.json, session/message/<session>/… and session/part/<session>/<message>/…
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from ...trace import Problem
from ..files.document import BLANK, Document, kind_of, parse_at
from ..files.fields import count, mapping, text
from .session import Message, Part, Session

_OLD = re.compile(r"(?P<root>(?:.*/)?session/)(?P<kind>info|message|part)/(?P<rest>[^/]+(?:/[^/]+){0,2})\.json")
_NEW = re.compile(r"(?P<root>(?:.*/)?)(?P<kind>session|message|part)/(?P<rest>[^/]+(?:/[^/]+)?)\.json")


def groups(paths: Sequence[str]) -> list[tuple[str, ...]]:
    """The files of each storage folder, sessions first, then messages, then parts."""
    found: dict[str, dict[str, list[str]]] = {}
    for path in paths:
        root, kind, _ = _place(path)
        if kind:
            found.setdefault(root, {}).setdefault(kind, []).append(path)
    whole = (kinds for kinds in found.values() if "message" in kinds and len(kinds) > 1)
    order = ("session", "message", "part")
    return [tuple(path for kind in order for path in sorted(kinds.get(kind, ()))) for kinds in whole]


def sessions(documents: Sequence[Document], problems: list[Problem]) -> tuple[list[Session], int]:
    """The sessions that the files tell, and how many of these are session files. Damaged files are reported."""
    found: dict[str, Session] = {}
    messages: dict[str, Message] = {}
    parts: list[tuple[str, Part]] = []
    described = 0
    for document, kind, names, value in _values(documents, problems):
        origin = {"file": document.name}
        if kind == "session":
            name = text(value.get("id")) or names[-1]
            found[name] = Session(name, value, origin)
            described += 1
        elif kind == "message":
            name = text(value.get("sessionID")) or names[0]
            message = messages[text(value.get("id")) or names[-1]] = Message(value, origin)
            found.setdefault(name, Session(name)).messages.append(message)
        else:
            parts.append((text(value.get("messageID")) or (names[-2] if len(names) > 1 else ""), Part(value, origin)))
    for name, part in parts:
        if name in messages:
            messages[name].parts.append(part)
        else:
            problems.append(Problem(None, f"{part.origin['file']}: a part of an unknown message (skipped)"))
    for session in found.values():
        session.messages.sort(key=lambda each: count(mapping(each.info.get("time")).get("created")))
        session.take_back()
    return list(found.values()), described


def _values(
    documents: Sequence[Document], problems: list[Problem]
) -> Iterator[tuple[Document, str, list[str], dict[str, Any]]]:
    for document in documents:
        _, kind, rest = _place(document.name)
        try:
            value, _ = parse_at(document.text.strip(BLANK))
        except ValueError as error:
            problems.append(Problem(None, f"{document.name}: not JSON: {error} (left out)"))
            continue
        if type(value) is dict:
            yield document, kind, rest.split("/"), value
        else:
            problems.append(Problem(None, f"{document.name}: {kind_of(value)} where an object was expected (left out)"))


def _place(path: str) -> tuple[str, str, str]:
    """The storage folder that a file lies in, of which kind it is, and its name there; "" for other files."""
    found = _OLD.fullmatch(path) or _NEW.fullmatch(path)
    if found is None or (found["kind"] in ("message", "session") and "/" not in found["rest"] and found.re is _NEW):
        return "", "", ""
    kind = "session" if found["kind"] == "info" else found["kind"]
    return found["root"], kind, found["rest"]
