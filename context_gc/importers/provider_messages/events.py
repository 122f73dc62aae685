"""Messages of OpenAI Chat Completions and of Anthropic -> events. One reader: both kinds of blocks occur in both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...canonical import canonical
from ..files.document import kind_of
from ..recording.recorder import Recorder
from .blocks import identifier, tell_content, text_of
from .envelope import Path, Telling

VOICES = {
    "user": "user", "human": "user", "system": "system", "developer": "developer", "assistant": "assistant",
    "ai": "assistant", "model": "assistant",
}  # fmt: skip
ANSWERING = ("tool", "function")  #: roles of messages that answer a call
_REASONING = ("reasoning_content", "reasoning")
_TIMES = ("timestamp", "created_at", "time")

Key = tuple[Any, ...]


def tell_message(recorder: Recorder, message: Any, origin: Mapping[str, Any], fresh: bool = False) -> str:
    """Append the events of a message; returns what is wrong with it, or "". A blank message gives no event.

    `fresh`: it is among the first of a window that a compaction opened.
    """
    fault = _fault(message)
    if fault:
        return fault
    for field in _TIMES:
        if field in message:
            recorder.at(message[field])
    telling = Telling(recorder, message, origin, identifier(message.get("id")))
    role, content = message["role"], message.get("content")
    if role in ANSWERING:
        _tell_answer(telling, message)
    elif role in VOICES:
        voice = VOICES[role]
        for field in _REASONING:
            if type(message.get(field)) is str:
                telling.think(message[field], (field,))
                break
        tell_content(telling, voice, content, ("content",), fresh)
        if type(message.get("refusal")) is str:
            telling.say("assistant", message["refusal"], ("refusal",), tags=("refusal",))
        audio = message.get("audio")
        if type(audio) is dict and type(audio.get("transcript")) is str:
            telling.say(voice, audio["transcript"], ("audio", "transcript"), tags=("audio",))
        if "tool_calls" in message or "function_call" in message:
            _tell_calls(telling, message)
        if not telling.has_events and "content" not in message and len(message) > 1:
            telling.opaque(message, ())  # whatever it says, it says in words of its own
    else:
        telling.opaque(message, ())
    telling.done()
    return ""


def tell_system(recorder: Recorder, field: str, value: Any, origin: Mapping[str, Any]) -> None:
    """Append a system prompt that stands outside of the messages: text, or text blocks."""
    telling = Telling(recorder, {field: value}, {**origin, "field": field})
    if isinstance(value, str | list):
        tell_content(telling, "system", value, (field,))
    telling.done()


def message_key(message: Any) -> Key:
    """What makes two messages the same message: who says what, calls what and gets what; no cache marks, no thinking.

    The first part is the role, or "call" and "result" where the message calls or answers.
    """
    if _fault(message):
        return ("?", canonical(message))
    parts: list[Key] = []
    role, content = message["role"], message.get("content")
    if role in ANSWERING:
        return ("result", identifier(message.get("tool_call_id")), flat_text(content))
    if type(content) is str and content.strip():
        parts.append(("text", content.strip()))
    parts += (part for block in (content if type(content) is list else ()) if (part := _block_key(block)))
    for call, _ in _calls(message):
        name, given, _ = _asked(call)
        parts.append(("call", identifier(call.get("id")), name, given if type(given) is str else canonical(given)))
    kinds = {part[0] for part in parts}
    return (next((kind for kind in ("call", "result") if kind in kinds), role), *parts)


def flat_text(content: Any) -> str:
    """A content as one text for comparing: the text of text blocks, else its JSON."""
    if type(content) is list and all(type(block) is dict and type(block.get("text")) is str for block in content):
        return text_of(content)
    return content if type(content) is str else canonical(content)


def _fault(message: Any) -> str:
    if type(message) is not dict:
        return f"{kind_of(message)} where a message was expected"
    role, content = message.get("role"), message.get("content")
    if type(role) is not str:
        return f"field 'role' is {kind_of(role)}, expected a string" if "role" in message else "field 'role' is missing"
    if role not in ANSWERING and content is not None and not isinstance(content, str | list):
        return f"field 'content' is {kind_of(content)}, expected a string or a list"
    return ""


def _tell_answer(telling: Telling, message: dict[str, Any]) -> None:
    provider_id = identifier(message.get("tool_call_id")) or identifier(message.get("id"))
    if "tool_call_id" not in message and telling.recorder.answered(provider_id) is None:
        provider_id = ""
    content = message.get("content")
    failed = message.get("error") is True or message.get("is_error") is True
    if content is None:
        telling.result(provider_id, "", None, failed)
    else:
        telling.result(provider_id, content, ("content",), failed)


def _tell_calls(telling: Telling, message: dict[str, Any]) -> None:
    for call, at in _calls(message):
        name, given, field = _asked(call)
        more = {"requestor": call["requestor"]} if type(call.get("requestor")) is str else {}
        telling.call(identifier(call.get("id")), name, given, (*at, *field) if field else None, **more)
    calls = message.get("tool_calls")
    for place, call in enumerate(calls if type(calls) is list else ()):
        if type(call) is not dict:
            telling.opaque(call, ("tool_calls", place))


def _calls(message: dict[str, Any]) -> Iterator[tuple[dict[str, Any], Path]]:
    calls, legacy = message.get("tool_calls"), message.get("function_call")
    for place, call in enumerate(calls if type(calls) is list else ()):
        if type(call) is dict:
            yield call, ("tool_calls", place)
    if type(legacy) is dict:
        yield legacy, ("function_call",)


def _asked(call: dict[str, Any]) -> tuple[str, Any, Path]:
    """The tool and the arguments of a call, and where in it they stand; {} and no place when there are none."""
    holder = call
    at: Path = ()
    for key in ("function", "custom"):
        inner = call.get(key)
        if type(inner) is dict and "name" in inner:
            holder, at = inner, (key,)
            break
    name = identifier(holder.get("name"))
    for field in ("arguments", "input", "args"):
        if holder.get(field) is not None:
            return name, holder[field], (*at, field)
    return name, {}, ()


def _block_key(block: Any) -> Key:
    if type(block) is not dict:
        return ("text", block.strip()) if type(block) is str else ("block", canonical(block))
    kind, text = block.get("type"), block.get("text")
    if type(text) is str:
        return ("text", text.strip()) if text.strip() else ()
    if kind in ("thinking", "redacted_thinking"):
        return ()
    if type(kind) is str and kind.endswith("tool_use"):
        return ("call", identifier(block.get("id")), identifier(block.get("name")), canonical(block.get("input")))
    if type(kind) is str and kind.endswith("tool_result"):
        return ("result", identifier(block.get("tool_use_id")), flat_text(block.get("content")))
    return ("block", canonical({key: block[key] for key in block if key != "cache_control"}))
