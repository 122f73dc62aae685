"""Anthropic Messages: results are blocks of the user's next message, thinking is signed, cache marks are few."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..canonical import readable
from ..events import Event
from .dialect import (
    GONE,
    NO_RESULT,
    Part,
    Record,
    Stub,
    Told,
    block_of,
    blocks,
    count,
    kind_of_block,
    opened,
    role_of,
    safe_name,
)
from .fates import kind_of_event
from .openai import words

MARKS = 4  #: cache_control markers that a request may have
_EDITABLE = frozenset(("text", "tool_use"))
_OF_RESPONSES = "id type model stop_reason stop_sequence usage container context_management".split()


class AnthropicMessages:
    """How the Messages API writes messages."""

    name = "anthropic-messages"

    def role(self, record: Record) -> str:
        """What its field `role` says."""
        return role_of(record)

    def grouped(self, tolds: list[Told]) -> list[Told]:
        """A message is what the model wrote in one go."""
        return tolds

    def is_fixed(self, record: Record) -> bool:
        """Signed thinking, server tools and whatever else the API checks."""
        return any(kind_of_block(block) not in _EDITABLE for block in blocks(record.get("content")))

    def call_ids(self, record: Record) -> list[str]:
        """The ids of its tool_use blocks."""
        return [block["id"] for block in blocks(record.get("content")) if kind_of_block(block) == "tool_use"]

    def result_ids(self, record: Record) -> list[str]:
        """The ids that its tool_result blocks answer."""
        found = (
            block.get("tool_use_id") for block in blocks(record.get("content")) if kind_of_block(block) == "tool_result"
        )
        return [name for name in found if type(name) is str]

    def without_results(self, record: Record, ids: set[str]) -> Record | None:
        """The message without these tool_result blocks."""
        left = [
            b
            for b in blocks(record.get("content"))
            if not (kind_of_block(b) == "tool_result" and b.get("tool_use_id") in ids)
        ]
        return {**record, "content": left} if left else None

    def asks(self, turn: Sequence[tuple[int, Event, str]], is_signed: bool, lost: dict[str, int]) -> Told | None:
        """Thinking that it signed itself, texts and calls."""
        content: list[Record] = []
        parts: list[Part] = []
        for place, event, name in turn:
            kind, number = kind_of_event(event), len(content)
            if kind == "call":
                given = opened(event["arguments"])
                content.append({"type": "tool_use", "id": name, "name": safe_name(event["tool_name"]), "input": given})
                parts.append(Part(place, ("content", number, "input")))
            elif kind == "thinking" and is_signed and type(event.get("signature")) is str:
                thought = {"type": "thinking", "thinking": event["content"], "signature": event["signature"]}
                content.append(thought)
                parts.append(Part(place, ("content", number, "thinking")))
            elif kind == "thinking" or "opaque" in event.get("tags", ()):
                count(lost, "thinking" if kind == "thinking" else "opaque content")
                parts.append(Part(place, ()))
            elif text := words(event):
                content.append({"type": "text", "text": text})
                parts.append(Part(place, ("content", number, "text")))
        if not any(kind_of_block(block) != "thinking" for block in content):
            count(lost, "thinking", len(content))
            return None
        return Told({"role": "assistant", "content": content}, "assistant", parts)

    def answers(self, results: Sequence[tuple[int, Event, str]], lost: dict[str, int]) -> list[Told]:
        """One message of the user with a tool_result each."""
        content: list[Record] = []
        parts = []
        for place, event, name in results:
            given = _seen(event["result"], lost)
            plain = type(given) is str or all(kind_of_block(block) == "text" for block in given)
            failed = {"is_error": True} if event.get("is_error") is True and plain else {}
            parts.append(Part(place, ("content", len(content), "content")))
            content.append({"type": "tool_result", "tool_use_id": name, "content": given, **failed})
        return [Told({"role": "user", "content": content}, "user", parts)] if content else []

    def says(self, role: str, place: int, event: Event, text: str, lost: dict[str, int]) -> Told:
        """A message of the user, or the system prompt."""
        image = _image(event.get("block"))
        if role == "user" and image is not None:
            return Told({"role": "user", "content": [image]}, "user", [Part(place, ("content", 0))])
        if "block" in event:
            count(lost, "image or file (its placeholder stays)")
        if role == "system":
            return Told({"system": text}, "system", [Part(place, ("system",))], True)
        return Told({"role": "user", "content": text}, "user", [Part(place, ("content",))])

    def joined(self, entries: Sequence[Record | Stub | None], is_own: bool) -> list[Record]:
        """Stubs go to the end of the result before them, else into a text of the user; users that meet are one."""
        joining = _Joining(self, is_own)
        for entry in entries:
            if entry is None:
                joining.gap = True
            elif isinstance(entry, Stub):
                joining.held.append(entry)
            else:
                joining.take({key: value for key, value in entry.items() if key not in _OF_RESPONSES})
        if joining.held:
            joining.settle()
        return joining.found


class _Joining:
    """The conversation so far, and what waits for the next message."""

    def __init__(self, dialect: AnthropicMessages, is_own: bool) -> None:
        self.found: list[Record] = []
        self.held: list[str] = []  # stubs
        self.gap = False  # a message was taken out here
        self._dialect, self._is_own = dialect, is_own

    def take(self, record: Record) -> None:
        """The next message."""
        role, answered = record.get("role"), self._dialect.result_ids(record)
        if not answered:
            self.settle()
        last = self.found[-1] if self.found else {}
        waits = [name for name in self._waits(last) if name not in answered] if answered else []
        if waits:
            record = {**record, "content": [*map(_no_result, waits), *blocks(record.get("content"))]}
        meet = last.get("role") == role and (self.gap or not self._is_own)
        if meet and (role == "user" or not self._is_own):
            last["content"] = [*blocks(last.get("content")), *blocks(record.get("content"))]
        else:
            if role == "assistant" and (not self.found or meet):
                self.found.append({"role": "user", "content": GONE})
            self.found.append(record)
        self.gap = False

    def settle(self) -> None:
        """Before what comes now: results for calls that have none, and the stubs that were held back."""
        last = self.found[-1] if self.found else {}
        if waits := self._waits(last):
            last = {"role": "user", "content": [*map(_no_result, waits)]}
            self.found.append(last)
            self.gap = True
        if not self.held:
            return
        text = "\n".join(self.held)
        self.held.clear()
        if last.get("role") != "user":
            self.found.append({"role": "user", "content": text})
            self.gap = True
            return
        content = blocks(last.get("content"))
        if content and kind_of_block(content[-1]) == "tool_result":
            content[-1]["content"] = _with_text(content[-1].get("content"), text)
            last["content"] = content
        else:
            last["content"] = [*content, {"type": "text", "text": text}]

    def _waits(self, record: Record) -> list[str]:
        return self._dialect.call_ids(record) if record.get("role") == "assistant" else []


def within_marks(request: Record) -> None:
    """Take the earliest cache marks out of a request's messages, so that it has no more than the API takes."""
    fixed = [*blocks(request.get("tools")), *blocks(request.get("system"))]
    spare = MARKS - sum("cache_control" in block_of(block) for block in fixed)
    marked = []
    for message in request.get("messages") or ():
        for block in blocks(block_of(message).get("content")):
            inner = block_of(block).get("content")
            marked += [each for each in (inner if type(inner) is list else ()) if "cache_control" in block_of(each)]
            marked += [block] if "cache_control" in block_of(block) else []
    for block in marked[: max(len(marked) - max(spare, 0), 0)]:
        del block["cache_control"]


