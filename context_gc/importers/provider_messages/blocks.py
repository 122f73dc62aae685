"""Content of provider messages (text, or blocks as OpenAI and Anthropic write them) -> events."""

from __future__ import annotations

from typing import Any

from .envelope import MEDIA, Path, Telling

#: what a summary begins with that stands for what a compaction took out of the context
SUMMARIES = (
    "This session is being continued from a previous conversation",
    "<summary>",
    "<context_summary>",
    "<conversation_summary>",
    "<state_snapshot>",
)
_TEXTS = frozenset(("text", "input_text", "output_text", "summary_text", "reasoning_text"))


def tell_content(telling: Telling, voice: str, content: Any, at: Path, fresh: bool = False) -> None:
    """The events of a message's content. `fresh`: it opens a window, so its text may be a summary."""
    if type(content) is str:
        _tell_text(telling, voice, content, at, fresh)
        return
    for place, block in enumerate(content if type(content) is list else ()):
        if type(block) is str:
            _tell_text(telling, voice, block, (*at, place), fresh)
        elif type(block) is dict:
            _tell_block(telling, voice, block, (*at, place), fresh)
        else:
            telling.opaque(block, (*at, place))


def text_of(content: Any) -> str:
    """The text of a content; "" where it is none."""
    if type(content) is not list:
        return content if type(content) is str else ""
    texts = (block.get("text") if type(block) is dict else block for block in content)
    return "\n".join(text for text in texts if type(text) is str)


def identifier(value: Any) -> str:
    """An id, or "" for what is none."""
    return value if type(value) is str else ""


def _tell_block(telling: Telling, voice: str, block: dict[str, Any], at: Path, fresh: bool) -> None:
    kind = block.get("type")
    kind = kind if type(kind) is str else ""
    text = block.get("text")
    if kind in _TEXTS and type(text) is str:
        _tell_text(telling, voice, text, (*at, "text"), fresh)
    elif kind == "thinking" and type(block.get("thinking")) is str:
        signed = {"signature": block["signature"]} if block.get("signature") else {}
        telling.think(block["thinking"], (*at, "thinking"), **signed)
    elif kind == "redacted_thinking":
        telling.placeholder("[redacted thinking]", block, at, "thinking", importance="temporary")
    elif kind == "refusal" and type(block.get("refusal")) is str:
        telling.say(voice, block["refusal"], (*at, "refusal"), tags=("refusal",))
    elif kind == "compaction":
        _tell_compaction(telling, block, at)
    elif kind.endswith("tool_use"):
        given = (*at, "input") if "input" in block else None
        name = identifier(block.get("name"))
        telling.call(identifier(block.get("id")), name, block.get("input", {}), given, **_of_server(block))
    elif kind.endswith("tool_result"):
        _tell_result(telling, block, at)
    elif kind in MEDIA:
        telling.media(voice, block, at)
    else:
        telling.opaque(block, at)


def _tell_text(telling: Telling, voice: str, text: str, at: Path, fresh: bool) -> None:
    if voice != "user":
        telling.say(voice, text, at)
    elif text.startswith("<system-reminder>") and text.rstrip().endswith("</system-reminder>"):
        telling.say("system", text, at)
    elif fresh and text.lstrip().startswith(SUMMARIES):
        telling.say("assistant", text, at, tags=("summary",))
    else:
        telling.say(voice, text, at)


def _tell_compaction(telling: Telling, block: dict[str, Any], at: Path) -> None:
    """The summary that the API itself wrote: what came before it does not reach the model any more."""
    telling.recorder.open_window("auto")
    if type(block.get("content")) is str:
        telling.say("assistant", block["content"], (*at, "content"), tags=("summary",))
    else:
        telling.placeholder("[encrypted summary]", block, at, "summary")


def _tell_result(telling: Telling, block: dict[str, Any], at: Path) -> None:
    content = block.get("content", "")
    inner = content.get("type") if type(content) is dict else None
    failed = block.get("is_error") is True or (type(inner) is str and inner.endswith("_error"))
    held = (*at, "content") if "content" in block else None
    telling.result(identifier(block.get("tool_use_id")), content, held, failed)


def _of_server(block: dict[str, Any]) -> dict[str, Any]:
    """Which MCP server a call went to."""
    server = block.get("server_name")
    return {"server_name": server} if type(server) is str else {}
