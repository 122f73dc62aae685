"""The log of a Gemini CLI session -> its messages in their last versions, and where it was rewound and compressed.

A message is written again, whole, whenever more of it is known: the last version counts, at the place of the first.
`{"$rewindTo": id}` takes back that message and all that follow. `{"$set": {"messages": [...]}}` replaces the list:
where messages of the chat are missing in the new one it was compressed, else they are further versions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ...canonical import canonical
from ..files.fields import items, mapping, text
from ..gemini_contents.parts import is_snapshot

CHAT = ("user", "gemini", "model", "assistant")  #: types of messages that are part of the chat


@dataclass(slots=True)
class Message:
    """A message in its last version. `origin` is where that stands; "first" where the first one did, if elsewhere."""

    key: str
    value: dict[str, Any]
    origin: dict[str, Any]
    own: bool  #: whether it came as a record of its own


@dataclass(slots=True)
class Step:
    """What happened, in order: a `message` was new, messages were taken back (`rewind`), a `window` began with some
    that were there before (`carry`).
    """

    kind: str
    origin: dict[str, Any]
    members: list[Message]


@dataclass(slots=True)
class Log:
    """What the records of a file come to. `ignored` counts those that add nothing, by kind."""

    steps: list[Step] = field(default_factory=list)
    meta: dict[str, Any] = field(default_factory=dict)
    ignored: dict[str, int] = field(default_factory=dict)
    _current: dict[str, Message] = field(default_factory=dict)

    def take(self, record: dict[str, Any], origin: dict[str, Any]) -> None:
        """Read one record of a JSONL log."""
        changes = record.get("$set")
        if type(record.get("$rewindTo")) is str:
            self._rewind(record["$rewindTo"], origin)
        elif type(record.get("id")) is str or (type(record.get("type")) is str and "content" in record):
            self.message(record, origin, f"L{origin.get('line', 1)}")
        elif type(changes) is dict:
            self.meta |= {key: value for key, value in changes.items() if key != "messages"}
            if not self._replace(items(changes.get("messages")), origin):
                self._ignore("$set")
        else:
            known = type(record.get("sessionId")) is str
            self.meta |= record if known else {}
            self._ignore("session" if known else "untyped record")

    def message(self, value: dict[str, Any], origin: dict[str, Any], unnamed: str) -> None:
        """Read one message, or another version of one. `unnamed`: its key where it has no id."""
        key = text(value.get("id")) or unnamed
        known = self._current.get(key)
        if known is not None:
            self._ignore("earlier version of a message")
            _update(known, value, origin)
        else:
            message = self._current[key] = Message(key, value, origin, own=True)
            self.steps.append(Step("message", origin, [message]))

    def _rewind(self, key: str, origin: dict[str, Any]) -> None:
        """As Gemini CLI does, take back all of them where there is no such message."""
        current = list(self._current.values())
        place = list(self._current).index(key) if key in self._current else 0
        self._current = {each.key: each for each in current[:place]}
        if current[place:]:
            self.steps.append(Step("rewind", origin, current[place:]))
        else:
            self._ignore("$rewindTo")

    def _replace(self, values: list[Any], origin: dict[str, Any]) -> bool:
        """Take over a new list of messages; False when all in it is as it was."""
        before, current = self._current, dict[str, Message]()
        for index, value in enumerate(values):
            key = text(mapping(value).get("id")) or f"L{origin.get('line', 1)}-{index}"
            current[key] = Message(key, mapping(value), {**origin, "path": str(index)}, own=False)
        if not current:
            return False
        new = {key for key in current if key not in before}
        lost = [each for key, each in before.items() if key not in current and each.value.get("type") in CHAT]
        compressed = bool(lost) or any(is_snapshot(current[key].value.get("content")) for key in new)
        changed = compressed or bool(new)
        if compressed:
            self.steps.append(Step("window", origin, []))
        above: Message | None = None
        for key, given in current.items():
            known = before.get(key)
            if known is None:
                self._insert(given, None if compressed else above)
            elif canonical(known.value) != canonical(given.value):
                _update(known, given.value, given.origin)
                changed = True
            above = current[key] = known or given
            if compressed and known is not None:
                self.steps.append(Step("carry", origin, [known]))
        self._current = current
        return changed

    def _insert(self, message: Message, above: Message | None) -> None:
        """A new message stands behind the one above it in the list, which may have been written long before."""
        place = len(self.steps)
        if above is not None:
            place = next(i for i in range(place, 0, -1) if self.steps[i - 1].members == [above])
        self.steps.insert(place, Step("message", message.origin, [message]))

    def _ignore(self, kind: str) -> None:
        self.ignored[kind] = self.ignored.get(kind, 0) + 1


def _update(message: Message, value: dict[str, Any], origin: dict[str, Any]) -> None:
    first = message.origin.get("first", message.origin.get("line"))
    message.value = value
    message.origin = origin if first in (None, origin.get("line")) else {**origin, "first": first}
