"""Written: the text of a file, what it could not hold, and JSON that any value has."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from ..canonical import readable
from ..trace import Trace


@dataclass(slots=True)
class Written:
    """What an exporter made. `lost`: what the format cannot hold, by kind, with its count."""

    text: str
    lost: dict[str, int] = field(default_factory=dict)


def document(value: Any) -> str:
    """A JSON value as the text of a file that people read; on one line where it is nested very deeply."""
    try:
        return json.dumps(value, indent=1, ensure_ascii=False) + "\n"
    except (RecursionError, ValueError):
        return readable(value) + "\n"


def line(value: Any) -> str:
    """A JSON value as a line of a file."""
    return readable(value) + "\n"


def origin_of(trace: Trace) -> str:
    """The format that a trace was first read from, also where it was converted to native since."""
    told = trace.extra.get("converted_from")
    return told if type(told) is str else trace.format


def told(lost: dict[str, int]) -> list[str]:
    """What was lost, one line a kind."""
    return [f"{number:,} × {kind}" for kind, number in lost.items() if number]
