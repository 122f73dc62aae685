"""Messages of a Cline or Roo task -> events."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...canonical import readable
from ...trace import Trace
from ..dialects.messages import Part, message, text_at
from ..recording.condensed import open_condensed
from ..recording.recorder import Recorder
from ..recording.telling import tell
from .display import Display
from .tools import split_tools
from .words import (
    ASKING,
    denies,
    environment_apart,
    fails,
    folder_in,
    header,
    purpose,
    tool_not_run,
    words_in,
)


class Teller:
    """Takes the messages of a history in order."""

    def __init__(self, format_name: str, source: str, display: Display) -> None:
        self.recorder = Recorder(format_name, source)
        self._display = display
        self._start = 0  # of the window
        self._of: dict[int, int] = {}  # place -> the index of its message
        self._hidden: set[int] = set()  # messages that a later marker of Roo stands for
        self._pending: list[tuple[str, str]] = []  # calls that wait: id, tool

    def take(self, index: int, role: str, value: Mapping[str, Any], time: Any, origin: Mapping[str, Any]) -> None:
        """The next message."""
        self.recorder.at(time)
        if self._display.restored and index == self._display.restored[1]:
            self._restore(origin)
        if index in self._display.cuts:
            first, last = self._display.cuts[index]
            self._open([at for at in range(index) if not first <= at <= last], origin)
        if text_at(value, "condenseParent", "truncationParent"):
            self._hidden.add(index)
        before = len(self.recorder.events)
        told = message(dict(value)) if role else None
        if told is None:
            fields = {"content": readable(value), "tags": ["opaque"]}
            self.recorder.add("decision", fields, origin)
        elif value.get("isSummary") is True or value.get("isTruncationMarker") is True:
            kept = [at for at in range(index) if at not in self._hidden]
            self._open(kept if self._hidden else (), origin)
            before = len(self.recorder.events)
            for part in told.parts:
                part = part._replace(more={**part.more, "tags": ["summary"]})
                tell(self.recorder, "assistant", part, origin)
        elif role == "assistant":
            self._act(index, told.parts, value, origin)
        elif role == "system":
            for part in told.parts:
                tell(self.recorder, "system", part, origin)
        else:
            self._hear(told.parts, origin)
        if before == len(self.recorder.events):
            self.recorder.ignore("blank text")
        for place in range(max(before, self._start), len(self.recorder.events)):
            self._of[place] = index

    def done(self) -> Trace:
        """The trace."""
        if self._display.restored and self._display.restored[1] > max(self._of.values(), default=-1):
            self._restore({})
        return self.recorder.done()

    def _open(self, kept: Sequence[int], origin: Mapping[str, Any]) -> None:
        chosen = set(kept)
        places = range(self._start, len(self.recorder.events))
        held = [(place, self._of.get(place)) for place in places if self._of.get(place) in chosen]
        self._start, new = open_condensed(self.recorder, held, "auto", origin)
        self._of |= new

    def _restore(self, origin: Mapping[str, Any]) -> None:
        first, stop = self._display.restored or (0, 0)
        places = [place for place, index in self._of.items() if first <= index < stop]
        last = self.recorder.events[max(places)]["origin"] if places else {}
        self.recorder.abandon(places, "files restored to a checkpoint", origin or last)

    def _act(self, index: int, parts: Sequence[Part], value: Mapping[str, Any], origin: Mapping[str, Any]) -> None:
        """What the model wrote; a message without native calls may hold calls as tags in its text."""
        self._pending.clear()
        facts = {"message_id": f"m{index}"}
        native = any(part.kind == "call" for part in parts)
        place = None
        for part in parts if native else _with_tools(parts, index):
            told = tell(self.recorder, "assistant", part, origin, **facts)
            place = place if told is None else told
            if part.kind == "call" and told is not None:
                self._pending.append((part.call or self.recorder.events[told]["id"], part.name))
        trace = self.recorder.trace
        trace.model = trace.model or text_at(value.get("modelInfo"), "modelId")
        used = self._display.usage.get(index) or _metrics(value)
        if place is not None:
            self.recorder.used(place, *used)

    def _hear(self, parts: Sequence[Part], origin: Mapping[str, Any]) -> None:
        """Results, which may be text under a header; the environment; what the user said."""
        waiting: tuple[str, list[Part]] | None = None  # tool, what its result consists of so far
        for part in environment_apart(parts):
            text = part.value if part.kind == "text" else ""
            begins = header(text)
            if begins or part.kind == "result" or (text and purpose(text) != "words"):
                self._settle(waiting, origin)
                waiting = None
            if begins:
                waiting = begins[0], [Part("text", begins[1])] if begins[1].strip() else []
            elif part.kind == "result":
                self._answer(part.call, part.value, part.failed, origin)
            elif waiting and (part.kind == "media" or not waiting[1]):
                waiting[1].append(part)
            else:
                self._settle(waiting, origin)
                waiting = None
                self._words(part, text, origin)
        self._settle(waiting, origin)
        if any(part.kind == "text" and part.value.startswith("[TASK RESUMPTION]") for part in parts):
            calls = [self.recorder.answered(name) for name, _ in self._pending]
            self.recorder.abandon([call.place for call in calls if call], "interrupted", origin)
            self._pending.clear()

    def _settle(self, waiting: tuple[str, list[Part]] | None, origin: Mapping[str, Any]) -> None:
        """A text result is whole: it answers the first call of its tool that waits."""
        if waiting is None:
            return
        tool, parts = waiting
        name = next((name for name, called in self._pending if called == tool), None)
        content: Any = parts[0].value if len(parts) == 1 and parts[0].kind == "text" else [_block(p) for p in parts]
        if name is None:
            self.recorder.say("assistant", f"[{tool}] Result: {_flat(content)}", origin, tags=("notification",))
        else:
            self._answer(name, content or "", fails(_flat(content)), origin)

    def _answer(self, provider_id: str, content: Any, failed: bool, origin: Mapping[str, Any]) -> None:
        self._pending = [each for each in self._pending if each[0] != provider_id]
        text, call = _flat(content), self.recorder.answered(provider_id)
        denied = denies(text)
        asked = call is not None and self.recorder.events[call.place]["tool_name"] in ASKING
        words = words_in(text) if denied or asked else ""
        more = {"tags": ["user"]} if words and not denied else {}
        self.recorder.result(provider_id, content, origin, failed, **more)
        if denied and call:
            self.recorder.abandon([call.place], words or "denied by the user", origin)
            self.recorder.say("user", words, origin)

    def _words(self, part: Part, text: str, origin: Mapping[str, Any]) -> None:
        kind = purpose(text)
        skipped = tool_not_run(text)
        name = next((name for name, tool in self._pending if skipped == tool), "")
        if name:
            self._answer(name, text, True, origin)
        elif kind == "environment":
            trace = self.recorder.trace
            trace.cwd = trace.cwd or folder_in(text)
            self.recorder.say("assistant", text, origin, tags=("environment",))
        elif kind == "summary":
            if not self._display.cuts:
                self._open((), origin)
            self.recorder.say("assistant", text, origin, tags=("summary",))
        elif kind == "instructions":
            self.recorder.say("system", text, origin)
        elif kind in ("notice", "not run"):
            self.recorder.say("assistant", text, origin, tags=("notification",))
            self.recorder.say("user", words_in(text), origin)
        else:
            tell(self.recorder, "user", part, origin)


def _with_tools(parts: Sequence[Part], index: int) -> Iterator[Part]:
    count = 0
    for part in parts:
        for piece in split_tools(part.value) if part.kind == "text" else (part,):
            if piece.kind == "call":
                piece = piece._replace(call=f"m{index}" + (f".{count}" if count else ""))
                count += 1
            yield piece


def _metrics(value: Mapping[str, Any]) -> tuple[int, int, int, int]:
    """What newer histories note beside an answer; what was cached is not told apart there."""
    metrics = value.get("metrics")
    tokens = metrics.get("tokens") if type(metrics) is dict else None
    counts = [tokens.get(key) if type(tokens) is dict else 0 for key in ("prompt", "completion", "cached")]
    prompt, completion, cached = (count if type(count) is int and count > 0 else 0 for count in counts)
    return prompt, completion, cached, 0


def _block(part: Part) -> Any:
    return part.more.get("block", {"type": "text", "text": part.value})


def _flat(content: Any) -> str:
    if type(content) is str:
        return content
    return "\n".join(text_at(block, "text") for block in content) if type(content) is list else ""