def _no_result(name: str) -> Record:
    return {"type": "tool_result", "tool_use_id": name, "content": NO_RESULT}


def _with_text(content: Any, text: str) -> Any:
    if type(content) is list and content:
        return [*content, {"type": "text", "text": text}]
    return f"{content}\n{text}" if type(content) is str and content else text


def _seen(result: Any, lost: dict[str, int]) -> Any:
    """A result as text, or as blocks of text and images where it has such."""
    if type(result) is not list:
        return result if type(result) is str else readable(result)
    found: list[Record] = []
    for block in result:
        image, text = _image(block), block_of(block).get("text")
        if image is not None:
            found.append(image)
        elif type(text) is str:
            found += [{"type": "text", "text": text}] if text.strip() else []
        else:
            found.append({"type": "text", "text": readable(block)})
    return found if any(kind_of_block(block) == "image" for block in found) else "\n".join(b["text"] for b in found)


def _image(block: Any) -> Record | None:
    """An image of any provider as the Messages API takes it; None for what is none."""
    source = block_of(block_of(block).get("source"))
    if kind_of_block(block) == "image" and source.get("type") in ("base64", "url", "file"):
        return {"type": "image", "source": dict(source)}
    held = block_of(block).get("image_url")
    url = held if type(held) is str else block_of(held).get("url")
    if "image" not in kind_of_block(block) or type(url) is not str:
        return None
    if url.startswith("data:") and ";base64," in url:
        media, _, data = url[5:].partition(";base64,")
        return {"type": "image", "source": {"type": "base64", "media_type": media, "data": data}}
    return {"type": "image", "source": {"type": "url", "url": url}} if url.startswith("http") else None
