"""Lines of one Claude Code agent, in trace order -> events, windows and usage."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...trace import Trace
from ..files.fields import count, mapping, text
from ..recording.kept_tail import KeptTail
from ..recording.names import Names
from ..recording.recorder import Recorder
from .answers import decided
from .blocks import Part, parts_of, rejection
from .lines import Line
from .reverts import Reverts

_USAGE_FIELDS = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


class Builder:
    """Takes lines one by one. A tip is the place of the event that a following line hangs below, or -1.

    `started` is what each subagent was started by, as far as the lines tell: agent id -> id of the call.
    `prompts` is what calls told a subagent to do -> the ids of these calls.
    """

    def __init__(self, format_name: str, source: str, cwd: str) -> None:
        self.recorder = Recorder(format_name, source)
        self.recorder.trace.cwd = cwd
        self.started: dict[str, str] = {}
        self.prompts: dict[str, list[str]] = {}
        self.window = 0  #: where the present window begins
        self._names = Names()
        self._reverts = Reverts(self.recorder)
        self._summary_due = False
        self._kept: tuple[str, list[int]] = ("", [])  # events that a compaction kept, and the line they follow
        self._message, self._base = "", -1  # the message being read, and what its next block hangs below
        self._usage: dict[str, tuple[int, dict[str, Any]]] = {}

    def add(self, line: Line, tip: int, certain: bool = True) -> int:
        """Append a line's events below the tip; returns the new tip.

        `certain`: whether the line is on the branch that was gone on with, so that it can undo what came before.
        """
        recorder = self.recorder
        recorder.at(line.record.get("timestamp"))
        recorder.tip = tip
        if not line.role:
            self._note_start(line)
            return tip
        if line.record.get("isCompactSummary") is True:
            if not self._summary_due:
                self.open("unknown")
            self._summary_due = False
        start = len(recorder.events)
        key = line.message or f":{line.number}"
        if line.role == "assistant":
            if key != self._message:
                self._message, self._base = key, tip
            recorder.tip = self._base
        stem = ""
        for index, part in parts_of(line):
            if line.message:
                part.fields["message_id"] = line.message
            if line.cwd and line.cwd != recorder.trace.cwd:
                part.fields["cwd"] = line.cwd
            if part.kind == "tool_call":
                self._call(line, index, part)
            elif part.kind == "tool_result":
                self._result(line, index, part, certain)
            else:
                name = f"{stem}.{index}" if stem else self._names.take_short(line.uuid or f"L{line.number}")
                stem = stem or name
                recorder.add(part.kind, part.fields, _origin(line, index), name)
        if line.role == "assistant":
            self._base = recorder.tip
            self._note_model_call(line, key, start)
        if self._kept[0] and self._kept[0] == line.uuid:
            self._repeat()
        return recorder.tip

    def compact(self, line: Line, kept: tuple[str, list[int]]) -> int:
        """A boundary opens a window; events that it kept are repeated behind the line with a uuid, or at once."""
        self.recorder.at(line.record.get("timestamp"))
        facts = mapping(line.record.get("compactMetadata"))
        trigger, tokens = facts.get("trigger"), facts.get("preTokens")
        self.open(trigger if trigger in ("auto", "manual") else "unknown", tokens if type(tokens) is int else None)
        self._summary_due = True
        self._kept = kept
        if kept[0] == line.uuid:
            self._repeat()
        return self.recorder.tip

    def open(self, opened_by: str, tokens: int | None = None, carried: Iterable[int] = ()) -> dict[int, int]:
        """A new window, in which the events at some places are repeated; returns their new places by the old."""
        self.recorder.open_window(opened_by, tokens)
        self.window = len(self.recorder.events)
        self._message, self._base, self._kept = "", -1, ("", list(carried))
        return self._repeat()

    def rewind(self, tip: int, losing: Iterable[tuple[int, int]], line: Line) -> int:
        """Abandon the events in the `losing` spans before `line` goes on from the tip; returns the new tip."""
        places = [place for start, stop in losing for place in range(start, stop)]
        if places:
            self.recorder.at(line.record.get("timestamp"))
            self.recorder.abandon(places, "rewound by the user", {"line": line.number}, tip)
            return self.recorder.tip
        return tip

    def trace(self) -> Trace:
        """What was built, with windows that cover every event."""
        for place, report in sorted(self._usage.values(), key=lambda entry: entry[0]):
            self.recorder.used(place, *(count(report.get(field)) for field in _USAGE_FIELDS))
        return self.recorder.done()

    def _repeat(self) -> dict[int, int]:
        places, self._kept = self._kept[1], ("", [])
        tail = KeptTail(self.recorder, f"kept{len(self.recorder.events)}")
        return {place: new for place in places for new in tail.repeat([place])}

    def _call(self, line: Line, index: int, part: Part) -> None:
        name = part.call or f"{line.uuid or f'L{line.number}'}.{index}"
        tool, given = part.fields.pop("tool_name"), part.fields.pop("arguments")
        place = self.recorder.call(part.call, tool, given, _origin(line, index), name, **part.fields)
        prompt = text(mapping(given).get("prompt"))
        if prompt:
            self.prompts.setdefault(prompt, []).append(self.recorder.events[place]["id"])

    def _result(self, line: Line, index: int, part: Part, certain: bool) -> None:
        recorder, origin = self.recorder, _origin(line, index)
        asked = recorder.answered(part.call)
        result, failed = part.fields.pop("result"), part.fields.pop("is_error", False)
        place = recorder.result(part.call, result, origin, failed, **part.fields)
        if asked is None:
            return
        call = recorder.events[asked.place]
        name = call["id"]
        if "agent_id" in part.fields:
            self.started.setdefault(part.fields["agent_id"], name)
        rejected, words = rejection(result)
        if rejected:
            recorder.abandon([asked.place], words or "rejected by the user", origin, place)
            recorder.say("user", words, origin, f"{name}:said")
            return
        for tag, said in () if failed else decided(call, result, line.record.get("toolUseResult")):
            recorder.add("decision", {"content": said, "tags": ["user", tag]}, origin, f"{name}:{tag}")
        if certain:
            self._reverts.judge(asked.place, place, failed, line.cwd or recorder.trace.cwd, origin)
        else:
            self._reverts.forget()

    def _note_start(self, line: Line) -> None:
        agent = text(mapping(line.record.get("data")).get("agentId"))
        asked = self.recorder.answered(text(line.record.get("parentToolUseID"))) if agent else None
        if asked is not None and line.record.get("parentToolUseID"):
            self.started.setdefault(agent, self.recorder.events[asked.place]["id"])

    def _note_model_call(self, line: Line, key: str, start: int) -> None:
        message = mapping(line.record.get("message"))
        model, report = message.get("model"), message.get("usage")
        trace = self.recorder.trace
        if type(model) is str and model != "<synthetic>":
            trace.model = trace.model or model
        earlier = self._usage.get(key)
        place = len(trace.events) - 1 if len(trace.events) > start else earlier[0] if earlier else -1
        if place >= 0 and type(report) is dict:
            self._usage[key] = (place, report)


def _origin(line: Line, index: int) -> dict[str, int]:
    return {"line": line.number, "block": index} if len(line.blocks) > 1 else {"line": line.number}
