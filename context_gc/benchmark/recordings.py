"""Recordings: made-up sessions of an agent in the formats that people have most, the same ones every time.

Lines are as long as in real sessions: most are short, a few results make up half of the bytes.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from .fixtures import WORDS

LONGEST = 60_000  #: characters of one result
TURNS = 12  #: model calls of a conversation in a file that holds many, and in a log that repeats them


class Step(NamedTuple):
    """What a person asks, what the model thinks, says and calls, what the call gives. Texts may be ""."""

    number: int
    prompt: str
    thinking: str
    said: str
    given: dict[str, str]  #: arguments: a path, and new text for it in every fourth step
    result: str


def steps() -> Iterator[Step]:
    """The steps of a session without end: what stands in it is as long as in recorded sessions."""
    chance = random.Random(11)
    pools = [_pool(chance, odd) for odd in ("", "", "  # → ✓ …")]  # a third of all text has letters beyond Latin-1

    def text(middle: float, spread: float) -> str:
        size = min(int(middle * 2.718281828 ** (spread * chance.gauss(0, 1))) + 1, LONGEST)
        start = chance.randrange(len(pools[0]) - LONGEST)
        return chance.choice(pools)[start : start + size]

    number = 0
    while True:
        prompt = text(150, 1) if number % 15 == 0 else ""
        given = {"path": f"src/module_{chance.randrange(200)}.py"}
        given |= {"content": text(900, 1.2)} if number % 4 == 3 else {}
        yield Step(number, prompt, text(200, 0.8) if number % 2 else "", text(100, 0.8), given, text(400, 1.8))
        number += 1


def _pool(chance: random.Random, odd: str) -> str:
    """Text to cut pieces from: numbered lines, as tools print them."""
    return "\n".join(f'{n:5}\t{" ".join(chance.choices(WORDS, k=9))} "{n}"{odd}' for n in range(10_000))


def native() -> Iterator[Any]:
    """Events of the documented schema, one a line."""
    for n, step in enumerate(steps()):
        base: dict[str, Any] = {"timestamp": n, "parent_id": f"r{n - 1}" if n else None}
        yield {"id": f"d{n}", "type": "decision", "content": step.prompt + step.said, **base}
        call = {"tool_name": "read", "arguments": step.given, "timestamp": n, "parent_id": f"d{n}"}
        yield {"id": f"c{n}", "type": "tool_call", **call}
        told = {"call_id": f"c{n}", "result": step.result, "timestamp": n, "parent_id": f"c{n}"}
        yield {"id": f"r{n}", "type": "tool_result", **told}


def claude_code() -> Iterator[Any]:
    """A line for each block of a response; results stand twice, for the model and for the screen."""
    parent: str | None = None
    count = 0

    def line(kind: str, content: Any, **more: Any) -> dict[str, Any]:
        nonlocal parent, count
        count += 1
        uuid, above = f"{count:08x}-0000-4000-8000-000000000000", parent
        parent = uuid
        base = {"parentUuid": above, "isSidechain": False, "userType": "external", "cwd": "/home/dev/shop"}
        base |= {"sessionId": "6f1d3c5a-88b2-4e07-9a41-2c7f5d0b9e13", "version": "2.1.63", "type": kind, "uuid": uuid}
        message = {"role": kind, "content": content, **more.pop("message", {})}
        return {**base, "timestamp": _iso(count), "message": message, **more}

    for step in steps():
        if step.prompt:
            yield line("user", step.prompt)
        usage = {"input_tokens": 4, "cache_creation_input_tokens": 900, "cache_read_input_tokens": 9_000}
        told: dict[str, Any] = {"model": "claude-opus-4-6", "id": f"msg_{step.number:08}", "type": "message"}
        told["usage"] = {**usage, "output_tokens": 140}
        named = f"toolu_{step.number:08}"
        blocks: list[dict[str, Any]] = [{"type": "text", "text": step.said}]
        blocks.append({"type": "tool_use", "id": named, "name": "Write", "input": step.given})
        if step.thinking:
            blocks.insert(0, {"type": "thinking", "thinking": step.thinking, "signature": "EqQBCkYIBxgCKkD" * 20})
        for block in blocks:
            yield line("assistant", [block], message=told)
        result = [{"tool_use_id": named, "type": "tool_result", "content": step.result}]
        shown = {"filePath": step.given["path"], "content": step.result, "numLines": 9}
        yield line("user", result, toolUseResult={"type": "text", "file": shown})


def codex() -> Iterator[Any]:
    """Response items, and the events that tell the same to the screen."""
    yield _codex(
        0, "session_meta", {"id": "019c6a11-52d0-7e31-a4c7-0d5f8b21c903", "cwd": "/srv", "cli_version": "0.98.0"}
    )
    for step in steps():
        n = step.number
        if step.prompt:
            yield _codex(n, "turn_context", {"turn_id": f"turn-{n}", "cwd": "/srv", "model": "gpt-5.2-codex"})
            content = [{"type": "input_text", "text": step.prompt}]
            yield _codex(n, "response_item", {"type": "message", "role": "user", "content": content})
            yield _codex(n, "event_msg", {"type": "user_message", "message": step.prompt})
        if step.thinking:
            thought = {"type": "reasoning", "summary": [{"type": "summary_text", "text": step.thinking}]}
            yield _codex(n, "response_item", {**thought, "encrypted_content": "gAAAAABexample" * 80})
        said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": step.said}]}
        yield _codex(n, "response_item", said)
        yield _codex(n, "event_msg", {"type": "agent_message", "message": step.said})
        given = json.dumps({"cmd": "write", "workdir": "/srv", **step.given})
        call = {"type": "function_call", "name": "exec_command", "arguments": given, "call_id": f"call_{n}"}
        yield _codex(n, "response_item", call)
        output = f"Chunk ID: {n:06x}\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\n{step.result}"
        yield _codex(n, "response_item", {"type": "function_call_output", "call_id": f"call_{n}", "output": output})
        used = {"input_tokens": 4_210, "cached_input_tokens": 3_072, "output_tokens": 118}
        yield _codex(n, "event_msg", {"type": "token_count", "info": {"last_token_usage": used}})


def pi() -> Iterator[Any]:
    """The session's tree, a message a line."""
    yield {"type": "session", "version": 3, "id": "0196e2b1", "timestamp": _iso(0), "cwd": "/home/dev/ledger"}
    parent, count = None, 0
    usage = {"input": 6, "output": 140, "cacheRead": 2_100, "cacheWrite": 900, "totalTokens": 3_146}
    for step in steps():
        named = f"toolu_{step.number:08}"
        content: list[dict[str, Any]] = [{"type": "text", "text": step.said}]
        content.append({"type": "toolCall", "id": named, "name": "write", "arguments": step.given})
        if step.thinking:
            signed = {"thinkingSignature": "EqoBCkgIARAB" * 20}
            content.insert(0, {"type": "thinking", "thinking": step.thinking, **signed})
        told = {"api": "anthropic-messages", "model": "claude-opus-4-5", "usage": usage, "stopReason": "toolUse"}
        messages: list[dict[str, Any]] = [{"role": "assistant", "content": content, **told}]
        back = [{"type": "text", "text": step.result}]
        messages.append({"role": "toolResult", "toolCallId": named, "toolName": "read", "content": back})
        if step.prompt:
            messages.insert(0, {"role": "user", "content": [{"type": "text", "text": step.prompt}]})
        for message in messages:
            count += 1
            head = {"type": "message", "id": f"{count:08x}", "parentId": parent, "timestamp": _iso(count)}
            parent = head["id"]
            yield {**head, "message": message}


