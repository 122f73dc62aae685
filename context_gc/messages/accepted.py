"""Accepted: what callers put into lists of messages (also objects of the official SDKs) as plain JSON, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..canonical import own
from ..errors import InvalidMessages
from ..importers.provider_messages.items import is_item
from ..importers.provider_messages.shapes import RESPONSES, provider
from .dialect import Record, block_of, kind_of_block

MARK = "cache_control"
_ROLES = frozenset("system developer user assistant tool function".split())
_DEEPEST = 200


def accepted(message: Any, place: int) -> Record:
    """A message as private JSON without cache marks. Raises InvalidMessages, which names its place."""
    where = f"message {place}"
    try:
        found = own(plain(message))
    except (TypeError, ValueError) as error:
        raise InvalidMessages(where, f"{error}", "give JSON values, or objects of the SDK") from error
    if type(found) is not dict:
        raise InvalidMessages(where, f"a {type(message).__name__}, expected an object with a role", "give messages")
    role, kind = found.get("role"), found.get("type")
    if role is None and type(kind) is not str:
        raise InvalidMessages(where, "it has no 'role'", "name who says it: " + ", ".join(sorted(_ROLES)))
    if role is not None and role not in _ROLES:
        raise InvalidMessages(where, f"role {role!r} is none", "use one of " + ", ".join(sorted(_ROLES)))
    found.pop(MARK, None)
    for block in _blocks(found):
        block.pop(MARK, None)
    return found


def format_of_messages(messages: Sequence[Record]) -> str:
    """The format of a conversation; without a mark of any provider it is OpenAI Chat's."""
    for message in messages:
        if is_item(message) or "role" not in message:
            return RESPONSES
    return provider(messages, {})


def marks(message: Any) -> list[Record]:
    """The blocks of a message that have a cache mark."""
    return [block for block in _blocks(plain(message)) if MARK in block]


def with_marks(record: Record, marked: Sequence[Record]) -> Record:
    """A message that was changed, with the cache marks of blocks: on the like of each, else on its last block."""
    content = record.get("content")
    if marked and type(content) is str and content.strip():
        record["content"] = content = [{"type": "text", "text": content}]
    blocks = [block for block in (content if type(content) is list else ()) if type(block) is dict]
    for block in marked:
        alike = [each for each in blocks if _key(each) == _key(block)]
        for each in (alike or blocks)[-1:]:
            each[MARK] = block[MARK]
    return record


def _key(block: Record) -> tuple[Any, ...]:
    kind = kind_of_block(block)
    return (kind, block.get("id"), block.get("tool_use_id"), block.get("text"))


def plain(value: Any, depth: int = 0) -> Any:
    """A value with objects of the SDKs (pydantic models) as the JSON that they would send."""
    if depth > _DEEPEST:
        return value
    dump = getattr(value, "model_dump", None)
    if dump is not None and not isinstance(value, type):
        return dump(mode="json", by_alias=True, exclude_unset=True)
    if isinstance(value, Mapping):
        return {key: plain(part, depth + 1) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part, depth + 1) for part in value]
    return value


def _blocks(message: Any) -> list[Record]:
    """The content blocks of a message, and those in its results."""
    found: list[Record] = []
    content = block_of(message).get("content")
    for block in content if type(content) is list else ():
        if type(block) is dict:
            found.append(block)
            inner = block.get("content")
            found += [each for each in (inner if type(inner) is list else ()) if type(each) is dict]
    return found
