"""Conversation: a ContextGC that is told a provider's messages one by one, and gives its prompt as such messages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from .canonical import own
from .compaction import Compaction
from .compactor import ContextGC
from .errors import InvalidEvent, InvalidMessages
from .events import Event
from .importers.provider_messages.envelope import assembled
from .importers.provider_messages.events import tell_message
from .importers.provider_messages.items import tell_item
from .importers.recording.names import Names
from .importers.recording.recorder import Recorder
from .messages import Dialect, Request, compacted
from .messages.dialect import SOURCE, Record
from .messages.layout import format_of
from .units import Units

_TELL = {"openai-chat": tell_message, "anthropic-messages": tell_message, "openai-responses": tell_item}
_PLACE = re.compile(r"e[0-9]+")  # an id that says only where an event stood


class Conversation:
    """`client` may hold events already, of this kind or of any other; then they open the conversation.

    `time`: the timestamp, in milliseconds, of what is told next. `is_own`: see `compacted`.
    """

    def __init__(self, client: ContextGC, dialect: Dialect, is_own: bool | None = None) -> None:
        self.client, self.dialect = client, dialect
        self.time = 0
        self.count = 0  #: messages so far
        self._is_own = is_own
        self._blank: list[tuple[int, Record]] = []
        self._names = Names()
        self._waiting: dict[str, list[str]] = {}  # provider's id -> calls without a result, newest last
        self._last: dict[str, str] = {}  # provider's id -> the last call
        self._size = 0  # events of the client that were taken in
        self._tip: str | None = None
        self._catch_up()

    def tell(self, record: Record) -> list[str]:
        """Add a message; gives the ids of its events. It is kept by the events, so never change it afterwards.

        Raises:
            InvalidMessages: it is none; names its number.
        """
        self._catch_up()
        number = self.count
        recorder = Recorder(self.dialect.name, "")
        recorder.time = self.time
        names: dict[str, str | None] = {}
        for provider_id in dict.fromkeys(self.dialect.result_ids(record)):
            if (called := self._called(provider_id)) is not None:
                place = recorder.call(provider_id, "", {}, {})
                names[recorder.events[place]["id"]] = called
        told = len(recorder.events)
        recorder.tip = -1
        fault = _TELL[self.dialect.name](recorder, record, {"format": self.dialect.name, "message": number})
        if fault:
            raise InvalidMessages(f"message {number}", fault, "give what the provider takes")
        made = recorder.events[told:]
        asked = {each: recorder.answered(each) for each in self.dialect.call_ids(record)}
        for place, event in enumerate(made, self._size + 1):
            wanted = f"e{place}" if _PLACE.fullmatch(event["id"]) else event["id"]
            names[event["id"]] = self._names.take(wanted)
        for event in made:
            event["id"] = names[event["id"]]
            event["parent_id"] = names.get(event["parent_id"], self._tip) if event["parent_id"] else self._tip
            if "call_id" in event:
                event["call_id"] = names.get(event["call_id"], event["call_id"])
        try:
            self.client.extend(made)
        except InvalidEvent as error:
            raise InvalidMessages(f"message {number}", error.what, error.todo) from error
        self.count += 1
        self._size += len(made)
        if not made:
            self._blank.append((self._size, {**record, SOURCE: number}))
        if recorder.tip >= told:
            self._tip = recorder.events[recorder.tip]["id"]
        for provider_id in self.dialect.result_ids(record):
            if self._waiting.get(provider_id):
                self._waiting[provider_id].pop(-1 if provider_id else 0)
        for provider_id, call in asked.items():
            if call is not None and call.place >= told:
                self._asked(provider_id, recorder.events[call.place]["id"])
        return [event["id"] for event in made]

    def compact(self, force: bool = False, cold: bool = False) -> tuple[Compaction, Request]:
        """The messages for the next model call. Records that are messages have their number under SOURCE."""
        compaction = self.client.compact(force, cold)
        return compaction, compacted(compaction, self.dialect, self._is_own, blank=self._blank)

    @property
    def waiting(self) -> list[str]:
        """The provider's ids of calls in the last message of the model that have no result, in their order."""
        last = self.last
        return [each for each in self.dialect.call_ids(last) if self._waiting.get(each)]

    @property
    def last(self) -> Record:
        """The last message; {} when there is none of this provider, or other events came after it."""
        events = self._events
        place = len(events) - 1
        while place >= 0 and format_of(events[place]) == self.dialect.name and "envelope" not in events[place]:
            place -= 1
        ours = place >= 0 and format_of(events[place]) == self.dialect.name
        return self._record(place, len(events)) if ours else {}

    def back(self) -> Iterator[Record]:
        """The messages from the last to the first, as far as they are of this provider without a break."""
        events = self._events
        stop = place = len(events)
        while place and format_of(events[place - 1]) == self.dialect.name:
            place -= 1
            if "envelope" in events[place]:
                yield self._record(place, stop)
                stop = place

    def _record(self, start: int, stop: int) -> Record:
        made: Record = own(assembled(self._events[start:stop]))
        return made

    @property
    def _events(self) -> Sequence[Event]:
        return self.client._graph.events

    def _called(self, provider_id: str) -> str | None:
        """The event that a result answers: the nearest call that waits, else the nearest."""
        waiting = self._waiting.get(provider_id)
        return waiting[-1 if provider_id else 0] if waiting else self._last.get(provider_id)

    def _asked(self, provider_id: str, name: str) -> None:
        self._waiting.setdefault(provider_id, []).append(name)
        self._last[provider_id] = name

    def _catch_up(self) -> None:
        """Take in events that the client got otherwise."""
        events = self._events
        if self._size == len(events):
            return
        units, start = Units.of(events), self._size
        open_messages: dict[int, int] = {}  # place of a message's first event -> behind the last call that waits
        for place in range(self._size, len(events)):
            event = events[place]
            self._names.take(event["id"])
            self.time = max(self.time, event["timestamp"])
            self._tip = self._tip if event["type"] == "tool_call" else event["id"]
            if format_of(event) != self.dialect.name:
                continue
            self.count = max(self.count, event["origin"].get("message", -1) + 1)
            start = place if "envelope" in event else start
            if event["type"] == "tool_call" and not units.results(place):
                open_messages[start] = place + 1
        for start, stop in open_messages.items():
            self._resume(start, stop, units)
        self._size = len(events)

    def _resume(self, start: int, stop: int, units: Units) -> None:
        """Take in the calls of a message of which some wait."""
        recorder, record = Recorder(self.dialect.name, ""), self._record(start, stop)
        _TELL[self.dialect.name](recorder, record, {})
        for provider_id in self.dialect.call_ids(record):
            call = recorder.answered(provider_id)
            if call is not None and start + call.place < stop and not units.results(start + call.place):
                self._asked(provider_id, self._events[start + call.place]["id"])
