"""A followed file in tests: what is written to it, what is read of it, and a clock that is told what time it is."""

from __future__ import annotations

import json
from pathlib import Path

from context_gc.follow import Update


class Clock:
    """Seconds that pass when they are told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def decision(name: str, content: str = "Go on.", time: int = 1) -> bytes:
    event = {"id": name, "type": "decision", "timestamp": time, "content": content}
    return json.dumps(event, ensure_ascii=False).encode() + b"\n"


def append(path: Path, data: bytes) -> None:
    with open(path, "ab") as file:
        file.write(data)


def ids(update: Update) -> list[str]:
    return [event["id"] for event in update.traces[0].events]
