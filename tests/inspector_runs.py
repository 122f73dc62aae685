"""A small run of an agent, for tests of the pages that replay runs."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from context_gc.trace import Trace, Usage, Window

MINUTE = 60_000


def read(number: int, path: str, text: str, minute: int = 0) -> list[dict[str, Any]]:
    """A call that reads a file, and its result: events r1 and r1.out."""
    when = 1_700_000_000_000 + minute * MINUTE
    return [
        {"id": f"r{number}", "type": "tool_call", "timestamp": when, "tool_name": "Read",
         "arguments": {"file_path": path}, "parent_id": None},
        {"id": f"r{number}.out", "type": "tool_result", "timestamp": when, "call_id": f"r{number}", "result": text,
         "parent_id": None},
    ]  # fmt: skip


def asked(text: str = "Fix the parser") -> dict[str, Any]:
    """What the user wants."""
    return {"id": "ask", "type": "requirement", "timestamp": 1_700_000_000_000, "content": text, "parent_id": None}


def run(
    *events: dict[str, Any], windows: tuple[int, ...] = (), model: str = "", usage: tuple[Usage, ...] = ()
) -> Trace:
    """A trace of these events; `windows` are the places at which a window begins."""
    starts = [0, *windows, len(events)]
    made = [Window(start, stop) for start, stop in pairwise(starts)]
    return Trace(list(events), "native", "run.jsonl", windows=made, model=model, usage=list(usage))


def twice() -> list[dict[str, Any]]:
    """A file is read twice with the same outcome: four model calls, and the second reading is a duplicate."""
    long = "def parse(text):\n    return text.split()\n" * 20
    return [asked(), *read(1, "a.py", long), *read(2, "b.py", "B = 1"), *read(3, "a.py", long), *read(4, "c.py", "C")]
