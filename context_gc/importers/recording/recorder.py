"""Recorder: what an importer reads, message by message -> events with ids, parents, times, pairs and windows."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from ...trace import Trace, Usage, Window
from .names import Names, milliseconds

#: who speaks -> the event type and the tags of what they say
VOICES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "user": ("requirement", ("user",)),
    "system": ("constraint", ("system",)),
    "developer": ("constraint", ("system",)),
    "assistant": ("decision", ()),
}


class Recorder:
    """Appends events to one trace. A place is an index into `events`.

    Everything hangs below `tip`, the place of the last text or result in its branch: calls of one message
    side by side, and what follows a call that has no result yet beside it, so that what undoes the call does
    not take it along. A result hangs below its call. No parent and no target of an abandon lies outside of
    the event's window.
    """

    def __init__(self, format_name: str, source: str) -> None:
        self.trace = Trace([], format_name, source)
        self.events = self.trace.events
        self.tip = -1
        self.time = 0  #: milliseconds of the next event; set it with `at`
        self._names = Names()
        self._windows = [Window(0, 0)]
        self._start = 0  # of this window
        self._calls: dict[str, _Asked] = {}  # of this window, by the id that the provider gave
        self._waiting: deque[_Call] = deque()  # in order; those that were answered by id go when they come first

    # the clock

    def at(self, time: object) -> None:
        """The time of what follows, as ISO text, seconds or milliseconds; what is no time changes nothing."""
        found = milliseconds(time)
        self.time = self.time if found is None else found

    # saying

    def say(
        self,
        voice: str,
        text: str,
        origin: Mapping[str, Any],
        name: str = "",
        tags: Iterable[str] = (),
        **more: Any,
    ) -> int | None:
        """What someone says; blank text is no event and gives None. `more`: further fields of the event."""
        if not text or text.isspace():
            return None
        kind, own = VOICES.get(voice, VOICES["user"])
        given = [*own, *tags]
        fields = {"content": text, "tags": given, **more} if given else {"content": text, **more}
        return self.add(kind, fields, origin, name)

    def think(self, text: str, origin: Mapping[str, Any], name: str = "", **more: Any) -> int | None:
        """Thinking of the model; blank text is no event."""
        return self.say("assistant", text, origin, name, tags=("thinking",), importance="temporary", **more)

    def add(self, kind: str, fields: Mapping[str, Any], origin: Mapping[str, Any], name: str = "") -> int:
        """Any event below the tip, which it becomes."""
        self.tip = self._append(kind, fields, origin, name, self.tip)
        return self.tip

    # calling

    def call(
        self, provider_id: str, tool: str, arguments: Any, origin: Mapping[str, Any], name: str = "", **more: Any
    ) -> int:
        """A tool call; the tip stays where it is."""
        fields = {"tool_name": tool or "unknown", "arguments": arguments, **more}
        place = self._append("tool_call", fields, origin, name or provider_id, self.tip)
        call = _Call(place, provider_id)
        asked = self._calls.get(provider_id)
        if asked is None:
            asked = self._calls[provider_id] = _Asked()
        asked.last = call
        asked.waiting.append(call)
        self._waiting.append(call)
        return place

    def result(
        self, provider_id: str, result: Any, origin: Mapping[str, Any], is_error: bool = False, **more: Any
    ) -> int:
        """The answer to a call, as `answered` finds it."""
        call = self.answered(provider_id)
        named = self.events[call.place]["id"] if call is not None else provider_id or "unknown"
        if is_error:
            more = {"is_error": True, **more}
        tip, again = self.tip, ""
        if call is not None:
            tip, call.answers = call.place, call.answers + 1
            again = str(call.answers) if call.answers > 1 else ""
        fields = {"call_id": named, "result": result, **more}
        self.tip = self._append("tool_result", fields, origin, f"{named}:r{again}", tip)
        return self.tip

    def answered(self, provider_id: str) -> _Call | None:
        """The call that a result with this id answers; None when there is none.

        That is the nearest one before that has no result yet, else the nearest; without an id the earliest
        that has none, else the last that has no id either.
        """
        while not provider_id and self._waiting:
            if not self._waiting[0].answers:
                return self._waiting[0]
            self._waiting.popleft()
        asked = self._calls.get(provider_id)
        if asked is None:
            return None
        while asked.waiting and asked.waiting[-1].answers:
            asked.waiting.pop()
        return asked.waiting[-1] if asked.waiting else asked.last

    # undoing and windows

    def abandon(self, places: Iterable[int], reason: str, origin: Mapping[str, Any], tip: int | None = None) -> None:
        """Give up these events and what hangs below them; what follows goes on from `tip` (default: before them)."""
        start = self._start
        chosen = sorted(place for place in set(places) if place >= start)
        if not chosen:
            return
        names = {self.events[place]["id"] for place in chosen}
        heads = [self.events[place] for place in chosen if self.events[place]["parent_id"] not in names]
        self.tip = self._place(heads[0]["parent_id"], chosen[0]) if tip is None else tip
        refs = [event["id"] for event in heads]
        self.add("abandon", {"ref_to": refs, "content": reason}, origin, f"{refs[0]}:abandon")

    def open_window(self, opened_by: str = "unknown", tokens_before: int | None = None) -> None:
        """What follows stands in a new context window."""
        if self._start == len(self.events):
            self._windows.pop()
        self._start = len(self.events)
        self._windows.append(Window(self._start, 0, opened_by, tokens_before))
        self._calls.clear()
        self._waiting.clear()
        self.tip = -1

    def used(
        self, place: int, input_tokens: int, output_tokens: int, cache_read: int = 0, cache_write: int = 0
    ) -> None:
        """What the provider reported for the model call that ended with the event at a place."""
        if 0 <= place < len(self.events) and (input_tokens or output_tokens or cache_read or cache_write):
            report = Usage(self.events[place]["id"], input_tokens, output_tokens, cache_read, cache_write)
            self.trace.usage.append(report)

    def ignore(self, kind: str) -> None:
        """Count a record that is left out on purpose."""
        self.trace.ignored[kind] = self.trace.ignored.get(kind, 0) + 1

    def done(self) -> Trace:
        """The trace, with windows that cover every event."""
        stops = [window.start for window in self._windows[1:]] + [len(self.events)]
        self.trace.windows = [replace(each, stop=stop) for each, stop in zip(self._windows, stops, strict=True)]
        return self.trace

    def _append(self, kind: str, fields: Mapping[str, Any], origin: Mapping[str, Any], name: str, tip: int) -> int:
        events, place = self.events, len(self.events)
        taken = self._names.take(name or f"e{place + 1}")
        above = None if tip < 0 or place == self._start else events[tip if tip >= self._start else -1]["id"]
        events.append(
            {"id": taken, "type": kind, "timestamp": self.time, "parent_id": above, **fields, "origin": dict(origin)}
        )
        return place

    def _place(self, name: str | None, below: int) -> int:
        return next((seq for seq in range(below - 1, -1, -1) if self.events[seq]["id"] == name), -1)


class _Call:
    """A tool call that results may answer."""

    __slots__ = ("answers", "place", "provider_id")

    def __init__(self, place: int, provider_id: str) -> None:
        self.place, self.provider_id, self.answers = place, provider_id, 0


class _Asked:
    """The calls of one provider's id: the last one, and those without a result, newest last."""

    __slots__ = ("last", "waiting")

    def __init__(self) -> None:
        self.last: _Call | None = None
        self.waiting: list[_Call] = []
