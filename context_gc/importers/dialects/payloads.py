"""Payloads: what a model call was sent, gave back and used, as the SDKs of providers and frameworks log it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ...canonical import readable
from .messages import Message, Part, Repeats, message, messages, text_at

_MESSAGES = ("messages", "contents", "input", "prompt", "prompts", "query", "question")
_INSTRUCTIONS = ("system", "instructions", "system_instruction", "systemInstruction", "system_prompt")

_INPUT = ("input_tokens", "prompt_tokens", "inputTokens", "promptTokens", "input", "promptTokenCount")
_OUTPUT = ("output_tokens", "completion_tokens", "outputTokens", "completionTokens", "output", "candidatesTokenCount")
_TOTAL = ("total_tokens", "totalTokens", "total", "totalTokenCount")
_APART_READ = ("cache_read_input_tokens", "input_tokens_cache_read", "input_cached_tokens", "input_cache_read")
_APART_WRITTEN = ("cache_creation_input_tokens", "input_tokens_cache_write", "input_cache_creation")
_WITHIN = ("input_token_details", "prompt_tokens_details", "input_tokens_details")
_WITHIN_READ = ("cache_read", "cached_tokens", "cachedInputTokens", "cached_input_tokens")
_WITHIN_WRITTEN = ("cache_creation", "cache_write")


class Tokens(NamedTuple):
    """What a provider reported for one model call, in tokens; `input` without what the cache gave or took."""

    input: int = 0
    output: int = 0
    read: int = 0
    written: int = 0

    @classmethod
    def of_whole(cls, whole: int, output: int, read: int = 0, written: int = 0) -> Tokens:
        """From a count of all input tokens, cached ones among them."""
        return cls(max(whole - read - written, 0), output, read, written)


NO_TOKENS = Tokens()


def prompt_of(value: Any, repeats: Repeats | None = None, levels: int = 4) -> list[Message] | None:
    """The messages that a model call was sent; None where the log has none of them."""
    if value in (None, "", [], {}):
        return None
    if type(value) is not dict:
        return _listed(value, repeats) or [_unread(value, "user")]
    held = value.get("kwargs") if value.get("type") == "constructor" else None
    if type(held) is dict and "messages" in held:
        value = held
    one = message(value) if "role" in value or "type" in value else None
    if one is not None:
        return [one]
    found: list[Message] = []
    for key in _INSTRUCTIONS:
        if value.get(key):
            found += [_spoken(value[key], "system")]
            break
    body = next((value[key] for key in _MESSAGES if value.get(key)), None)
    if body is not None:
        found += prompt_of(body, repeats, levels - 1) or [] if type(body) is dict and levels else _listed(body, repeats)
    return found or [_unread(value, "user")]


def answer_of(value: Any, levels: int = 4) -> list[Message]:
    """What a model call gave back; of several alternatives the first, on which the agent goes on."""
    if value in (None, "", [], {}):
        return []
    if type(value) is not dict:
        return _assistant(messages(value, "assistant")) or [_unread(value, "assistant")]
    held = _alternative(value) if levels else None
    if held is not None:
        return answer_of(held, levels - 1)
    if "text" in value or "toolCalls" in value or "object" in value:  # AI SDK
        shown = value.get("text") if type(value.get("text")) is str else value.get("object")
        value = {"content": shown if type(shown) is str else readable(shown) if shown else ""} | {
            key: value[key] for key in ("toolCalls", "reasoning") if value.get(key)
        }
    one = message(value, "assistant")
    return _assistant([one]) if one is not None else [_unread(value, "assistant")]


def tokens_of(report: Any) -> Tokens:
    """What a report of usage says, whatever SDK wrote it; all 0 where it says nothing."""
    if type(report) is not dict:
        return NO_TOKENS
    input_, output = count_at(report, *_INPUT), count_at(report, *_OUTPUT)
    inner = next((report[key] for key in _WITHIN if type(report.get(key)) is dict), report)
    within = count_at(inner, *_WITHIN_READ), count_at(inner, *_WITHIN_WRITTEN)
    if any(within):
        return Tokens.of_whole(input_, output, *within)
    read, written = count_at(report, *_APART_READ), count_at(report, *_APART_WRITTEN)
    if count_at(report, *_TOTAL) == input_ + output:
        return Tokens.of_whole(input_, output, read, written)
    return Tokens(input_, output, read, written)


def count_at(holder: Any, *keys: str) -> int:
    """The first of these fields that is a whole number from 0 on, else 0."""
    values = (holder.get(key) for key in keys) if type(holder) is dict else ()
    return next((value for value in values if type(value) is int and value >= 0), 0)


def _listed(value: Any, repeats: Repeats | None) -> list[Message]:
    if repeats is not None and type(value) is list:
        return repeats.messages(value, "user")
    return messages(value, "user")


def _alternative(value: dict[str, Any]) -> Any:
    """The first of what a response offers, where it offers several; else what it wraps; else None."""
    for key in ("choices", "generations", "candidates"):
        offered = value.get(key)
        while type(offered) is list and offered:
            offered = offered[0]
        if type(offered) is dict:
            inner = next((offered[each] for each in ("message", "content", "text") if offered.get(each)), None)
            if type(inner) is dict and "parts" in inner:  # Gemini
                return {"role": "assistant", "parts": inner["parts"]}
            return inner
    held = next((value[key] for key in ("message", "messages", "output") if value.get(key)), None)
    return None if held is value or text_at(value, "role") else held


def _assistant(found: Sequence[Message]) -> list[Message]:
    """Without the prompt that some frameworks repeat in front of the answer."""
    asked = [place for place, each in enumerate(found) if each.role in ("user", "system")]
    return list(found[asked[-1] + 1 :]) if asked else list(found)


def _spoken(value: Any, role: str) -> Message:
    if type(value) is dict and type(value.get("parts")) is list:
        value = value["parts"]
    found = message({"role": role, "content": value}) if type(value) in (str, list) else None
    return found or _unread(value, role)


def _unread(value: Any, role: str) -> Message:
    return Message(role, (Part("opaque", readable(value)),))
