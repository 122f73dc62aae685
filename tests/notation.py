"""A notation for traces that a reader takes in at a glance. One event a line, `id verb …`:

    d1 decision plan              v1 x = 10            c1 call get {"q": 1}       r1 result c1 the answer
    z abandon c1 c2 : too slow    k1 constraint never  b1 read a.py 10-40 : text  e1 edit a.py
    m1 run make -> 2 : output     t1 test a b -> 1     w1 write a.py : text       x1 error it broke
    r2 failed c1 no such file

A text may be `row ×900` (so many numbered lines) and hold `⏎` for a new line. At the end of a line, in any
order: `<p` its parent (else the line before; `<` for none), `@7` its timestamp (else the line's number),
`!` critical, `!debug` any other importance, `#tag`, `~task_end`.
"""

from __future__ import annotations

import json
import re
from typing import Any

from context_gc import Compaction

Event = dict[str, Any]
_MARK = re.compile(r"(?:^|\s+)([<@!#~])([^\s<@!#~]*)$")

#: an attempt that is given up, and the pivot that hangs below the abandon
PIVOT = """
p decision plan
c1 call try
r1 result c1 no
z abandon c1 : A does not scale
d decision switch to approach B because A failed
c2 call other
"""


def trace(text: str) -> list[Event]:
    """The events of a trace in the notation; empty lines and lines that begin with `# ` are left out."""
    events: list[Event] = []
    for body in text.strip().split("\n"):
        if body.strip() and not body.strip().startswith("# "):
            events.append(_event(body.strip(), len(events) + 1, events[-1]["id"] if events else None))
    return events


def told(result: Compaction) -> list[str]:
    """What a compaction decided, one line an event: `v1 superseded by v2`, with `kept: …` where it stays."""
    return [
        f"{each['event_id']} {each['reason']}" + (f", kept: {each['kept']}" if each["kept"] else "")
        for each in result["decisions"]
    ]


def cases(text: str) -> list[tuple[str, dict[str, Any], list[Event], list[str]]]:
    """(title, policy, events, expected lines) of each case in a golden file."""
    found = []
    for part in re.split(r"^# title: ", text, flags=re.MULTILINE)[1:]:
        title, _, body = part.partition("\n")
        policy: dict[str, Any] = {}
        if body.startswith("# policy: "):
            first, _, body = body.partition("\n")
            policy = json.loads(first.removeprefix("# policy: "))
        given, _, expected = body.partition("\n---\n")
        lines = [each for each in expected.strip().split("\n") if each != "(nothing)"]
        found.append((title.strip(), policy, trace(given), lines))
    return found


def _event(body: str, number: int, before: str | None) -> Event:
    marks: list[tuple[str, str]] = []
    while match := _MARK.search(body):
        marks.append((match[1], match[2]))
        body = body[: match.start()]
    name, verb, rest = [*body.split(" ", 2), "", ""][:3]
    event: Event = {"id": name, "type": verb, "timestamp": number, "parent_id": before}
    event |= _fields(verb, rest)
    for mark, value in marks:
        if mark == "<":
            event["parent_id"] = value or None
        elif mark == "@":
            event["timestamp"] = int(value)
        elif mark == "!":
            event["importance"] = value or "critical"
        elif mark == "#":
            event.setdefault("tags", []).append(value)
        else:
            event["retain_until"] = value
    return event


def _fields(verb: str, rest: str) -> Event:
    first, _, second = rest.partition(" ")
    if first == "=":
        return {"type": "set_var", "key": _value(verb), "value": _value(second)}
    if verb == "call":
        return {"type": "tool_call", "tool_name": first, "arguments": _value(second) if second else {}}
    if verb in ("result", "failed"):
        given: Event = {"type": "tool_result", "call_id": first, "result": _text(second)}
        return {**given, "is_error": True} if verb == "failed" else given
    if verb == "abandon":
        names, _, reason = rest.partition(" : ")
        return {"ref_to": names.removesuffix(" :").split()} | ({"content": reason} if reason else {})
    if verb in ("decision", "constraint", "requirement"):
        return {"content": _text(rest)}
    if verb in ("read", "edit", "write", "run", "test"):
        about, _, carried = rest.partition(" : ")
        return _act(verb, about) | ({"content": _text(carried)} if carried else {})
    if verb == "error":
        return {"message": rest}
    raise ValueError(f"the notation has no verb {verb!r}")


def _act(verb: str, about: str) -> Event:
    if verb == "edit":
        return {"type": "file_edit", "path": about, "diff_hash": "1a2b3c4d5e6f"}
    if verb == "write":
        return {"type": "artifact_created", "artifact_type": "file", "path": about}
    if verb == "read":
        path, _, lines = about.partition(" ")
        first, _, last = lines.partition("-")
        span = {"offset": int(first), "limit": int(last) - int(first) + 1} if lines else {}
        return {"type": "file_read", "path": path} | span
    what, _, code = about.rpartition(" -> ")
    if verb == "run":
        return {"type": "command_run", "command": what, "exit_code": int(code)}
    bad = int(code)
    counts = {"passed_count": len(what.split()) - bad, "failed_count": bad}
    return {"type": "test_run", "test_names": what.split(), "exit_code": int(bad > 0)} | counts


def _text(text: str) -> str:
    row, many, count = text.partition(" ×")
    if many:
        text = "⏎".join(f"{row} {number}" for number in range(1, int(count) + 1))
    return text.replace("⏎", "\n")


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
