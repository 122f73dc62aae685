"""The details of observations that a summary names: decisions, errors, outcomes, commands, files, identifiers.

Deterministic, and linear in the size of the text. Blind spots: of a text beyond twice `WINDOW` characters
only its two ends are read, except that errors are looked for in all of it; of a line the first `LINE`
characters; English phrases and the file types of `names` alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from ..render import escape
from ..semantics import Command, FileEdit, FileRead, Search, normalise
from .names import LONGEST_NAME, Names
from .observations import Observation, observe

#: the kinds of details, the most important first
KINDS = ("decisions", "errors", "outcome", "ran", "edited", "read", "paths", "names", "notes")
WINDOW = 16_000  #: characters
LINE = 300  #: characters
_KEPT = 64  #: details of one kind that are kept, the newest
_TRIES = 100  #: places that are looked at for one error word, from either end of a text

_ANSI = re.compile(r"\x1b\[[0-9;?]{0,20}[A-Za-z]")
_CONTROL = str.maketrans(dict.fromkeys([*map(chr, range(32)), *map(chr, range(127, 160))], " "))
_DECISION = re.compile(
    r"^[\W_]{0,8}(?:decision|decided|plan|conclusion|approach|constraint|requirement|next steps?)\b\W{1,8}\w"
    r"|^[\W_]{0,8}(?:(?:so|ok|okay|then|now),? )?(?:i|we)(?:'ll| will| must| should| chose| decided| agreed)\b"
    r"|\b(?:decided|chose|agreed|concluded) (?:to|on|not|that|against|for)\b"
    r"|^[\W_]{0,8}(?:let's|never|always|do not|don't) \w",
    re.IGNORECASE,
)
_ERROR_WORDS = (
    "rror", "RROR", "xception", "atal", "ATAL", "anic", "ailed", "ailure", "FAIL", "ot found", "enied",
    "o such file", "ERR!", "efused", "imed out", "tion fault",
)  # fmt: skip
_ERROR = re.compile(
    r"(?:^|[\s\"'(])[\w.]{0,80}(?:Error|Exception)(?=:|$)"
    r"|(?:^|[\s:,(])(?i:error|fatal|panic|failure)(?:[ \[]\w{1,10}\]?)?:"
    r"|^\W{0,10}(?:npm ERR!|(?i:failed|fail|error|fatal|panic)\b)"
    r"|(?i:\b(?:command not found|permission denied|no such file|connection refused|timed out|panicked at"
    r"|segmentation fault|assertion failed))\b"
)
_NO_ERROR = re.compile(
    r"\b(?i:no|0|zero|without|any) (?:\w{1,20} )?(?i:errors?|failures?|failed)\b|^(?:#|//|\*)"
    r"|^\W{0,6}(?:raise|except|class|def|import|from|return|catch|throws?|if|elif|assert|with|const|let|var)\b"
)
_RAN = re.compile(
    r"^\s{0,20}(?:\$ +|RUN +|(?:Command|command|cmd): *|(?:Ran|ran|Running|Executed|executed):? +(?=`))"
    r"`?([^`\s][^`]{1,300})"
)
_EXIT = re.compile(r"(?:-> *)?\(?\bexit(?:ed)?(?: with)?(?: code| status)?[ :=]{1,3}(-?\d{1,6})\b\)?", re.IGNORECASE)
_TALLY = re.compile(r"\b\d{1,9} (?:passed|failed|errors?|skipped|passing|failing)\b|\b(?:PASSED|SUCCESS(?:FUL)?)\b")


def clean(text: str) -> str:
    """A text on one line: no control characters, one space for any white space, no stub forged, in UTF-8."""
    return escape(" ".join(_ANSI.sub("", text).translate(_CONTROL).split()))


def first_line(text: str) -> str:
    """The beginning of the first line of a text that is not blank, clean; "" when all are. Whole words only."""
    found = re.search(r"\S", text)
    return "" if found is None else _line_at(text, found.start())


def details(observations: Iterable[Any]) -> Mapping[str, list[str]]:
    """The details of JSON values, by kind, without repetition, the most important first, each on one line."""
    found = _Found()
    observation = Observation("")
    for value in observations:
        observation = observe(value)
        found.read(observation)
    if not _is_source(observation):
        found.add("outcome", _last_line(observation.text))
    return found.ranked()


class _Found:
    """What was found so far. A kind's details are keys of a dict, the newest last."""

    def __init__(self) -> None:
        self._of: dict[str, dict[str, None]] = {kind: {} for kind in KINDS}
        self._codes: dict[str, list[int]] = {}
        self._told = False  #: whether the observation that is read gave a detail
        self._names = Names()

    def add(self, kind: str, text: str) -> None:
        if text:
            self._told = True
            known = self._of[kind]
            known.pop(text, None)
            known[text] = None
            if len(known) > _KEPT:
                del known[next(iter(known))]

    def read(self, observation: Observation) -> None:
        text = observation.text
        shown = _ends(text)
        self._told = False
        self._names.read(shown)
        self._names.read(observation.head[:WINDOW].partition("(")[2])  # not the tool
        self._facts(observation)
        if observation.stated:
            self.add("decisions", clean(_start(text)))
        self._errors(observation)
        if not _is_source(observation):
            self._lines(shown.splitlines(), observation)
        if not self._told:
            self.add("notes", " -> ".join(filter(None, (clean(_start(observation.head)), first_line(text)))))

    def _facts(self, observation: Observation) -> None:
        for fact in observation.facts:
            if isinstance(fact, Command):
                self._ran(fact.text, fact.exit_code)
            elif isinstance(fact, Search):
                self._ran(f"search {fact.query}", None)
            elif isinstance(fact, FileEdit | FileRead) and len(fact.path) <= LONGEST_NAME and not observation.failed:
                self.add("edited" if isinstance(fact, FileEdit) else "read", clean(normalise(fact.path)))

    def _ran(self, command: str, code: int | None) -> None:
        name = first_line(command)
        codes = self._codes.pop(name, [])
        if code is not None and codes[-1:] != [code]:
            codes = [*codes[-2:], code]
        self._codes[name], self._told = codes, True
        if len(self._codes) > _KEPT:
            del self._codes[next(iter(self._codes))]

    def _errors(self, observation: Observation) -> None:
        if observation.error:
            self.add("errors", first_line(observation.error))
        elif not _is_source(observation) or observation.failed:
            lines = _error_lines(observation.text)
            for text in lines or ([first_line(observation.text)] if observation.failed else []):
                self.add("errors", text)

    def _lines(self, lines: list[str], observation: Observation) -> None:
        """Decisions, commands and tallies in the lines of a text."""
        command = tally = ""
        for line in lines:
            part = _start(line)
            if observation.spoken and _DECISION.search(part):
                self.add("decisions", first_line(line))
            if not observation.facts and (ran := _RAN.match(part)):
                command = first_line(_EXIT.sub("", ran[1]))
                self._ran(command, None)
            if ended := _EXIT.search(part):
                if command:
                    self._ran(command, int(ended[1]))
                    command = ""
                elif not observation.facts:
                    tally = line
            elif _TALLY.search(part):
                tally = line
        self.add("outcome", first_line(tally).strip("= "))

    def ranked(self) -> Mapping[str, list[str]]:
        ranked = {kind: list(reversed(known)) for kind, known in self._of.items()}
        ranked["read"] = [path for path in ranked["read"] if path not in self._of["edited"]]
        newest = [(name, codes) for name, codes in reversed(self._codes.items()) if name]
        newest.sort(key=lambda each: not (each[1] and each[1][-1]))  # what failed last is first
        ranked["ran"] = [_with_codes(name, codes) for name, codes in newest]
        touched = {*ranked["edited"], *ranked["read"]}
        ranked["paths"] = [path for path in self._names.paths() if normalise(path) not in touched]
        ranked["names"] = self._names.names()
        return ranked


