"""Look: what one event did with its file, and whether a later one holds what it showed or wrote."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from ..events import Event
from ..outcomes import is_cut_short, is_refusal, is_stand_in, text_of
from ..semantics import FileEdit, FileRead, Replacement, replacement
from ..shown import Lines, lines_of, numbered_lines, still_shown
from .view import View

DEFAULT_LINES = 2_000  #: a read without a limit that shows so many lines may have ended there


class Look(NamedTuple):
    """What one member of a group did with its file."""

    seq: int
    lead: int
    path: str
    kind: str  #: "read", "write" (of all of it) or "edit" (of a part)
    shows: bool  #: stands in for others: not cut short by its tool, no notice instead of the text
    text: bool = True  #: carries text
    start: int = 0
    stop: float = math.inf
    tool: object = None
    echoes: bool = False  #: an edit whose answer shows numbered lines of the file

    @property
    def whole(self) -> bool:
        """Whether it shows or holds all of the file."""
        return self.shows and self.start == 0 and self.stop == math.inf


def look(seq: int, view: View) -> Look:
    """What the event at a place, or the call that it answers, did."""
    lead = view.units.lead(seq)
    asked, fact = view.events[lead], view.facts.of(lead)
    if isinstance(fact, FileEdit):
        return _edit(seq, lead, asked, fact, view)
    read = fact if isinstance(fact, FileRead) else FileRead("", partial=True)
    text, start = text_of(view.events[seq]), read.offset or 0
    stop = math.inf if read.limit is None else start + read.limit
    ended = stop == math.inf and (text.count("\n") >= DEFAULT_LINES - 1 or " more lines" in text[-400:])
    ended = ended and not _window_is_whole(asked)
    shows = not (ended or is_cut_short(text) or is_stand_in(text) or is_refusal(text) or read.partial)
    return Look(seq, lead, read.path, "read", shows, bool(text.strip()), start, stop, asked.get("tool_name"))


def _edit(seq: int, lead: int, asked: Event, fact: FileEdit, view: View) -> Look:
    kind = "write" if fact.whole else "edit"
    echoes = asked["type"] == "tool_call" and lead != seq and numbered_lines(text_of(view.events[seq])) is not None
    if fact.whole or (echoes and _window_is_whole(asked)):
        return Look(seq, lead, fact.path, kind, True, echoes=echoes)
    return Look(seq, lead, fact.path, kind, echoes and "shows" in asked, start=1, echoes=echoes)


def _window_is_whole(asked: Event) -> bool:
    window = asked.get("shows")
    return type(window) is dict and window.get("offset") == 1 and window.get("limit") == window.get("lines")


def held(new: Look, was: Look, view: View) -> bool:
    """Whether an answer shows, line by line, what an earlier one showed, apart from lines that were replaced."""
    places = view.mutations.edits(was.lead, new.lead + 1, new.path)
    gone: set[str] = set()
    parts = replaced = 0
    for place in places or ():
        if place == was.lead or any(map(view.facts.refused, _answer(place, new.seq, view))):
            continue
        change = replacement(view.events[place])
        if change is None:
            places = None
            break
        parts += 1
        if change.old is None:
            replaced += change.lines
        else:
            gone.update(lines_of(change.old))
    if places is None:
        parts, replaced = 0, 0
        gone.clear()
    return still_shown(_lines(was, view), _lines(new, view), parts, gone, replaced)


def _answer(lead: int, until: int, view: View) -> Sequence[int]:
    """The first answer to a call, if it had come."""
    return [seq for seq in view.units.results(lead)[:1] if seq <= until]


def outwritten(new: Look, was: Look, view: View) -> bool:
    """Whether an edit holds all that an earlier one wrote, and shows all that the answer to it showed."""
    before, after = replacement(view.events[was.lead]), replacement(view.events[new.lead])
    if before is None or not before.new.strip():
        return False
    quoted = after is not None and after.old is not None and before.new.strip("\n") in after.old
    if was.echoes:
        echo = _lines(was, view)
        return new.shows and (quoted or _shows_what_it_wrote(before, echo)) and held(new, was, view)
    return quoted


def _shows_what_it_wrote(change: Replacement, echo: Lines) -> bool:
    return echo.hold(lines_of(change.new))


def _lines(at: Look, view: View) -> Lines:
    return view.facts.lines(at.seq)
