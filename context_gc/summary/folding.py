"""Folding: an accumulated summary stays within its bound; its oldest entries become one line.

An accumulated summary is a row of entries, each with `JOINT` before it. Text before the first one, which
someone else may have put there, counts as an entry.
"""

from __future__ import annotations

import re

JOINT = "\nThen, "
ROOM = 100  #: characters that a bound has to leave beside the longest entry, for the line that stands for others

_FOLDED = re.compile(r"Earlier summaries, folded: (\d{1,12})")
_TAG = re.compile(r"(?<!\\)\[RECEIPT obs_[0-9a-f]{12}\]")


def oldest(text: str, addition: int, bound: int) -> str:
    """The entries that have to fold so that `addition` characters have room; "" when all can stay.

    Where any have to, as many fold as bring the whole to half the bound: not every compaction folds.
    """
    if len(text) + addition <= bound:
        return ""
    room = bound // 2 - addition - ROOM
    at = text.find(JOINT, len(text) - room) if room > 0 else -1
    return text if at < 0 else text[:at]


def folded(entries: str, tag: str, room: int) -> str:
    """The line that stands for entries: how many they are, their own tag, then the receipts they name that fit.

    The newest of those come first. A line that is folded again adds what it counted.
    """
    before = _FOLDED.match(entries)
    count = entries.count(JOINT) + (int(before[1]) if before else bool(entries.partition(JOINT)[0].strip()))
    line = f"Earlier summaries, folded: {count}"
    for each in dict.fromkeys([*([tag] if tag else []), *reversed(_TAG.findall(entries))]):
        if len(line) + 1 + len(each) > room:
            break
        line += " " + each
    return line
