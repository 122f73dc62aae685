"""Streamed chunks of LangChain messages -> whole messages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..dialects.messages import opened, text_at

Entry = tuple[dict[str, Any], Any]  # where a message stands, and the message as it was logged


def joined(entries: Iterable[Entry]) -> list[Entry]:
    """The entries with the chunks of each message, known by its id, put together where the first one stood.

    Chunks without an id belong to the chunk right before them.
    """
    found: list[tuple[dict[str, Any], Any, list[dict[str, Any]]]] = []
    known: dict[str, list[dict[str, Any]]] = {}
    last: list[dict[str, Any]] | None = None
    for origin, value in entries:
        kind, inner = opened(value) if type(value) is dict else ("", {})
        if not (kind or text_at(value, "type")).endswith("Chunk"):
            found.append((origin, value, []))
            last = None
            continue
        name = text_at(inner, "id")
        chunks = known.get(name) if name else last
        if chunks is None:
            chunks = []
            found.append((origin, value, chunks))
        if name:
            known[name] = chunks
        chunks.append(inner)
        last = chunks
    return [(origin, _joined(chunks, value) if len(chunks) > 1 else value) for origin, value, chunks in found]


def _joined(chunks: Sequence[Mapping[str, Any]], first: Mapping[str, Any]) -> dict[str, Any]:
    kind = opened(first)[0] or text_at(first, "type")  # type: ignore[arg-type]
    whole: dict[str, Any] = {"type": kind.removesuffix("Chunk"), "content": _content(chunks)}
    for chunk in chunks:
        for key, value in chunk.items():
            if key not in ("type", "content", "tool_calls", "tool_call_chunks") and value not in (None, "", [], {}):
                whole[key] = value
    calls = _calls(chunks)
    return whole | ({"tool_calls": calls} if calls else {})


def _content(chunks: Sequence[Mapping[str, Any]]) -> Any:
    """Text joined; of blocks those with the same index, or of the same kind side by side, joined."""
    contents = [chunk.get("content") for chunk in chunks]
    if all(type(content) is str or content is None for content in contents):
        return "".join(content or "" for content in contents)
    blocks: list[dict[str, Any]] = []
    for content in contents:
        listed = content if type(content) is list else [content] if content else []
        for block in listed:
            block = {"type": "text", "text": block} if type(block) is str else block
            if type(block) is not dict:
                continue
            before = blocks[-1] if blocks else {}
            text = next((key for key in ("text", "thinking", "reasoning") if type(block.get(key)) is str), "")
            same = before.get("type") == block.get("type") and before.get("index") == block.get("index")
            if text and same and type(before.get(text)) is str:
                before[text] += block[text]
            elif text or text_at(block, "type") not in ("tool_use", "input_json_delta"):
                blocks.append(dict(block))
    return blocks


def _calls(chunks: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Calls of the chunks: pieces with one index are one call, whose arguments are JSON text."""
    pieces: dict[object, dict[str, Any]] = {}
    whole: list[dict[str, Any]] = []
    for chunk in chunks:
        listed, calls = chunk.get("tool_call_chunks"), chunk.get("tool_calls")
        for piece in listed if type(listed) is list else ():
            if type(piece) is not dict:
                continue
            place = piece.get("index") if type(piece.get("index")) is int else len(pieces)
            call = pieces.setdefault(place, {"id": "", "name": "", "args": ""})
            for key in ("name", "args"):
                call[key] += text_at(piece, key)
            call["id"] = call["id"] or text_at(piece, "id")
        if not listed and type(calls) is list:
            whole += [call for call in calls if type(call) is dict and call.get("name")]
    return list(pieces.values()) or whole
