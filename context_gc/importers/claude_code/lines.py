"""Records of a Claude Code session -> lines: whom they speak for, their blocks, or why they are left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...canonical import canonical, readable
from ..files.document import kind_of

ROLES = frozenset(("user", "assistant", "system"))
#: attachments that carry text to the model and have no event type of their own (read in logs, not in a source)
OPAQUE_ATTACHMENTS = frozenset(
    ("file", "edited_text_file", "hook_additional_context", "hook_blocking_error", "invoked_skills")
)


@dataclass(slots=True)
class Line:
    """One record. `role` is user, assistant, system, opaque, boundary, or "" for what the model never sees."""

    number: int
    record: dict[str, Any]
    role: str
    kind: str  #: what it is counted as when it is left out
    blocks: list[Any]
    uuid: str
    parent: str
    cwd: str
    typed: bool  #: whether a person typed it: only such lines can open a branch


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


def classify(number: int, record: dict[str, Any]) -> Line:
    """Sort one undamaged record."""
    kind = record.get("type")
    kind = kind[:40] if type(kind) is str else "untyped record"
    role = ""
    blocks: list[Any] = []
    message = record.get("message")
    if kind == "progress":
        pass
    elif kind == "attachment":
        kind, role, blocks = _attachment(record)
    elif kind in ("tool_use", "tool_result"):
        role, blocks = ("assistant" if kind == "tool_use" else "user"), [record]
    elif kind == "system" and record.get("subtype") == "compact_boundary":
        role = "boundary"
    elif type(message) is dict:
        kind, role, blocks = _message(kind, record, message)
    elif kind == "system":
        kind = f"system/{_word(record.get('subtype'))}"
    uuid, parent, cwd = record.get("uuid"), record.get("parentUuid"), record.get("cwd")
    typed = role == "user" and _is_typed(record, blocks)
    return Line(number, record, role, kind, blocks, _text(uuid), _text(parent), _text(cwd), typed)


def _message(kind: str, record: dict[str, Any], message: dict[str, Any]) -> tuple[str, str, list[Any]]:
    content = message.get("content")
    blocks = [{"type": "text", "text": content}] if type(content) is str else content
    speaker = message.get("role") if kind == "untyped record" else kind
    if record.get("isApiErrorMessage") is True:
        return "API error message", "", []
    if type(blocks) is not list or type(speaker) is not str or speaker not in ROLES:
        return kind, "opaque", [message]
    return (kind, speaker, blocks) if blocks else ("empty message", "", [])


def _attachment(record: dict[str, Any]) -> tuple[str, str, list[Any]]:
    attachment = record.get("attachment")
    what = _word(attachment.get("type")) if type(attachment) is dict else "none"
    kind = f"attachment/{what}"
    if type(attachment) is not dict:
        return kind, "", []
    if what == "queued_command":  # typed while the agent was at work
        prompt = attachment.get("prompt")
        return kind, "user", prompt if type(prompt) is list else [{"type": "text", "text": _text(prompt)}]
    if what == "nested_memory":  # a CLAUDE.md that came into scope
        memory = attachment.get("content")
        text = memory.get("content") if type(memory) is dict else memory
        return kind, "system", [{"type": "text", "text": text if type(text) is str else readable(memory)}]
    return (kind, "opaque", [attachment]) if what in OPAQUE_ATTACHMENTS else (kind, "", [])


def _is_typed(record: dict[str, Any], blocks: list[Any]) -> bool:
    if record.get("type") != "user" or record.get("isMeta") is True or record.get("isCompactSummary") is True:
        return False
    for block in blocks:
        if type(block) is dict and block.get("type") == "tool_result":
            return False
        text = block.get("text") if type(block) is dict else block
        if type(text) is str and text.startswith(("[Request interrupted by user", "<local-command", "<task-notif")):
            return False
    return True


def _text(value: Any) -> str:
    return value if type(value) is str else ""


def _word(value: Any) -> str:
    return value[:40] if type(value) is str else "none"
