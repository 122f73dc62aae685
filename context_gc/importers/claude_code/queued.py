"""The queue: what a person typed while the agent was at work, by the records of what went in and out of it.

What leaves the queue for the model nearly always stands in a line of its own as well. Only where no line holds
it, and the model went on, the record that took it out speaks for the user. Blind spots: which of several equal
texts a line holds is not told apart, and what `remove` took out without a reason is taken as given up.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from itertools import islice
from typing import Any, NamedTuple

from ..files.fields import text
from .blocks import INTERRUPTED
from .lines import Line

LONGEST_LINE = 100_000  #: characters of a line that several queued texts may have been joined in

_COMMAND = re.compile(r"/[\w:-]+(?:\s|$)|!(?![\s!])")
_LOOKED_AT = 100  #: how many texts of the queue a record that names one is compared with


class _Queued(NamedTuple):
    place: int  #: where it went in
    words: str
    blocks: list[Any]


def deliver(lines: Sequence[Line]) -> None:
    """Let records speak for the user where they alone hold what reached the model. Changes lines in place."""
    taken = _taken(lines)
    if not taken:
        return
    told: dict[str, deque[int]] = {}
    for place, line in enumerate(lines):
        if line.role in ("user", "other"):
            told.setdefault(_words(line.blocks), deque()).append(place)
    speaks = [place for place, line in enumerate(lines) if line.role in ("user", "assistant", "other")]
    after, at = dict[int, int](), 0
    for place, _ in taken:
        while at < len(speaks) and speaks[at] < place:
            at += 1
        after[place] = speaks[at] if at < len(speaks) else -1
    for place, queued in taken:
        equal = told.get(queued.words, deque())
        while equal and equal[0] < queued.place:
            equal.popleft()
        if equal:
            equal.popleft()
            continue
        following = lines[after[place]] if after[place] >= 0 else None
        words = _words(following.blocks) if following else INTERRUPTED
        joined = len(words) <= LONGEST_LINE and queued.words in words and following is not None
        if words.startswith(INTERRUPTED) or joined or _COMMAND.match(queued.words):
            continue
        lines[place].role, lines[place].blocks = "user", queued.blocks


def _taken(lines: Sequence[Line]) -> list[tuple[int, _Queued]]:
    """What left the queue for the model: the places of the records that say so, and what they took."""
    waiting: deque[_Queued] = deque()
    taken: list[tuple[int, _Queued]] = []
    for place, line in enumerate(lines):
        if line.kind != "queue-operation":
            continue
        operation, content = line.record.get("operation"), line.record.get("content")
        blocks = content if type(content) is list else [{"type": "text", "text": text(content)}]
        named = _words(blocks)
        if operation == "enqueue":
            waiting.append(_Queued(place, named, blocks))
        elif operation == "popAll" and not named:
            waiting.clear()
        elif operation in ("dequeue", "remove", "popAll") and waiting:
            looked_at = enumerate(islice(waiting, _LOOKED_AT))
            which = next((at for at, each in looked_at if named and each.words == named), 0)
            queued = waiting[which]
            del waiting[which]
            reached = operation == "dequeue" or line.record.get("reason") == "absorbed_mid_turn"
            if reached and operation != "popAll" and queued.words:
                taken.append((place, queued))
    return taken


def _words(blocks: Sequence[Any]) -> str:
    """The text of blocks, as it can be compared."""
    found = (text(block.get("text")) if type(block) is dict else text(block) for block in blocks)
    return "\n".join(each.strip() for each in found if each.strip())
