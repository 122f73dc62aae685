"""The display log of a Cline or Roo task: what it adds to the history that the model was sent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..dialects.messages import text_at
from ..dialects.payloads import count_at
from ..files.json_roots import decoded


def is_display(value: Any) -> bool:
    """Whether it is an entry of a display log."""
    kind = value.get("type") if type(value) is dict else None
    return kind in ("ask", "say") and "ts" in value and type(value.get(kind)) is str


class Display:
    """`lay` reads the log against the roles of the history's messages; then the facts are there by their index.

    An entry's `conversationHistoryIndex` is the last message that was there when it was shown.
    """

    def __init__(self, entries: Sequence[dict[str, Any]]) -> None:
        self._entries = entries
        self.times: dict[int, Any] = {}
        self.usage: dict[int, tuple[int, int, int, int]] = {}  #: plain input, output, cache read, cache write
        self.cuts: dict[int, tuple[int, int]] = {}  #: from here on the model did not see these messages, both included
        self.restored: tuple[int, int] | None = None  #: what messages from … to before … did to files was undone
        self.ignored: dict[str, int] = {}

    def lay(self, roles: Sequence[str]) -> None:
        """Take in the log for a history of messages with these roles."""
        last, cut = -1, None
        requests = [at for at, role in enumerate(roles) if role == "assistant"]
        for entry in self._entries:
            kind = text_at(entry, "type")
            told = text_at(entry, kind) or "entry"
            index = entry.get("conversationHistoryIndex")
            last = index if type(index) is int and index >= last else last
            for at in range(len(self.times), min(last + 1, len(roles))):
                self.times[at] = entry.get("ts")
            if told in ("api_req_started", "subagent_usage") and kind == "say":
                self._use(decoded(entry.get("text")), index, requests)
            cut = self._cut(entry.get("conversationHistoryDeletedRange"), cut, last, len(roles))
            self.ignored[f"{kind} {told}"] = self.ignored.get(f"{kind} {told}", 0) + 1
        self._restore(len(roles))

    def _use(self, told: Any, index: Any, requests: list[int]) -> None:
        """What a request used; it belongs to the first answer after it, without an index to the next in order."""
        if type(told) is not dict or told.get("source") == "subagents":
            return
        used = (
            count_at(told, "tokensIn"), count_at(told, "tokensOut"),
            count_at(told, "cacheReads"), count_at(told, "cacheWrites"),
        )  # fmt: skip
        after = index if type(index) is int else max(self.usage, default=-1)
        answer = next((at for at in requests if at > after), None)
        if answer is not None and any(used):
            self.usage[answer] = used

    def _cut(self, given: Any, cut: Any, last: int, size: int) -> Any:
        """Where the range of messages that were left out grew."""
        if type(given) is not list or len(given) != 2 or given == cut or not all(type(at) is int for at in given):
            return cut
        first, stop = given
        if 0 <= first <= stop < last + 1 < size:
            self.cuts[last + 1] = first, stop
        return given

    def _restore(self, size: int) -> None:
        """The checkpoint that is checked out: what came between it and the resumption is undone."""
        created = [at for at, each in enumerate(self._entries) if each.get("say") == "checkpoint_created"]
        out = [at for at in created if self._entries[at].get("isCheckpointCheckedOut") is True]
        index = self._entries[out[-1]].get("conversationHistoryIndex") if out else None
        if type(index) is not int:
            return
        resumed = (
            entry.get("conversationHistoryIndex")
            for entry in self._entries[created[-1] :]
            if entry.get("ask") in ("resume_task", "resume_completed_task")
        )
        stop = next((at + 1 for at in resumed if type(at) is int), size)
        if index + 2 < stop:  # the answer to the last message was there when the checkpoint was made
            self.restored = index + 2, min(stop, size)
