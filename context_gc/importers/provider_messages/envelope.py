"""One provider message (or item) -> events, so that it can be put together again from them.

The first event of a message has `envelope`: the message, with null for each value that an event carries.
The `origin` of each event says by `at` (keys and indexes) which value that is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...canonical import readable
from ...events import Event
from ..recording.recorder import Recorder

Path = tuple[str | int, ...]

MEDIA = {
    "image": "image", "image_url": "image", "input_image": "image", "document": "document", "file": "file",
    "input_file": "file", "input_audio": "audio", "video_url": "video",
}  # fmt: skip


class Telling:
    """Appends the events of one record. Blank text and thinking give none and stay in the envelope."""

    __slots__ = ("_origin", "_start", "_taken", "name", "record", "recorder")

    def __init__(self, recorder: Recorder, record: dict[str, Any], origin: Mapping[str, Any], name: str = "") -> None:
        self.recorder, self.record, self.name = recorder, record, name
        self._origin = origin
        self._start = len(recorder.events)
        self._taken: list[Path] = []

    def say(self, voice: str, text: str, at: Path, **more: Any) -> None:
        """What someone says."""
        self._took(self.recorder.say(voice, text, self._from(at), self._named(), **more), at)

    def think(self, text: str, at: Path, **more: Any) -> None:
        """Thinking of the model."""
        self._took(self.recorder.think(text, self._from(at), self._named(), **more), at)

    def call(self, provider_id: str, tool: str, arguments: Any, at: Path | None, **more: Any) -> None:
        """A tool call; `at` is None when the record holds no arguments."""
        self._took(self.recorder.call(provider_id, tool, arguments, self._from(at), **more), at)

    def result(self, provider_id: str, result: Any, at: Path | None, is_error: bool = False, **more: Any) -> None:
        """An answer to a call; `at` is None when the record holds none."""
        self._took(self.recorder.result(provider_id, result, self._from(at), is_error, **more), at)

    def media(self, voice: str, block: dict[str, Any], at: Path) -> None:
        """An image or another file, as a placeholder; the block is kept."""
        kind = MEDIA[block["type"]]
        found = _media_type(block)
        self.say(voice, f"[{kind} {found}]" if found else f"[{kind}]", at, tags=(kind,), block=block)

    def placeholder(self, text: str, value: Any, at: Path, *tags: str, **more: Any) -> None:
        """What the model sees and people cannot read: a few words; the value is kept."""
        self.say("assistant", text, at, tags=(*tags, "opaque"), block=value, **more)

    def opaque(self, value: Any, at: Path) -> None:
        """What has no event of its own: its JSON."""
        self.placeholder(readable(value), value, at)

    @property
    def has_events(self) -> bool:
        """Whether the record has given an event so far."""
        return len(self.recorder.events) > self._start

    def done(self) -> None:
        """Put the envelope on the first event."""
        events = self.recorder.events
        if len(events) > self._start:
            events[self._start]["envelope"] = _emptied(self.record, self._taken)

    def _from(self, at: Path | None) -> Mapping[str, Any]:
        return self._origin if at is None else {**self._origin, "at": [*at]}

    def _named(self) -> str:
        return self.name if len(self.recorder.events) == self._start else ""

    def _took(self, place: int | None, at: Path | None) -> None:
        if place is not None and at is not None:
            self._taken.append(at)


def assembled(events: Sequence[Event]) -> Any:
    """The record that these events came from: the first has its envelope, the others follow it up to the next one."""
    record = events[0]["envelope"]
    taken = [(event, tuple(event["origin"]["at"])) for event in events if "at" in event.get("origin", ())]
    copies: dict[Path, Any] = {}
    for event, at in taken:
        if not at:
            return carried(event)
        _opened(record, at, copies)[at[-1]] = carried(event)
    return copies.get((), record)


def carried(event: Event) -> Any:
    """The value of the record that an event carries."""
    if "block" in event:
        return event["block"]
    return event[{"tool_call": "arguments", "tool_result": "result"}.get(event["type"], "content")]


def _emptied(record: dict[str, Any], taken: Sequence[Path]) -> Any:
    copies: dict[Path, Any] = {}
    for at in taken:
        if not at:
            return None
        _opened(record, at, copies)[at[-1]] = None
    return copies.get((), record)


def _opened(record: Any, at: Path, copies: dict[Path, Any]) -> Any:
    """The copy that holds the last step of a path; what is not on a path is shared with the record."""
    holder = copies.get(())
    if holder is None:
        holder = copies[()] = record.copy()
    for depth in range(1, len(at)):
        step = at[:depth]
        inner = copies.get(step)
        if inner is None:
            inner = copies[step] = holder[step[-1]] = holder[step[-1]].copy()
        holder = inner
    return holder


def _media_type(block: dict[str, Any]) -> str:
    """The media type (or the format) of an image or file as far as it is told, as in image/png."""
    source = block.get("source")
    told = source.get("media_type") if type(source) is dict else None
    for key in ("image_url", "video_url", "file_data", "file", "input_audio"):
        inner = block.get(key)
        if type(inner) is dict:
            told = told or inner.get("format")
            inner = inner.get("url") or inner.get("file_data")
        if type(inner) is str and inner.startswith("data:"):
            told = told or inner[5:100].partition(";")[0]
    return told[:40] if type(told) is str else ""
