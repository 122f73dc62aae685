"""Codex CLI: a session as it is logged, ~/.codex/sessions/<year>/<month>/<day>/rollout-*.jsonl.

What the model saw stands in its `response_item` records; of the events beside them (`event_msg`) only what they
alone tell is read, and their texts only where no item has such texts. A fork copies the history of its parent:
the first `session_meta` is the file's own. Blind spots: which files a rollback or /undo left changed; which items
a compaction kept where it says only its summary; a command that went on behind the first result of its call.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from itertools import islice
from typing import Any

from ...trace import Problem, Trace
from ..files.document import BLANK, Document, kind_of, objects
from ..files.fields import mapping, text
from ..recording.history import History, one_line
from ..recording.recorder import Recorder
from .facts import Facts
from .items import Items
from .usage import Reports

name = "codex"

ENVELOPES = frozenset(("session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state"))
CALLS = frozenset(("tool_call", "function_call"))
#: what an event says in words -> the field that holds them and who says them
SPOKEN = {
    "user_message": ("message", "user"),
    "agent_message": ("message", "assistant"),
    "agent_reasoning": ("text", "reasoning"),
}
REQUEST = "## My request for Codex:"  #: what stands before a person's own words where an editor added to them
KEPT = 80_000  #: characters of the user's messages that stay in a compacted window: about 20,000 tokens (source)


def sniff(head: bytes) -> bool:
    """Whether one of the first 50 lines is a record of a Codex session, of today's form or of one in 2025."""
    return any(map(_claims, objects(head.decode("utf-8", "replace").lstrip(BLANK), 50)))


def read(document: Document) -> list[Trace]:
    """The file's one trace. Records are its JSON objects; damaged ones are reported and skipped.

    `extra` holds, where known, `session_id`, `forked_from`, `parent_session`, `agent_name`.
    Calls carry the directory that they ran in as `cwd`, and what `Facts` tells.
    """
    told = "\n".join(_words(_first_items(document)))
    session = _told(document, told, frozenset())
    by_events = session.in_events - session.voices
    if by_events:  # which is known at the end only; mostly items hold all that events say
        session = _told(document, told, by_events)
    return [session.trace]


def _told(document: Document, told: str, by_events: Set[str]) -> _Session:
    """The session with the words of those voices that only its events tell; nothing is held of a record once read."""
    session = _Session(document.name, told, by_events)
    ignored = session.trace.ignored
    problems: list[Problem] = []
    damaged: list[Problem] = []
    count = 0
    for line, record in document.each_record(problems):
        count += 1
        kind, payload = _unwrapped(record)
        if type(payload) is not dict:
            damaged.append(Problem(line, f"field 'payload' is {kind_of(payload)}, expected an object (skipped)"))
            continue
        session.recorder.at(record.get("timestamp", record.get("created_at")))
        left_out = session.take(kind, payload, {"line": line})
        if left_out:
            ignored[left_out] = ignored.get(left_out, 0) + 1
    trace = session.done()
    trace.records_read = count - sum(ignored.values()) - len(damaged)
    trace.problems = sorted(problems + damaged, key=lambda problem: problem.line or 0)
    return session


def _first_items(document: Document) -> Iterator[dict[str, Any]]:
    """The first 20 items that the model saw: the instructions of the session may be repeated there."""
    unwrapped = (_unwrapped(record) for _, record in document.each_record([]))
    return islice((payload for kind, payload in unwrapped if kind == "response_item" and type(payload) is dict), 20)


def _claims(record: Mapping[str, Any]) -> bool:
    kind = record.get("type")
    if kind is None:  # the first line, or a state record, of a session in the first half of 2025
        dated = type(record.get("id")) is str and type(record.get("timestamp")) is str
        return record.get("record_type") == "state" or (dated and "instructions" in record and "role" not in record)
    if type(kind) is not str:
        return False
    if kind in ENVELOPES and type(record.get("payload")) is dict:
        return True
    dated = "timestamp" in record or "created_at" in record
    return kind in CALLS and type(record.get("function")) is dict and "arguments" in record and dated


def _unwrapped(record: dict[str, Any]) -> tuple[str, Any]:
    """A record's kind and what it holds. Records of older sessions are bare items."""
    kind = record.get("type")
    if "payload" in record and type(kind) is str:
        return kind[:40] or "untyped record", record["payload"]
    if kind is None and "role" not in record:
        if "record_type" in record:
            return f"{str(record['record_type'])[:40]} record", record
        if "instructions" in record:
            return "session_meta", record
    return ("error", record) if kind == "error" else ("response_item", record)


