"""Gemini contents: a list of {role, parts} as its API takes it: bare, in {"history"} or {"contents"}, or one a line.

Gemini CLI writes such lists for /chat save, other programs for their requests. Records are the contents and the
system instruction. Calls and responses without ids are paired in order. Blind spot: there are no times.
"""

from __future__ import annotations

from typing import Any

from ...trace import Problem, Trace
from ..files.document import Document, kind_of
from ..files.fields import count, items, mapping, text
from ..files.json_roots import first_objects, roots
from ..recording.history import one_line
from ..recording.recorder import Recorder
from .parts import HOLDS, SPEAKERS, Speech, is_snapshot

name = "gemini-contents"

LISTS = ("contents", "history")  #: where a list of contents stands in an object
SYSTEM = ("systemInstruction", "system_instruction")


def sniff(head: bytes) -> bool:
    """Whether the file begins with a content, or with an object that holds a list of them."""
    for value in first_objects(head)[:3]:
        found = [value, *(each for key in LISTS for each in items(value.get(key))[:3])]
        if any(map(_is_content, found)):
            return True
    return False


def read(document: Document) -> list[Trace]:
    """The file's one trace. A content that is no object with parts is reported and skipped.

    Every event has `origin`: {"line"} or {"path"} of its content, and "block" when it is one of several parts.

    Raises:
        TraceError: there is no JSON object in the file.
    """
    found, problems = roots(document)
    recorder = Recorder(name, document.name)
    speech, trace = Speech(recorder), recorder.trace
    read_count = 0
    contents: list[tuple[Any, dict[str, Any]]] = []
    for root in found:
        held = next((key for key in LISTS if type(root.value.get(key)) is list), "")
        for key in SYSTEM if held else ():
            if root.value.get(key):
                given = mapping(root.value[key]).get("parts", root.value[key])
                contents.append(({"role": "system", "parts": given}, {**root.origin, "path": key}))
        if held:
            listed = enumerate(root.value[held])
            contents += [(each, {**root.origin, "path": f"{held}/{index}"}) for index, each in listed]
            meta = mapping(root.value.get("meta"))
            trace.model = text(root.value.get("model")) or text(meta.get("model"))
            trace.title = one_line(text(root.value.get("summary")))
        else:
            contents.append((root.value, root.origin))
    for number, (content, origin) in enumerate(contents, 1):
        fault = _damage(content)
        if fault:
            at = f"{origin['path']}: " if "path" in origin else ""
            problems.append(Problem(origin.get("line"), f"{at}{fault} (skipped)"))
        elif _add(speech, content, origin, f"c{number}"):
            read_count += 1
        else:
            recorder.ignore("empty content")
    trace = recorder.done()
    trace.problems = sorted(problems, key=lambda problem: problem.line or 0)
    said = (event["content"] for event in trace.events if event["type"] == "requirement")
    trace.title = trace.title or one_line(next(said, ""))
    trace.records_read = read_count
    return [trace]


def _is_content(value: Any) -> bool:
    """Whether it is a content; messages of other APIs have `parts` that name their type."""
    role, parts = mapping(value).get("role", "user"), items(mapping(value).get("parts"))
    known = type(role) is str and (role in SPEAKERS or role == "function")
    return known and any(any(key in mapping(part) for key in HOLDS) and "type" not in part for part in parts[:5])


def _damage(content: Any) -> str:
    if type(content) is not dict:
        return f"{kind_of(content)} where a content was expected"
    parts = content.get("parts")
    if not isinstance(parts, list | str | dict):
        return f"field 'parts' {f'is {kind_of(parts)}' if 'parts' in content else 'is missing'}, expected a list"
    return ""


def _add(speech: Speech, content: dict[str, Any], origin: dict[str, Any], name: str) -> bool:
    """Append one content; False when it says nothing."""
    recorder = speech.recorder
    start = len(recorder.events)
    role = text(content.get("role")) or "user"
    recorder.at(content.get("ts", content.get("timestamp")))
    if role == "user" and is_snapshot(content["parts"]):
        recorder.open_window()
    more = {"message_id": name} if SPEAKERS.get(role) == "assistant" else {}
    speech.add(SPEAKERS.get(role, "user"), content["parts"], origin, name, **more)
    usage = mapping(content.get("usageMetadata"))
    cached, prompt = count(usage.get("cachedContentTokenCount")), count(usage.get("promptTokenCount"))
    output = count(usage.get("candidatesTokenCount")) + count(usage.get("thoughtsTokenCount"))
    if len(recorder.events) > start:
        recorder.used(len(recorder.events) - 1, max(prompt - cached, 0), output, cached)
    return len(recorder.events) > start
