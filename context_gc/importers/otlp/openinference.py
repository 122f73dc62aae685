"""OpenInference attributes (llm.*, tool.*, input.value) -> what a span says of a model or a tool."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..dialects.messages import Repeats, message, messages, text_at, visible
from ..dialects.payloads import Tokens, answer_of, count_at, prompt_of
from ..files.json_roots import decoded
from ..model_calls.spans import Span
from .attributes import first_of, unflattened

KIND = "openinference.span.kind"


def kind_of_work(attributes: Mapping[str, Any]) -> str:
    """ "model", "tool", or what else a span is counted as; "" when it is none of OpenInference."""
    kind = text_at(attributes, KIND)
    return {"LLM": "model", "TOOL": "tool", "": ""}.get(kind, f"{kind} span")


def fill(span: Span, attributes: Mapping[str, Any], repeats: Repeats) -> None:
    """Fill in what a span lacks from its attributes."""
    if span.kind == "tool":
        span.name = text_at(attributes, "tool.name", "tool_call.function.name") or span.name
        span.call = span.call or text_at(attributes, "tool_call.id", "tool.id", "tool.call_id")
        keys = ("tool_call.function.arguments", "input.value", "tool.parameters")
        span.arguments = decoded(first_of(attributes, keys), 1) if span.arguments is None else span.arguments
        output = first_of(attributes, ("output.value",))
        if span.result is None and output is not None:
            said = message(decoded(output, 1)) if type(decoded(output, 1)) is dict else None
            results = [part for part in said.parts if part.kind == "result"] if said is not None else []
            span.result = results[0].value if results else visible(output)
            span.call = span.call or (results[0].call if results else "")
        return
    span.model = span.model or text_at(attributes, "llm.model_name")
    if not any(span.tokens):
        read, written = (
            count_at(attributes, f"llm.token_count.prompt_details.{each}") for each in ("cache_read", "cache_write")
        )
        whole, output = (count_at(attributes, f"llm.token_count.{each}") for each in ("prompt", "completion"))
        span.tokens = Tokens.of_whole(whole, output, read, written)
    if span.prompt is None:
        listed = repeats.messages(_messages(attributes, "llm.input_messages"), "user")
        span.prompt = listed or prompt_of(decoded(first_of(attributes, ("llm.prompts", "input.value"))), repeats)
    if not span.answer:
        listed = messages(_messages(attributes, "llm.output_messages"), "assistant")
        span.answer = listed or answer_of(decoded(first_of(attributes, ("output.value",))))


def _messages(attributes: Mapping[str, Any], prefix: str) -> list[Any]:
    return [_opened(each) for each in unflattened(attributes, prefix)]


def _opened(listed: Any) -> Any:
    """A message without the extra level that each part of it stands in."""
    held = listed.get("message") if type(listed) is dict else None
    if type(held) is not dict:
        return listed
    opened: dict[str, Any] = {"content": held.get("content")} | held
    if type(held.get("contents")) is list:
        blocks = [each.get("message_content", each) for each in held["contents"] if type(each) is dict]
        opened["content"] = [_block(each) for each in blocks if type(each) is dict]
    if type(held.get("tool_calls")) is list:
        opened["tool_calls"] = [each.get("tool_call", each) for each in held["tool_calls"] if type(each) is dict]
    return opened


def _block(block: dict[str, Any]) -> dict[str, Any]:
    picture = block.get("image")
    if type(picture) is dict and type(picture.get("image")) is dict:
        return {"type": "image", "image": picture["image"]}
    return block
