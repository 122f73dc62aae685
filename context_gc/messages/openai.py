"""OpenAI Chat Completions: a result is a message of its own, and stubs between messages are the user's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..canonical import readable
from ..events import Event
from ..render import line
from .dialect import (
    NO_RESULT,
    Part,
    Path,
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


class OpenAIChat:
    """How Chat Completions writes messages. Calls of the older `function_call` have no id: "" stands for it."""

    name = "openai-chat"

    def role(self, record: Record) -> str:
        """What its field `role` says."""
        return role_of(record)

    def grouped(self, tolds: list[Told]) -> list[Told]:
        """A message is what the model wrote in one go."""
        return tolds

    def is_fixed(self, record: Record) -> bool:
        """What providers of this dialect sign stands in `reasoning_details`."""
        return bool(record.get("reasoning_details"))

    def call_ids(self, record: Record) -> list[str]:
        """The ids in `tool_calls`; "" for a `function_call`."""
        calls = record.get("tool_calls")
        found = [each["id"] for each in map(block_of, calls or ()) if type(each.get("id")) is str]
        return found + ([""] if type(record.get("function_call")) is dict else [])

    def result_ids(self, record: Record) -> list[str]:
        """The one id that a tool message names; "" for the result of a `function_call`."""
        role, name = record.get("role"), record.get("tool_call_id")
        return [name if type(name) is str else ""] if role in ("tool", "function") else []

    def without_results(self, record: Record, ids: set[str]) -> Record | None:
        """A tool message is one result."""
        return None

    def asks(self, turn: Sequence[tuple[int, Event, str]], is_signed: bool, lost: dict[str, int]) -> Told | None:
        """Texts and calls; thinking cannot be sent."""
        texts: list[tuple[int, str]] = []
        calls: list[tuple[int, Any]] = []
        for place, event, name in turn:
            kind = kind_of_event(event)
            if kind == "call":
                given, found = event["arguments"], opened(event["arguments"])
                text = given if type(given) is str and found != {"input": given} and found else readable(found)
                function = {"name": safe_name(event["tool_name"]), "arguments": text}
                calls.append((place, {"id": name, "type": "function", "function": function}))
            elif kind == "thinking" or "opaque" in event.get("tags", ()):
                count(lost, "thinking" if kind == "thinking" else "opaque content")
            elif text := words(event):
                texts.append((place, text))
        if not texts and not calls:
            return None
        record: Record = {"role": "assistant", "content": texts[0][1] if texts else None}
        parts = [Part(place, ("content",)) for place, _ in texts]
        if len(texts) > 1:
            record["content"] = [{"type": "text", "text": text} for _, text in texts]
            parts = [Part(place, ("content", number, "text")) for number, (place, _) in enumerate(texts)]
        if calls:
            record["tool_calls"] = [call for _, call in calls]
            at: Path = ("function", "arguments")
            parts += [Part(place, ("tool_calls", number, *at)) for number, (place, _) in enumerate(calls)]
        kept = {part.place for part in parts}
        parts += [Part(place, ()) for place, _, _ in turn if place not in kept]
        return Told(record, "assistant", parts)

    def answers(self, results: Sequence[tuple[int, Event, str]], lost: dict[str, int]) -> list[Told]:
        """A tool message each."""
        return [
            Told(
                {"role": "tool", "tool_call_id": name, "content": flat(event["result"], lost)},
                "tool",
                [Part(place, ("content",))],
            )
            for place, event, name in results
        ]

    def says(self, role: str, place: int, event: Event, text: str, lost: dict[str, int]) -> Told:
        """A message of the user or the system."""
        return said(role, place, event, text, _image(event.get("block")), lost)

    def joined(self, entries: Sequence[Record | Stub | None], is_own: bool) -> list[Record]:
        """Stubs go to the end of the result before them, else into a message of the user."""
        found: list[Record] = []
        held: list[str] = []
        waits: list[str] = []
        for entry in entries:
            if entry is None:
                continue
            if isinstance(entry, Stub):
                held.append(entry)
                continue
            answered = self.result_ids(entry)
            if not answered:
                self._settle(found, held, waits)
                waits = self.call_ids(entry) if entry.get("role") == "assistant" else []
            waits = [name for name in waits if name not in answered]
            found.append(entry)
        if held:
            self._settle(found, held, waits)
        return found

    def _settle(self, found: list[Record], held: list[str], waits: list[str]) -> None:
        """Before what comes now: results for calls that have none, and the stubs that were held back."""
        for name in waits:
            said = {"role": "tool", "tool_call_id": name} if name else {"role": "function", "name": _asked(found[-1])}
            found.append({**said, "content": NO_RESULT})
        if not held:
            return
        text, last = "\n".join(held), found[-1] if found else {}
        held.clear()
        if self.result_ids(last):
            last["content"] = _with_text(last.get("content"), text)
        else:
            found.append({"role": "user", "content": text})


def words(event: Event) -> str:
    """What an event of the model says; "" for blank text."""
    text: str = event["content"] if event["type"] == "decision" else line(event)
    return text if text.strip() else ""


def _asked(record: Record) -> str:
    name = block_of(record.get("function_call")).get("name")
    return name if type(name) is str else "unknown"


def _with_text(content: Any, text: str) -> Any:
    if type(content) is list:
        return [*content, {"type": "text", "text": text}]
    return f"{content}\n{text}" if type(content) is str and content else text


def flat(result: Any, lost: dict[str, int]) -> str:
    """A result as text, the only thing that a tool message holds."""
    if type(result) is not list:
        return result if type(result) is str else readable(result)
    texts = []
    for block in blocks(result):
        text = block_of(block).get("text")
        if type(text) is str:
            texts.append(text)
        elif "image" in kind_of_block(block):
            count(lost, "image in a result (a placeholder stays)")
            texts.append("[image]")
        else:
            texts.append(readable(block))
    return "\n".join(texts)


def said(role: str, place: int, event: Event, text: str, image: Record | None, lost: dict[str, int]) -> Told:
    """A message of the user or the system; `image`: what the user shows in it, as the provider takes it."""
    if role == "user" and image is not None:
        return Told({"role": "user", "content": [image]}, "user", [Part(place, ("content", 0))])
    if "block" in event:
        count(lost, "image or file (its placeholder stays)")
    return Told({"role": role, "content": text}, role, [Part(place, ("content",))])


def _image(block: Any) -> Record | None:
    """An image of any provider as Chat Completions takes it; None for what is none."""
    if kind_of_block(block) == "image_url":
        return block_of(block)
    source = block_of(block_of(block).get("source"))
    if kind_of_block(block) != "image":
        return None
    if type(source.get("data")) is str and type(source.get("media_type")) is str:
        return {"type": "image_url", "image_url": {"url": f"data:{source['media_type']};base64,{source['data']}"}}
    return {"type": "image_url", "image_url": {"url": source["url"]}} if type(source.get("url")) is str else None
