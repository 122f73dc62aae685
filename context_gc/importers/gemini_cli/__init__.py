"""Gemini CLI: a session as it is kept in ~/.gemini/tmp/<project>/chats: JSON until 2025, JSONL since 2026.

Calls stand in the message that made them, together with their results. Records are the lines of JSONL, the messages
of JSON; those that never reach the model (info, error, warning) are ignored by kind. A cancelled call is given up.
Blind spots: a message may hold the calls of several rounds, which then seem to be made at once; a shortened result
replaced the whole one.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

from ...trace import Problem, Trace
from ..files.document import Document, kind_of
from ..files.fields import count, items, mapping, text, within
from ..files.json_roots import first_objects, roots
from ..gemini_contents.parts import SPEAKERS, Speech, answer, is_snapshot, parts_of
from ..recording.history import History, one_line
from ..recording.kept_tail import KeptTail
from ..recording.recorder import Recorder
from .log import CHAT, Log, Message, Step

name = "gemini-cli"


def sniff(head: bytes) -> bool:
    """Whether one of the first objects is the header of a session, or a whole one."""
    return any(
        type(value.get("sessionId")) is str and type(value.get("projectHash")) is str and "type" not in value
        for value in first_objects(head)[:5]
    )


def read(document: Document) -> list[Trace]:
    """The file's one trace. A message that is no object is reported and skipped.

    Every event has `origin`: {"line"} of its message's last version ("first": that of its first one), or {"path"}
    in a JSON file, and "block" when it is one of several parts. `extra` holds `session_id`, `kind`,
    and `parent_session` of a subagent whose file lies in its parent's folder.

    Raises:
        TraceError: there is no JSON object in the file.
    """
    found, problems = roots(document)
    log, records = Log(), 0
    for root in found:
        listed = root.value.get("messages")
        if type(listed) is not list:
            log.take(root.value, root.origin)
            records += 1
            continue
        log.meta |= root.value
        if root.origin:
            log.ignored["session"] = log.ignored.get("session", 0) + 1
            records += 1 + len(listed)
        else:
            records += len(listed)
        for index, value in enumerate(listed):
            if type(value) is dict:
                log.message(value, {**root.origin, "path": f"messages/{index}"}, f"m{index}")
            else:
                what = f"messages/{index}: {kind_of(value)} where an object was expected (skipped)"
                problems.append(Problem(root.origin.get("line"), what))
                records -= 1
    session = _Session(document.name, log)
    trace = session.done()
    trace.problems = sorted(problems, key=lambda problem: problem.line or 0)
    trace.records_read = records - sum(trace.ignored.values())
    folder = PurePosixPath(document.name.replace("\\", "/")).parent.name
    if trace.extra.get("kind") == "subagent" and folder not in ("", "chats"):
        trace.extra["parent_session"] = folder
    return [trace]


class _Session:
    """Appends the steps of a log."""

    def __init__(self, source: str, log: Log) -> None:
        self.recorder = Recorder(name, source)
        self._history = History(self.recorder)
        self._speech = Speech(self.recorder)
        self._places: dict[int, list[int]] = {}  # by message: its events in the current window
        self._start = 0  # of the window
        self._tail = KeptTail(self.recorder, "")
        self._answered: set[str] = set()  # ids of calls that stand in a message with their results
        self._log = log
        trace = self.recorder.trace
        trace.ignored = dict(log.ignored)
        for step in log.steps:
            self._take(step)

    def done(self) -> Trace:
        """The trace of what was taken."""
        meta, trace = self._log.meta, self.recorder.trace
        trace.title = one_line(text(meta.get("summary")))
        directories = [each for each in items(meta.get("directories")) if type(each) is str]
        trace.cwd = directories[0] if directories else ""
        return self._history.done(text(meta.get("sessionId")), kind=text(meta.get("kind")))

    def _take(self, step: Step) -> None:
        if step.kind == "message":
            start = len(self.recorder.events)
            self._message(step.members[0])
            self._places[id(step.members[0])] = list(range(start, len(self.recorder.events)))
        elif step.kind == "carry":
            places = self._places.get(id(step.members[0]), [])
            self._places[id(step.members[0])] = self._tail.repeat(places)
        elif step.kind == "window":
            self._open_window()
        else:
            gone = [place for each in step.members for place in self._places.get(id(each), ())]
            self.recorder.abandon(gone, "rewound by the user", step.origin)

    def _open_window(self) -> None:
        self.recorder.open_window()
        self._start = len(self.recorder.events)
        self._tail = KeptTail(self.recorder, f"window-{self._start}")

    def _message(self, message: Message) -> None:
        kind, start = text(message.value.get("type")), len(self.recorder.events)
        self.recorder.at(message.value.get("timestamp"))
        if kind in CHAT:
            if SPEAKERS[kind] == "user":
                self._asked(message)
            else:
                self._answer(message)
        if len(self.recorder.events) == start and message.own:
            self.recorder.ignore("empty message" if kind in CHAT else kind[:40] or "untyped message")

    def _asked(self, message: Message) -> None:
        content = message.value.get("content")
        if is_snapshot(content) and len(self.recorder.events) > self._start:
            self._open_window()
        self._speech.add("user", content, message.origin, message.key, self._answered)

    def _answer(self, message: Message) -> None:
        value, origin, more = message.value, message.origin, {"message_id": message.key}
        trace, start = self.recorder.trace, len(self.recorder.events)
        trace.model = text(value.get("model")) or trace.model
        for index, thought in enumerate(items(value.get("thoughts"))):
            said = [text(mapping(thought).get(key)) for key in ("subject", "description")]
            stem = message.key if len(self.recorder.events) == start else f"{message.key}.t{index}"
            self.recorder.think("\n".join(filter(None, said)), within(origin, f"thoughts/{index}"), stem, **more)
        calls = [(index, mapping(call)) for index, call in enumerate(items(value.get("toolCalls")))]
        self._answered |= {text(call.get("id")) for _, call in calls if text(call.get("id"))}
        stem = message.key if len(self.recorder.events) == start else f"{message.key}.c"
        self._speech.add("assistant", value.get("content"), origin, stem, self._answered, **more)
        made = [(index, call, self._call(message, index, call)) for index, call in calls]
        self._used(mapping(value.get("tokens")), start)
        for index, call, place in made:
            self._result(message, index, call, place)
        cancelled = [place for _, call, place in made if call.get("status") == "cancelled"]
        if cancelled:
            self._history.give_up(cancelled, "cancelled by the user", origin)

    def _call(self, message: Message, index: int, call: dict[str, Any]) -> int:
        self.recorder.at(message.value.get("timestamp"))
        provided = text(call.get("id")) or f"{message.key}.{index}"
        where = within(message.origin, f"toolCalls/{index}")
        arguments = call.get("args", {})
        return self.recorder.call(provided, text(call.get("name")), arguments, where, message_id=message.key)

    def _result(self, message: Message, index: int, call: dict[str, Any], place: int) -> None:
        given = [part for part in parts_of(call.get("result")) if _is_for(part, text(call.get("id")))]
        if not given:
            return
        self.recorder.at(call.get("timestamp"))
        result, failed = answer(given)
        more = {"agent_id": call["agentId"]} if text(call.get("agentId")) else {}
        provided = text(call.get("id")) or f"{message.key}.{index}"
        where = within(message.origin, f"toolCalls/{index}")
        failed = failed or call.get("status") in ("error", "cancelled")
        self.recorder.result(provided, result, where, failed, **more)

    def _used(self, tokens: dict[str, Any], start: int) -> None:
        """Gemini counts what it read from its cache as part of the prompt, and thoughts apart from the output."""
        if len(self.recorder.events) > start:
            cached, prompt = count(tokens.get("cached")), count(tokens.get("input")) + count(tokens.get("tool"))
            output = count(tokens.get("output")) + count(tokens.get("thoughts"))
            self.recorder.used(len(self.recorder.events) - 1, max(prompt - cached, 0), output, cached)


def _is_for(part: Any, call: str) -> bool:
    """Whether a part of a result is not the response to another call: some logs hold those of all calls of a turn."""
    answered = text(mapping(mapping(part).get("functionResponse")).get("id"))
    return not answered or not call or answered == call
