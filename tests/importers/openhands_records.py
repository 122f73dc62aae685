"""Events of OpenHands V0 in short, and what reading them gives."""

from __future__ import annotations

import json

from importer_checks import accounted, check

from context_gc.importers import openhands
from context_gc.importers.files.decode import decode

FILE = "[File: /r/a.py (9 lines total)]\n(this is the beginning of the file)\n1|x\n(8 more lines below)"


def read_all(data, name="output.jsonl"):
    return openhands.read(decode(data if isinstance(data, bytes) else json.dumps(data).encode(), name))


def read(*events):
    traces = read_all(list(events))
    check(traces)
    assert accounted(traces) == len(events)
    return traces[0]


def act(number, action, source="agent", **args):
    return {
        "id": number,
        "timestamp": f"2026-03-07T10:00:{number:02d}",
        "source": source,
        "action": action,
        "args": args,
    }


def obs(number, observation, content, cause=None, **more):
    event = {"id": number, "source": "agent", "observation": observation, "content": content, "extras": {}, **more}
    return event if cause is None else {**event, "cause": cause}


def native(number, action, tool, arguments, name="t1", response="r1", **args):
    call = {"id": name, "type": "function", "function": {"name": tool, "arguments": json.dumps(arguments)}}
    message = {"role": "assistant", "tool_calls": [call]}
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 7,
        "prompt_tokens_details": {"cached_tokens": 60},
        "cache_creation_input_tokens": 30,
    }
    told = {"id": response, "model": "m", "choices": [{"message": message}], "usage": usage}
    metadata = {"function_name": tool, "tool_call_id": name, "model_response": told}
    return {**act(number, action, **args), "tool_call_metadata": metadata}


def only(trace, kind):
    return [event for event in trace.events if event["type"] == kind]


GO = act(0, "message", "user", content="Go", wait_for_response=False)
