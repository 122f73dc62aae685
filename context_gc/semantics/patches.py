"""Patches: which files an `apply_patch` text adds, updates, moves or deletes."""

from __future__ import annotations

import re

_FILE = re.compile(r"^\*\*\* (Add File|Update File|Delete File|Move to): (.+?)\s*$", re.MULTILINE)


def patched(text: str) -> dict[str, str]:
    """Path -> what the last line about it says: `Add File`, `Update File`, `Delete File` or `Move to`."""
    return {path: what for what, path in _FILE.findall(text)}
