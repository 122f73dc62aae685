"""Parts of chat messages: content blocks, calls and results of every provider and framework -> one form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ...canonical import readable

_TEXT = frozenset(("text", "input_text", "output_text", "summary_text", "refusal"))
_THINKING = frozenset(("thinking", "reasoning", "redacted_thinking", "redacted-reasoning"))
_MEDIA = frozenset(
    "image image_url input_image audio input_audio video video_url document file input_file media blob uri data".split()
)


class Part(NamedTuple):
    """One thing that a message says: kind text, thinking, media, opaque, call or result."""

    kind: str
    value: Any = ""  #: text, a call's arguments, a result's contents; of media and opaque parts a text for people
    name: str = ""  #: the tool of a call or a result
    call: str = ""  #: the id that the provider gave to a call; for a result the id of its call
    failed: bool = False
    more: Mapping[str, Any] = {}  #: further fields for the event


def text_at(holder: Any, *keys: str) -> str:
    """The first of these fields that is a non-empty string, else ""."""
    if type(holder) is dict:
        for key in keys:
            value = holder.get(key)
            if type(value) is str and value:
                return value
    return ""


def visible(value: Any) -> Any:
    """What a model sees of a tool's answer: text and lists of blocks as they are, other values as JSON text."""
    if type(value) is str or (type(value) is list and value and all(text_at(block, "type") for block in value)):
        return value
    return "" if value is None else readable(value)


def media(kind: str, block: Mapping[str, Any]) -> Part:
    """A placeholder for what is no text; the block itself is kept beside it."""
    source = block.get("source")
    inner = block.get(kind) if type(block.get(kind)) is dict else source if type(source) is dict else {}
    name = text_at(block, "media_type", "mime_type", "mediaType", "mimeType") or text_at(inner, "media_type", "format")
    address = text_at(block, kind, "image", "url", "data") or text_at(inner, "url")
    if not name and address.startswith("data:"):
        name = address[5:60].partition(";")[0].partition(",")[0]
    label = kind.removeprefix("input_").removesuffix("_url")
    return Part("media", f"[{label} {name}]" if name else f"[{label}]", more={"block": dict(block), "tags": [label]})


def thoughts_of(value: dict[str, Any]) -> Iterable[Part]:
    """The thinking that a message keeps beside its content."""
    extra = value.get("additional_kwargs")
    for holder in (value, extra):
        thought = text_at(holder, "reasoning_content", "reasoning", "thinking")
        if thought:
            yield Part("thinking", thought)
            return


def parts_of(content: Any) -> Iterable[Part]:
    """The parts of a message's content: a text, a block, or a list of them."""
    if type(content) is str:
        yield Part("text", content)
    elif type(content) is list:
        for block in content:
            yield from block_parts(block)
    elif content is not None:
        yield from block_parts(content)


def block_parts(block: Any) -> Iterable[Part]:
    """The parts of one content block; one of a kind that is not known is opaque."""
    if type(block) is str:
        yield Part("text", block)
        return
    kind = block.get("type") if type(block) is dict else None
    if type(kind) is not str:
        text = text_at(block, "text")
        yield Part("text", text) if text else Part("opaque", readable(block))
    elif kind in _TEXT:
        text = block.get(kind) if kind == "refusal" else block.get("text", block.get("content"))
        yield Part("text", text) if type(text) is str else Part("opaque", readable(block))
    elif kind in _THINKING:
        yield from _thinking(block)
    elif kind.replace("-", "_").endswith(("tool_use", "tool_call", "function_call", "toolCall")):
        yield _call(block)
        if block.get("result") is not None:  # a server's tool: its call holds the answer
            failed = block.get("error") is not None
            yield Part("result", visible(block["result"]), text_at(block, "name"), text_at(block, "id"), failed)
    elif kind.replace("-", "_").endswith(("tool_result", "tool_call_response", "call_output", "toolResult")):
        keys = ("content", "response", "result", "output")
        held = next((block[key] for key in keys if block.get(key) is not None), "")
        if type(held) is dict and "value" in held and type(held.get("type")) is str:
            held = held["value"]  # AI SDK 5: {"type": "text", "value": …}
        failed = block.get("is_error") is True or block.get("isError") is True or block.get("status") == "error"
        call = text_at(block, "tool_use_id", "toolCallId", "tool_call_id", "call_id", "id")
        yield Part("result", visible(held), text_at(block, "name", "toolName"), call, failed)
    elif kind in _MEDIA:
        yield media(kind, block)
    else:
        yield Part("opaque", readable(block))


def _thinking(block: dict[str, Any]) -> Iterable[Part]:
    thought = text_at(block, "thinking", "reasoning", "text", "content")
    if not thought and type(block.get("summary")) is list:
        thought = "\n".join(text_at(each, "text") for each in block["summary"] if type(each) is dict)
    sign = block.get("signature")
    more = {"signature": sign} if type(sign) is str and sign else {}
    hidden = block.get("redacted") is True or "redacted" in block["type"]
    if hidden or not thought:
        if hidden or any(block.get(key) for key in ("data", "encrypted_content")):
            yield Part("opaque", readable(block), more={"tags": ["thinking"], "importance": "temporary"})
        return
    yield Part("thinking", thought, more=more)


def calls_of(value: dict[str, Any]) -> Iterable[Part]:
    """The calls that a message keeps beside its content, in its own place or in LangChain's extra one."""
    for holder in (value, value.get("additional_kwargs")):
        if type(holder) is not dict:
            continue
        lists = (holder.get(key) for key in ("tool_calls", "toolCalls", "invalid_tool_calls"))
        calls = [call for listed in lists if type(listed) is list for call in listed]
        calls = [call for call in calls or [holder.get("function_call")] if type(call) is dict]
        if calls:
            yield from map(_call, calls)
            return


def _call(call: dict[str, Any]) -> Part:
    function = call.get("function")
    inner = function if type(function) is dict else call
    name = text_at(inner, "name", "toolName", "tool_name") or text_at(call, "function")
    keys = ("arguments", "args", "input", "parameters")
    given: Any = next((inner[key] for key in keys if inner.get(key) is not None), {})
    error = text_at(call, "parse_error", "error")
    more = {"parse_error": error} if error else {}
    return Part("call", given, name, text_at(call, "call_id", "id", "toolCallId", "tool_call_id"), more=more)
