"""Entries of a pi session, in trace order -> events, windows and usage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...canonical import readable
from ...events import LARGEST
from ...trace import Trace
from ..files.fields import count, mapping, text
from ..recording.kept_tail import KeptTail
from ..recording.recorder import VOICES, Recorder
from .tree import Entry, path

CUT_OFF = ("aborted", "error")  #: why an answer stopped too early
FORGETS = 2  #: the version from which pi leaves all of such an answer out of later requests, not only its calls
SUMMARIES = ("branchSummary", "compactionSummary")
INJECTED = ("custom", "hookMessage")  #: roles of what an extension puts into the conversation


class Session:
    """Takes entries in the order of `pi_tree.steps`, by their places. What it says of an entry: "" when it was read,
    else the kind that it is left out as. What pi never sent again of an answer that was cut off is `unsent`.
    """

    def __init__(
        self, format_name: str, source: str, version: int, entries: Sequence[Entry], parent: Sequence[int]
    ) -> None:
        self.recorder = Recorder(format_name, source)
        self.model = ""  #: of the last answer that was not cut off
        self._forgets = version >= FORGETS
        self._events = self.recorder.events
        self._entries, self._parent = entries, parent
        shared = {entry.line for entry in entries if entry.nth}
        #: as pi counts them behind the header, from 1: it cannot read a line with more than one record
        self._numbered = [place for place, entry in enumerate(entries) if entry.line not in shared]
        self._at = {entry.name: place for place, entry in enumerate(entries)}
        self._spans = [(0, 0)] * len(entries)  # the events of each entry, from and up to
        self._opened = 0  # windows so far
        self._window = [0] * len(entries)  # that each entry found
        self._lost: set[int] = set()  # places of events that were given up
        self._cut_off: tuple[int, str, Mapping[str, Any]] | None = None  # an answer that is to be given up
        self._explained = ""  # the branch summary that an abandon has told

    def add(self, place: int) -> str:
        """Append what an entry says."""
        entry = self._entries[place]
        message = mapping(entry.value.get("message"))
        if self._cut_off is not None and message.get("role") != "toolResult":
            self.settle()
        time = entry.value.get("timestamp")
        self.recorder.at(message.get("timestamp") if time is None else time)
        start = len(self._events)
        left_out = (
            self._message(entry, message, _origin(entry)) if entry.kind == "message" else self._read(entry, place)
        )
        self._spans[place] = (start, len(self._events))
        if entry.kind == "message":
            entry.value = {}  # it is never looked at again, and holds what its events do not
        return "" if len(self._events) > start else left_out

    def give_up(self, place: int, winner: int) -> None:
        """Abandon the branch that began at a place and was taken in last, for that which begins at another."""
        self.settle()
        start, entry = self._spans[place][0], self._entries[winner]
        if self._window[place] < self._opened:
            self._begin_window("rewind", None, self._parent[winner], entry)
        elif start < len(self._events):
            self.recorder.at(entry.value.get("timestamp"))
            told = text(entry.value.get("summary")) if entry.kind == "branch_summary" else ""
            self._explained = entry.name if told.strip() else self._explained
            gone = range(start, len(self._events))
            self._abandon(gone, told if told.strip() else "rewound by the user", _origin(entry))

    def settle(self) -> None:
        """Give up what pi leaves out of the answer that was cut off, with the results that still came."""
        if self._cut_off is not None:
            (start, reason, origin), self._cut_off = self._cut_off, None
            found = range(start, len(self._events))
            self._abandon(
                [seq for seq in found if self._forgets or "tool" in self._events[seq]["type"]], reason, origin
            )

    def done(self) -> Trace:
        """The trace of what was taken."""
        self.settle()
        return self.recorder.done()

    def _abandon(self, places: Sequence[int], reason: str, origin: Mapping[str, Any]) -> None:
        self._lost |= set(places)
        self.recorder.abandon(places, reason, origin)

    def _read(self, entry: Entry, place: int) -> str:
        value = entry.value
        if entry.kind == "custom_message":
            self._say("system", value.get("content"), entry, _origin(entry), ("custom",))
        elif entry.kind == "compaction":
            self._begin_window("unknown", count(value.get("tokensBefore")) or None, place, entry)
        elif entry.kind == "branch_summary" and entry.name != self._explained:
            self._summary(entry)
        elif entry.kind == "branch_summary":
            return ""
        return entry.kind

    def _message(self, entry: Entry, message: dict[str, Any], origin: dict[str, Any]) -> str:
        role, content = message.get("role"), message.get("content")
        if role == "user":
            self._say("user", content, entry, origin)
        elif role == "assistant":
            self._answer(entry, message, origin)
        elif role == "toolResult":
            failed = message.get("isError") is True
            self.recorder.result(text(message.get("toolCallId")), "" if content is None else content, origin, failed)
        elif role == "bashExecution":
            return self._ran(entry, message, origin)
        elif role in SUMMARIES:
            self.recorder.say("assistant", text(message.get("summary")), origin, entry.name, tags=("summary",))
        elif role in INJECTED:
            self._say("system", content, entry, origin, ("custom",))
        else:
            self.recorder.add("decision", {"content": readable(message), "tags": ["opaque"]}, origin, entry.name)
        return "empty message"

    def _answer(self, entry: Entry, message: dict[str, Any], origin: dict[str, Any]) -> None:
        start, reason = len(self._events), message.get("stopReason")
        self._say("assistant", message.get("content"), entry, origin, message_id=entry.name)
        for event in self._events[start:] if reason in CUT_OFF else ():
            if self._forgets or event["type"] == "tool_call":
                event["unsent"] = True
        usage = mapping(message.get("usage"))
        if usage and len(self._events) > start:
            tokens = (count(usage.get(field)) for field in ("input", "output", "cacheRead", "cacheWrite"))
            self.recorder.used(len(self._events) - 1, *tokens)
        if reason not in CUT_OFF:
            self.model = text(message.get("model")) or self.model
        elif len(self._events) > start:
            told = text(message.get("errorMessage")).strip()
            self._cut_off = start, told or f"the answer was cut off: {reason}", origin

    def _ran(self, entry: Entry, message: dict[str, Any], origin: dict[str, Any]) -> str:
        """A command that the user ran."""
        command, code, output = text(message.get("command")), message.get("exitCode"), text(message.get("output"))
        if message.get("excludeFromContext") is True:
            return "command outside of the context"
        if command and type(code) is int and abs(code) <= LARGEST and message.get("cancelled") is not True:
            fields = {"command": command, "exit_code": code, "output": output, "tags": ["user"]}
            self.recorder.add("command_run", fields, origin, entry.name)
        elif command:
            said = f"Ran `{command}`\n{output or '(no output)'}"
            note = "\n\n(command cancelled)" if message.get("cancelled") is True else ""
            self.recorder.say("user", said + note, origin, entry.name)
        return "empty message"

    def _say(
        self, voice: str, content: Any, entry: Entry, origin: dict[str, Any], tags: Sequence[str] = (), **more: Any
    ) -> None:
        """What someone says in a message, block by block."""
        blocks = content if type(content) is list else [content]
        begin = len(self._events)
        for index, block in enumerate(blocks):
            where = {**origin, "block": index} if len(blocks) > 1 else origin
            name = f"{entry.name}.{index}" if len(self._events) > begin else entry.name
            self._block(voice, block, where, name, tags, more)

    def _block(
        self,
        voice: str,
        block: Any,
        origin: dict[str, Any],
        name: str,
        tags: Sequence[str],
        more: dict[str, Any],
    ) -> None:
        kind = block.get("type") if type(block) is dict else None
        said = block.get("text") if kind == "text" else block
        if type(said) is str:
            self.recorder.say(voice, said, origin, name, tags, **more)
        elif kind == "thinking" and type(block.get("thinking")) is str:
            self._think(block, origin, name, more)
        elif kind == "toolCall":
            provided, arguments = text(block.get("id")), block.get("arguments", {})
            self.recorder.call(provided, text(block.get("name")), arguments, origin, provided or name, **more)
        elif kind == "image":
            media = text(block.get("mimeType"))
            event, own = VOICES[voice]
            fields = {"content": f"[image {media}]" if media else "[image]", "block": block}
            fields |= {"tags": [*(own or (voice,)), *tags, "image"], **more}
            self.recorder.add(event, fields, origin, name)
        elif block is not None:
            fields = {"content": readable(block), "tags": ["opaque"], **more}
            self.recorder.add("decision", fields, origin, name)

    def _think(self, block: dict[str, Any], origin: dict[str, Any], name: str, more: dict[str, Any]) -> None:
        signature = block.get("thinkingSignature")
        signed = {"signature": signature} if signature else {}
        message = more.get("message_id", "")
        if block.get("redacted") is True:
            fields = {"content": readable(block), "tags": ["thinking", "opaque"], "importance": "temporary"}
            self.recorder.add("decision", fields | {"message_id": message}, origin, name)
        else:
            self.recorder.think(block["thinking"], origin, name, message_id=message, **signed)

    def _summary(self, entry: Entry) -> None:
        told = text(entry.value.get("summary"))
        self.recorder.say("assistant", told, _origin(entry), entry.name, tags=("summary",), message_id=entry.name)

    def _begin_window(self, opened_by: str, tokens: int | None, place: int, entry: Entry) -> None:
        """A window with what pi sends to the model at the entry at a place, because of an entry."""
        self.recorder.at(entry.value.get("timestamp"))
        self.recorder.open_window(opened_by, tokens)
        self._opened += 1
        tail = KeptTail(self.recorder, entry.name)
        for member in self._context(place):
            if self._entries[member].kind in ("compaction", "branch_summary"):
                self._summary(self._entries[member])
            else:
                span = range(*self._spans[member])
                tail.repeat(each for each in span if each not in self._lost)

    def _context(self, place: int) -> list[int]:
        """The entries that the model sees at a place: behind a compaction its summary, what was kept, what followed."""
        members = path(place, self._parent)
        compacted = [index for index, each in enumerate(members) if self._entries[each].kind == "compaction"]
        if not compacted:
            return members
        last = compacted[-1]
        value = self._entries[members[last]].value
        kept = self._at.get(text(value.get("firstKeptEntryId")), -1)
        number = value.get("firstKeptEntryIndex")
        if type(number) is int and 0 < number <= len(self._numbered):
            kept = self._numbered[number - 1]
        first = members.index(kept) if kept in members[:last] else last
        before = [each for index, each in enumerate(members[first:last], first) if index not in compacted]
        return [members[last], *before, *members[last + 1 :]]


def _origin(entry: Entry) -> dict[str, Any]:
    return {"line": entry.line, "record": entry.nth} if entry.nth else {"line": entry.line}
