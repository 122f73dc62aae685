"""Made-up conversations that a provider takes, for property tests."""

from __future__ import annotations

import json

from hypothesis import strategies as st

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


@st.composite
def responses_conversations(draw):
    """Items that the Responses API takes: reasoning (also without a summary), parallel calls, calls that wait."""
    items, number = [{"role": "developer", "content": "Be brief."}], 0
    for kind, texts, calls, extra in [("user", ["go"], [], False), *draw(_turns)]:
        number += 1
        if kind == "user":
            parts = [{"type": "input_text", "text": text} for text in texts]
            image = [{"type": "input_image", "image_url": "data:image/png;base64,AA"}] if extra else []
            items.append({"role": "user", "content": [*parts, *image] or "then"})
            continue
        summary = [{"type": "summary_text", "text": text} for text in texts[:1]]
        items += [{"type": "reasoning", "id": f"rs_{number}", "summary": summary}] if extra else []
        for place, text in enumerate(texts or (["then"] if kind == "says" else [])):
            part = {"type": "output_text", "text": text, "annotations": []}
            name = f"msg_{number}_{place}"
            items.append({"type": "message", "id": name, "role": "assistant", "status": "completed", "content": [part]})
        told = []
        for place, ((tool, given), answer, other) in enumerate(calls if kind == "calls" else ()):
            name = {"call_id": f"call_{number}_{place}", "id": f"fc_{number}_{place}", "name": tool}
            asked = {"type": "custom_tool_call", "input": "x" * 300} if other and tool == "bash" else None
            asked = asked or {"type": "function_call", "arguments": json.dumps(given)}
            items.append(asked | name)
            told.append({"type": f"{asked['type']}_output", "call_id": name["call_id"], "output": answer})
        items += told
    if draw(st.booleans()):
        items.append({"type": "function_call", "call_id": "call_w", "name": "bash", "arguments": "{}"})
    return items


CONVERSATIONS = {
    "openai-chat": openai_conversations(),
    "anthropic-messages": anthropic_conversations(),
}
ALL = CONVERSATIONS | {"openai-responses": responses_conversations()}
