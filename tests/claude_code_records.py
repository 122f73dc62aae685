"""Records of Claude Code sessions in short, and what holds for every trace that is read from them."""

from __future__ import annotations

import json

from context_gc.events import validate_event
from context_gc.load import load_traces
from context_gc.trace import Trace

REFUSED = "The user doesn't want to proceed with this tool use. The tool use was rejected."


def user(uuid, parent, content, **more):
    return line("user", uuid, parent, {"role": "user", "content": content}, **more)


def says(uuid, parent, *blocks, message=None, **more):
    body = {"role": "assistant", "content": [text(b) if isinstance(b, str) else b for b in blocks]}
    if message:
        body["id"] = message
    body |= {key: more.pop(key) for key in ("usage", "model") if key in more}
    return line("assistant", uuid, parent, body, **more)


def line(kind, uuid, parent, message=None, **more):
    record = {"type": kind, "sessionId": "s", "uuid": uuid, "parentUuid": parent, **more}
    return record if message is None else {**record, "message": message}


def text(words):
    return {"type": "text", "text": words}


def call(name, tool="Bash", **arguments):
    return {"type": "tool_use", "id": name, "name": tool, "input": arguments}


def result(name, content="ok", **more):
    return {"type": "tool_result", "tool_use_id": name, "content": content, **more}


def boundary(uuid, last, **facts):
    return line("system", uuid, None, subtype="compact_boundary", logicalParentUuid=last, compactMetadata=facts)


def of(session, *records, **more):
    """Records as another session's, with further fields."""
    return [{**record, "sessionId": session, **more} for record in records]


def forked(session, origin, *records):
    """Copies of another session's records, as a fork writes them."""
    return [
        {**record, "sessionId": session, "forkedFrom": {"sessionId": origin, "messageUuid": record["uuid"]}}
        for record in records
    ]


def jsonl(records) -> bytes:
    return "\n".join(json.dumps(record) for record in records).encode()


def load_folder(root, files) -> list[Trace]:
    """The traces of a folder with these files: path -> records, or the text of the file."""
    for path, records in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(records.encode() if type(records) is str else jsonl(records))
    return load_traces(root)


def load_all(*records) -> list[Trace]:
    traces = load_traces(jsonl(records))
    for trace in traces:
        check(trace)
    return traces


def load(*records) -> Trace:
    (trace,) = load_all(*records)
    return trace


def tree(trace):
    return {event["id"]: event["parent_id"] for event in trace.events}


def only(trace, kind):
    (event,) = (event for event in trace.events if event["type"] == kind)
    return event


def check(trace):
    """What holds for every trace: valid, unique, parents before children, windows closed and without gaps."""
    stops = [0]
    for window in trace.windows:
        assert window.start == stops[-1] <= window.stop
        stops.append(window.stop)
        seen = set()
        for event in trace.events[window.start : window.stop]:
            validate_event(event)
            assert event["parent_id"] is None if not seen else event["parent_id"] in seen | {None}
            assert set(event.get("ref_to", ())) <= seen
            assert event["origin"]["line"] > 0
            seen.add(event["id"])
    assert stops[-1] == len(trace.events)
    assert len({event["id"] for event in trace.events}) == len(trace.events)
    assert {usage.event_id for usage in trace.usage} <= {event["id"] for event in trace.events}
