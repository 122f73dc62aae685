"""Kept tail: what a compaction left standing in the conversation, at the beginning of the window that it opened."""

from __future__ import annotations

from collections.abc import Iterable

from .carried import Carried
from .recorder import Recorder


class KeptTail:
    """Repeats events of earlier windows in the present one.

    A repeated event names the first one in `repeats` and has its origin. All of them have the `message_id`
    `message`: they are no model calls of their own, but came with what opened the window.
    """

    def __init__(self, recorder: Recorder, message: str) -> None:
        self._recorder, self._message = recorder, message
        self._carried = Carried(recorder)

    def repeat(self, places: Iterable[int]) -> list[int]:
        """Repeat events below the tip, calls with their results; gives their new places. Abandons are left out."""
        found = []
        for place in list(places):
            name = self._recorder.events[place]["id"]
            at = self._carried.repeat(place)
            if at is not None:
                self._recorder.events[at] |= {"repeats": name, "message_id": self._message}
                found.append(at)
        return found
