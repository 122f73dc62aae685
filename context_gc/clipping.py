"""Clipping: a long result as its first and last lines, with what tells of errors between. Pure functions."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from .events import Event, label
from .outcomes import error_lines
from .render import images, line
from .tokens import Counter

GAP = "…"  #: stands where something is left out: at the end of a line that was cut, or as a line of its own
WORTH = 0.75  #: share of its tokens that a clipped event may keep at most
_ERRORS = 0.25  # share of what is kept that lines about errors may take
_LEAST = 32  # tokens that are kept, however low the limit
_LONGEST = 400  # characters that are kept of a line about an error
_DENSITY = 6  # characters a token at most, for a first guess


def clipped(event: Event, over: int, counter: Counter) -> str | None:
    """An event's line with its middle left out, in about `over` / 2 tokens at most.

    First and last lines stay, and between them lines that tell of errors or failing tests, in order. One
    stub, `[RECEIPT r12] 5,310 of 6,200 tokens`, tells where the rest is and how much; further gaps are `…`.
    None when the event has no more than `over` tokens (or characters), holds images, or would lose less
    than a quarter. Linear in the text.
    """
    text = line(event)
    if len(text) <= over or (total := counter.count(text + "\n")) <= over or images(event):
        return None
    stub = f"[RECEIPT {label(event['id'])}] {{:,}} of {total:,} tokens"
    room = max(over // 2 - counter.count(stub), _LEAST)
    side = int(room * (1 - _ERRORS) / 2)
    first, last = _first(text, side, counter), _last(text, side, counter)
    if first >= last:
        return None
    spans = [(0, first), *_errors(text, first, last, room - 2 * side, counter), (last, len(text))]
    pieces = [_piece(text, *span) for span in spans]
    hidden = max(total - sum(counter.count(piece + "\n") for piece in pieces), 0)
    gaps = [text[end:start].strip("\n") != "" for (_, end), (start, _) in pairwise(spans)]
    parts, told = pieces[:1], False
    for gap, piece in zip(gaps, pieces[1:], strict=True):
        if gap:
            parts.append(GAP if told else stub.format(hidden))
            told = True
        parts.append(piece)
    short = "\n".join(part for part in parts if part)
    return short if told and counter.count(short + "\n") <= WORTH * total else None


def _first(text: str, tokens: int, counter: Counter) -> int:
    """Where the first lines end that fit into so many tokens; within a line when it alone is longer."""
    size = min(len(text), tokens * _DENSITY)
    while size and counter.count(text[:size]) > tokens:
        size = size * 7 // 8
    at = text.rfind("\n", 0, size + 1)
    return at if 2 * at >= size else size


def _last(text: str, tokens: int, counter: Counter) -> int:
    """Where the last lines begin that fit into so many tokens."""
    size = min(len(text), tokens * _DENSITY)
    while size and counter.count(text[-size:]) > tokens:
        size = size * 7 // 8
    start = len(text) - size
    at = text.find("\n", max(start - 1, 0))
    return at + 1 if at >= 0 and 2 * (len(text) - at) >= size else start


def _errors(text: str, start: int, end: int, tokens: int, counter: Counter) -> Iterator[tuple[int, int]]:
    for first, last in error_lines(text, start, end):
        last = min(last, first + _LONGEST)
        tokens -= counter.count(f"{text[first:last]}\n{GAP}\n")
        if tokens < 0:
            return
        yield first, last


def _piece(text: str, start: int, end: int) -> str:
    """A stretch of the text; `…` marks where it begins or ends within a line. No cut sets a stub free."""
    piece = text[start:end].strip("\n")
    if piece and start and text[start - 1] != "\n" and text[start] != "\n":
        piece = GAP + ("\\" if piece.startswith("[RECEIPT") else "") + piece
    return piece + GAP if piece and end < len(text) and text[end] != "\n" and text[end - 1] != "\n" else piece
