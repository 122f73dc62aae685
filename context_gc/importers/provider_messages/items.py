"""Items of the OpenAI Responses API -> events."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...canonical import canonical
from ..files.document import kind_of
from ..recording.recorder import Recorder
from .blocks import identifier
from .envelope import Path, Telling
from .events import Key, flat_text, message_key, tell_message

#: kinds of call -> the name of the tool ("" where the item tells it) and the field that holds what was asked
_CALLS = {
    "function_call": ("", "arguments"),
    "custom_tool_call": ("", "input"),
    "mcp_call": ("", "arguments"),
    "local_shell_call": ("local_shell", "action"),
    "shell_call": ("shell", "action"),
    "apply_patch_call": ("apply_patch", "operation"),
    "computer_call": ("computer", "action"),
    "web_search_call": ("web_search", "action"),
    "file_search_call": ("file_search", "queries"),
    "code_interpreter_call": ("code_interpreter", "code"),
    "tool_search_call": ("tool_search", "arguments"),
}
#: kinds of call whose item holds the answer as well -> its field
_ANSWERED = {"mcp_call": "output", "file_search_call": "results", "code_interpreter_call": "outputs"}
#: other kinds -> a field that they have
_OTHERS = {
    "reasoning": "summary", "compaction": "encrypted_content", "compaction_summary": "encrypted_content",
    "image_generation_call": "result", "mcp_list_tools": "server_label", "mcp_approval_request": "server_label",
    "mcp_approval_response": "approval_request_id",
}  # fmt: skip
_TEXTS = frozenset(("input_text", "output_text", "input_image", "input_file"))


def is_item(record: Mapping[str, Any]) -> bool:
    """Whether an object is an item that only the Responses API has."""
    kind = record.get("type")
    if type(kind) is not str or "record_type" in record:
        return False
    if kind in _CALLS or kind.removesuffix("_output") in _CALLS:
        return "call_id" in record or "id" in record
    if kind in _OTHERS:
        return _OTHERS[kind] in record
    content = record.get("content")
    blocks = content if kind == "message" and type(content) is list else ()
    return any(type(block) is dict and _kind(block) in _TEXTS for block in blocks)


def tell_item(recorder: Recorder, item: Any, origin: Mapping[str, Any], fresh: bool = False) -> str:
    """Append the events of an item; returns what is wrong with it, or ""."""
    if type(item) is not dict:
        return f"{kind_of(item)} where an item was expected"
    kind = _kind(item)
    if "role" in item or kind == "message":
        return tell_message(recorder, item, origin, fresh)
    if not kind:
        return "field 'type' is missing"
    telling = Telling(recorder, item, origin, identifier(item.get("id")))
    if kind in _CALLS:
        _tell_call(telling, item, kind)
    elif kind.removesuffix("_output") in _CALLS:
        _tell_output(telling, item)
    elif kind == "reasoning":
        _tell_reasoning(telling, item)
    elif kind in ("compaction", "compaction_summary"):
        recorder.open_window("auto")
        telling.placeholder("[encrypted summary]", item, (), "summary")
    elif kind == "image_generation_call":
        telling.placeholder("[image]", item, (), "image")
    else:
        telling.opaque(item, ())
    telling.done()
    return ""


def item_key(item: Any) -> Key:
    """What makes two items the same item, whatever the API added; () for reasoning, which may be left out."""
    if type(item) is not dict:
        return ("?", canonical(item))
    kind = _kind(item)
    if "role" in item or kind == "message":
        return message_key(item)
    if kind == "reasoning":
        return ()
    if kind in _CALLS:
        tool, field = _CALLS[kind]
        given = item.get(field)
        name = tool or identifier(item.get("name"))
        return ("call", ("call", _call_id(item), name, given if type(given) is str else canonical(given)))
    if kind.removesuffix("_output") in _CALLS:
        return ("result", _call_id(item), flat_text(item.get("output")))
    return (kind or "?", canonical(item))


def _kind(item: Mapping[str, Any]) -> str:
    kind = item.get("type")
    return kind if type(kind) is str else ""


def _call_id(item: Mapping[str, Any]) -> str:
    return identifier(item.get("call_id")) or identifier(item.get("id"))


def _tell_call(telling: Telling, item: dict[str, Any], kind: str) -> None:
    tool, field = _CALLS[kind]
    more = {"server_label": item["server_label"]} if type(item.get("server_label")) is str else {}
    at: Path | None = (field,) if field in item else None
    telling.call(_call_id(item), tool or identifier(item.get("name")), item.get(field, {}), at, **more)
    answer = _ANSWERED.get(kind, "")
    failed = item.get("error")
    if item.get(answer) is not None:
        telling.result(_call_id(item), item[answer], (answer,), bool(failed))
    elif failed:
        telling.result(_call_id(item), failed, ("error",), True)


def _tell_output(telling: Telling, item: dict[str, Any]) -> None:
    output = item.get("output", "")
    codes = [
        part["outcome"].get("exit_code")
        for part in (output if type(output) is list else ())
        if type(part) is dict and type(part.get("outcome")) is dict
    ]
    told = [code for code in codes if type(code) is int]
    more = {"exit_code": next((code for code in told if code), 0)} if told else {}
    telling.result(
        _call_id(item), output, ("output",) if "output" in item else None, item.get("status") == "failed", **more
    )


def _tell_reasoning(telling: Telling, item: dict[str, Any]) -> None:
    for field in ("summary", "content"):
        parts = item.get(field)
        for place, part in enumerate(parts if type(parts) is list else ()):
            if type(part) is dict and type(part.get("text")) is str:
                telling.think(part["text"], (field, place, "text"))
    if not telling.has_events and item.get("encrypted_content"):
        telling.placeholder("[encrypted reasoning]", item, (), "thinking", importance="temporary")
