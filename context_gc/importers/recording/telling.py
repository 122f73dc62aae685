"""Telling: parts of a message, as `dialects` reads them, -> events."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..dialects.messages import Part
from .recorder import Recorder


def tell(
    recorder: Recorder, voice: str, part: Part, origin: Mapping[str, Any], name: str = "", **more: Any
) -> int | None:
    """Append the event of a part; None when there is none because its text is blank."""
    fields = {**part.more, **more}
    if part.kind == "text":
        return recorder.say(voice, part.value, origin, name, **fields)
    if part.kind == "thinking":
        return recorder.think(part.value, origin, name, **fields)
    if part.kind == "media":
        return recorder.say(voice, part.value, origin, name, **fields)
    if part.kind == "call":
        return recorder.call(part.call, part.name, part.value, origin, name, **fields)
    if part.kind == "result":
        return recorder.result(part.call, part.value, origin, part.failed, **fields)
    fields["tags"] = [*fields.get("tags", ()), "opaque"]
    return recorder.add("decision", {"content": part.value, **fields}, origin, name)
