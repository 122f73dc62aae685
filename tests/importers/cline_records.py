"""Messages and display logs of Cline tasks in short, and what reading them gives."""

from __future__ import annotations

import json

from importer_checks import accounted, check

from context_gc.importers import cline
from context_gc.importers.files.decode import decode

ENVIRONMENT = "<environment_details>\n# Current Working Directory (/home/kim/app) Files\na.py\n</environment_details>"
API, DISPLAY, METADATA = "t/api_conversation_history.json", "t/ui_messages.json", "t/task_metadata.json"


def read_all(data, name="api_conversation_history.json"):
    return cline.read(decode(data if isinstance(data, bytes) else json.dumps(data).encode(), name))


def read(*messages):
    traces = read_all(list(messages))
    check(traces)
    assert accounted(traces) == len(messages)
    (trace,) = traces
    return trace


def read_task(messages, log, **metadata):
    files = {API: messages, DISPLAY: log} | ({METADATA: metadata} if metadata else {})
    documents = [decode(json.dumps(value).encode(), path) for path, value in files.items()]
    traces = cline.read_group(documents)
    check(traces)
    assert accounted(traces) == len(messages) + len(log) + bool(metadata)
    (trace,) = traces
    return trace


def user(*blocks, **more):
    return {"role": "user", "content": [text(each) if isinstance(each, str) else each for each in blocks], **more}


def bot(*blocks, **more):
    return {"role": "assistant", "content": [text(each) if isinstance(each, str) else each for each in blocks], **more}


def text(words):
    return {"type": "text", "text": words}


def use(name, tool, **given):
    return {"type": "tool_use", "id": name, "name": tool, "input": given}


def shown(kind, told, index=None, **more):
    entry = {"ts": more.pop("ts", 1772880000000), "type": kind, kind: told, **more}
    return entry if index is None else {**entry, "conversationHistoryIndex": index}


def only(trace, kind):
    return [event for event in trace.events if event["type"] == kind]


TASK = user("<task>\nFix it\n</task>", ENVIRONMENT)
