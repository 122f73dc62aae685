"""Render: an event to its line in the prompt, a run of cut events to its stub. Pure functions of what they get."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .canonical import readable
from .events import PLAIN_SIZE, Event, label
from .semantics import path_of

_PAYLOAD = ("text", "output", "stdout", "stderr", "diff", "body")  # what an importer carries under a line
_WITH_CONTENT = ("decision", "requirement", "constraint", "verification", "abandon")
_TEXT_BLOCKS = frozenset(("text", "input_text", "output_text"))
_SHOWN_TESTS = 2


def line(event: Event) -> str:
    """The text of an event in the prompt, with its payload under it; "" when it prints nothing.

    Text that looks like a stub is escaped with a backslash, so that no event can forge one.
    """
    kind = event["type"]
    text = event["content"] if kind == "decision" else _LINES[kind](event)
    if len(event) - ("parent_id" in event) > PLAIN_SIZE[kind]:
        text = _with_payload(event, kind, text)
    return text if text.isascii() and "[RECEIPT" not in text else escape(text)


def escape(text: str) -> str:
    """Text that can be sent and that forges no stub: stub-like text gets a backslash, a lone surrogate U+FFFD."""
    return sendable(text).replace("[RECEIPT", "\\[RECEIPT")


def sendable(text: str) -> str:
    """Text that has a UTF-8 form: half pairs that belong together are joined, others are U+FFFD."""
    return text if text.isascii() else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def images(event: Event) -> int:
    """How many images a model would see in this event; each costs tokens beyond its placeholder's."""
    value = event.get("result") if event["type"] == "tool_result" else event.get("images")
    return sum(map(_is_image, value)) if type(value) is list else 0


def stub(labels: Sequence[str], notes: Sequence[str] = ()) -> str:
    """The line that stands for a run of cut events: the first receipt's label and how many more there are.

    `notes` (escaped) are the reasons that abandoned branches in the run were given up for, or descriptions.
    """
    text = f"[RECEIPT {labels[0]}]" + (f" +{len(labels) - 1}" if len(labels) > 1 else "")
    if notes:
        text += " " + "; ".join(" ".join(note.split()) for note in notes)
    return text


def describe(event: Event, stage: str) -> str:
    """What a described stub tells of the event it begins with: its tool or type, its path, the stage."""
    path = path_of(event)
    what = event["tool_name"] if event["type"] == "tool_call" else event["type"]
    return escape(f"{what}{' ' + path if path else ''}, {stage}")


def _with_payload(event: Event, kind: str, text: str) -> str:
    parts = [text] if text else []
    if "content" in event and kind not in _WITH_CONTENT:
        parts.append(_plain(event["content"]))
    parts += [_plain(event[key]) for key in _PAYLOAD if event.get(key) not in (None, "")]
    return "\n".join(part for part in parts if part)


def _plain(value: Any) -> str:
    """A value as a model would see it: text as it is, text blocks joined, images as placeholders, else JSON."""
    if type(value) is str:
        return value
    if type(value) is list and value and all(map(_is_block, value)):
        return "\n".join(map(_block, value))
    return readable(value)


def _is_block(value: Any) -> bool:
    return type(value) is dict and (
        (value.get("type") in _TEXT_BLOCKS and type(value.get("text")) is str) or _is_image(value)
    )


def _is_image(value: Any) -> bool:
    return type(value) is dict and value.get("type") in ("image", "input_image", "image_url")


def _block(block: Mapping[str, Any]) -> str:
    if block["type"] in _TEXT_BLOCKS:
        text: str = block["text"]
        return text
    source = block.get("source")
    media = source.get("media_type") if type(source) is dict else None
    return f"[image {media}]" if type(media) is str else "[image]"


def _call(event: Event) -> str:
    given = event["arguments"]
    return f"CALL {event['tool_name']}({given if type(given) is str else readable(given)})"


def _tests(event: Event) -> str:
    names = event["test_names"]
    more = f", +{len(names) - _SHOWN_TESTS} more" if len(names) > _SHOWN_TESTS else ""
    named = ", ".join(names[:_SHOWN_TESTS]) + more
    return f"TEST {named or '(all)'} — {event['passed_count']} passed, {event['failed_count']} failed"


def _error(event: Event) -> str:
    related = event.get("related_to")
    return f"ERROR: {event['message']}" + (f" (related to {label(related)})" if related else "")


_LINES: Mapping[str, Callable[[Event], str]] = {
    "set_var": lambda e: f"{_plain(e['key'])} = {_plain(e['value'])}",
    "tool_call": _call,
    "tool_result": lambda e: "RESULT " + (e["result"] if type(e["result"]) is str else _plain(e["result"])),
    "abandon": lambda e: e["content"] if type(e.get("content")) is str else "",
    "decision": lambda e: e["content"],
    "file_read": lambda e: f"READ {e['path']}",
    "file_edit": lambda e: f"EDIT {e['path']} (diff {e['diff_hash'][:8]})",
    "command_run": lambda e: f"RUN {e['command']} -> exit {e['exit_code']}",
    "test_run": _tests,
    "build_run": lambda e: f"BUILD -> exit {e['exit_code']}",
    "git_diff": lambda e: f"DIFF (diff {e['diff_hash'][:8]}) on {', '.join(e['files_changed'])}",
    "git_commit": lambda e: f"COMMIT {e['commit_hash'][:8]}: {e['message']}",
    "error": _error,
    "artifact_created": lambda e: f"ARTIFACT {e['artifact_type']} created at {e['path']}",
    "requirement": lambda e: f"REQUIREMENT: {e['content']}",
    "constraint": lambda e: f"CONSTRAINT: {e['content']}",
    "verification": lambda e: f"VERIFICATION: {e['content']} — {'passed' if e['passed'] else 'failed'}",
}
