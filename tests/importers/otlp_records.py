"""OTLP spans in short, of the conventions that instrumentations follow."""

from __future__ import annotations

import json

from importer_checks import accounted, check

from context_gc.importers import otlp
from context_gc.importers.files.decode import decode

SECOND = 10**9
NOON = 1_760_000_000 * SECOND


def value(given):
    """An AnyValue."""
    if isinstance(given, bool):
        return {"boolValue": given}
    if isinstance(given, int):
        return {"intValue": str(given)}
    if isinstance(given, list):
        return {"arrayValue": {"values": [value(each) for each in given]}}
    if isinstance(given, dict):
        return {"kvlistValue": {"values": [{"key": key, "value": value(each)} for key, each in given.items()]}}
    return {"stringValue": given}


def attributes(given):
    return [{"key": key, "value": value(each)} for key, each in given.items()]


def span(number, given, *events, parent="", name="work", **more):
    return {
        "traceId": "0af7651916cd43dd8448eb211c80319c",
        "spanId": f"{number:016x}",
        "parentSpanId": parent,
        "name": name,
        "kind": "SPAN_KIND_INTERNAL",
        "startTimeUnixNano": str(NOON + number * SECOND),
        "endTimeUnixNano": NOON + number * SECOND + SECOND // 2,
        "attributes": attributes(given),
        "events": [{"name": event, "attributes": attributes(inner)} for event, inner in events],
        **more,
    }


def wrapped(*spans, scopes="scopeSpans"):
    return {"resourceSpans": [{"resource": {}, scopes: [{"scope": {"name": "x"}, "spans": list(spans)}]}]}


def read(*roots):
    traces = otlp.read(decode("\n".join(map(json.dumps, roots)).encode(), "spans.jsonl"))
    check(traces)
    return traces


def only(*spans):
    (trace,) = read(wrapped(*spans))
    assert accounted([trace]) == len(spans)
    return trace


def said(role, *parts):
    return {"role": role, "parts": list(parts)}


def text(words):
    return {"type": "text", "content": words}


CALL = {"type": "tool_call", "id": "c1", "name": "read", "arguments": {"path": "a.py"}}
ANSWER = {"type": "tool_call_response", "id": "c1", "response": "text of a"}
ASKED = [said("user", text("fix it"))]
WENT_ON = [*ASKED, said("assistant", text("look"), CALL), said("tool", ANSWER)]
EVENTS = [
    ("constraint", "be brief", ["system"]),
    ("requirement", "fix it", ["user"]),
    ("decision", "look", []),
    ("tool_call", "read", []),
    ("tool_result", "text of a", []),
    ("decision", "done", []),
]


def chat(number, prompt, answer, encode=json.dumps, **more):
    given = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "m-1",
        "gen_ai.system_instructions": encode([text("be brief")]),
        "gen_ai.input.messages": encode(prompt),
        "gen_ai.output.messages": encode([answer]),
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.output_tokens": 7,
        "gen_ai.usage.cache_read.input_tokens": 60,
        **more,
    }
    return span(number, given, name="chat m-1")


def openinference(number, kind, given, **more):
    return span(number, {"openinference.span.kind": kind, **given}, **more)
