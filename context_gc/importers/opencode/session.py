"""An opencode session as any of its files tell it: messages, their parts, and what of it was taken back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ..files.fields import mapping, text, within

Origin = dict[str, Any]

UNDONE = "undone by the user (/undo)"
REMOVED = "removed from the session"


@dataclass(slots=True)
class Gone:
    """Why something is no longer in the session, and the record that says so."""

    reason: str
    origin: Origin


@dataclass(slots=True)
class Part:
    """A part of a message in its last version. `left_out`: what it is counted as when no event came of it."""

    value: dict[str, Any]
    origin: Origin
    gone: Gone | None = None
    used: bool = False
    left_out: str = ""


@dataclass(slots=True)
class Message:
    """A message without its parts, and the parts in order."""

    info: dict[str, Any]
    origin: Origin
    parts: list[Part] = field(default_factory=list)
    gone: Gone | None = None

    @property
    def used(self) -> bool:
        """Whether an event came of it."""
        return any(part.used for part in self.parts)


@dataclass(slots=True)
class Session:
    """Messages in order. `prompts`: system prompts, by the number of messages before them."""

    name: str
    info: dict[str, Any] = field(default_factory=dict)
    origin: Origin = field(default_factory=dict)
    messages: list[Message] = field(default_factory=list)
    prompts: dict[int, list[tuple[str, Origin]]] = field(default_factory=dict)

    @property
    def parent(self) -> str:
        """The session whose subagent this one is, or ""."""
        return text(self.info.get("parentID"))

    def take_back(self) -> None:
        """Mark as gone what `revert` in its info names: that message or part and all that follows."""
        revert = mapping(self.info.get("revert"))
        message, part = text(revert.get("messageID")), text(revert.get("partID"))
        place = next((i for i, each in enumerate(self.messages) if each.info.get("id") == message), -1)
        if not message or place < 0:
            return
        gone = Gone(UNDONE, within(self.origin, "revert"))
        parts = self.messages[place].parts
        first = next((i for i, each in enumerate(parts) if part and each.value.get("id") == part), -1)
        for each in parts[max(first, 0) :]:
            each.gone = each.gone or gone
        for later in self.messages[place + (first >= 0) :]:
            later.gone = later.gone or gone

    def counts(self) -> Iterator[tuple[bool, str]]:
        """Of each message and each part: whether it was read, else what it is counted as."""
        for message in self.messages:
            yield message.used, "empty message"
            for part in message.parts:
                yield part.used, part.left_out or text(part.value.get("type"))[:40] or "untyped part"


def families(sessions: list[Session]) -> list[Session]:
    """Sessions with their messages, those of subagents behind the others."""
    return sorted((each for each in sessions if each.messages), key=lambda each: bool(each.parent))
