"""Dialects: a chat message as OpenAI, Anthropic, LangChain, AI SDK, Inspect or gen_ai write it -> one form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...canonical import digest, readable
from ..files.json_roots import decoded
from .parts import Part, block_parts, calls_of, media, parts_of, text_at, thoughts_of, visible

__all__ = [
    "KEPT",
    "ROLES",
    "Message",
    "Part",
    "Repeats",
    "media",
    "message",
    "messages",
    "opened",
    "text_at",
    "visible",
]

KEPT = 8  #: prompts that are remembered: so many agents may take turns

ROLES: Mapping[str, str] = {
    "user": "user", "human": "user", "humanmessage": "user", "humanmessagechunk": "user",
    "assistant": "assistant", "ai": "assistant", "model": "assistant", "agent": "assistant", "bot": "assistant",
    "aimessage": "assistant", "aimessagechunk": "assistant",
    "system": "system", "developer": "system", "systemmessage": "system", "systemmessagechunk": "system",
    "tool": "tool", "function": "tool", "toolmessage": "tool", "toolmessagechunk": "tool",
    "functionmessage": "tool", "functionmessagechunk": "tool",
    "remove": "remove", "removemessage": "remove",
}  # fmt: skip


@dataclass(slots=True, eq=False)
class Message:
    """What one role said. Messages with the same `key` say the same, as far as a later prompt repeats it."""

    role: str  #: user, assistant, system, tool; remove takes back the message with this id
    parts: Sequence[Part]
    id: str = ""  #: the message's own, where it has one
    facts: Mapping[str, Any] = field(default_factory=dict)  #: the message as it was logged, without its envelope
    origin: Mapping[str, Any] | None = None  #: where it stands, when that is known of each message
    key: str = field(init=False)  #: "" for a message that says nothing but thoughts
    calls: frozenset[str] = field(init=False)  #: the ids that providers gave to the calls in it, or that it answers

    def __post_init__(self) -> None:
        self.calls = frozenset(part.call for part in self.parts if part.call)
        said = [told for told in map(_told, self.parts) if told]
        self.key = digest([self.role, said]) if said else ""

    @property
    def is_summary(self) -> bool:
        """Whether the framework that wrote it says that it sums up what went before (LangChain, Inspect)."""
        extra, about = self.facts.get("additional_kwargs"), self.facts.get("metadata")
        if type(extra) is dict and extra.get("lc_source") == "summarization":
            return True
        return type(about) is dict and about.get("summary") is True


def message(value: Any, role: str = "") -> Message | None:
    """A message of any dialect, `role` where it names none; None for what is no message.

    Blind spot: what is no content, no call and no known block of reasoning is left out (logprobs, ids, usage).
    """
    if type(value) is str:
        return Message(role or "user", (Part("text", value),))
    if type(value) is not dict:
        return None
    told, value = opened(value)
    kind = value.get("type")
    if kind in ("function_call", "function_call_output", "reasoning") and "role" not in value:
        return Message(
            "tool" if kind.endswith("output") else "assistant", tuple(block_parts(value)), text_at(value, "id")
        )
    given = value.get("role") if type(value.get("role")) is str else told or kind
    role = ROLES.get(given.lower(), "user") if type(given) is str and given else role
    keys = ("id",) if role == "remove" else ("content", "parts", "tool_calls", "function_call")
    if not role or not any(key in value for key in keys):
        return None
    content = value["parts"] if type(value.get("parts")) is list else value.get("content")
    parts = [*thoughts_of(value), *parts_of(content)]
    if role == "tool" and (type(content) is not list or all(part.kind != "result" for part in parts)):
        parts = [_result(value, content)]
    else:
        calls = list(calls_of(value))
        known = {part.call for part in calls} - {""}
        parts = [part for part in parts if part.kind != "call" or part.call not in known] + calls
    return Message(role, tuple(parts), text_at(value, "id"), value)


class Repeats:
    """Remembers the newest prompts: the part of a prompt that one of them begins with as well is not read anew."""

    def __init__(self) -> None:
        self._recent: list[tuple[list[Any], list[Message | None]]] = []
        self._texts: list[tuple[str, list[Any]]] = []  # lists as JSON, without the last bracket

    def decoded(self, value: Any) -> Any:
        """What `decoded` gives; of a list that begins with all of an earlier one only the rest is parsed."""
        found: Any = None
        for known, values in reversed(self._texts):
            if type(value) is str and value.startswith(known) and value.startswith(",", len(known)):
                added = decoded("[" + value[len(known) + 1 :], 1)
                found = values + added if type(added) is list and added else None
                break
        found = decoded(value) if found is None else found
        if type(value) is str and value.endswith("]") and type(found) is list and found:
            self._texts = [*self._texts[1 - KEPT :], (value[:-1], found)]
        return found

    def messages(self, values: list[Any], role: str) -> list[Message]:
        """As the function `messages` reads them."""
        flat = values[0] if len(values) == 1 and type(values[0]) is list else values
        if any(type(value) is list for value in flat):
            return messages(flat, role)
        best: tuple[int, list[Message | None]] = (0, [])
        for known, read in reversed(self._recent):
            count = _common(known, flat)
            best = (count, read) if count > best[0] else best
            if count == len(known):
                break
        found = best[1][: best[0]] + [message(each, role) for each in flat[best[0] :]]
        self._recent = [*self._recent[1 - KEPT :], (flat, found)]
        return [each for each in found if each is not None]


def is_same(one: Any, other: Any) -> bool:
    """Whether two JSON values are equal; not known, and so False, of values that are nested very deeply."""
    try:
        return one is other or bool(one == other)
    except RecursionError:
        return False


def _common(one: list[Any], other: list[Any]) -> int:
    """How many values two lists both begin with."""
    for place, (mine, its) in enumerate(zip(one, other, strict=False)):
        if not is_same(mine, its):
            return place
    return min(len(one), len(other))


def messages(values: Any, role: str = "") -> list[Message]:
    """The messages of a list, of its inner lists (LangChain batches), or of one alone; what is none is left out."""
    found = []
    for value in values if type(values) is list else [values]:
        for each in value if type(value) is list else [value]:
            read = message(each, role)
            if read is not None:
                found.append(read)
    return found


def _told(part: Part) -> Any:
    if part.kind == "text":
        return part.value.strip()
    if part.kind == "call":
        return [part.name, decoded(part.value, 1)]
    if part.kind == "result" and type(part.value) is list:
        return ["".join(text_at(block, "text", "content") or readable(block) for block in part.value).strip()]
    if part.kind == "result":
        return [part.value.strip() if type(part.value) is str else part.value]
    return "" if part.kind == "thinking" or "thinking" in part.more.get("tags", ()) else [part.value, part.more]


def opened(value: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """What a LangChain envelope says the message is, and the message in it."""
    if value.get("type") == "constructor" and type(value.get("kwargs")) is dict:
        names = value.get("id")
        told = names[-1] if type(names) is list and names and type(names[-1]) is str else ""
        return told, value["kwargs"]
    if type(value.get("data")) is dict and "content" in value["data"] and type(value.get("type")) is str:
        return value["type"], value["data"]
    return "", value


def _result(value: dict[str, Any], content: Any) -> Part:
    error = value.get("error")
    told = text_at(error, "message") if type(error) is dict else error if type(error) is str else ""
    more: dict[str, Any] = {}
    if type(error) is dict and type(error.get("type")) is str:
        more["error_type"] = error["type"]
    if content is None or (type(content) is str and not content and told):
        content = told
    failed = bool(told or more) or value.get("status") == "error" or value.get("is_error") is True
    name = text_at(value, "name", "function", "tool_name")
    return Part("result", visible(content), name, text_at(value, "tool_call_id", "call_id"), failed, more)
