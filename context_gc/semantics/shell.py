"""Shell: a command's text as the simple commands that it is made of, as far as it is understood.

Blind spots, each of which makes a command one that is not understood: loops and conditions, functions,
groups, jobs in the background, and what a program that it starts does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

_LONGEST = 200_000  # characters of a command that is looked at
_PIECE = re.compile(
    r"(?P<gap>[ \t\r]+|\\\n)|(?P<line>\n)|(?P<op>\d*>&\d|&>>?|\d*>>|\d*>\|?|<<<|<<-?|\d*<|&&|\|\||\|&?|;;?|&|[()])"
    r"|(?P<quoted>'[^']*')|(?P<text>\"(?:[^\"\\]|\\.)*\")|(?P<escaped>\\.)|(?P<plain>[^\s'\"\\;&|<>()]+)",
    re.DOTALL,
)
_EXPANDS = re.compile(r"[$`*?\[\]{}]|^~")
_WORDS_OF_ITS_OWN = frozenset(
    "if then else elif fi for while until do done case esac in function select { } ! [[ time coproc eval exec"
    " source . trap".split()
)


@dataclass(slots=True)
class Simple:
    """One simple command: its words, where its output goes, and what stands in its heredoc."""

    words: list[str] = field(default_factory=list)
    vague: set[int] = field(default_factory=set)  #: places of words that the shell expands
    targets: list[tuple[str, str, bool]] = field(default_factory=list)  #: operator, file, whether that is known
    heredoc: str | None = None
    literal: bool = True  #: whether the heredoc is taken as it stands
    joined: str = ""  #: the operator that stands before it

    @property
    def name(self) -> str:
        """The program, without its folder."""
        return self.words[0].rpartition("/")[2] if self.words and 0 not in self.vague else ""


@lru_cache(maxsize=512)
def simple_commands(text: str) -> tuple[Simple, ...] | None:
    """The simple commands of a text in order, or None when it is not understood."""
    if len(text) > _LONGEST:
        return None
    try:
        found = list(_commands(text))
    except ValueError:
        return None
    if not found or any(each.words and each.words[0] in _WORDS_OF_ITS_OWN for each in found):
        return None
    return tuple(found)


def _commands(text: str) -> Iterator[Simple]:
    current, joined, word, vague, pending = Simple(), "", "", False, ""
    begun, waiting, at = False, list[tuple[Simple, str, bool]](), 0

    def end_word() -> None:
        nonlocal word, vague, begun, pending
        if begun and pending.startswith("<<") and pending != "<<<":
            waiting.append((current, word, literal))
        elif begun and pending:
            current.targets.append((pending, word, not vague))
        elif begun:
            if vague:
                current.vague.add(len(current.words))
            current.words.append(word)
        elif pending:
            raise ValueError("an operator without a file")
        word, vague, begun, pending = "", False, False, ""

    literal = False
    while at < len(text):
        piece = _PIECE.match(text, at)
        if piece is None:
            raise ValueError("a quote that does not end")
        kind, value, at = piece.lastgroup, piece[0], piece.end()
        if kind == "plain" and not begun and value.startswith("#"):
            end = text.find("\n", piece.start())
            at = len(text) if end < 0 else end
            continue
        if kind in ("quoted", "text", "escaped", "plain"):
            if not begun:
                literal = False
            if kind == "quoted":
                word, literal = word + value[1:-1], True
            elif kind == "text":
                _runs_nothing(value)
                word += re.sub(r'\\(["\\$`])', r"\1", value[1:-1])
                vague, literal = vague or "$" in value or "`" in value, True
            elif kind == "escaped":
                word, literal = word + value[1:], True
            else:
                _runs_nothing(value)
                word, vague = word + value, vague or _EXPANDS.search(value) is not None
            begun = True
            continue
        if kind == "gap":
            if begun:
                end_word()
            continue
        if kind == "op" and value in ("(", ")", "&", ";;"):
            raise ValueError("not understood")
        if kind == "op" and value[-1] not in ";&|" and "&" not in value[1:]:
            end_word()
            pending = value
            continue
        if kind == "op" and ">&" in value:
            end_word()
            continue
        end_word()
        if kind == "line" and waiting:
            at = _take_bodies(text, at, waiting)
        if current.words or current.targets or current.heredoc is not None:
            current.joined = joined
            yield current
            current, joined = Simple(), ""
        elif kind == "op" or joined not in ("", ";"):
            if kind == "op":
                raise ValueError("an operator without a command")
            continue
        joined = ";" if kind == "line" else value
    end_word()
    if waiting:
        raise ValueError("a heredoc without its text")
    if current.words or current.targets:
        current.joined = joined
        yield current
    elif joined not in ("", ";"):
        raise ValueError("an operator without a command")


def _take_bodies(text: str, at: int, waiting: list[tuple[Simple, str, bool]]) -> int:
    for command, mark, literal in waiting:
        lines = []
        while True:
            if at >= len(text):
                raise ValueError("a heredoc that does not end")
            end = text.find("\n", at)
            end = len(text) if end < 0 else end
            line, at = text[at:end], end + 1
            if line.strip("\t") == mark:
                break
            lines.append(line)
        command.heredoc = "".join(line + "\n" for line in lines)
        command.literal = literal or not re.search(r"[$`\\]", command.heredoc)
        if not literal:
            _runs_nothing(command.heredoc)
    waiting.clear()
    return min(at, len(text))


def _runs_nothing(text: str) -> None:
    if "$(" in text or "`" in text:
        raise ValueError("a command inside of a word")
