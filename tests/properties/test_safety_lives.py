"""The checker of safety over made-up lives of files: reads of parts, edits that move lines, commands, failures."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from properties.invariants import values
from properties.safety import unsafe
from properties.test_safety import POLICY, cuts

from context_gc import ContextGC, compact_events

Event = dict[str, Any]
lives = settings(deadline=None, max_examples=250)
ACTS = ("read", "read", "part", "part", "part", "window", "replace", "quote", "lines", "bad", "write", "run", "look")
SIZE = 14  #: lines of a file at first


class Life:
    """A file, what was done with it, and the events that tell of it."""

    def __init__(self, draw: Any) -> None:
        self.draw = draw
        self.lines = [f"line {number}" for number in range(SIZE)]
        self.events: list[Event] = []
        self.late: list[Event] = []
        self.count = 0

    def number(self, first: int, last: int) -> int:
        return self.draw(st.integers(first, max(first, last)))

    def fresh(self) -> str:
        self.count += 1
        return f"new {self.count}"

    def shown(self, first: int, size: int) -> str:
        part = self.lines[first - 1 : first - 1 + size]
        return "\n".join(f"{number}:{line}" for number, line in enumerate(part, first))

    def window(self, around: int) -> tuple[str, dict[str, Any]]:
        first, size = max(1, around - 3), min(8, len(self.lines) - max(1, around - 3) + 1)
        lines = len(self.lines)
        return self.shown(first, size), {"path": "/r/a", "offset": first, "limit": size, "lines": lines}

    def tell(self, tool: str, asked: Any, answer: str, **more: Any) -> None:
        name = f"c{len(self.events) + len(self.late)}"
        bad = {"is_error": True} if more.pop("bad", False) else {}
        call = {"id": name, "type": "tool_call", "timestamp": 1, "tool_name": tool, "arguments": asked, "cwd": "/r"}
        self.events.append({**call, **more})
        result = {"id": f"{name}r", "type": "tool_result", "timestamp": 1, "call_id": name, "result": answer, **bad}
        waits = tool not in ("read", "open") and self.number(0, 7) == 0  # what a read shows is as old as its answer
        (self.late if waits else self.events).append(result)
        if self.late and self.number(0, 1):
            self.events.append(self.late.pop(0))

    def live(self, act: str) -> None:
        at = self.number(1, len(self.lines))
        size = self.number(1, 9)
        if act == "read":
            self.tell("read", {"path": "a"}, self.shown(1, len(self.lines)))
        elif act == "part":
            self.tell("read", {"path": "./a", "offset": at, "limit": size}, self.shown(at, size))
        elif act == "window":
            text, shows = self.window(at)
            self.tell("open", {"command": f"open a {at}"}, text, shows=shows)
        elif act in ("replace", "quote"):
            old = self.lines[at - 1 : at - 1 + (2 if act == "quote" else 1)]
            new = [self.fresh() for _ in range(self.number(0, 2))]
            self.lines[at - 1 : at - 1 + len(old)] = new or ["x"]
            asked = {"path": "a", "old_string": "\n".join(old), "new_string": "\n".join(new or ["x"])}
            self.tell("edit", asked, "ok")
        elif act == "lines":
            new = [self.fresh() for _ in range(self.number(1, 2))]
            end = min(at + 1, len(self.lines))
            self.lines[at - 1 : end] = new
            text, shows = self.window(at)
            command = "\n".join([f"edit {at}:{end}", *new, "end_of_edit"])
            self.tell("edit", {"command": command}, text, shows=shows, open_file="/r/a")
        elif act == "bad":
            command = f"edit {at}:{at}\n{self.fresh()}"
            self.tell("edit", {"command": command}, "syntax error", bad=True, open_file="/r/a")
        elif act == "write":
            self.lines = [self.fresh() if self.number(0, 1) else line for line in self.lines]
            self.tell("write", {"path": "a", "content": "\n".join(self.lines)}, "ok")
        elif act == "run":
            self.lines.insert(at - 1, self.fresh())
            self.tell("bash", {"command": "python fix.py"}, "done")
        else:
            self.tell("bash", {"command": "git status"}, "clean")


@st.composite
def files(draw: Any) -> list[Event]:
    life = Life(draw)
    for act in draw(st.lists(st.sampled_from(ACTS), max_size=14)):
        life.live(act)
    return life.events + life.late


@lives
@given(files())
def test_no_cut_in_the_life_of_a_file_loses_anything(events):
    assert unsafe(events, cuts(events)) == []


@lives
@given(files())
def test_the_life_of_a_file_gives_the_same_event_by_event(events):
    client = ContextGC(POLICY)
    for event in events:
        client.add_event(event)
        client.compact()
    assert values(client.compact()) == values(compact_events(events, POLICY))
