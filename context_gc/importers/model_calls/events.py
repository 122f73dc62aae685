"""Messages of a conversation -> events: each part, calls with their results, tool runs that no message tells of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ..dialects.messages import Message, Part
from ..recording.recorder import VOICES, Recorder
from .spans import Span

_SUMMARY = re.compile(
    r"summar|compact|hand-?off|(?:conversation|history|context) so far"
    r"|(?:previous|other) (?:conversation|context|agent)",
    re.IGNORECASE,
)


def sums_up(each: Message) -> bool:
    """Whether a message that stands where a summary may stand reads like one."""
    return any(part.kind == "text" and _SUMMARY.search(part.value[:400]) for part in each.parts)


class Writer:
    """Writes messages into a recorder. `runs` are tool runs whose results no message has shown yet."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.runs: list[Span] = []
        self.read = 0  #: spans of which something was written
        self._waiting: list[_Waiting] = []  # calls without a result
        self._unnamed = 0

    def write(self, each: Message, origin: dict[str, Any], tags: Iterable[str] = ()) -> list[int]:
        """Append a message's events; gives their places."""
        recorder, first = self.recorder, len(self.recorder.events)
        origin = origin if each.origin is None else dict(each.origin)
        given = VOICES.get(each.role, VOICES["assistant"])
        kind, voice = ("decision", ()) if "summary" in tags else given
        for index, part in enumerate(each.parts):
            name = f"{each.id}.{index}" if each.id and index else each.id
            more = {key: value for key, value in part.more.items() if key != "tags"}
            marks = [*part.more.get("tags", ()), *tags]
            if part.kind == "call":
                self._call(part, origin, more)
            elif part.kind == "result":
                self._answer(part, origin, more)
            elif part.kind == "thinking":
                recorder.think(part.value, origin, name, **more)
            elif part.kind == "opaque":
                recorder.add("decision", {"content": part.value, "tags": [*marks, "opaque"], **more}, origin, name)
            elif part.value.strip():
                told = [*voice, *marks]
                fields = {"content": part.value} | ({"tags": told} if told else {}) | more
                recorder.add(kind, fields, origin, name)
        return list(range(first, len(recorder.events)))

    def waits_for(self, call: str, name: str) -> bool:
        """Whether a call with this id, or of the tool with this name, has neither a result nor a tool run yet."""
        if call:
            return any(each.id == call for each in self._waiting)
        taken = [run.name for run in self.runs].count(name)
        return [each.name for each in self._waiting].count(name) > taken

    def forget(self, places: Iterable[int]) -> None:
        """No result will come for calls at these places."""
        gone = set(places)
        self._waiting = [each for each in self._waiting if each.place not in gone]

    def runs_of(self, places: Iterable[int]) -> list[Span]:
        """The tool runs that calls at these places wait for."""
        among = set(places)
        asked = [each for each in self._waiting if each.place in among]
        found = [self._run_of(each.id, each.name) for each in asked]
        return list(dict.fromkeys(run for run in found if run is not None))

    def begin_anew(self) -> None:
        """What comes stands in a new window: calls before it wait no more."""
        self._waiting = []

    def take_run(self, run: Span) -> Sequence[Message]:
        """The messages that a tool run stands for: its call, unless that waits for its result, and its result."""
        waiting = [each for each in self._waiting if each.id == run.call]
        waiting = waiting or [each for each in self._waiting if not run.call and each.name == run.name]
        known = waiting[0].id if waiting else run.call or run.id or f"run {len(self.recorder.events)}"
        run.call = known
        result = Message("tool", [Part("result", "" if run.result is None else run.result, run.name, known)])
        if waiting:
            return [result]
        self.recorder.at(run.start)
        call = Part("call", {} if run.arguments is None else run.arguments, run.name, known)
        return [Message("assistant", [call]), result]

    def note(self, span: Span) -> None:
        """Something of this span was written."""
        self.read += not span.read
        span.read = True

    def _call(self, part: Part, origin: dict[str, Any], more: dict[str, Any]) -> None:
        self._unnamed += not part.call
        known = part.call or f"call {self._unnamed}"
        name = "" if part.call else f"e{len(self.recorder.events) + 1}"
        place = self.recorder.call(known, part.name, part.value, origin, name, **more)
        self._waiting.append(_Waiting(known, part.name, place))

    def _answer(self, part: Part, origin: dict[str, Any], more: dict[str, Any]) -> None:
        recorder, now = self.recorder, self.recorder.time
        if part.call:
            asked = next((each for each in reversed(self._waiting) if each.id == part.call), None)
        else:
            of_tool = [each for each in self._waiting if part.name in (each.name, "")]
            asked = next(iter(of_tool or self._waiting), None)
        known = asked.id if asked is not None else part.call or "unknown"
        run = self._run_of(known, asked.name if asked is not None else part.name)
        if run is not None:
            self.runs.remove(run)
            self.note(run)
            recorder.at(run.end)
        recorder.result(known, part.value, origin, part.failed or (run is not None and run.failed), **more)
        recorder.time = now
        if asked is not None:
            self._waiting.remove(asked)
            if part.more.get("error_type") == "approval":  # a person or a rule did not let the tool run
                recorder.abandon([asked.place], part.value if type(part.value) is str else "", origin)

    def _run_of(self, call: str, name: str) -> Span | None:
        """The tool run that gave a result: by the call's id, else the first one of that tool without an id."""
        runs = [run for run in self.runs if run.call == call]
        runs = runs or [run for run in self.runs if not run.call and run.name in (name, "")]
        return runs[0] if runs else None


class _Waiting(NamedTuple):
    """A call without a result: the id that results know it by, its tool, the place of its event."""

    id: str
    name: str
    place: int
