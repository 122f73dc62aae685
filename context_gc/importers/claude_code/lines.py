"""Records of a Claude Code session -> lines: whom they speak for, their blocks, or why they are left out."""

from __future__ import annotations

from dataclasses import dataclass
from sys import intern
from typing import Any

from ...canonical import canonical
from ..files.document import kind_of
from ..files.fields import mapping, text
from .attachments import attached, told_by_others

ROLES = frozenset(("user", "assistant", "system"))
#: fields of a record that are asked for later; the others are let go of as it is read
FIELDS = frozenset(
    "type subtype timestamp uuid logicalParentUuid agentId parentToolUseID message attachment data isMeta"
    " isCompactSummary compactMetadata operation reason id name input tool_use_id is_error content output text"
    " toolUseResult".split()
)
REPORTED = ("agentId", "answers", "annotations", "plan")  #: of `toolUseResult`, which holds the whole result anew


@dataclass(slots=True)
class Line:
    """One record, as far as it is asked for.

    `role` is who speaks: user, assistant, system, other (not the user, though in their place), told (the app),
    opaque for what is not known, boundary for a compaction, or "" for what the model never sees.
    """

    number: int
    record: dict[str, Any]  #: what `needed` keeps of it
    role: str
    kind: str  #: what it is counted as when it is left out
    blocks: list[Any]
    uuid: str
    parent: str
    cwd: str
    session: str
    aside: bool  #: whether a subagent speaks
    first: bool  #: whether its record says that nothing precedes it
    typed: bool  #: whether a person typed it: only such lines can open a branch
    message: str  #: the id of the model's message that it is a part of


def needed(record: dict[str, Any]) -> dict[str, Any]:
    """What is asked for of a record later: a result stands twice in it."""
    kept = {field: value for field, value in record.items() if field in FIELDS}
    report = kept.get("toolUseResult")
    if type(report) is dict:
        kept["toolUseResult"] = {field: report[field] for field in REPORTED if field in report}
    return kept


def damage(record: dict[str, Any]) -> str:
    """What makes a user or assistant record unreadable, or ""."""
    if record.get("type") not in ("user", "assistant"):
        return ""
    message = record.get("message")
    if type(message) is not dict:
        found = f"is {kind_of(message)}, expected an object" if "message" in record else "is missing"
        return f"field 'message' {found}"
    content = message.get("content")
    if not isinstance(content, str | list):
        found = f"is {kind_of(content)}, expected a string or a list" if "content" in message else "is missing"
        return f"field 'message.content' {found}"
    return ""


def same_record(first: dict[str, Any], second: dict[str, Any]) -> bool:
    """Whether the second is a copy of the first, as a resumed session makes: its envelope may differ."""
    fields = ("type", "subtype", "message", "attachment", "data")
    return all(canonical(first.get(field)) == canonical(second.get(field)) for field in fields)


def classify(number: int, record: dict[str, Any], kept: dict[str, Any]) -> Line:
    """Sort one undamaged record, of which `kept` is needed later."""
    kind = record.get("type")
    kind = kind[:40] if type(kind) is str else "untyped record"
    role = ""
    blocks: list[Any] = []
    message = record.get("message")
    if kind == "progress":
        pass
    elif kind == "attachment":
        attachment = mapping(record.get("attachment"))
        kind = f"attachment/{_word(attachment.get('type'))}"
        role, blocks = attached(attachment) if attachment else ("", [])
    elif kind in ("tool_use", "tool_result"):
        role, blocks = ("assistant" if kind == "tool_use" else "user"), [_flat(kept, mapping(message))]
    elif kind == "system" and record.get("subtype") == "compact_boundary":
        role = "boundary"
    elif type(message) is dict:
        kind, role, blocks = _message(kind, record, message)
    elif kind == "system":
        kind = f"system/{_word(record.get('subtype'))}"
    parent = record.get("parentUuid", "")
    typed = role == "user" and _is_typed(record, blocks)
    answer = text(message.get("id")) if role == "assistant" and type(message) is dict else ""
    return Line(
        number,
        kept,
        role,
        kind,
        blocks,
        intern(text(record.get("uuid"))),
        intern(text(parent)),
        intern(text(record.get("cwd"))),
        intern(text(record.get("sessionId"))),
        record.get("isSidechain") is True,
        parent is None,
        typed,
        answer,
    )


def _message(kind: str, record: dict[str, Any], message: dict[str, Any]) -> tuple[str, str, list[Any]]:
    content = message.get("content")
    blocks = [{"type": "text", "text": content}] if type(content) is str else content
    speaker = message.get("role") if kind == "untyped record" else kind
    if record.get("isApiErrorMessage") is True:
        return "API error message", "", []
    if type(blocks) is not list or type(speaker) is not str or speaker not in ROLES:
        return kind, "opaque", [message]
    if speaker == "user" and told_by_others(record):
        speaker = "other"
    return (kind, speaker, blocks) if blocks else ("empty message", "", [])


def _flat(record: dict[str, Any], message: dict[str, Any]) -> dict[str, Any]:
    """A call or a result that is a record of its own, with what its message holds where it has no content itself."""
    own = any(record.get(field) is not None for field in ("content", "output", "text"))
    return record if own or "content" not in message else {**record, "content": message["content"]}


def _is_typed(record: dict[str, Any], blocks: list[Any]) -> bool:
    if record.get("type") != "user" or record.get("isMeta") is True or record.get("isCompactSummary") is True:
        return False
    for block in blocks:
        if type(block) is dict and block.get("type") == "tool_result":
            return False
        words = block.get("text") if type(block) is dict else block
        if type(words) is str and words.startswith(("[Request interrupted by user", "<local-command", "<task-notif")):
            return False
    return True


def _word(value: Any) -> str:
    return value[:40] if type(value) is str else "none"
