"""Which files of a folder belong together: the sessions of a project, and the subagents of each."""

from __future__ import annotations

import re
from collections.abc import Sequence

_SESSION = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_AGENT = re.compile(r"agent-(.+?)\.(jsonl|meta\.json)")


def groups(paths: Sequence[str]) -> list[tuple[str, ...]]:
    """One group a project folder: its sessions, then their subagents, in `SESSION/subagents/` or beside them.

    A session is a JSONL file that is named by a UUID or has such a folder. A single one without subagents is
    no group.
    """
    sessions: dict[str, list[str]] = {}
    agents: dict[str, list[str]] = {}
    beside: dict[str, list[str]] = {}
    named = set()  # the folders that sessions may have, with where their files lie
    for path in paths:
        folder, _, file = path.rpartition("/")
        if not _AGENT.fullmatch(file):
            continue
        parts = folder.split("/")
        if "subagents" in parts:
            *home, session = parts[: parts.index("subagents")] or [""]
            agents.setdefault("/".join(home), []).append(path)
            named.add(("/".join(home), session))
        else:
            beside.setdefault(folder, []).append(path)
    for path in paths:
        folder, _, file = path.rpartition("/")
        stem = file.removesuffix(".jsonl")
        if stem != file and (_SESSION.fullmatch(stem) or (folder, stem) in named):
            sessions.setdefault(folder, []).append(path)
    found = []
    for folder in dict.fromkeys((*sessions, *agents)):
        mains = sessions.get(folder, [])
        others = agents.get(folder, []) + beside.get(folder, [])
        if others or len(mains) > 1:
            found.append((*mains, *others))
    return found


def agent_of(path: str) -> str:
    """The id of the subagent that a file belongs to; "" for the file of a session."""
    found = _AGENT.fullmatch(path.rpartition("/")[2])
    return found[1] if found else ""


def is_description(path: str) -> bool:
    """Whether a file says what a subagent is, rather than what it did."""
    return bool(agent_of(path)) and path.endswith(".meta.json")
