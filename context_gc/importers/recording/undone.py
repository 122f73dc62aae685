"""Undone: events that were given up alone, while what came after them goes on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .recorder import Recorder

_DONE = ("has been edited", "created successfully")


def give_up(recorder: Recorder, places: Iterable[int], reason: str, origin: Mapping[str, Any]) -> None:
    """Abandon exactly these events: what hangs below them and is none of them moves up to what they hang below."""
    chosen, events, tip = set(places), recorder.events, recorder.tip
    before = len(events)
    above = {events[place]["id"]: events[place]["parent_id"] for place in chosen}
    recorder.abandon(chosen, reason, origin, None if tip in chosen else tip)
    if len(events) == before:  # they stand in an earlier window
        return
    for event in events[min(chosen) : before]:
        while event["parent_id"] in above and event["id"] not in above:
            event["parent_id"] = above[event["parent_id"]]


class Edits:
    """The edits of each file that stand, newest last, for editors that can undo the last one of a file."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._places: dict[str, list[tuple[int, int]]] = {}

    def made(self, path: str, call: int, result: int) -> None:
        """A call changed a file, as its result says."""
        self._places.setdefault(path, []).append((call, result))

    def undo(self, path: str, origin: Mapping[str, Any]) -> None:
        """The newest edit of a file that stands was undone."""
        standing = self._places.get(path)
        if standing:
            give_up(self._recorder, standing.pop(), f"undo_edit of {path}", origin)

    def judge(self, command: str, path: str, call: int, result: int, text: str, origin: Mapping[str, Any]) -> None:
        """Follow a call of an Anthropic-style editor (`str_replace`, `insert`, `create`, `undo_edit`) by its answer."""
        if command == "undo_edit" and "undone successfully" in text[:500]:
            self.undo(path, origin)
        elif command in ("str_replace", "insert", "create") and any(sign in text[:2_000] for sign in _DONE):
            self.made(path, call, result)
