"""Counting tokens offline: an estimate fitted to each model family, and a protocol for exact counters.

The estimate is linear in counts of simple features of the text (words, digits, punctuation, white
space, scripts). Its coefficients were fitted on real traces; median error per document is 5 to 6 %,
where chars/4 errs by 17 % (o200k) to 41 % (Claude from 4.7 on). Nothing here ever fails on a text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from operator import mul
from typing import NamedTuple, Protocol

#: tokens that one image is counted as: what a provider bills for about 1.2 megapixels (w * h / 750)
IMAGE_TOKENS = 1_600


class Counter(Protocol):
    """Counts the tokens of a text. `name` goes into reports, so that figures can be reproduced."""

    name: str

    def count(self, text: str) -> int: ...


class Features(NamedTuple):
    """What the estimate is linear in; all are counts."""

    words: int  #: `[A-Z]?[a-z]+|[A-Z]+`
    long_words: int  #: sum of (len(word) - 1) // 5
    digits: int  #: sum of ceil(len(run) / 3) over runs of digits
    marks: int  #: runs of punctuation, and of underscores
    mark_chars: int  #: characters in those runs
    newlines: int  #: `\n\s*`
    gaps: int  #: ` {2,}|\t+`
    han: int  #: kana and han characters
    hangul: int
    other: int  #: other characters beyond ASCII


#: family -> coefficient of each feature, in tokens; least squares on seven real coding sessions
COEFFICIENTS: Mapping[str, tuple[float, ...]] = {
    "o200k": (0.78, 0.60, 1.72, 0.66, 0.08, 0.91, 0.77, 0.73, 0.70, 0.38),
    "claude": (1.09, 0.18, 0.97, 0.92, 0.17, 1.78, 0.10, 0.90, 1.25, 0.60),
    "claude-4.7+": (1.35, 1.05, 0.90, 0.73, 0.39, 2.22, 0.00, 0.88, 1.24, 0.58),
}


class FamilyEstimate:
    """The fitted estimate for one family: `o200k`, `claude` (up to 4.6) or `claude-4.7+`."""

    def __init__(self, family: str) -> None:
        self.name = f"{family} estimate v1"
        self._weights = COEFFICIENTS[family]

    def count(self, text: str) -> int:
        return int(sum(map(mul, self._weights, features(text))) + 0.5)


class Chars4:
    """Characters / 4, rounded up: what most tools use. It is here for comparison."""

    name = "chars/4"

    def count(self, text: str) -> int:
        return -(-len(text) // 4)


COUNTERS: Mapping[str, Counter] = {**{family: FamilyEstimate(family) for family in COEFFICIENTS}, "chars4": Chars4()}

_CLAUDE = re.compile(r"claude\D*?(?:(\d{1,2})(?:[-.](\d{1,2}))?)(?!\d)")


def family_of(model: str) -> str:
    """The counter that fits a model's name: `claude` up to 4.6, `claude-4.7+` from there on, else `o200k`."""
    name = model.lower()
    if "claude" not in name:
        return "o200k"
    version = _CLAUDE.search(name)
    newer = version is not None and (int(version[1]), int(version[2] or 0)) >= (4, 7)
    return "claude-4.7+" if newer else "claude"


_HAN = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_HANGUL = re.compile("[\u1100-\u11ff\u3130-\u318f\uac00-\ud7af]")
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")
_MARK, _WORD = re.compile(r"[^\w\s\x00-\x7f]"), re.compile(r"[^\W\x00-\x7f]")

# The classes that the features are made of: a lower, A upper, 0 digit, _ and p marks, s space, t tab,
# n newline, w other white space, o a word character beyond ASCII (0x80 to 0x82 stand for those).
_WHITE = b"\r\x0b\x0c\x1c\x1d\x1e\x1f"
_CLASS = bytes(
    ord(
        "a" if 97 <= c <= 122 else "A" if 65 <= c <= 90 else "0" if 48 <= c <= 57 else "_" if c == 95
        else "s" if c == 32 else "t" if c == 9 else "n" if c == 10
        else "w" if c in _WHITE or c == 0x82 else "o" if c == 0x80 else "p"
    )
    for c in range(256)
)  # fmt: skip
_ONLY = {c: bytes(i == ord(c) for i in range(256)) for c in "aA_pstn"}


def features(text: str) -> Features:
    """Count the features of a text. Works on a class string in a few passes, at 15 to 30 MB/s."""
    han = hangul = other = 0
    if not text.isascii():
        foreign = "".join(_BEYOND_ASCII.findall(text))
        han, hangul = len(_HAN.findall(foreign)), len(_HANGUL.findall(foreign))
        other = len(foreign) - han - hangul
        text = _BEYOND_ASCII.sub(_stand_in, text)
    classes = b"w" + text.encode("latin-1").translate(_CLASS)
    # A capital before lower letters belongs to their word unless another capital stands before it.
    words = classes.replace(b"Aa", b"Xa").replace(b"AX", b"AA").replace(b"X", b"wa")
    lower, upper = (words.translate(_ONLY[c]).replace(b"\0\1", b"\0\2") for c in "aA")
    marks = [classes.translate(_ONLY[c]) for c in "p_"]
    digits = classes.replace(b"000", b"d")
    lines = classes.translate(_ONLY["n"], b"stw")  # other white space between two newlines does not part them
    return Features(
        words=lower.count(2) + upper.count(2),
        long_words=lower.count(b"\1" * 5) + upper.count(b"\1" * 5),
        digits=digits.count(b"d") + digits.count(b"0") - digits.count(b"00"),
        marks=sum(m.count(b"\0\1") for m in marks),
        mark_chars=sum(m.count(1) for m in marks),
        newlines=(b"\0" + lines).count(b"\0\1"),
        gaps=classes.translate(_ONLY["s"]).count(b"\0\1\1") + classes.translate(_ONLY["t"]).count(b"\0\1"),
        han=han,
        hangul=hangul,
        other=other,
    )


def _stand_in(run: re.Match[str]) -> str:
    text = _WORD.sub("\x80", _MARK.sub("\x81", run[0]))
    return text if text.isascii() else "".join(c if c in "\x80\x81" else "\x82" for c in text)
