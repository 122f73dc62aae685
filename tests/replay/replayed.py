"""Small traces, prompts written out by hand, and a counter that counts words: so that a test can state every figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from context_gc.render import line
from context_gc.trace import Trace, Window


class Words:
    """Counts words, so that tokens can be counted by reading."""

    name = "words"

    def count(self, text: str) -> int:
        return len(text.split())


def traced(*events, windows=(), usage=(), model=""):
    """A trace of events, each below the one before unless it says otherwise."""
    made = []
    for number, event in enumerate(events):
        told = {"id": f"e{number}", "timestamp": number * 1_000, "parent_id": f"e{number - 1}" if number else None}
        made.append({**told, **event})
    found = list(windows) or [Window(0, len(made))]
    return Trace(made, "native", "a trace", windows=found, usage=list(usage), model=model)


def user(text):
    return {"type": "requirement", "content": text, "tags": ["user"]}


def says(text):
    return {"type": "decision", "content": text}


def calls(tool, **arguments):
    return {"type": "tool_call", "tool_name": tool, "arguments": arguments}


def result(call, text, **more):
    return {"type": "tool_result", "call_id": call, "result": text, **more}


class Written:
    """A method whose prompts are written out: for each call what does not stand as it is, place -> text or None."""

    name = "written"

    def __init__(self, *prompts: Mapping[int, str | None]) -> None:
        self.prompts = prompts

    def course(self, stretch, counter):
        return _Written(stretch.events, counter, self.prompts)


class _Written:
    passes: Sequence = ()
    level = ""

    def __init__(self, events, counter, prompts):
        self._lines = [line(event) for event in events]
        self._counter, self._prompts, self._call = counter, prompts, -1

    def advance(self, size, cold):
        self._call += 1
        return range(size)

    def slot(self, seq):
        told = self._prompts[self._call] if self._call < len(self._prompts) else {}
        return told.get(seq, self._lines[seq]) or None

    def tokens(self, seq):
        return self._counter.count(self.slot(seq) or "")