def _is_source(observation: Observation) -> bool:
    """Whether the text is what was looked at: it tells of others' errors and commands, not of this run's."""
    facts = observation.facts
    return bool(facts) and all(isinstance(fact, FileRead | Search) for fact in facts) and not observation.spoken


def _with_codes(command: str, codes: list[int]) -> str:
    return f"{command} -> exit {', '.join(map(str, codes))}" if codes else command


def _ends(text: str) -> str:
    """A text, or of a long one its beginning and its end, cut at white space."""
    if len(text) <= 2 * WINDOW:
        return text
    head, tail = text[:WINDOW], text[-WINDOW:]
    head = head[: max(head.rfind("\n"), head.rfind(" "), 0)]
    starts = [at for at in (tail.find("\n"), tail.find(" ")) if at >= 0]
    return head + "\n" + (tail[min(starts) :] if starts else "")


def _start(text: str) -> str:
    """The first characters of a text, whole words only."""
    if len(text) <= LINE:
        return text
    words = text[: LINE + 1].rsplit(None, 1)
    return words[0] if len(words) == 2 else ""


def _last_line(text: str) -> str:
    found = text.rstrip()
    return _line_at(text, len(found) - 1) if found else ""


def _line_at(text: str, at: int) -> str:
    """The line that holds a place, clean; of a long one up to `LINE` characters before and behind, whole words."""
    begin = text.rfind("\n", max(0, at - LINE), at) + 1
    if not begin and at > LINE:
        begin = text.find(" ", at - LINE, at) + 1
        if not begin:
            return ""
    end = text.find("\n", at, at + LINE)
    if end < 0:
        end = len(text) if len(text) - at <= LINE else text.rfind(" ", at, at + LINE)
    return clean(text[begin:end]) if end > begin else ""


def _error_lines(text: str) -> list[str]:
    """The last and the first line of a text that tell of an error, the more telling one at the end."""
    first, last = (len(text), ""), (-1, "")
    for word in _ERROR_WORDS:
        at = text.find(word)
        for _ in range(_TRIES):
            if not 0 <= at < first[0]:
                break
            if line := _error_at(text, at):
                first = (at, line)
            at = text.find(word, at + 1)
        at = text.rfind(word)
        for _ in range(_TRIES):
            if at <= last[0]:
                break
            if line := _error_at(text, at):
                last = (at, line)
            at = text.rfind(word, 0, at)
    return list(dict.fromkeys(line for _, line in (last, first) if line))


def _error_at(text: str, at: int) -> str:
    line = _line_at(text, at)
    return line if _ERROR.search(line) and not _NO_ERROR.search(line) else ""
