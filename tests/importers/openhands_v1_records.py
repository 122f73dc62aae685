"""Events of the OpenHands SDK in short, and what reading them gives."""

from __future__ import annotations

import json

from importer_checks import accounted, check

from context_gc.importers import openhands_v1
from context_gc.importers.files.decode import decode


def read_all(data, name="events.jsonl"):
    if not isinstance(data, bytes):
        data = "\n".join(map(json.dumps, data)).encode()
    return openhands_v1.read(decode(data, name))


def read(*events):
    traces = read_all(events)
    check(traces)
    assert accounted(traces) == len(events)
    (trace,) = traces
    return trace


def event(kind, name, source="agent", **more):
    return {"id": name, "timestamp": "2026-03-07T10:00:00", "source": source, "kind": kind, **more}


def text(words):
    return {"type": "text", "text": words, "cache_prompt": False}


def says(name, words, source="user", **more):
    role = "user" if source == "user" else "assistant"
    message = {"role": role, "content": [text(words)], "thinking_blocks": more.pop("thinking", [])}
    return event("MessageEvent", name, source, llm_message=message, **more)


def acts(name, call="c1", thought="", tool="terminal", response="r1", **more):
    given = more.pop("arguments", {"command": "ls"})
    written = {"id": call, "name": tool, "arguments": json.dumps(given), "origin": "completion"}
    kind = more.pop("action", "TerminalAction")
    return event(
        "ActionEvent",
        name,
        thought=[text(thought)],
        action={**given, "kind": kind},
        tool_name=tool,
        tool_call_id=call,
        tool_call=written,
        llm_response_id=response,
        **more,
    )


def sees(name, call="c1", words="ok", **seen):
    observation = {"content": [text(words)], "kind": "TerminalObservation", **seen}
    return event("ObservationEvent", name, "environment", tool_call_id=call, observation=observation)


def stats(name, prompt, completion, turn, who="agent", **more):
    counts = {"prompt_tokens": prompt, "completion_tokens": completion, "per_turn_token": turn, **more}
    value = {"usage_to_metrics": {who: {"model_name": "m", "accumulated_token_usage": counts}}}
    return event("ConversationStateUpdateEvent", name, "environment", key="stats", value=value)


def only(trace, kind):
    return [each for each in trace.events if each["type"] == kind]
