"""Events of a Copilot CLI session, in the order of the log -> events of one agent's trace."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from ...canonical import readable
from ...trace import Trace
from ..files.fields import count, items, mapping, text
from ..recording.history import History, one_line
from ..recording.recorder import Recorder
from .links import Links

Data = dict[str, Any]
Origin = Mapping[str, Any]

OFF = frozenset(("rejected", "denied"))  #: error codes of a call that the user, or a rule, did not allow
ASKS = frozenset(("ask_user", "exit_plan_mode"))  #: tools whose result is a person's answer
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
TRIGGERS = {"manual": "manual", "threshold": "auto", "context_limit_retry": "auto", "memory_pressure": "auto"}


class Session:
    """Takes the events of one agent one by one.

    `links` are those between all events of the file, of whatever agent. `thinks_in_messages`: its messages hold
    what the model thought, so that the events which tell it alone repeat it.
    """

    def __init__(self, format_name: str, source: str, links: Links, thinks_in_messages: bool) -> None:
        self.recorder = Recorder(format_name, source)
        self.trace = self.recorder.trace
        self._links = links
        self._thinks_in_messages = thinks_in_messages
        self._history = History(self.recorder)
        self._session = ""
        self._count = 0
        self._prompt_id = ""
        self._places: dict[str, int] = {}  # how many events there were when an event came
        self._calls: set[str] = set()  # ids of calls in this window
        self._system = ""
        self._skills = ""

    def take(self, kind: str, data: Data, record: Mapping[str, Any], origin: Origin) -> None:
        """Read one event."""
        self._count += 1
        self.recorder.at(record.get("timestamp"))
        key = text(record.get("id"))
        self._places.setdefault(key, len(self.recorder.events))
        if kind == "user.message":
            self._rewind(text(record.get("parentId")), origin)
            self._prompt_id = key
        reader = _READERS.get(kind if kind in _READERS else kind.lower())
        left_out = reader(self, data, origin, key[:8] if _UUID.fullmatch(key) else key) if reader else kind
        if left_out:
            self.recorder.ignore(left_out)
        self._links.add(key, text(record.get("parentId")))

    def done(self, agent: str) -> Trace:
        """The agent's trace; "" is the main one."""
        trace = self._history.done(self._session, agent_id=agent)
        trace.records_read = self._count - sum(trace.ignored.values())
        if agent:
            trace.title = f"subagent {agent}: {trace.title}"
        return trace

    def _rewind(self, parent: str, origin: Origin) -> None:
        """A prompt that follows an earlier turn than the last one takes back the turns between them."""
        lost = self._links.lost(parent, self._history.turns)
        if lost is not None:
            self._history.take_back_to(lost, "rewound by the user", origin)

    # what is said

    def _begin(self, data: Data, origin: Origin, key: str) -> str:
        context = data.get("context")
        self.trace.cwd = self.trace.cwd or text(mapping(context).get("cwd"))
        self.trace.model = self.trace.model or text(data.get("selectedModel"))
        self._session = self._session or text(data.get("sessionId"))
        return "session.start" if "startTime" in data or "producer" in data else "session.resume"

    def _model(self, data: Data, origin: Origin, key: str) -> str:
        self.trace.model = self.trace.model or text(data.get("newModel"))
        return "session.model_change"

    def _title(self, data: Data, origin: Origin, key: str) -> str:
        self.trace.title = one_line(text(data.get("title"))) or self.trace.title
        return "session.title_changed"

    def _instruct(self, data: Data, origin: Origin, key: str) -> str:
        said = text(data.get("content"))
        if said == self._system:
            return "repeated system.message"
        self._system = said
        place = self.recorder.say("system", said, origin, key)
        self._history.standing = [] if place is None else [place]
        return "" if place is not None else "blank text"

    def _ask(self, data: Data, origin: Origin, key: str) -> str:
        """A person's words stand apart from what was put around them for the model."""
        words, sent = text(data.get("content")), text(data.get("transformedContent"))
        events, source = self.recorder.events, text(data.get("source"))
        start = len(events)
        if source.startswith("skill") and sent.strip() and sent.strip() in self._skills:
            return "skill again"
        if not words.strip() or source.startswith("skill") or data.get("isAutopilotContinuation") is True:
            self.recorder.say("system", sent or words, origin, key)
        else:
            before, found, after = sent.partition(words)
            self._around(before if found else "", origin)
            self.recorder.say("user", words if found or not sent else sent, origin, key)
            self._links.turn(self._prompt_id, start)
            self._history.begin_turn(start)
            self._around(after, origin)
        attached = data.get("attachments")
        for index, part in enumerate(items(attached)):
            if mapping(part).get("type") == "blob":
                content = f"[image {text(part.get('mimeType'))}]".replace(" ]", "]")
                fields = {"content": content, "tags": ["user", "image"], "block": part}
                self.recorder.add("requirement", fields, {**origin, "path": f"data/attachments/{index}"})
        return "" if len(events) > start else "blank text"

    def _around(self, said: str, origin: Origin) -> None:
        if said.strip():
            self.recorder.add("decision", {"content": said.strip(), "tags": ["environment"]}, origin)

    def _prompt(self, data: Data, origin: Origin, key: str) -> str:
        """A prompt or an answer in a log that hooks keep."""
        self._session = self._session or text(data.get("session_id"))
        self.trace.cwd = self.trace.cwd or text(data.get("cwd"))
        by_user = "prompt" in data
        said = text(data.get("prompt") if by_user else data.get("result"))
        place = self.recorder.say("user" if by_user else "assistant", said, origin, key)
        return "" if place is not None else "blank text"

    def _notify(self, data: Data, origin: Origin, key: str) -> str:
        said, what = text(data.get("content")), data.get("kind")
        what = what.get("type") if type(what) is dict else what
        if what == "instruction_discovered":
            place = self.recorder.say("system", said, origin, key)
        else:
            place = self.recorder.say("assistant", said, origin, key, tags=["notification"])
        return "" if place is not None else "blank text"

    def _skill(self, data: Data, origin: Origin, key: str) -> str:
        said = text(data.get("content"))
        self._skills += said
        return "" if self.recorder.say("system", said, origin, key) is not None else "blank text"

    # what the model does

    def _answer(self, data: Data, origin: Origin, key: str) -> str:
        start = len(self.recorder.events)
        message = text(data.get("messageId"))
        more = {"message_id": message} if message else {}
        self.recorder.think(text(data.get("reasoningText")), origin, **more)
        content = data.get("content")
        self.recorder.say("assistant", content if type(content) is str else readable(content), origin, key, **more)
        asked = data.get("toolRequests")
        for index, request in enumerate(items(asked)):
            where = {**origin, "path": f"data/toolRequests/{index}"}
            if type(request) is dict:
                given = request.get("arguments", request.get("input"))
                self._call(text(request.get("toolCallId")), text(request.get("name")), given, where, more)
            else:
                self.recorder.add("decision", {"content": readable(request), "tags": ["opaque"]}, where)
        return "" if len(self.recorder.events) > start else "blank text"

    def _reason(self, data: Data, origin: Origin, key: str) -> str:
        if self._thinks_in_messages:
            return "assistant.reasoning"
        place = self.recorder.think(text(data.get("content")), origin, key)
        return "" if place is not None else "blank text"

    def _call(self, call: str, tool: str, given: Any, origin: Origin, more: Mapping[str, Any]) -> None:
        self._calls.add(call)
        self.recorder.call(call, tool, {} if given is None else given, origin, **more)

    def _start(self, data: Data, origin: Origin, key: str) -> str:
        call = text(data.get("toolCallId"))
        if call and call in self._calls:
            return "tool.execution_start"
        self._call(call, text(data.get("toolName")), data.get("arguments"), origin, {})
        return ""

    def _finish(self, data: Data, origin: Origin, key: str) -> str:
        call, result, error = text(data.get("toolCallId")), data.get("result"), data.get("error")
        failed = data.get("success") is False
        value = result.get("content", result) if type(result) is dict else result
        media = items(mapping(result).get("binaryResultsForLlm"))
        if media:
            value = [{"type": "text", "text": value if type(value) is str else readable(value)}, *media]
        if value is None:
            value = error.get("message", error) if type(error) is dict else error
        self.recorder.result(call, "" if value is None else value, origin, failed, **_exit_code(result))
        asked = self.recorder.answered(call) if call else None
        if asked is not None and failed and text(mapping(error).get("code")) in OFF:
            self._history.give_up([asked.place], text(mapping(error).get("message")) or "rejected", origin)
        elif asked is not None and self.recorder.events[asked.place]["tool_name"] in ASKS and type(value) is str:
            name = f"{self.recorder.events[asked.place]['id']}:answer"
            self.recorder.say("assistant", value, origin, name, tags=["answer"])
        return ""

    def _used(self, data: Data, origin: Origin, key: str) -> str:
        kinds = ("input", "output", "cacheRead", "cacheWrite")
        given, output, read, written = (count(data.get(f"{kind}Tokens")) for kind in kinds)
        place = len(self.recorder.events) - 1
        if place < 0 or not given + output:
            return "assistant.usage"
        self.recorder.used(place, max(given - read - written, 0), output, read, written)
        return ""

    # what changes the history

    def _compact(self, data: Data, origin: Origin, key: str) -> str:
        if data.get("success") is False:
            return "failed compaction"
        before, trigger = data.get("preCompactionTokens"), text(data.get("trigger"))
        opened_by = TRIGGERS.get(trigger, "manual" if data.get("customInstructions") else "unknown")
        self._open(opened_by, before if type(before) is int else None)
        self.recorder.say("assistant", text(data.get("summaryContent")), origin, key, tags=["summary"])
        return ""

    def _clear(self, data: Data, origin: Origin, key: str) -> str:
        self._open("manual", None)
        self.recorder.say("user", text(data.get("initialMessage")), origin, key)
        return ""

    def _open(self, opened_by: str, tokens: int | None) -> None:
        self._history.open_window(opened_by, tokens)
        self._calls.clear()

    def _snapshot(self, data: Data, origin: Origin, key: str) -> str:
        place = self._places.get(text(data.get("upToEventId")))
        if place is None or place >= len(self.recorder.events):
            return "session.snapshot_rewind"
        self._history.take_back_to(place, "rewound by the user", origin)
        return ""

    def _abort(self, data: Data, origin: Origin, key: str) -> str:
        reason = f"aborted: {text(data.get('reason')) or 'no reason given'}"
        return "" if self._history.cut_off(reason, origin) else "abort"


_READERS: Mapping[str, Callable[[Session, Data, Origin, str], str]] = {
    "session.start": Session._begin,
    "session.resume": Session._begin,
    "session.model_change": Session._model,
    "session.title_changed": Session._title,
    "system.message": Session._instruct,
    "user.message": Session._ask,
    "userpromptsubmitted": Session._prompt,
    "assistantresponse": Session._prompt,
    "system.notification": Session._notify,
    "skill.invoked": Session._skill,
    "assistant.message": Session._answer,
    "assistant.reasoning": Session._reason,
    "assistant.usage": Session._used,
    "tool.user_requested": Session._start,
    "tool.execution_start": Session._start,
    "tool.execution_complete": Session._finish,
    "session.compaction_complete": Session._compact,
    "session.context_cleared": Session._clear,
    "session.snapshot_rewind": Session._snapshot,
    "abort": Session._abort,
}


def _exit_code(result: Any) -> dict[str, int]:
    """The exit code that a terminal block tells."""
    told = [mapping(block).get("exitCode") for block in items(mapping(result).get("contents"))]
    return next(({"exit_code": code} for code in reversed(told) if type(code) is int), {})
