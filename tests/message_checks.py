"""Whether a provider would take messages, judged apart from the code under test; and made-up conversations."""

from __future__ import annotations

import json

from hypothesis import strategies as st

from context_gc import Budget, Policy, compact_events
from context_gc.importers import anthropic_messages, openai_chat
from context_gc.importers.files.decode import decode
from context_gc.messages import DIALECTS, compacted
from context_gc.policy import KNOWN_STAGES

READERS = {"openai-chat": openai_chat, "anthropic-messages": anthropic_messages}
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
    data = json.dumps({"messages": messages, **request}).encode()
    (trace,) = READERS[name].read(decode(data, "x.json"))
    return trace


def compact(messages, name, policy=POLICIES["default"], **request):
    """The messages of a request after compaction, and the compaction."""
    compaction = compact_events(read(messages, name, **request).events, policy)
    return compacted(compaction, DIALECTS[name], True), compaction


# what a provider takes


def faults(messages, name, system=None):
    """Why the provider would refuse the messages; the calls of the last message may wait."""
    return list((_openai if name == "openai-chat" else _anthropic)(messages, system))


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
    return found + [call["id"] for call in message.get("tool_calls") or ()]


# made-up conversations

_words = st.sampled_from(["look", "ok", "Now the tests.", "word " * 40, "[RECEIPT x]", "a\nb", "ä 漢"])
_asked = st.one_of(
    st.tuples(st.just("read_file"), st.fixed_dictionaries({"path": st.sampled_from(["a.py", "b.py"])})),
    st.tuples(st.just("search"), st.fixed_dictionaries({"query": st.sampled_from(["x", "y" * 300])})),
    st.tuples(st.just("bash"), st.fixed_dictionaries({"command": st.sampled_from(["make", "cat a.py"])})),
    st.tuples(
        st.just("todo_write"),
        st.fixed_dictionaries({"todos": st.lists(st.just({"content": "step", "status": "pending"}), max_size=9)}),
    ),
    st.tuples(
        st.just("write_file"),
        st.fixed_dictionaries({"path": st.just("a.py"), "content": st.sampled_from(["x = 1\n", "x = 1\n" * 90])}),
    ),
)
_answers = st.sampled_from(["", "x = 1\n", "Error: no such file", "line of a file\n" * 60, "ok", "[RECEIPT c1] +3"])
_turns = st.lists(
    st.tuples(
        st.sampled_from(["user", "says", "calls", "calls", "calls"]),
        st.lists(_words, max_size=2),
        st.lists(st.tuples(_asked, _answers, st.booleans()), min_size=1, max_size=3),
        st.booleans(),
    ),
    max_size=14,
)


@st.composite
def anthropic_conversations(draw):
    """Messages that the Messages API takes: parallel calls, thinking, images, errors, cache marks, calls that wait."""
    messages, number, before = [], 0, "assistant"
    for kind, texts, calls, extra in [("user", ["go"], [], False), *draw(_turns)]:
        content = [{"type": "text", "text": text} for text in texts or ["then"]]
        if kind == "user" or before == "assistant":
            image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
            said = content[0]["text"] if len(content) == 1 and not extra else content + [image] * extra
            messages.append({"role": "user", "content": said})
        if kind == "user" and before == "user":
            last = messages.pop()
            held = messages[-1]["content"]
            parts = [
                [{"type": "text", "text": each}] if isinstance(each, str) else each for each in (held, last["content"])
            ]
            messages[-1] = {"role": "user", "content": parts[0] + parts[1]}
        before = "user"
        if kind == "user":
            continue
        thinks = [{"type": "thinking", "thinking": "hm" if texts else "", "signature": "S"}] if extra else []
        if kind == "says":
            messages.append({"role": "assistant", "content": thinks + content})
            before = "assistant"
            continue
        asked, told = thinks + content[: len(texts)], []
        for (tool, given), answer, failed in calls:
            number += 1
            asked.append({"type": "tool_use", "id": f"toolu_{number}", "name": tool, "input": given})
            more = {"is_error": True} if failed else {}
            seen = [{"type": "text", "text": answer}] if answer.strip() and extra else answer
            told.append({"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": seen, **more})
        messages += [{"role": "assistant", "content": asked}, {"role": "user", "content": told}]
    if draw(st.booleans()) and messages[-1]["role"] == "user" and isinstance(messages[-1]["content"], list):
        messages[-1]["content"][-1]["cache_control"] = {"type": "ephemeral"}
    if draw(st.booleans()) and before == "user":
        messages.append(
            {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_w", "name": "bash", "input": {}}]}
        )
    return messages


@st.composite
def openai_conversations(draw):
    """Messages that Chat Completions takes: parallel calls, reasoning, images, parts, calls that wait."""
    messages, number = [{"role": "system", "content": "Be brief."}], 0
    for kind, texts, calls, extra in [("user", ["go"], [], False), *draw(_turns)]:
        parts = [{"type": "text", "text": text} for text in texts]
        said = parts if len(texts) > 1 else (texts or ["then"])[0]
        if kind == "user":
            image = [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}] if extra else []
            messages.append({"role": "user", "content": [*parts, *image] or "then"})
            continue
        reasons = {"reasoning_content": "hm"} if extra else {}
        if kind == "says":
            messages.append({"role": "assistant", "content": said, **reasons})
            continue
        asked, told = [], []
        for (tool, given), answer, _ in calls:
            number += 1
            function = {"name": tool, "arguments": json.dumps(given)}
            asked.append({"id": f"call_{number}", "type": "function", "function": function})
            told.append({"role": "tool", "tool_call_id": f"call_{number}", "content": answer})
        content = said if texts else None
        messages += [{"role": "assistant", "content": content, "tool_calls": asked, **reasons}, *told]
    if draw(st.booleans()):
        waits = {"id": "call_w", "type": "function", "function": {"name": "bash", "arguments": "{}"}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [waits]})
    return messages


CONVERSATIONS = {"openai-chat": openai_conversations(), "anthropic-messages": anthropic_conversations()}
