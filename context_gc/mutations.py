"""Mutations: where in a trace something was changed, so that what repeats across a change is not a duplicate."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from .events import Event
from .policy import Policy
from .semantics import ANYTHING, FileRead, changes, semantics, tool_kind

_CHANGING = frozenset(
    ("command_run", "build_run", "test_run", "git_commit", "tool_call", "file_edit", "artifact_created")
)


class Mutations:
    """An index over places in a trace, extended when asked.

    A change of a file concerns what was read from files of that name, whatever the folder: one file may be
    spelled in several ways. All else may have changed anything. Blind spots: a change made outside of the
    trace is not seen; a tool that changes something under a name that no glob of `side_effects` matches
    counts as a question.
    """

    def __init__(self, events: Sequence[Event], policy: Policy) -> None:
        self._events = events
        self._policy = policy
        self._read = 0
        self._all: list[int] = []
        self._anywhere: list[int] = []
        self._in_file: dict[str, list[int]] = {}

    def between(self, first: int, second: int, question: Event) -> bool:
        """Whether anything that may change the answer to a call stands between two places."""
        self._read_to(second)
        fact = semantics(question) if tool_kind(question["tool_name"]) == "read" else None
        if not isinstance(fact, FileRead):
            return _any_between(self._all, first, second)
        return self.edits(first, second, fact.path) != []

    def edits(self, first: int, second: int, path: str) -> list[int] | None:
        """The places between two places where a file of this name was changed; None: anything may have been."""
        self._read_to(second)
        if _any_between(self._anywhere, first, second):
            return None
        places = self._in_file.get(_name(path), ())
        return list(places[bisect_right(places, first) : bisect_left(places, second)]) if places else []

    def _read_to(self, stop: int) -> None:
        for seq in range(self._read, stop):
            if self._events[seq]["type"] in _CHANGING:
                self._take(seq)
        self._read = max(self._read, stop)

    def _take(self, seq: int) -> None:
        event = self._events[seq]
        if event["type"] == "tool_call":
            kind = tool_kind(event["tool_name"])
            if kind not in ("write", "edit", "shell", "code"):
                if self._policy.is_side_effect(event["tool_name"]):
                    self._all.append(seq)
                    if kind not in ("read", "search", "status"):
                        self._anywhere.append(seq)
                return
        paths = changes(event)
        if paths is ANYTHING:
            self._anywhere.append(seq)
        for path in paths or ():
            self._in_file.setdefault(_name(path), []).append(seq)
        if paths is ANYTHING or paths:
            self._all.append(seq)


def _name(path: str) -> str:
    return path.replace("\\", "/").rstrip("/").rpartition("/")[2].lower()


def _any_between(places: Sequence[int], first: int, second: int) -> bool:
    at = bisect_right(places, first)
    return at < len(places) and places[at] < second
