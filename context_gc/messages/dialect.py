"""Dialect: what the messages of one provider need beyond the rules that hold for all of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from ..canonical import readable
from ..events import Event
from ..parse import parse

GONE = "(cut)"  #: stands where something must stand and the policy wants no stubs
NO_RESULT = "(no result)"  #: answers a call that was never answered although the conversation went on
LONG = 200  #: characters of JSON from which on a value in the arguments of a cut call is a stub

SOURCE = "\0message"  #: in records of a conversation in the loop: the number of the message that it came in as

Record = dict[str, Any]
Path = tuple[str | int, ...]


class Part(NamedTuple):
    """The place of an event in the trace, and where the record of its message holds it; () for nowhere."""

    place: int
    at: Path


@dataclass(slots=True)
class Told:
    """One message (or system prompt) with its events. The record is a private copy."""

    record: Record
    role: str  #: system, user, assistant, tool (it only answers calls), or none: it is no message
    parts: list[Part]
    is_field: bool = False  #: it stands beside the messages, in the request's field `system`


@dataclass(slots=True)
class Request:
    """Messages as a provider takes them. `lost`: what could not be held there, by kind, with its count."""

    messages: list[Record]
    system: Any = None  #: the system prompt where it stands beside the messages; None where there is none
    lost: dict[str, int] = field(default_factory=dict)


_ROLES = {
    "user": "user", "human": "user", "system": "system", "developer": "system", "tool": "tool", "function": "tool",
    "assistant": "assistant", "ai": "assistant", "model": "assistant",
}  # fmt: skip


class Stub(str):
    """A stub between messages."""

    __slots__ = ()


class Dialect(Protocol):
    """How one provider writes messages. Records that it gets are private copies, which it may change."""

    name: str

    def role(self, record: Record) -> str:
        """Whose a record is: system, user, assistant, tool (it only answers calls), or none."""

    def grouped(self, tolds: list[Told]) -> list[Told]:
        """What was told record by record, with what the model wrote in one go as one."""

    def is_fixed(self, record: Record) -> bool:
        """Whether a message of the model must be exact or gone as a whole."""

    def call_ids(self, record: Record) -> list[str]:
        """The ids of the calls in a message, in order."""

    def result_ids(self, record: Record) -> list[str]:
        """The ids of the calls that a message answers."""

    def without_results(self, record: Record, ids: set[str]) -> Record | None:
        """A message without its answers to these calls; None when nothing remains."""

    def asks(self, turn: Sequence[tuple[int, Event, str]], is_signed: bool, lost: dict[str, int]) -> Told | None:
        """A message of the model from events that were no message of this provider: each with place and call id."""

    def answers(self, results: Sequence[tuple[int, Event, str]], lost: dict[str, int]) -> list[Told]:
        """The results of one message's calls: each with its place and the call's id."""

    def says(self, role: str, place: int, event: Event, text: str, lost: dict[str, int]) -> Told:
        """What a user or the system says, or what stands for it; `lost` counts what it cannot say."""

    def joined(self, entries: Sequence[Record | Stub | None], is_own: bool) -> list[Record]:
        """Records and stubs as one valid conversation. None stands where a message was taken out.

        `is_own`: what meets that met before stays apart, as it was accepted.
        """


def role_of(record: Any) -> str:
    """Whose a message is, by its field `role`."""
    role = record.get("role") if type(record) is dict else None
    return _ROLES.get(role, "user") if type(role) is str else "none"


def count(lost: dict[str, int], kind: str, number: int = 1) -> None:
    """One more of what was lost."""
    if number:
        lost[kind] = lost.get(kind, 0) + number


def safe_name(name: str, limit: int = 64) -> str:
    """A tool's name in the characters that providers take."""
    return re.sub(r"[^A-Za-z0-9_-]+", "_", name)[:limit] or "unknown"


def opened(arguments: Any) -> dict[str, Any]:
    """Arguments as an object, as far as they are one or spell one."""
    if type(arguments) is str:
        try:
            arguments = parse(arguments)
        except ValueError:
            return {"input": arguments} if arguments else {}
    return arguments if type(arguments) is dict else {} if arguments is None else {"input": arguments}


def shortened(arguments: Any, stub: str) -> Any:
    """Arguments with a stub for each long value; what is JSON text or an object stays that."""
    if type(arguments) is dict:
        return {key: stub if len(readable(value)) > LONG else value for key, value in arguments.items()}
    if type(arguments) is str and len(arguments) > LONG:
        try:
            found = parse(arguments)
        except ValueError:
            return arguments
        short = shortened(found, stub) if type(found) is dict else found
        return arguments if short == found else readable(short)
    return arguments


def block_of(value: Any) -> dict[str, Any]:
    """A content block; {} for what is none."""
    return value if type(value) is dict else {}


def kind_of_block(value: Any) -> str:
    """The type of a content block; "" for what has none."""
    kind = block_of(value).get("type")
    return kind if type(kind) is str else ""


def blocks(content: Any) -> list[Any]:
    """A content as a list of blocks; blank text is none."""
    if type(content) is list:
        return content
    return [{"type": "text", "text": content}] if type(content) is str and content.strip() else []
