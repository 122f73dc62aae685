"""Anthropic messages, stream events and session events in short, and how files of them are read."""

from __future__ import annotations

import json

from importer_checks import check, claimants

from context_gc.importers import anthropic_messages, anthropic_sessions
from context_gc.importers.files.decode import decode


def user(*blocks):
    return {"role": "user", "content": [text(b) if isinstance(b, str) else b for b in blocks]}


def says(*blocks, **more):
    return {"role": "assistant", "content": [text(b) if isinstance(b, str) else b for b in blocks]} | more


def text(words):
    return {"type": "text", "text": words}


def call(name, tool="read", **given):
    return {"type": "tool_use", "id": name, "name": tool, "input": given}


def result(name, content="ok", **more):
    return {"type": "tool_result", "tool_use_id": name, "content": content, **more}


def thought(words, signature="S"):
    return {"type": "thinking", "thinking": words, "signature": signature}


def load_all(value, module=anthropic_messages):
    data = (value if isinstance(value, str) else json.dumps(value)).encode()
    document = decode(data, "x.json")
    assert claimants(document.head) == {module.name}
    traces = module.read(document)
    check(traces)
    return traces


def load(value, module=anthropic_messages):
    (trace,) = load_all(value, module)
    return trace


def lines(*values):
    return "\n".join(map(json.dumps, values))


def parts(trace):
    """The events of each message (and of the system prompt), in order."""
    found = []
    for event in trace.events:
        if "envelope" in event:
            found.append([])
        if event["type"] != "abandon":
            found[-1].append(event)
    return found


def stream(*deltas, start=()):
    yield {
        "type": "message_start",
        "message": {**says(model="claude", id="msg_1"), "usage": {"input_tokens": 7, "output_tokens": 1}},
    }
    yield {"type": "ping"}
    for place, (block, grows) in enumerate(deltas):
        yield {"type": "content_block_start", "index": place, "content_block": block}
        yield from ({"type": "content_block_delta", "index": place, "delta": delta} for delta in grows)
        yield {"type": "content_block_stop", "index": place}
    yield {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}}
    yield {"type": "message_stop"}


SPELT = (
    (
        {"type": "thinking", "thinking": "", "signature": ""},
        (
            {"type": "thinking_delta", "thinking": "h"},
            {"type": "thinking_delta", "thinking": "m"},
            {"type": "signature_delta", "signature": "S"},
        ),
    ),
    (text(""), ({"type": "text_delta", "text": "I "}, {"type": "text_delta", "text": "look."})),
    (
        call("t1"),
        (
            {"type": "input_json_delta", "partial_json": '{"path"'},
            {"type": "input_json_delta", "partial_json": ': "a"}'},
        ),
    ),
)


def sse(events):
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)


def sent(*events):
    return ["client.beta.sessions.events.send", ["sesn_1", {"events": list(events)}]]


def got(kind, number="1", /, **more):
    return [
        "client.beta.sessions.events.stream",
        {"type": kind, "id": f"sevt_{number}", "processed_at": "1970-01-01T00:00:02Z", **more},
    ]


def read_any(data):
    document = decode(data, "x")
    anthropic_messages.sniff(document.head)
    reader = anthropic_sessions if anthropic_sessions.sniff(document.head) else anthropic_messages
    return reader.read(document)
