"""Event streams of the Anthropic Messages API (SSE text, or its events as objects) -> the messages they spell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ..files.document import Record, parse_at

_KINDS = frozenset(
    "message_start content_block_start content_block_delta content_block_stop message_delta message_stop".split()
)
#: kinds of delta -> the field of the delta, and of the block, that it goes on with
_GROWS = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "signature",
    "compaction_delta": "content",
    "input_json_delta": "partial_json",
}


def streamed_messages(text: str) -> list[dict[str, Any]]:
    """The messages in SSE text; one that was cut off is kept as far as it came."""
    return [message for message, _ in joined(sse_events(text))]


def sse_events(text: str) -> list[Record]:
    """The events in SSE text, with their lines; what is no JSON object is passed over."""
    found: list[Record] = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("data:"):
            try:
                value = parse_at(line[5:].strip())[0]
            except ValueError:
                continue
            if type(value) is dict:
                found.append(Record(number, value))
    return found


def is_stream_event(event: dict[str, Any]) -> bool:
    """Whether an object is an event of such a stream that says something."""
    kind = event.get("type")
    return type(kind) is str and kind in _KINDS


def joined(events: Iterable[Record]) -> Iterator[tuple[dict[str, Any], int]]:
    """Messages from the numbered events of a stream, each with the number of the event that began it."""
    message: dict[str, Any] = {}
    blocks: dict[int, _Block] = {}
    began = 0
    for number, event in events:
        kind = event.get("type")
        if kind == "message_start" and type(event.get("message")) is dict:
            if message:
                yield _finished(message, blocks), began
            message, blocks, began = {**event["message"]}, {}, number
        elif kind == "content_block_start" and type(event.get("content_block")) is dict and message:
            blocks[_place(event)] = _Block({**event["content_block"]})
        elif kind == "content_block_delta" and type(event.get("delta")) is dict and _place(event) in blocks:
            blocks[_place(event)].grow(event["delta"])
        elif kind == "message_delta" and message:
            for part in (event.get("delta"), {"usage": event.get("usage")}):
                for name, value in part.items() if type(part) is dict else ():
                    both = type(value) is dict and type(message.get(name)) is dict
                    message[name] = {**message[name], **value} if both else value
    if message:
        yield _finished(message, blocks), began


class _Block:
    """A content block, and the text that deltas added to its fields."""

    def __init__(self, block: dict[str, Any]) -> None:
        self.block = block
        self._added: dict[str, list[str]] = {}

    def grow(self, delta: dict[str, Any]) -> None:
        kind = delta.get("type")
        field = _GROWS.get(kind, "") if type(kind) is str else ""
        if type(delta.get(field)) is str:
            self._added.setdefault(field, []).append(delta[field])
        elif kind == "citations_delta":
            before = self.block.get("citations")
            self.block["citations"] = [*(before if type(before) is list else ()), delta.get("citation")]

    def whole(self) -> dict[str, Any]:
        for field, parts in self._added.items():
            text = "".join(parts)
            if field != "partial_json":
                before = self.block.get(field)
                self.block[field] = (before if type(before) is str else "") + text
            elif text:
                try:
                    self.block["input"] = parse_at(text)[0]
                except ValueError:
                    self.block["input"] = text
        return self.block


def _place(event: dict[str, Any]) -> int:
    place = event.get("index")
    return place if type(place) is int else -1


def _finished(message: dict[str, Any], blocks: dict[int, _Block]) -> dict[str, Any]:
    given = message.get("content")
    begun = given if type(given) is list else []
    return {**message, "content": [*begun, *(each.whole() for each in blocks.values())]}
