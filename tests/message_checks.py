"""Whether a provider would take messages, judged apart from the code under test."""

from __future__ import annotations

import json

from context_gc import Budget, Policy, compact_events
from context_gc.importers import anthropic_messages, openai_chat, openai_responses
from context_gc.importers.files.decode import decode
from context_gc.messages import DIALECTS, compacted
from context_gc.policy import KNOWN_STAGES

READERS = {
    "openai-chat": openai_chat, "anthropic-messages": anthropic_messages, "openai-responses": openai_responses,
}  # fmt: skip
POLICIES = {
    "default": Policy(),
    "all stages": Policy(stages=KNOWN_STAGES, clip_over=40),
    "no stubs": Policy(stages=KNOWN_STAGES, stubs="none"),
    "described": Policy(stages=KNOWN_STAGES, stubs="described", protect_types=(), protect_tags=()),
    "tight": Policy(stages=KNOWN_STAGES, budget=Budget(max_tokens=200, min_gain=0)),
    "nothing is safe": Policy(
        stages=KNOWN_STAGES, protect_types=(), protect_tags=(), budget=Budget(max_tokens=60, min_gain=0)
    ),
}


def read(messages, name, **request):
    """The trace of a request with these messages."""
    held = {"input": messages, "model": "m"} if name == "openai-responses" else {"messages": messages}
    data = json.dumps({**held, **request}).encode()
    (trace,) = READERS[name].read(decode(data, "x.json"))
    return trace


def compact(messages, name, policy=POLICIES["default"], **request):
    """The messages of a request after compaction, and the compaction."""
    compaction = compact_events(read(messages, name, **request).events, policy)
    return compacted(compaction, DIALECTS[name], True), compaction


# what a provider takes

_ASKS = ("function_call", "custom_tool_call")


def faults(messages, name, system=None):
    """Why the provider would refuse the messages; the calls of the last message may wait."""
    judge = {"openai-chat": _openai, "anthropic-messages": _anthropic, "openai-responses": _responses}[name]
    return list(judge(messages, system))


def _openai(messages, system):
    waits = set()
    for place, message in enumerate(messages):
        role, content = message["role"], message.get("content")
        if role == "tool":
            if message["tool_call_id"] not in waits:
                yield f"{place}: a result without its call"
            waits.discard(message["tool_call_id"])
            if not isinstance(content, str | list) or content == []:
                yield f"{place}: a result without content"
            continue
        if waits:
            yield f"{place}: calls without results: {sorted(waits)}"
        calls = message.get("tool_calls")
        waits = {call["id"] for call in calls or ()}
        if role == "assistant":
            if calls == [] or len(waits) != len(calls or ()):
                yield f"{place}: no calls, or one id twice"
            if content in (None, []) and not calls and not message.get("refusal"):
                yield f"{place}: neither content nor calls"
            for call in calls or ():
                if not isinstance(json.loads(call["function"]["arguments"]), dict):
                    yield f"{place}: arguments that are no object"
        elif content in (None, []):
            yield f"{place}: no content"
        for part in content if isinstance(content, list) else ():
            if part["type"] == "text" and not isinstance(part["text"], str):
                yield f"{place}: a part without text"


def _responses(items, system):
    """Calls are answered before somebody else speaks, and reasoning is followed by what it belongs to."""
    waits, seen, reasons = {}, set(), False
    for place, item in enumerate(items):
        kind, content = item.get("type", "message"), item.get("content")
        own = kind == "reasoning" or kind in _ASKS or item.get("role") == "assistant"
        if reasons and not own:
            yield f"{place}: reasoning without what follows it"
        reasons = kind == "reasoning"
        if kind.endswith("_output"):
            if waits.pop(item["call_id"], "") != kind.removesuffix("_output"):
                yield f"{place}: an output without its call"
            if not isinstance(item["output"], str | list) or item["output"] == []:
                yield f"{place}: an output without content"
            continue
        if waits and not own:
            yield f"{place}: calls without outputs: {sorted(waits)}"
        if kind in _ASKS:
            if item["call_id"] in seen:
                yield f"{place}: one id twice"
            seen.add(item["call_id"])
            waits[item["call_id"]] = kind
            if kind == "function_call" and not isinstance(json.loads(item["arguments"]), dict):
                yield f"{place}: arguments that are no object"
        if kind == "message" and content in (None, "", []):
            yield f"{place}: no content"
        if kind == "reasoning" and "id" not in item:
            yield f"{place}: reasoning without its id"
        for part in content if kind == "message" and isinstance(content, list) else ():
            wanted = ("output_text", "refusal") if item["role"] == "assistant" else ("input_text", "input_image")
            if part["type"] not in wanted:
                yield f"{place}: a part of type {part['type']}"
    if reasons:
        yield "reasoning without what follows it"


def _anthropic(messages, system):
    marks = sum("cache_control" in block for block in (system if isinstance(system, list) else ()))
    if messages and messages[0]["role"] != "user":
        yield "the first message is not the user's"
    waits, before = [], None
    for place, message in enumerate(messages):
        role, content = message["role"], message["content"]
        if role == before:
            yield f"{place}: {role} twice"
        before = role
        if set(message) != {"role", "content"}:
            yield f"{place}: fields {sorted(message)}"
        if content in ("", []) or (isinstance(content, str) and not content.strip()):
            yield f"{place}: no content"
        content = [{"type": "text", "text": content}] if isinstance(content, str) else content
        results = [block["tool_use_id"] for block in content if block["type"] == "tool_result"]
        if sorted(results) != sorted(waits):
            yield f"{place}: calls {waits} and results {results}"
        if any(block["type"] != "tool_result" for block in content[: len(results)]):
            yield f"{place}: something before the results"
        waits = [block["id"] for block in content if block["type"] == "tool_use"]
        if len(set(waits)) != len(waits):
            yield f"{place}: one id twice"
        for block in content:
            marks += "cache_control" in block
            if block["type"] == "text" and not block["text"].strip():
                yield f"{place}: blank text"
            if block["type"] == "thinking" and (role != "assistant" or not block["signature"]):
                yield f"{place}: thinking that is not signed"
            if block["type"] == "tool_use" and not isinstance(block["input"], dict):
                yield f"{place}: input that is no object"
            inner = block.get("content")
            for part in inner if isinstance(inner, list) else ():
                if part["type"] == "text" and not part["text"].strip():
                    yield f"{place}: blank text in a result"
                if block.get("is_error") and part["type"] != "text":
                    yield f"{place}: an error with something else than text"
    if marks > 4:
        yield f"{marks} cache marks"


def call_ids(message):
    """The ids of a message's calls."""
    content = message.get("content")
    found = [block["id"] for block in (content if isinstance(content, list) else ()) if block["type"] == "tool_use"]
    found += [message["call_id"]] if message.get("type") in _ASKS else []
    return found + [call["id"] for call in message.get("tool_calls") or ()]
