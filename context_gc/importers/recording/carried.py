"""Carried: events that a compaction kept, repeated at the beginning of the window that it opened."""

from __future__ import annotations

from .recorder import Recorder

_OWN = ("id", "type", "timestamp", "parent_id", "origin", "tool_name", "arguments", "call_id", "result", "is_error")


class Carried:
    """Repeats events of an earlier window in the present one, calls with their results."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._calls: set[str] = set()  # the ids of the calls that were repeated

    def repeat(self, place: int) -> int | None:
        """Repeat the event at a place. None for what was abandoned there, and for a result without its call."""
        recorder = self._recorder
        event = recorder.events[place]
        kind, name, origin = event["type"], event["id"], event["origin"]
        more = {key: value for key, value in event.items() if key not in _OWN}
        if kind == "tool_call":
            self._calls.add(name)
            return recorder.call(name, event["tool_name"], event["arguments"], origin, name, **more)
        if kind == "tool_result":
            if event["call_id"] not in self._calls:
                return None
            return recorder.result(event["call_id"], event["result"], origin, event.get("is_error") is True, **more)
        return None if kind == "abandon" else recorder.add(kind, more, origin, name)
