"""gen_ai.* attributes, new and old, OpenLLMetry and AI SDK ones -> what a span says of a model or a tool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..dialects.messages import Message, Repeats, message, text_at, visible
from ..dialects.payloads import Tokens, answer_of, count_at, prompt_of
from ..files.json_roots import decoded
from ..model_calls.spans import Span
from .attributes import first_of, unflattened

Event = tuple[str, Mapping[str, Any]]

_MODEL_WORK = frozenset(("chat", "text_completion", "generate_content", "completion"))
_AI_SDK_MODEL = ("ai.generate", "ai.stream")
_NEW_INPUT, _NEW_OUTPUT = ("gen_ai.input.messages",), ("gen_ai.output.messages",)
_OLD_INPUT = ("gen_ai.prompt", "gen_ai.content.prompt", "ai.prompt.messages", "ai.prompt")
_OLD_OUTPUT = ("gen_ai.completion", "gen_ai.content.completion")
_INSTRUCTIONS = ("gen_ai.system_instructions", "gen_ai.system.instructions")
_TOOL = ("gen_ai.tool.name", "ai.toolCall.name", "traceloop.entity.name")
_CALL = ("gen_ai.tool.call.id", "ai.toolCall.id")
_ARGUMENTS = ("gen_ai.tool.call.arguments", "ai.toolCall.args", "traceloop.entity.input")
_RESULT = ("gen_ai.tool.call.result", "ai.toolCall.result", "traceloop.entity.output")
_MODEL = ("gen_ai.response.model", "gen_ai.request.model", "ai.response.model", "ai.model.id")
_INPUT = ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.usage.prompt_tokens")
_OUTPUT = ("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.usage.completion_tokens")
_READ = ("gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_read_input_tokens")
_WRITTEN = ("gen_ai.usage.cache_creation.input_tokens", "gen_ai.usage.cache_creation_input_tokens")


def kind_of_work(attributes: Mapping[str, Any], name: str) -> str:
    """ "model", "tool", or what else a span is counted as; "" when nothing of it is known here."""
    work = text_at(attributes, "gen_ai.operation.name")
    if work in _MODEL_WORK:
        return "model"
    if work == "execute_tool":
        return "tool"
    if work:
        holds = first_of(attributes, (*_NEW_INPUT, *_NEW_OUTPUT)) is not None
        return "model" if work == "invoke_agent" and holds else f"{work} span"
    task = text_at(attributes, "ai.operationId")
    if task:
        return "tool" if task == "ai.toolCall" else "model" if task.startswith(_AI_SDK_MODEL) else "AI SDK span"
    entity = text_at(attributes, "traceloop.span.kind")
    if entity:
        return "tool" if entity == "tool" else f"{entity} span"
    if "gen_ai.tool.name" in attributes:
        return "tool"
    named = any(key in attributes for key in ("gen_ai.request.model", "gen_ai.response.model", "gen_ai.prompt"))
    return "model" if named or name.startswith("chat ") or "gen_ai.prompt.0.role" in attributes else ""


def fill(span: Span, attributes: Mapping[str, Any], repeats: Repeats, events: Sequence[Event] = ()) -> None:
    """Fill in what a span lacks from its attributes and the events on it."""
    if span.kind == "tool":
        span.name = text_at(attributes, *_TOOL) or span.name.removeprefix("execute_tool ")
        span.call = span.call or text_at(attributes, *_CALL)
        if span.arguments is None:
            span.arguments = _arguments(first_of(attributes, _ARGUMENTS))
        if span.result is None:
            result = first_of(attributes, _RESULT)
            span.result = None if result is None else visible(_output(result))
        return
    span.model = span.model or text_at(attributes, *_MODEL)
    if not any(span.tokens):
        span.tokens = _tokens(attributes)
    details = [inner for name, inner in events if name.endswith("operation.details")]
    holders = [attributes, *details, *(inner for _, inner in events)]
    if span.prompt is None:
        span.prompt = _prompt(attributes, holders, events, repeats)
    if not span.answer:
        span.answer = _answer(attributes, holders, events)


def _prompt(
    attributes: Mapping[str, Any], holders: Sequence[Mapping[str, Any]], events: Sequence[Event], repeats: Repeats
) -> list[Message] | None:
    told = next((found for holder in holders if (found := first_of(holder, _INSTRUCTIONS)) is not None), None)
    head: list[Message] = []
    if told is not None:
        parts = decoded(told)
        said = message({"role": "system", "content": parts if type(parts) in (list, str) else [parts]})
        head = [said] if said is not None else []
    for keys in (_NEW_INPUT, _OLD_INPUT):
        given = next((found for holder in holders if (found := first_of(holder, keys)) is not None), None)
        if given is not None:
            return head + (prompt_of(repeats.decoded(given), repeats) or [])
    body = [_numbered(each) for each in unflattened(attributes, "gen_ai.prompt")]
    body += [_event_message(name, inner) for name, inner in events if name != "gen_ai.choice"]
    found = head + [each for each in body if each is not None]
    return found or None


def _answer(
    attributes: Mapping[str, Any], holders: Sequence[Mapping[str, Any]], events: Sequence[Event]
) -> list[Message]:
    for keys in (_NEW_OUTPUT, _OLD_OUTPUT):
        given = next((found for holder in holders if (found := first_of(holder, keys)) is not None), None)
        if given is not None:
            return answer_of(decoded(given))
    written = {
        name: decoded(attributes[key]) if name == "toolCalls" else attributes[key]
        for name, key in (("text", "ai.response.text"), ("object", "ai.response.object"),
                          ("reasoning", "ai.response.reasoning"), ("toolCalls", "ai.response.toolCalls"))
        if attributes.get(key)
    }  # fmt: skip
    if written:
        return answer_of({"text": ""} | written)
    found = [_numbered(each, "assistant") for each in unflattened(attributes, "gen_ai.completion")[:1]]
    choices = [inner for name, inner in events if name == "gen_ai.choice"]
    found += [_event_message("gen_ai.assistant.message", inner) for inner in choices[:1]]
    return [each for each in found if each is not None]


def _numbered(value: Any, role: str = "") -> Message | None:
    """A message of OpenLLMetry; its content may be a list of blocks as JSON text."""
    if type(value) is dict and type(value.get("content")) is str:
        blocks = decoded(value["content"], 1)
        if type(blocks) is list and blocks and all(text_at(block, "type") for block in blocks):
            value = value | {"content": blocks}
    return message(value, role)


def _event_message(name: str, inner: Mapping[str, Any]) -> Message | None:
    """A message that stands in an event of its own, as up to version 1.36 of the conventions."""
    parts = name.split(".")
    if len(parts) != 3 or parts[0] != "gen_ai" or parts[2] != "message":
        return None
    body = {key.removeprefix("gen_ai.event."): decoded(value) for key, value in inner.items()}
    held = next((body[key] for key in ("message", "body", "content") if type(body.get(key)) is dict), None)
    body = body if held is None else dict(held)
    if parts[1] == "tool":
        body["tool_call_id"] = body.get("id", body.get("tool_call_id"))
    body["role"] = parts[1]
    return message({"content": None} | body)


def _arguments(given: Any) -> Any:
    """A tool's arguments; OpenLLMetry wraps them in those of the function that was traced."""
    value = decoded(given, 1)
    if type(value) is dict:
        for key in ("kwargs", "inputs"):
            if type(value.get(key)) is dict and value[key]:
                return value[key]
    return value


def _output(given: Any) -> Any:
    value = decoded(given, 1)
    if type(value) is str:
        return value
    inner = value.get("output") if type(value) is dict and "kwargs" in value else None
    return given if inner is None else inner


def _tokens(attributes: Mapping[str, Any]) -> Tokens:
    whole, output = count_at(attributes, *_INPUT), count_at(attributes, *_OUTPUT)
    read, written = count_at(attributes, *_READ), count_at(attributes, *_WRITTEN)
    if read + written > whole:  # an instrumentation that counts cached tokens apart
        return Tokens(whole, output, read, written)
    return Tokens.of_whole(whole, output, read, written)