class _Session:
    """Takes the records of a session one by one.

    `told` is what its first items say, `by_events` are the voices whose words stand in events alone.
    """

    def __init__(self, source: str, told: str, by_events: Set[str]) -> None:
        self.recorder = Recorder(name, source)
        self.trace = self.recorder.trace
        self._history = History(self.recorder)
        self._facts = Facts()
        self._items = Items(self._history, self._facts)
        self.voices: set[str] = set()  #: who speaks in items
        self.in_events: set[str] = set()  #: who speaks in events
        self._told, self._by_events = told, by_events
        self._meta: dict[str, Any] | None = None
        self._reports = Reports(self.recorder)

    def take(self, kind: str, payload: dict[str, Any], origin: Mapping[str, Any]) -> str:
        """Read one record; gives "" or the kind that it is left out as."""
        if kind == "response_item":
            self._note_voice(payload)
            output = self._items.last_output
            left_out = self._items.read(payload, origin)
            if self._items.last_output < 0:
                self._reports.settle(output)
            return left_out
        if kind == "session_meta":
            return self._begin(payload, origin)
        if kind == "compacted":
            return self._compact(payload, origin)
        if kind == "event_msg":
            return self._event(payload, origin)
        if kind == "turn_context":
            self._items.cwd = text(payload.get("cwd")) or self._items.cwd
            self.trace.cwd = self.trace.cwd or self._items.cwd
            self.trace.model = self.trace.model or text(payload.get("model"))
        return kind

    def done(self) -> Trace:
        """The trace of what was taken."""
        self._reports.settle(self._items.last_output)
        self._reports.drop()
        meta = self._meta or {}
        asked = next((e["content"] for e in self.trace.events if e["type"] == "requirement"), "")
        self.trace.title = self.trace.title or one_line(asked.rpartition(REQUEST)[2])
        return self._history.done(
            text(meta.get("id")),
            forked_from=meta.get("forked_from_id"),
            parent_session=meta.get("parent_thread_id") or _spawned_by(meta.get("source")),
            agent_name=meta.get("agent_nickname"),
        )

    def _begin(self, meta: dict[str, Any], origin: Mapping[str, Any]) -> str:
        if self._meta is not None:
            return "session_meta of a copied history"
        self._meta = meta
        self.trace.cwd = self._items.cwd = text(meta.get("cwd"))
        base = meta.get("base_instructions")
        base = mapping(base).get("text", base)
        count = len(self.recorder.events)
        for key, said in (("base_instructions", base), ("instructions", meta.get("instructions"))):
            if type(said) is str and (key != "instructions" or said.strip() not in self._told):
                self._items.say("system", said, {**origin, "path": key}, key)
        self._history.standing = [*range(count, len(self.recorder.events))]
        return "" if len(self.recorder.events) > count else "session_meta"

    def _compact(self, payload: dict[str, Any], origin: Mapping[str, Any]) -> str:
        self._reports.settle(self._items.last_output)
        kept, message = payload.get("replacement_history"), text(payload.get("message"))
        if type(kept) is list:
            self._history.open_window("unknown", self._reports.tokens or None)
            for index, item in enumerate(kept):
                self._items.read(item, {**origin, "path": f"replacement_history/{index}"})
            if message.strip() in "\n".join(_words(item for item in kept if type(item) is dict)):
                message = ""
        else:
            self._history.open_window("unknown", self._reports.tokens or None, self._kept())
        if message.strip():
            self.recorder.add("decision", {"content": message, "tags": ["summary"]}, origin)
        self._items.last_output = -1
        return ""

    def _kept(self) -> list[int]:
        """What a person said last, as much as Codex takes over into a window that begins with a summary."""
        kept: list[int] = []
        left = KEPT
        events = self.recorder.events
        for turn in reversed(self._history.turns):
            said = (seq for seq in range(turn, len(events)) if events[seq]["type"] == "requirement")
            place = next(said, turn)  # a turn may begin with what can only be seen as a placeholder
            left -= len(events[place]["content"])
            if left < 0:
                break
            kept.append(place)
        return kept[::-1]

    def _event(self, payload: dict[str, Any], origin: Mapping[str, Any]) -> str:
        kind = payload.get("type")
        kind = kind[:60] if type(kind) is str else "untyped"
        left_out = f"event_msg/{kind}"
        field, voice = SPOKEN.get(kind, ("", ""))
        said = payload.get(field)
        if voice and type(said) is str:
            self.in_events.add(voice)
            if voice in self._by_events:
                return self._speak(voice, said, origin)
        if kind == "thread_rolled_back":
            turns = payload.get("num_turns")
            done = type(turns) is int and self._history.take_back(turns, "rolled back by the user", origin)
            self._items.last_output = -1
            return "" if done else left_out
        if kind == "turn_aborted":
            reason = f"turn aborted: {text(payload.get('reason')) or 'no reason given'}"
            return "" if self._history.cut_off(reason, origin) else left_out
        if kind == "token_count":
            return "" if self._reports.take(payload.get("info"), self._items.last_output) else left_out
        if kind == "thread_name_updated":
            self.trace.title = one_line(text(payload.get("thread_name"))) or self.trace.title
        return "" if self._facts.take(payload) else left_out

    def _note_voice(self, item: Mapping[str, Any]) -> None:
        if type(item.get("role")) is str:
            self.voices.add(item["role"])
        elif item.get("type") == "reasoning" and (item.get("summary") or item.get("content")):
            self.voices.add("reasoning")  # and it can be read

    def _speak(self, voice: str, said: str, origin: Mapping[str, Any]) -> str:
        if voice == "reasoning":
            return self._items.think(said, origin)
        place = self._items.say(voice, said, origin)
        if voice == "user":
            self._history.begin_turn(place)
        return "" if place is not None else "blank message"


def _words(items: Any) -> Iterator[str]:
    """The texts of messages."""
    for item in items:
        content = item.get("content")
        for block in content if type(content) is list else (content,):
            said = block.get("text") if type(block) is dict else block
            if type(said) is str:
                yield said


def _spawned_by(source: Any) -> Any:
    for key in ("subagent", "thread_spawn", "parent_thread_id"):
        source = mapping(source).get(key)
    return source
