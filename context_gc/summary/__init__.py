"""Summaries of observations, extracted and not written: the same observations give the same text everywhere.

Each is one line of at most `limit` characters (code points), without a stub or a lone surrogate in it. No
word, path or identifier is cut; what was left out is behind the receipt.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .details import KINDS, clean, details, first_line
from .observations import plain

ITEM = 140  #: characters of one decision, error, command or note at most; half of it when brief
CUT = "…"  #: what stands for words that were left out
SHORTEST = 24  #: characters: what would be cut to less is left out

_PHRASE_ENDS = frozenset("。，、；：！？」』）】")  #: a text without spaces may be cut behind these
_LISTS = frozenset(("edited", "read", "paths", "names"))  #: kinds whose details are joined by commas and never cut
#: how many details of a kind are named at most, and how many when brief
_MOST = {
    "decisions": (8, 3), "errors": (6, 2), "outcome": (3, 1), "ran": (8, 2), "edited": (16, 6), "read": (10, 2),
    "paths": (10, 0), "names": (16, 4), "notes": (64, 1),
}  # fmt: skip
_AT_ONCE = {"edited": 3, "read": 2, "paths": 2, "names": 3}  #: how many details a kind names in its turn, else one
_LAST = 1_000  #: the turn from which notes are named


def summarise(observations: Sequence[Any], limit: int, *, brief: bool = False) -> str:
    """The details of JSON values grouped by kind, the most important kinds and details first.

    Kinds take turns, so that many details of one leave room for the others; the first lines of observations
    fill what is left. Where the observations as they are take no more room, they are the summary. `brief`
    names fewer details of each kind.
    """
    text = " | ".join(f"{kind}: {joined}" for kind, joined in _grouped(details(observations), limit, brief))
    return _as_they_are(observations, min(limit, len(text))) or text or CUT[:limit]


def listing(observations: Sequence[Any], limit: int, *, brief: bool = False) -> str:
    """The first line of each JSON value, the oldest first; at the end, how many had no room."""
    lines = [line for value in observations if (line := first_line(plain(value)))]
    text, item = "", ITEM // 2 if brief else ITEM
    for at, line in enumerate(lines):
        rest = len(lines) - at - 1
        longer = _appended(text, clip(line, item) or CUT)
        if len(longer if not rest else _appended(longer, f"+{rest} more")) > limit:
            ended = _appended(text, f"+{rest + 1} more") if text else clip(line, limit)
            return ended if 0 < len(ended) <= limit else CUT[:limit]
        text = longer
    return text or CUT[:limit]


def clip(text: str, limit: int) -> str:
    """The first words of a text on one line, with `…` where some were left out; "" when not one has room."""
    if len(text) <= limit:
        return text
    for at in range(limit - len(CUT) - 1, 0, -1):
        if text[at] == " " or text[at - 1] in _PHRASE_ENDS:
            return f"{text[:at].rstrip()} {CUT}"
    return ""


def _appended(text: str, item: str) -> str:
    return f"{text}; {item}" if text else item


def _as_they_are(observations: Sequence[Any], limit: int) -> str:
    """The whole text of observations on one line; "" when it is longer than `limit`."""
    parts: list[str] = []
    room = limit
    for value in observations:
        text = plain(value)
        parts.append(clean(text) if len(text) <= 4 * limit else " " * (limit + 1))
        room -= len(parts[-1]) + 2
        if room + 2 < 0:
            return ""
    return "; ".join(filter(None, parts))


def _grouped(found: Mapping[str, list[str]], limit: int, brief: bool) -> Iterator[tuple[str, str]]:
    """(kind, its details on one line) for each kind that has any, within `limit` characters altogether."""
    chosen: dict[str, list[str]] = {}
    used = 0
    for kind, detail in _in_turns(found, brief):
        if any(detail in other for others in chosen.values() for other in others):
            continue
        joint = (", " if kind in _LISTS else "; ") if kind in chosen else (" | " if chosen else "") + f"{kind}: "
        room = limit - used - len(joint)
        text = detail
        if kind not in _LISTS:
            text = clip(detail, min(ITEM // 2 if brief else ITEM, room))
            if len(text) < min(len(detail), SHORTEST):
                continue
        if 0 < len(text) <= room:
            chosen.setdefault(kind, []).append(text)
            used += len(joint) + len(text)
    for kind in KINDS:
        if kind in chosen:
            yield kind, (", " if kind in _LISTS else "; ").join(chosen[kind])


def _in_turns(found: Mapping[str, list[str]], brief: bool) -> list[tuple[str, str]]:
    turns = [
        (rank // _AT_ONCE.get(kind, 1) + (_LAST if kind == "notes" else 0), place, rank, kind, detail)
        for place, kind in enumerate(KINDS)
        for rank, detail in enumerate(found[kind][: _MOST[kind][brief]])
    ]
    return [(kind, detail) for _, _, _, kind, detail in sorted(turns)]
