"""Model calls and tool runs in short, for tests of what becomes of spans."""

from __future__ import annotations

from importer_checks import check

from context_gc.importers.dialects.messages import message
from context_gc.importers.dialects.payloads import Tokens
from context_gc.importers.model_calls.conversations import conversations
from context_gc.importers.model_calls.spans import Span

NOON = 1_760_000_000_000  #: milliseconds since 1970


def messages(*values):
    return [message(each) for each in values]


def user(words, **more):
    return {"role": "user", "content": words, **more}


def system(words):
    return {"role": "system", "content": words}


def says(words="", *calls, **more):
    """An answer; calls as "id:tool" or "id:tool:path"."""
    listed = [dict(zip(("id", "name", "path"), call.split(":"), strict=False)) for call in calls]
    made = [{"id": call["id"], "name": call["name"], "args": {"path": call.get("path", "a.py")}} for call in listed]
    return {"role": "assistant", "content": words, **({"tool_calls": made} if made else {}), **more}


def result(call, words="ok", **more):
    return {"role": "tool", "tool_call_id": call, "content": words, **more}


Q, LOOK, FOUND = user("q"), says("look", "c1:read"), result("c1", "text")


def agent():
    """A prompt, a call, its result, an answer: two model calls."""
    log = Log()
    log.model([system("s"), Q], LOOK, tokens=Tokens(10, 2), model="m")
    log.model([system("s"), Q, LOOK, FOUND], says("done"), tokens=Tokens(20, 3, 10))
    return log


class Log:
    """Builds spans one second after another, the first at NOON + 1,000 ms."""

    def __init__(self):
        self.spans = []

    def model(self, prompt, *answer, **more):
        told = None if prompt is None else messages(*prompt)
        return self._add("model", prompt=told, answer=messages(*answer), **more)

    def tool(self, name, **more):
        return self._add("tool", name=name, **more)

    def other(self, kind, **more):
        return self._add(kind, **more)

    def traces(self):
        found = conversations(self.spans, "test", "spans")
        check(found)
        read = sum(trace.records_read + sum(trace.ignored.values()) for trace in found)
        assert not found or read == len(self.spans)
        return found

    def trace(self):
        (found,) = self.traces()
        return found

    def _add(self, kind, **more):
        number = len(self.spans) + 1
        more = {"start": NOON + number * 1000.0, "end": NOON + number * 1000.0 + 500} | more
        self.spans.append(Span(more.pop("id", f"s{number}"), kind, {"path": str(number)}, **more))
        return self.spans[-1]