def chat_messages() -> Iterator[Any]:
    """Messages of Chat Completions."""
    yield {"role": "system", "content": "You are a coding agent in /srv/feed."}
    for step in steps():
        if step.prompt:
            yield {"role": "user", "content": step.prompt}
        function = {"name": "read_file", "arguments": json.dumps(step.given)}
        call = {"id": f"call_{step.number:08}", "type": "function", "function": function}
        yield {"role": "assistant", "content": step.said, "tool_calls": [call]}
        yield {"role": "tool", "tool_call_id": call["id"], "content": step.result}


def chat_rows() -> Iterator[Any]:
    """Rows of a data set, a conversation each."""
    messages: list[Any] = []
    for message in chat_messages():
        if message["role"] == "user" and len(messages) > 2 * TURNS:
            yield {"messages": messages}
            messages = []
        messages.append(message)


def otlp() -> Iterator[Any]:
    """Spans of model calls with content: each repeats its conversation, which is `TURNS` calls long."""
    history: list[Any] = []
    for step in steps():
        place = step.number % TURNS
        history = history if place else [_said("user", {"type": "text", "content": step.prompt or step.said})]
        named = f"call_{step.number}"
        call = {"type": "tool_call", "id": named, "name": "write_file", "arguments": step.given}
        output = _said("assistant", {"type": "text", "content": step.said}, call)
        attributes = {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "example-large",
            "gen_ai.input.messages": json.dumps(history),
            "gen_ai.output.messages": json.dumps([output]),
        }
        start = 1_772_800_000_000_000_000 + step.number * 10**9
        span: dict[str, Any] = {"traceId": f"{step.number // TURNS + 1:032x}", "spanId": f"{step.number + 1:016x}"}
        span |= {"name": "chat", "kind": 3, "startTimeUnixNano": str(start), "endTimeUnixNano": str(start + 1)}
        span["attributes"] = [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()]
        scopes = [{"scope": {"name": "example"}, "spans": [span]}]
        yield {"resourceSpans": [{"resource": {}, "scopeSpans": scopes}]}
        answer = {"type": "tool_call_response", "id": named, "response": step.result}
        history = [*history, output, _said("tool", answer)]


RECORDINGS: Mapping[str, Callable[[], Iterator[Any]]] = {
    "native": native,
    "claude-code": claude_code,
    "codex": codex,
    "pi": pi,
    "openai-chat": chat_messages,  # one list
    "openai-chat rows": chat_rows,
    "role-content": chat_messages,
    "otlp": otlp,
}
LISTS = frozenset(("openai-chat",))  #: those that are one JSON list rather than lines


def lines(name: str, size: int) -> Iterator[str]:
    """The lines of a recording, without their ends, of about this many bytes together."""
    first, written = name in LISTS, 0
    for record in RECORDINGS[name]():
        text = json.dumps(record, ensure_ascii=False)
        written += len(text) + 1
        if name in LISTS:
            yield ("[" if first else ",") + text
        else:
            yield text
        first = False
        if written >= size:
            break
    if name in LISTS:
        yield "]"


def _codex(n: int, kind: str, payload: Any) -> dict[str, Any]:
    return {"timestamp": _iso(n), "type": kind, "payload": payload}


def _said(role: str, *parts: Any) -> dict[str, Any]:
    return {"role": role, "parts": list(parts)}


def _iso(n: int) -> str:
    return f"2026-03-{9 + n // 86_400 % 20:02}T{n // 3_600 % 24:02}:{n // 60 % 60:02}:{n % 60:02}.412Z"
