"""History: how agents that log a running conversation change it: turns taken back, calls cut off, a new window."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from typing import Any

from ...trace import Trace
from .carried import Carried
from .recorder import Recorder

LONGEST_TITLE = 80  #: characters


class History:
    """What a recorder's current window consists of, as far as the log can refer to it later.

    `turns` are the places of what began a turn (what a person said, in most agents) and was not taken back.
    `standing` are those of the instructions that every window begins with.
    `settled` are the ids of calls that get no result, such as a search by the provider itself.
    """

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.turns: list[int] = []
        self.settled: set[str] = set()
        self.standing: list[int] = []
        self._carried = Carried(recorder)
        self._start = 0  # of the window

    def begin_turn(self, place: int | None) -> None:
        """A turn begins with this event."""
        if place is not None:
            self.turns.append(place)

    def take_back(self, count: int, reason: str, origin: Mapping[str, Any]) -> bool:
        """Abandon the last `count` turns, or all where there are fewer; False when there is nothing to take back."""
        if count <= 0 or not self.turns:
            return False
        self.take_back_to(self.turns[max(len(self.turns) - count, 0)], reason, origin)
        return True

    def take_back_to(self, place: int, reason: str, origin: Mapping[str, Any]) -> None:
        """Abandon the event at a place and all that came after it in this window."""
        del self.turns[bisect_left(self.turns, place) :]
        self.recorder.abandon(range(place, len(self.recorder.events)), reason, origin)

    def cut_off(self, reason: str, origin: Mapping[str, Any]) -> bool:
        """Abandon the calls of this turn that have no result; False when each has one."""
        events, start = self.recorder.events, self.turns[-1] if self.turns else self._start
        calls = {events[seq]["id"]: seq for seq in range(start, len(events)) if events[seq]["type"] == "tool_call"}
        for event in events[start:]:
            calls.pop(event.get("call_id", ""), None)
        places = [place for name, place in calls.items() if name not in self.settled]
        if places:
            self.give_up(places, reason, origin)
        return bool(places)

    def give_up(self, calls: Iterable[int], reason: str, origin: Mapping[str, Any]) -> None:
        """Abandon calls with their results; what follows goes on from where the log is, above all of them."""
        places, events, tip = set(calls), self.recorder.events, self.recorder.tip
        above = {events[seq]["id"]: seq for seq in range(min(places), len(events))}
        seq: int | None = tip
        while seq is not None and seq >= 0:
            name = events[seq]["parent_id"]
            if seq in places:
                tip = next((at for at in range(seq - 1, -1, -1) if events[at]["id"] == name), -1)
            seq = above.get(name)
        self.recorder.abandon(places, reason, origin, tip)

    def open_window(self, opened_by: str, tokens_before: int | None = None, carried: Iterable[int] = ()) -> None:
        """A new window: it begins with the standing instructions, then repeats the turns that are carried over."""
        standing, carried = self.standing, list(carried)
        self.recorder.open_window(opened_by, tokens_before)
        self._start = len(self.recorder.events)
        self.standing = self._repeat(standing)
        self.turns = self._repeat(carried)

    def done(self, session: str, **extra: Any) -> Trace:
        """The trace, titled with what it was asked first, else with the session's id."""
        trace = self.recorder.done()
        said = next((event["content"] for event in trace.events if event["type"] == "requirement"), "")
        trace.title = trace.title or one_line(said) or session
        trace.extra |= {
            key: value for key, value in {"session_id": session, **extra}.items() if value not in ("", None)
        }
        return trace

    def _repeat(self, places: Iterable[int]) -> list[int]:
        """Repeat events at the tip: each names the one that it repeats, and has its origin."""
        found = []
        for place in places:
            at = self._carried.repeat(place)
            if at is not None:
                self.recorder.events[at]["repeats"] = self.recorder.events[place]["id"]
                found.append(at)
        return found


def one_line(text: str) -> str:
    """The start of a text, on one line and short enough for a title."""
    return " ".join(text[: 10 * LONGEST_TITLE].split())[:LONGEST_TITLE]
