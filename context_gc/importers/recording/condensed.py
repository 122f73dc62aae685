"""Condensed: the window that a compaction opens which tells what it kept, record by record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .kept_tail import KeptTail
from .recorder import Recorder


def open_condensed(
    recorder: Recorder,
    kept: Sequence[tuple[int, Any]],
    opened_by: str,
    origin: Mapping[str, Any],
    summary: str = "",
    offset: int = 0,
) -> tuple[int, dict[int, Any]]:
    """A new window of what was kept: events of the one before by place, each with the record that it came from.

    The summary stands behind the first `offset` records, and an earlier one goes. Gives where the window
    begins, and the records of the events that were repeated, by their new places.
    """
    recorder.open_window(opened_by)
    start = len(recorder.events)
    message = f"kept{start}"  # none of it is a model call of its own
    tail, records, new = KeptTail(recorder, message), dict[Any, None](), dict[int, Any]()
    for place, record in kept:
        if "summary" in recorder.events[place].get("tags", ()) and summary:
            continue
        if record not in records:
            if len(records) == offset:
                recorder.say("assistant", summary, origin, tags=("summary",), message_id=message)
            records[record] = None
        new |= dict.fromkeys(tail.repeat([place]), record)
    if len(records) <= offset:
        recorder.say("assistant", summary, origin, tags=("summary",), message_id=message)
    return start, new
