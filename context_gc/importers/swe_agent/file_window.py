"""File windows: what the line editors of SWE-agent and of OpenHands' agentskills say in their answers."""

from __future__ import annotations

import re
from typing import Any

_HEAD = re.compile(r"\[File: ([^\n]+) \((\d{1,9}) lines? total(?: after edit)?\)\][ \t\r]*\n")
_ABOVE = re.compile(r"\((\d{1,9}) more lines? above\)")
_BELOW = re.compile(r"\((\d{1,9}) more lines? below\)")
_REFUSED = re.compile(
    r"\s*\[?(?:Your proposed edit has introduced new syntax error|Your edit was not applied|No exact match found"
    r"|No replacement was performed|Text not found|Invalid `\w+` parameter|Invalid line number|No file open\b"
    r"|Usage: \w+ |ERROR: |Error: |File [^\n]{0,500} (?:not found|already exists|does not exist))"
)
_NEAR = 2_000  # characters before which a window begins, and of which its last line may be followed


def lines_shown(text: str) -> dict[str, Any] | None:
    """`path`, `offset` (the first line, from 1), `limit` (how many) and `lines` (of the whole file) of a window.

    None where the answer shows none, or how a refused edit would have looked.
    """
    if refused(text):
        return None
    head = _HEAD.search(text, 0, _NEAR)
    if head is None:
        return None
    lines = int(head[2])
    above = _ABOVE.match(text, head.end())
    below = [int(found[1]) for found in _BELOW.finditer(text, max(head.end(), len(text) - _NEAR))]
    first, last = int(above[1]) + 1 if above else 1, lines - below[-1] if below else lines
    if not 1 <= first <= last:
        return None
    return {"path": head[1], "offset": first, "limit": last - first + 1, "lines": lines}


def refused(text: str) -> bool:
    """Whether the editor says that it did nothing."""
    return _REFUSED.match(text) is not None
