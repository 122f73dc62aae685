"""An opencode session -> events, windows and usage."""

from __future__ import annotations

from typing import Any

from ...canonical import readable
from ...trace import Trace
from ..files.fields import count, mapping, text, within
from ..recording.history import History, one_line
from ..recording.kept_tail import KeptTail
from ..recording.recorder import Recorder
from .session import Gone, Message, Origin, Part, Session
from .tools import Calls

PLAIN = ("text/plain", "application/x-directory")  #: files whose text stands in a part of its own
ABORTED = "MessageAbortedError"
#: kinds of parts that never reach the model as they are
UNSEEN = frozenset(
    ("step-start", "step-finish", "snapshot", "patch", "agent", "subtask", "retry", "compaction", "file")
)


class Builder:
    """Appends the messages of one session.

    Text that opencode adds to what a person wrote (`synthetic`) is an environment block. An answer that failed is
    given up, as opencode leaves it out of later requests; one that was interrupted stays with what it had done.
    """

    def __init__(self, format_name: str, source: str, session: Session) -> None:
        self.recorder = Recorder(format_name, source)
        self._history = History(self.recorder)
        self._calls = Calls(self.recorder, self._history)
        self._events = self.recorder.events
        self._session = session
        self._places: dict[str, int] = {}  # by message: its first event
        self._gone: tuple[Gone, int] | None = None  # that what comes now was taken back, and its first event
        self._lost: set[int] = set()
        self._told: set[str] = set()  # system prompts
        self._compaction: Part | None = None
        self._tokens = 0  # of the last model call
        self._message, self._step = "", 0  # the answer that is being read, and its model calls so far

    def trace(self) -> Trace:
        """The trace of the session."""
        session, trace = self._session, self.recorder.trace
        for number, message in enumerate(session.messages):
            self._go(message.gone)
            self.recorder.at(mapping(message.info.get("time")).get("created"))
            self._prompts(number)
            self._add(message)
        self._go(None)
        trace.title, trace.cwd = one_line(text(session.info.get("title"))), text(session.info.get("directory"))
        parent = {"parent_session": session.parent} if session.parent else {}
        return self._history.done(session.name, **parent)

    def _go(self, gone: Gone | None) -> None:
        """What comes now was taken back, or stands: then what was taken back before it is given up."""
        if (gone is None) == (self._gone is None):
            return
        self._end_call({})
        if gone is not None:
            self._gone = gone, len(self._events)
        elif self._gone is not None:
            (why, start), self._gone = self._gone, None
            self._abandon(start, why.reason, why.origin)

    def _abandon(self, start: int, reason: str, origin: Origin) -> None:
        places = range(start, len(self._events))
        self._lost |= set(places)
        self.recorder.abandon(places, reason, origin)

    def _prompts(self, number: int) -> None:
        for said, origin in self._session.prompts.get(number, ()):
            if said not in self._told:
                self._told.add(said)
                self.recorder.say("system", said, origin)

    def _add(self, message: Message) -> None:
        info, start = message.info, len(self._events)
        if info.get("role") == "assistant":
            self._answer(message)
        else:
            for part in message.parts:
                self._go(message.gone or part.gone)
                at = len(self._events)
                part.left_out = self._asked(message, part)
                part.used = len(self._events) > at
        if len(self._events) > start:
            self._places[text(info.get("id"))] = start

    def _asked(self, message: Message, part: Part) -> str:
        """Append a part of what a person sent; gives what it is counted as if no event comes of it."""
        value, kind, said = part.value, text(part.value.get("type")), part.value.get("text")
        name, media = text(value.get("id")), text(value.get("mime"))
        if kind == "text" and type(said) is str:
            if value.get("ignored") is True:
                return "text that is not sent"
            asked = text(message.info.get("system"))
            if asked and asked not in self._told:
                self._told.add(asked)
                self.recorder.say("system", asked, within(message.origin, "system"))
            if value.get("synthetic") is not True:
                self.recorder.say("user", said, part.origin, name)
            elif said.lstrip().startswith("<system-reminder>"):
                self.recorder.say("system", said, part.origin, name)
            else:
                self.recorder.say("assistant", said, part.origin, name, tags=("environment",))
            return "blank text"
        if kind == "compaction":
            self._compaction = part
        elif kind == "file" and media not in PLAIN:
            fields = {"content": f"[image {media}]" if media else "[image]", "tags": ["user", "image"]}
            self.recorder.add("requirement", fields | {"block": value}, part.origin, name)
        elif kind not in UNSEEN:
            self._opaque(part)
        return ""

    def _answer(self, message: Message) -> None:
        info, trace = message.info, self.recorder.trace
        error, origin = mapping(info.get("error")), within(message.origin, "error")
        self._message, self._step = text(info.get("id")), 0
        trace.model = text(info.get("modelID")) or text(mapping(info.get("model")).get("modelID")) or trace.model
        summary = info.get("summary") is True and not error
        if summary:
            self._open_window()
        start = len(self._events)
        for part in message.parts:
            self._go(message.gone or part.gone)
            self._said(part, summary)
        self._end_call(mapping(info.get("tokens")))
        if error and len(self._events) > start and self._gone is None:
            told = text(mapping(error.get("data")).get("message")) or text(error.get("name")) or "the answer failed"
            done = any(part.used and part.value.get("type") != "reasoning" for part in message.parts)
            if error.get("name") == ABORTED and done:
                self._history.begin_turn(start)
                self._history.cut_off(told, origin)
            else:
                self._abandon(start, told, origin)

    def _said(self, part: Part, summary: bool) -> None:
        """Append a part of an answer."""
        value, kind, said = part.value, text(part.value.get("type")), part.value.get("text")
        if kind == "step-finish":
            self._end_call(mapping(value.get("tokens")))
        elif kind != "tool" and self._calls.waiting:
            self._end_call({})
        at, name = len(self._events), text(value.get("id"))
        self.recorder.at(mapping(value.get("time")).get("start"))
        more: dict[str, Any] = {"message_id": self._call_name()}
        if kind == "text" and type(said) is str:
            self.recorder.say("assistant", said, part.origin, name, tags=("summary",) if summary else (), **more)
            part.left_out = "blank text"
        elif kind == "reasoning" and type(said) is str:
            self.recorder.think(said, part.origin, name, **more, **_signature(value))
        elif kind == "tool":
            self._calls.add(part, self._call_name())
        elif kind not in UNSEEN:
            self._opaque(part)
        part.used = len(self._events) > at

    def _call_name(self) -> str:
        return f"{self._message}:s{self._step + 1}" if self._step else self._message

    def _end_call(self, tokens: dict[str, Any]) -> None:
        """A model call is over: its usage, then the results of its calls."""
        last, cache = len(self._events) - 1, mapping(tokens.get("cache"))
        ours = last >= 0 and self._events[last].get("message_id") == self._call_name()
        used, output = count(tokens.get("input")), count(tokens.get("output"))
        read, written = count(cache.get("read")), count(cache.get("write"))
        output = max(output, count(tokens.get("total")) - used - read - written)  # some count reasoning apart
        if ours and used + output + read + written:
            self.recorder.used(last, used, output, read, written)
            self._tokens = used + output + read + written
        self._calls.answer()
        self._step += ours

    def _opaque(self, part: Part) -> None:
        fields = {"content": readable(part.value), "tags": ["opaque"]}
        self.recorder.add("decision", fields, part.origin, text(part.value.get("id")))

    def _open_window(self) -> None:
        """The window of a compaction: what it kept of the conversation; the summary follows."""
        part, self._compaction = self._compaction, None
        value, stop = part.value if part is not None else {}, len(self._events)
        opened_by = ("auto" if value["auto"] is True else "manual") if "auto" in value else "unknown"
        self.recorder.open_window(opened_by, self._tokens or None)
        if part is not None:
            part.used = True
        first = self._places.get(text(value.get("tail_start_id")), stop)
        kept = (place for place in range(first, stop) if place not in self._lost)
        KeptTail(self.recorder, self._message).repeat(kept)


def _signature(value: dict[str, Any]) -> dict[str, Any]:
    """What a provider needs to take its thinking back."""
    signed = (mapping(each).get("signature") for each in mapping(value.get("metadata")).values())
    return next(({"signature": each} for each in signed if each), {})
