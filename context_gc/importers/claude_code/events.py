"""Lines of one Claude Code agent, in trace order -> events, windows and usage."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ...events import Event
from ...trace import Trace, Usage, Window
from ..recording.names import Names, milliseconds
from .blocks import Part, parts_of, rejection
from .lines import Line


class Call:
    """A tool call that results may answer: the place of its event, and how many results it has."""

    __slots__ = ("answers", "place")

    def __init__(self, place: int) -> None:
        self.place, self.answers = place, 0


class Builder:
    """Takes lines one by one. A tip is the place of the event that a following line hangs below, or -1.

    Calls of one message hang side by side below its last text or thinking, a result below its call, and
    nothing but results below a call: so what undoes a call cannot take along what a person said meanwhile.
    No parent and no abandon's target lies outside of the event's window.
    """

    def __init__(self, cwd: str) -> None:
        self.events: list[Event] = []
        self.cwd = cwd
        self.model = ""
        self._names = Names()
        self._windows = [Window(0, 0)]
        self._summary_due = False
        self._time = 0
        self._calls: dict[str, list[Call]] = {}  # of this window, by the id that the provider gave
        self._message, self._base = "", -1  # the message being read, and what its next block hangs below
        self._usage: dict[str, tuple[int, dict[str, Any]]] = {}

    def add(self, line: Line, tip: int) -> int:
        """Append a line's events below the tip; returns the new tip."""
        self._time = milliseconds(line.record.get("timestamp")) or self._time
        if line.role == "boundary":
            self._open_by_boundary(line)
            return -1
        if not line.role:
            return tip
        if line.record.get("isCompactSummary") is True:
            if not self._summary_due:
                self._open("unknown", None)
            self._summary_due = False
        start = len(self.events)
        message = _message_id(line)
        if line.role == "assistant":
            key = message or f":{line.number}"
            if key != self._message:
                self._message, self._base = key, tip
            tip = self._base
        stem = ""
        for index, part in parts_of(line):
            if part.kind == "tool_call":
                self._call(line, index, part, tip)
            elif part.kind == "tool_result":
                tip = self._result(line, index, part, tip)
            else:
                name = self._names.take(f"{stem}.{index}") if stem else ""
                stem = stem or self._names.take_short(line.uuid or f"L{line.number}")
                tip = self._append(line, index, name or stem, part, tip)
        if line.role == "assistant":
            self._base = tip
            self._note_model_call(line, message or f":{line.number}", start)
        return tip

    def rewind(self, tip: int, losing: Iterable[tuple[int, int]], line: Line) -> int:
        """Abandon the events in the `losing` spans before `line` goes on from the tip; returns the new tip."""
        places = [place for start, stop in losing for place in range(start, stop)]
        if not places:
            return tip
        if min(places) < self._windows[-1].start:
            self._open("rewind", None)
            return -1
        names = {self.events[place]["id"] for place in places}
        heads = [self.events[place] for place in places if self.events[place]["parent_id"] not in names]
        self._time = milliseconds(line.record.get("timestamp")) or self._time
        refs = [event["id"] for event in heads]
        part = Part("abandon", {"ref_to": refs, "content": "rewound by the user"})
        return self._append(line, -1, self._names.take(f"{refs[0]}:abandon"), part, tip)

    def trace(self, format_name: str, source: str) -> Trace:
        """What was built, with windows that cover every event."""
        stops = [window.start for window in self._windows[1:]] + [len(self.events)]
        windows = [replace(window, stop=stop) for window, stop in zip(self._windows, stops, strict=True)]
        usage = [
            Usage(self.events[place]["id"], *(_tokens(report, field) for field in _USAGE_FIELDS))
            for place, report in sorted(self._usage.values(), key=lambda entry: entry[0])
            if any(_tokens(report, field) for field in _USAGE_FIELDS)
        ]
        trace = Trace(self.events, format_name, source, windows=windows, usage=usage)
        trace.model, trace.cwd = self.model, self.cwd
        return trace

    def _open_by_boundary(self, line: Line) -> None:
        facts = line.record.get("compactMetadata")
        facts = facts if type(facts) is dict else {}
        trigger = facts.get("trigger")
        tokens = facts.get("preTokens")
        self._open(trigger if trigger in ("auto", "manual") else "unknown", tokens if type(tokens) is int else None)
        self._summary_due = True

    def _open(self, opened_by: str, tokens: int | None) -> None:
        window = Window(len(self.events), 0, opened_by, tokens)
        if self._windows[-1].start == window.start:
            self._windows.pop()
        self._windows.append(window)
        self._calls.clear()
        self._message, self._base = "", -1

    def _append(self, line: Line, index: int, name: str, part: Part, tip: int) -> int:
        origin: dict[str, int] = {"line": line.number}
        if index >= 0 and len(line.blocks) > 1:
            origin["block"] = index
        event: Event = {"id": name, "type": part.kind, "timestamp": self._time, "parent_id": self._parent(tip)}
        event.update(part.fields)
        event["origin"] = origin
        message = _message_id(line)
        if message:
            event["message_id"] = message
        if line.cwd and line.cwd != self.cwd:
            event["cwd"] = line.cwd
        self.events.append(event)
        return len(self.events) - 1

    def _parent(self, tip: int) -> str | None:
        start = self._windows[-1].start
        if tip >= 0 and len(self.events) > start:
            name: str = self.events[tip if tip >= start else -1]["id"]
            return name
        return None

    def _call(self, line: Line, index: int, part: Part, tip: int) -> None:
        name = self._names.take(part.call or f"{line.uuid or f'L{line.number}'}.{index}")
        place = self._append(line, index, name, part, tip)
        self._calls.setdefault(part.call, []).append(Call(place))

    def _result(self, line: Line, index: int, part: Part, tip: int) -> int:
        call = self._answered(part.call)
        name = self.events[call.place]["id"] if call else part.call or "unknown"
        part.fields["call_id"] = name
        count = 1
        if call:
            tip = call.place
            call.answers += 1
            count = call.answers
        result = self._append(line, index, self._names.take(f"{name}:r{count if count > 1 else ''}"), part, tip)
        rejected, words = rejection(part.fields["result"])
        if rejected and call:
            undone = Part("abandon", {"ref_to": [name], "content": words or "rejected by the user"})
            result = self._append(line, index, self._names.take(f"{name}:abandon"), undone, result)
        if words:
            said = Part("requirement", {"content": words, "tags": ["user"]})
            result = self._append(line, index, self._names.take(f"{name}:said"), said, result)
        return result

    def _answered(self, provider_id: str) -> Call | None:
        """The nearest call before that has no result yet, else the nearest; without ids the earliest unanswered."""
        calls = self._calls.get(provider_id)
        if not calls:
            return None
        pending = (call for call in (reversed(calls) if provider_id else calls) if not call.answers)
        return next(pending, calls[-1])

    def _note_model_call(self, line: Line, key: str, start: int) -> None:
        message = line.record.get("message")
        if type(message) is not dict:
            return
        model, report = message.get("model"), message.get("usage")
        if type(model) is str and model != "<synthetic>":
            self.model = self.model or model
        earlier = self._usage.get(key)
        place = len(self.events) - 1 if len(self.events) > start else earlier[0] if earlier else -1
        if place >= 0 and type(report) is dict:
            self._usage[key] = (place, report)


_USAGE_FIELDS = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


def _message_id(line: Line) -> str:
    message = line.record.get("message") if line.role == "assistant" else None
    found = message.get("id") if type(message) is dict else None
    return found if type(found) is str else ""


def _tokens(report: dict[str, Any], field: str) -> int:
    count = report.get(field)
    return count if type(count) is int and count >= 0 else 0
