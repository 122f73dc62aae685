"""Parts of Gemini contents, as its API takes them and Gemini CLI stores them -> events."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from ...canonical import readable
from ..files.fields import mapping, text
from ..recording.recorder import VOICES, Recorder

SPEAKERS = {"user": "user", "model": "assistant", "gemini": "assistant", "assistant": "assistant", "system": "system"}
#: what a part can hold, by the key that holds it
HOLDS = ("text", "functionCall", "functionResponse", "inlineData", "fileData", "executableCode", "codeExecutionResult")

SNAPSHOT = "<state_snapshot>"
CONTEXT = ("<session_context>", "This is the Gemini CLI. We are setting up the context for our chat.")
EDITOR = ("Here is the user's editor context as a JSON", "Here is a summary of changes in the user's editor context")


class Speech:
    """Appends the parts of messages to a recorder.

    Text that Gemini CLI writes in the user's name is told apart by how it begins: the session's context is a
    constraint, the editor's state an environment block, a `<state_snapshot>` the summary of a compaction.
    """

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder

    def add(
        self, voice: str, content: Any, origin: dict[str, Any], name: str, known: Collection[str] = (), **more: Any
    ) -> None:
        """The parts of one message. `known`: ids of calls whose call and result are taken from elsewhere."""
        parts = parts_of(content)
        begin = len(self.recorder.events)
        for index, part in enumerate(parts):
            where = {**origin, "block": index} if len(parts) > 1 else origin
            stem = f"{name}.{index}" if name and len(self.recorder.events) > begin else name
            self._part(voice, part, where, stem, known, more)

    def _part(
        self, voice: str, part: Any, origin: dict[str, Any], name: str, known: Collection[str], more: dict[str, Any]
    ) -> None:
        if type(part) is str:
            part = {"text": part}
        held = mapping(part)
        call, response = mapping(held.get("functionCall")), mapping(held.get("functionResponse"))
        code, outcome = mapping(held.get("executableCode")), mapping(held.get("codeExecutionResult"))
        if type(held.get("text")) is str:
            self._text(voice, held, origin, name, more)
        elif text(call.get("id") or response.get("id")) in known and (call or response):
            pass
        elif call:
            self._call(text(call.get("id")), text(call.get("name")), call.get("args"), origin, name, held, more)
        elif response:
            result, failed = answer([held])
            self.recorder.result(text(response.get("id")), result, origin, failed)
        elif code:
            self._call("", "executableCode", code, origin, name, held, more)
        elif outcome:
            failed = outcome.get("outcome") not in (None, "OUTCOME_OK")
            self.recorder.result("", outcome.get("output", ""), origin, failed)
        elif "inlineData" in held or "fileData" in held:
            media = text(mapping(held.get("inlineData", held.get("fileData"))).get("mimeType"))
            kind, own = VOICES[voice]
            fields = {"content": f"[image {media}]" if media else "[image]", "tags": [*(own or (voice,)), "image"]}
            self.recorder.add(kind, fields | {"block": part} | more, origin, name)
        elif held or part not in ({}, None):
            self.recorder.add("decision", {"content": readable(part), "tags": ["opaque"]} | more, origin, name)

    def _call(
        self, provided: str, tool: str, given: Any, origin: dict[str, Any], name: str, part: dict[str, Any],
        more: dict[str, Any],
    ) -> None:  # fmt: skip
        signed = {"signature": part["thoughtSignature"]} if part.get("thoughtSignature") else {}
        given = {} if given is None else given
        self.recorder.call(provided, tool, given, origin, provided or name, **signed, **more)

    def _text(self, voice: str, part: dict[str, Any], origin: dict[str, Any], name: str, more: dict[str, Any]) -> None:
        said, start = part["text"], part["text"].lstrip()[:200]
        if part.get("thought") is True:
            signed = {"signature": part["thoughtSignature"]} if part.get("thoughtSignature") else {}
            self.recorder.think(said, origin, name, **signed, **more)
        elif voice != "user":
            self.recorder.say(voice, said, origin, name, **more)
        elif SNAPSHOT in said:
            self.recorder.say("assistant", said, origin, name, tags=("summary",), **more)
        elif start.startswith(CONTEXT):
            self.recorder.say("system", said, origin, name, tags=("environment",), **more)
        elif start.startswith(EDITOR):
            self.recorder.say("assistant", said, origin, name, tags=("environment",), **more)
        else:
            self.recorder.say("user", said, origin, name, **more)


def parts_of(content: Any) -> list[Any]:
    """The parts of a message's content: text, a part, or a list of both."""
    if content is None:
        return []
    return content if type(content) is list else [content]


def is_snapshot(content: Any) -> bool:
    """Whether a content holds the summary that Gemini CLI makes when it compresses a chat."""
    return any(
        SNAPSHOT in (part if type(part) is str else text(mapping(part).get("text"))) for part in parts_of(content)
    )


def answer(parts: Iterable[Any]) -> tuple[Any, bool]:
    """What a function's response says, and whether it is an error: its one text, else its blocks.

    `{"output": "…"}` and `{"error": "…"}` are unwrapped to their text; files beside it are image blocks.
    """
    blocks: list[Any] = []
    failed = False
    for part in parts:
        held = mapping(part)
        response = held.get("functionResponse")
        if type(response) is dict:
            told = response.get("response")
            failed = failed or (type(told) is dict and "error" in told and "output" not in told)
            if type(told) is dict and len(told) == 1 and type(told.get("output", told.get("error"))) is str:
                told = told.get("output", told.get("error"))
            blocks.append("" if told is None else told)
            blocks += [_image(each) for each in parts_of(response.get("parts"))]
        else:
            blocks.append(held["text"] if type(held.get("text")) is str else _image(part))
    if len(blocks) < 2:
        return (blocks[0] if blocks else ""), failed
    return [{"type": "text", "text": block} if type(block) is str else block for block in blocks], failed


def _image(part: Any) -> Any:
    """A file as the block that stands for an image in results, else the part as it is."""
    for key, data in (("inlineData", "data"), ("fileData", "fileUri")):
        file = mapping(mapping(part).get(key))
        if file:
            return {"type": "image", "source": {"media_type": file.get("mimeType"), data: file.get(data)}}
    return part
