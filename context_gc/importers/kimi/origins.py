"""In whose name a message stands in a Kimi session -> the type and the tags of what it says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..recording.recorder import VOICES

BY_KIND: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "user": ("requirement", ("user",)),
    "injection": ("constraint", ("system",)),
    "compaction_summary": ("decision", ("summary",)),
    "shell_command": ("decision", ("command",)),
    "hook_result": ("constraint", ("system",)),
    "skill_activation": ("constraint", ("system",)),
    "plugin_command": ("constraint", ("system",)),
}
NOTICE = ("decision", ("notification",))  #: what else Kimi tells: tasks, timers, triggers, retries
ENVIRONMENT = "environment_binding"  #: the injection that is no instruction but tells where the agent is


def voice(role: str, origin: Any) -> tuple[str, list[str]]:
    """The type and the tags of what a message says that has one of the roles in `VOICES`.

    What stands in the user's name was typed by a person only where its origin says so, or says nothing.
    """
    origin = origin if type(origin) is dict else {}
    source = origin.get("kind")
    if role != "user" or type(source) is not str:
        kind, tags = VOICES[role]
    elif origin.get("variant") == ENVIRONMENT:
        kind, tags = "decision", ("environment",)
    elif origin.get("trigger") == "user-slash":
        kind, tags = "requirement", ("user", "command")
    else:
        kind, tags = BY_KIND.get(source, NOTICE)
    return kind, [*tags]
