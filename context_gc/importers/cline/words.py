"""Words of Cline's and Roo's harness in a message to the model: what a text is for, and what a person says in it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from ..dialects.messages import Part

#: tools whose answers hold what a person said
ASKING = frozenset(
    "ask_followup_question attempt_completion condense new_task plan_mode_respond summarize_task".split()
)

_HEADER = re.compile(r"\[([a-z][a-z0-9_]*)(?=[\] ]).{0,4000}?\] Result:(?: \(see image below\))?\s*", re.DOTALL)
_NOT_RUN = re.compile(r"(?:Tool|Skipping tool) \[([a-z][a-z0-9_]*).{0,4000}?\]", re.DOTALL)
_DENIED = re.compile(r"The user denied this operation|\"status\":\s*\"denied\"")
_FAILED = re.compile(r"The tool execution failed\b|Error executing |\{\"status\":\s*\"error\"")
_WORDS = re.compile(r"<(feedback|user_message|answer)>\s*(.*?)\s*</\1>|\"feedback\":\s*\"(.*?)\"[,}]", re.DOTALL)
_ENVIRONMENT = "<environment_details>"
_REMINDER = re.compile(r"# (?:TODO LIST|task_progress)\b")
_NOTICE = re.compile(r"\[(?:TASK RESUMPTION|ERROR|NOTE)\]|You seem to be having trouble|The tool execution failed")
_FEEDBACK = ("<feedback>", "<user_message>", "The user provided the following")
_FOLDER = re.compile(r"# Current (?:Working|Workspace) Directory \((/[^)\n]+|[A-Za-z]:[^)\n]+)\)")
_LOOKED_AT = 20_000  # characters of an answer in which a person's words are looked for

Purpose = Literal["environment", "summary", "instructions", "not run", "notice", "feedback", "words"]


def header(text: str) -> tuple[str, str] | None:
    """The tool of `[tool for 'x'] Result:`, and what stands behind it; None where a text begins otherwise."""
    found = _HEADER.match(text)
    return (found[1], text[found.end() :]) if found else None


def purpose(text: str) -> Purpose:
    """What a text in a message to the model is for; `words` are a person's."""
    if text.startswith(_ENVIRONMENT) or _REMINDER.match(text):
        return "environment"
    if text.startswith("This session is being continued from a previous conversation"):
        return "summary"
    if text.startswith("<explicit_instructions"):
        return "instructions"
    if _NOT_RUN.match(text):
        return "not run"
    if _NOTICE.match(text):
        return "notice"
    return "feedback" if text.startswith(_FEEDBACK) else "words"


def tool_not_run(text: str) -> str:
    """The tool that a notice says was not run; "" for other texts."""
    found = _NOT_RUN.match(text)
    return found[1] if found else ""


def denies(text: str) -> bool:
    """Whether an answer says that the user denied the call."""
    return _DENIED.search(text[:500]) is not None


def fails(text: str) -> bool:
    """Whether an answer says that its tool failed."""
    return _FAILED.match(text) is not None


def words_in(text: str) -> str:
    """What a person said, as the harness wraps it; "" when nothing."""
    found = _WORDS.search(text[:_LOOKED_AT])
    return (found[2] or found[3] or "") if found else ""


def folder_in(text: str) -> str:
    """The working directory that an environment block names; "" when none."""
    found = _FOLDER.search(text)
    return found[1] if found else ""


def environment_apart(parts: Sequence[Part]) -> Iterator[Part]:
    """The parts, with the environment apart from the text before it."""
    for part in parts:
        at = part.value.find(_ENVIRONMENT) if part.kind == "text" else 0
        if at > 0:
            yield part._replace(value=part.value[:at])
            part = part._replace(value=part.value[at:])
        yield part
