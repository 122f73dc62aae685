"""OpenAI Responses: what the model wrote in one go is a run of items, and reasoning belongs to the item after it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..canonical import readable
from ..events import Event
from .dialect import (
    NO_RESULT,
    Part,
    Record,
    Stub,
    Told,
    block_of,
    count,
    kind_of_block,
    opened,
    role_of,
    safe_name,
)
from .fates import kind_of_event
from .openai import flat, said, words

#: calls that the caller answers with an item of the same kind and `_output`
_ASKS = frozenset("function_call custom_tool_call local_shell_call shell_call apply_patch_call computer_call".split())
_NAMELESS = frozenset(("message", "function_call", "custom_tool_call"))  # kinds that the API takes without their id
_GROUP = "items"  # field of what stands for a run of items of the model
_EMPTY = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII="
)


class OpenAIResponses:
    """How the Responses API writes a conversation. A record is an item, or {"items": […]} for what is one unit."""

    name = "openai-responses"

    def role(self, record: Record) -> str:
        """A message's role; calls, reasoning and the like are the model's, outputs answer."""
        if "role" in record:
            return role_of(record)
        kind = kind_of_block(record)
        return "tool" if kind.removesuffix("_output") in _ASKS and kind.endswith("_output") else "assistant"

    def grouped(self, tolds: list[Told]) -> list[Told]:
        """What the model wrote between two things that others said is one unit."""
        found: list[Told] = []
        for each in tolds:
            if each.role != "assistant":
                found.append(each)
                continue
            if not found or found[-1].role != "assistant":
                found.append(Told({_GROUP: []}, "assistant", []))
            items = found[-1].record[_GROUP]
            for place, at in each.parts:
                if _GROUP in each.record:  # told from events: the paths are those of a unit already
                    found[-1].parts.append(Part(place, (_GROUP, len(items) + int(at[1]), *at[2:]) if at else ()))
                else:
                    found[-1].parts.append(Part(place, (_GROUP, len(items), *at)))
            items += self._items(each.record)
        return found

    def is_fixed(self, record: Record) -> bool:
        """Reasoning and what comes with it, server tools, and whatever else the API checks."""
        return not all(map(_is_editable, self._items(record)))

    def call_ids(self, record: Record) -> list[str]:
        """The ids of the calls that the caller has to answer."""
        return [each["call_id"] for each in self._calls(record)]

    def result_ids(self, record: Record) -> list[str]:
        """The id of the call that an output item answers."""
        name = record.get("call_id")
        return [name] if type(name) is str and self.role(record) == "tool" else []

    def without_results(self, record: Record, ids: set[str]) -> Record | None:
        """An output item is one result."""
        return None

    def asks(self, turn: Sequence[tuple[int, Event, str]], is_signed: bool, lost: dict[str, int]) -> Told | None:
        """Texts and then calls, an item each; reasoning cannot be sent."""
        items: list[Record] = []
        parts: list[Part] = []
        for place, event, name in sorted(turn, key=lambda each: kind_of_event(each[1]) == "call"):
            kind, at = kind_of_event(event), (_GROUP, len(items))
            if kind == "call":
                given, found = event["arguments"], opened(event["arguments"])
                text = given if type(given) is str and found != {"input": given} and found else readable(found)
                called = {"call_id": name, "name": safe_name(event["tool_name"]), "arguments": text}
                items.append({"type": "function_call", **called})
                parts.append(Part(place, (*at, "arguments")))
            elif kind == "thinking" or "opaque" in event.get("tags", ()):
                count(lost, "thinking" if kind == "thinking" else "opaque content")
                parts.append(Part(place, ()))
            elif text := words(event):
                items.append({"role": "assistant", "content": text})
                parts.append(Part(place, (*at, "content")))
        return Told({_GROUP: items}, "assistant", parts) if items else None

    def answers(self, results: Sequence[tuple[int, Event, str]], lost: dict[str, int]) -> list[Told]:
        """An output item each."""
        return [
            Told(
                {"type": "function_call_output", "call_id": name, "output": flat(event["result"], lost)},
                "tool",
                [Part(place, ("output",))],
            )
            for place, event, name in results
        ]

    def says(self, role: str, place: int, event: Event, text: str, lost: dict[str, int]) -> Told:
        """A message of the user or the system."""
        return said(role, place, event, text, _image(event.get("block")), lost)

    def joined(self, entries: Sequence[Record | Stub | None], is_own: bool) -> list[Record]:
        """Stubs go to the end of the output before them, else into a message of the user.

        Behind a gap, items lose the id by which the API would look for the reasoning before them.
        """
        found: list[Record] = []
        held: list[str] = []
        waits: dict[str, Record] = {}
        gap = False
        for entry in entries:
            if entry is None:
                gap = True
                continue
            if isinstance(entry, Stub):
                held.append(entry)
                continue
            answered = self.result_ids(entry)
            if not answered:
                self._settle(found, held, waits)
            for item in self._items(entry):
                gap = gap and _GROUP in entry and kind_of_block(item) != "reasoning"
                bare = gap and kind_of_block(item) in _NAMELESS
                found.append({key: value for key, value in item.items() if key != "id"} if bare else item)
            if not answered:
                waits = {each["call_id"]: each for each in self._calls(entry)}
            for name in answered:
                waits.pop(name, None)
        if held:
            self._settle(found, held, waits)
        return [each for item in found for each in _whole(item)]

    def _settle(self, found: list[Record], held: list[str], waits: dict[str, Record]) -> None:
        """Before what comes now: outputs for calls that have none, and the stubs that were held back."""
        for name, call in waits.items():
            found.append({"type": f"{call['type']}_output", "call_id": name, "output": NO_RESULT})
        waits.clear()
        if not held:
            return
        text, last = "\n".join(held), found[-1] if found else {}
        held.clear()
        if kind_of_block(last) in ("function_call_output", "custom_tool_call_output"):
            last["output"] = _with_text(last.get("output"), text)
        else:
            found.append({"role": "user", "content": text})

    def _items(self, record: Record) -> list[Record]:
        held = record.get(_GROUP) if _GROUP in record else [record]
        return [each for each in held or () if type(each) is dict]

    def _calls(self, record: Record) -> Iterable[Record]:
        return [
            each for each in self._items(record) if kind_of_block(each) in _ASKS and type(each.get("call_id")) is str
        ]


def _is_editable(item: Record) -> bool:
    kind = kind_of_block(item)
    if kind in ("function_call", "custom_tool_call"):
        return True
    content = item.get("content")
    texts = content if type(content) is list else [{"type": "output_text"}]
    return kind in ("", "message") and len(texts) == 1 and kind_of_block(texts[0]) == "output_text"


def _with_text(output: Any, text: str) -> Any:
    if type(output) is list:
        return [*output, {"type": "input_text", "text": text}]
    return f"{output}\n{text}" if type(output) is str and output else text


def _whole(item: Record) -> list[Record]:
    """An item whose output became text, in the shape that its kind has."""
    kind, output = kind_of_block(item), item.get("output")
    if type(output) is not str or kind not in ("shell_call_output", "computer_call_output"):
        return [item]
    if kind == "shell_call_output":
        told = {"stdout": output, "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}
        return [{**item, "output": [told]}]
    shown = {"type": "computer_screenshot", "image_url": _EMPTY}
    return [{**item, "output": shown}, {"role": "user", "content": output}]


def _image(block: Any) -> Record | None:
    """An image of any provider as the Responses API takes it; None for what is none."""
    held = block_of(block)
    if kind_of_block(block) == "input_image":
        return held
    url = block_of(held.get("image_url")).get("url") if kind_of_block(block) == "image_url" else None
    source = block_of(held.get("source")) if kind_of_block(block) == "image" else {}
    if type(source.get("data")) is str and type(source.get("media_type")) is str:
        url = f"data:{source['media_type']};base64,{source['data']}"
    elif type(source.get("url")) is str:
        url = source["url"]
    return {"type": "input_image", "image_url": url} if type(url) is str else None
