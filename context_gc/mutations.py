"""Mutations: where in a trace something was changed, so that what repeats across a change is not a duplicate."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from .events import Event
from .policy import Policy
from .semantics import FileEdit, FileRead, semantics, tool_kind

_RUNS = frozenset(("command_run", "build_run", "test_run", "git_commit"))
_CHANGING = _RUNS.union(("tool_call", "file_edit", "artifact_created"))


class Mutations:
    """An index over places in a trace, extended when asked.

    An edit of a file concerns what was read from files of that name, whatever the folder: one file may be
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
        for seq in range(self._read, second):
            if self._events[seq]["type"] in _CHANGING:
                self._take(seq)
        self._read = max(self._read, second)
        fact = semantics(question) if tool_kind(question["tool_name"]) == "read" else None
        if not isinstance(fact, FileRead):
            return _any_between(self._all, first, second)
        edits = self._in_file.get(_name(fact.path), ())
        return _any_between(self._anywhere, first, second) or _any_between(edits, first, second)

    def _acts(self, tool_name: str) -> bool:
        return tool_kind(tool_name) in ("write", "edit", "shell") or self._policy.is_side_effect(tool_name)

    def _take(self, seq: int) -> None:
        event = self._events[seq]
        kind = event["type"]
        if kind == "tool_call" and not self._acts(event["tool_name"]):
            return
        fact = semantics(event) if kind not in _RUNS else None
        places = self._in_file.setdefault(_name(fact.path), []) if isinstance(fact, FileEdit) else self._anywhere
        places.append(seq)
        self._all.append(seq)


def _name(path: str) -> str:
    return path.replace("\\", "/").rstrip("/").rpartition("/")[2].lower()


def _any_between(places: Sequence[int], first: int, second: int) -> bool:
    at = bisect_right(places, first)
    return at < len(places) and places[at] < second
