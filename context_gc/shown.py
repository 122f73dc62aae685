"""Shown: which lines of a file an answer shows, and whether a later one shows them still.

Line numbers that a tool sets before lines are set aside, and so are its notes. Blind spot: a file whose own lines
begin with numbers that count up is taken for one that a tool numbered.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

_NUMBERED = re.compile(r"[ ]*(\d{1,7})(→|\t|:|\||\. )(.*)", re.DOTALL)
_NOTE = re.compile(
    r"\s*(?:\[\d+ more lines in (?:the )?file\b.*\]|\(\d+ more lines? (?:above|below)\)|\[Showing lines \d.*\]"
    r"|\[File: .* \(\d+ lines? total\b.*\]|\((?:Open file|Current directory): .*\)|bash-\$|</?output>"
    r"|<returncode>.*</returncode>|\(this is the (?:beginning|end) of the file\))\s*"
)
_REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>", re.DOTALL)
_PLACES = 64  # places of one line at most that are tried
FEWEST = 3  #: lines with text that a comparison of texts needs, to mean anything


class Lines:
    """Lines of a file in order, without what its tool set around them."""

    __slots__ = ("_places", "lines")

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self._places: dict[str, list[int]] | None = None

    def places(self, line: str) -> Sequence[int]:
        """Where a line stands."""
        if self._places is None:
            self._places = {}
            for at, each in enumerate(self.lines):
                self._places.setdefault(each, []).append(at)
        return self._places.get(line, ())

    def hold(self, texts: Collection[str]) -> bool:
        """Whether each of these lines that has text stands somewhere here."""
        return all(self.places(line) for line in texts if line)


def lines_of(text: str) -> list[str]:
    """The lines of a text, without white space at their ends."""
    return [line.rstrip() for line in text.split("\n")]


def shown_lines(text: str) -> Lines:
    """The lines of a file that an answer shows: those that are numbered, if some are, else all but notes."""
    if "<system-reminder>" in text:
        text = _REMINDER.sub("", text)
    best: list[str] = []
    for run in _runs(text):
        best = run if len(run) > len(best) else best
    if len(best) > 1:
        return Lines(best)
    lines = [line for line in lines_of(text) if not _NOTE.fullmatch(line)]
    while lines and not lines[-1]:
        lines.pop()
    return Lines(lines)


def numbered_lines(text: str) -> Lines | None:
    """The numbered lines that an answer shows; None when it numbers none."""
    best = max(_runs(text), key=len, default=[])
    return Lines(best) if len(best) > 1 else None


def _runs(text: str) -> Iterator[list[str]]:
    """The stretches of lines that are numbered one by one, in order."""
    run: list[str] = []
    last, mark = -1, ""
    for line in text.split("\n"):
        found = _NUMBERED.match(line)
        if found is None:
            continues = False
        else:
            number, sign, rest = int(found[1]), found[2], found[3].rstrip()
            continues = number == last + 1 and sign == mark
        if not continues and run:
            yield run
            run = []
        if found is not None:
            run.append(rest)
            last, mark = number, sign
        else:
            last = -1
    if run:
        yield run


def still_shown(old: Lines, new: Lines, edits: int, gone: Collection[str], replaced: int = 0) -> bool:
    """Whether what `old` shows stands in `new`, in its order, apart from what was replaced between the two.

    `edits`: how many places were edited, each of which may part the text once; `gone`: lines that they replaced;
    `replaced`: how many more lines they replaced whose text is not known. Fewer than FEWEST lines with text
    are never found.
    """
    lines = old.lines
    if sum(map(bool, lines)) < FEWEST or sum(map(bool, new.lines)) < FEWEST:
        return False
    at, after, blocks, found = 0, 0, 0, 0
    while at < len(lines):
        if not lines[at]:
            at += 1
            continue
        size, start = _longest(lines, at, new, after)
        if size and (blocks <= edits or not blocks):
            blocks += 1
            found += sum(map(bool, lines[at : at + size]))
            at, after = at + size, start + size
        elif lines[at] in gone:
            at += 1
        elif replaced:
            at, replaced = at + 1, replaced - 1
        else:
            return False
    return found >= FEWEST


def _longest(lines: Sequence[str], at: int, new: Lines, after: int) -> tuple[int, int]:
    """The longest stretch of `lines` from `at` on that stands in `new`, not before `after`: its size and place."""
    best = (0, after)
    for place in [each for each in new.places(lines[at]) if each >= after][:_PLACES]:
        size, most = 0, min(len(lines) - at, len(new.lines) - place)
        while size < most and lines[at + size] == new.lines[place + size]:
            size += 1
        if size > best[0]:
            best = (size, place)
    return best
