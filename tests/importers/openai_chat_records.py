"""Chat Completions messages and log rows in short, and how files of them are read."""

from __future__ import annotations

import json

from importer_checks import check, claimants

from context_gc.importers import openai_chat
from context_gc.importers.files.decode import decode
from context_gc.importers.provider_messages.envelope import assembled

SYSTEM = {"role": "system", "content": "Be brief."}


def user(text):
    return {"role": "user", "content": text}


def says(text, *calls, **more):
    asked = [{"id": i, "type": "function", "function": {"name": n, "arguments": json.dumps(g)}} for i, n, g in calls]
    return {"role": "assistant", "content": text} | ({"tool_calls": asked} if asked else {}) | more


def tool(name, text):
    return {"role": "tool", "tool_call_id": name, "content": text}


def row(messages, answer, time=0, **usage):
    response = {"id": "c", "object": "chat.completion", "choices": [{"index": 0, "message": answer}], "usage": usage}
    return {"timestamp": time, "request": {"model": "gpt-5", "messages": messages}, "response": response}


def load_all(value, claim="openai-chat"):
    text = value if isinstance(value, str) else json.dumps(value)
    document = decode(text.encode(), "x.json")
    assert claimants(document.head) == {claim}
    traces = openai_chat.read(document)
    check(traces)
    return traces


def load(value):
    (trace,) = load_all(value)
    return trace


def log(*rows):
    return load_all("\n".join(map(json.dumps, rows)))


def messages(trace):
    """The messages of a trace, put together from its events and from those that gave none."""
    found = {}
    for event in trace.events:
        if "envelope" in event:
            found[json.dumps(event["origin"] | {"at": None})] = [event]
            last = found[json.dumps(event["origin"] | {"at": None})]
        elif event["type"] != "abandon":
            last.append(event)
    whole = {json.loads(key)["index"]: assembled(events) for key, events in found.items() if '"index"' in key}
    whole |= {blank["origin"]["index"]: blank["record"] for blank in trace.extra.get("blank", ())}
    return [whole[place] for place in sorted(whole)]
