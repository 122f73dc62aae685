"""Palette: the colours, shapes and words of the inspector as data, and the kind that an event is drawn as.

Every meaning has a shape or a word beside its colour. All pairs of fill and text reach contrast AA.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..events import Event
from ..semantics import Status, semantics


@dataclass(frozen=True, slots=True)
class Paint:
    """Fill and text of one look in both themes, and its shape in the graph (a vis-network name)."""

    light_fill: str
    light_text: str
    dark_fill: str
    dark_text: str
    shape: str = "box"
    radius: int = 2  #: of the corners, in px
    border: int = 1  #: width in px


#: kind -> paint, in the order of the graph's lanes from top to bottom
KINDS: Mapping[str, Paint] = {
    "system": Paint("#005B8E", "#FFFFFF", "#7FBDE6", "#000000", radius=9, border=2),
    "user": Paint("#0072B2", "#FFFFFF", "#4FA3D9", "#000000", radius=9),
    "thinking": Paint("#D9EFE7", "#1F2937", "#1F4A3D", "#FFFFFF", radius=9),
    "decision": Paint("#00795B", "#FFFFFF", "#3FBF97", "#000000", radius=9),
    "call": Paint("#B65F00", "#FFFFFF", "#F0A24A", "#000000"),
    "result": Paint("#FCE7C8", "#1F2937", "#5A4320", "#FFFFFF"),
    "error": Paint("#B3261E", "#FFFFFF", "#F2867E", "#000000"),
    "state": Paint("#6B4FA0", "#FFFFFF", "#B19CE0", "#000000", shape="ellipse"),
}
PRUNED = Paint("#E5E7EB", "#4B5563", "#374151", "#D1D5DB")
RECEIPT = Paint("#FFFFFF", "#8A2F6B", "#111827", "#E48BC4", shape="diamond", border=2)

LIGHT = {"accent": "#4338CA", "text": "#1F2937", "line": "#9CA3AF", "supersedes": "#6B4FA0", "abandons": "#B3261E"}
DARK = {"accent": "#A5B4FC", "text": "#E5E7EB", "line": "#6B7280", "supersedes": "#B19CE0", "abandons": "#F2867E"}

#: status -> its mark before a label and the word for it
MARKS: Mapping[str, str] = {
    "pruned": "✂", "clipped": "✂", "waiting": "◌", "protected": "🔒\ufe0e", "kept": "•", "live": "",
}  # fmt: skip
STATUSES: Mapping[str, str] = {
    "live": "live: no stage found it dead",
    "kept": "kept: found dead, but it stays",
    "protected": "protected: it stays whatever is found",
    "waiting": "waiting: found dead, goes at the next pass",
    "clipped": "clipped: its first and last lines stay, a receipt stands for the rest",
    "pruned": "pruned: a receipt stands for it",
}

_OF_TYPE: Mapping[str, str] = {
    "requirement": "user", "constraint": "system", "decision": "decision", "verification": "decision",
    "abandon": "decision", "set_var": "state", "tool_call": "call", "tool_result": "result", "file_read": "result",
    "file_edit": "call", "command_run": "call", "test_run": "result", "build_run": "result", "git_diff": "result",
    "git_commit": "call", "error": "error", "artifact_created": "call",
}  # fmt: skip


def kind_of(event: Event) -> str:
    """The kind that an event is drawn as: one of KINDS."""
    kind = event["type"]
    if event.get("exit_code") or event.get("is_error") is True or event.get("passed") is False:
        return "error"
    if kind == "decision" and "thinking" in (event.get("tags") or ()):
        return "thinking"
    if kind == "tool_call" and isinstance(semantics(event), Status):
        return "state"
    return _OF_TYPE[kind]
