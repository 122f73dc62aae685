"""Line data: a place of a file as raw text with what stands around it, cut to what can be looked at; no streamlit."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import TraceError
from ..importers.files.collection import archive
from ..importers.files.decode import ZIP, decode
from ..trace import Problem

AROUND = 2  #: lines before and after the one that is asked for
CUT = 400  #: characters of a line that are shown
BEFORE = 40  #: of them before the column that is marked
VALUE = 6_000  #: characters of a JSON value that are shown
MOST = 400  #: characters of a place

_COLUMN = re.compile(r"\bcolumn (\d+)")
_ELEMENT = re.compile(r"^element (\d+)\b|^[a-z_]+\[(\d+)\]")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """What is shown of a file, and what it is called. `text` is raw text of the file."""

    told: str
    text: str


def place_of_problem(problem: Problem) -> str:
    """Where a problem is: "12", "12:7" with a column, "/3" in an array; "" when it concerns the whole file."""
    if problem.line:
        column = _COLUMN.search(problem.text)
        return f"{problem.line}:{column[1]}" if column else str(problem.line)
    element = _ELEMENT.match(problem.text)
    return f"/{element[1] or element[2]}" if element else ""


def place_of_origin(origin: object) -> str:
    """Where an event came from, by its `origin`; "" where that does not say."""
    if not isinstance(origin, Mapping):
        return ""
    line, path, index = origin.get("line"), origin.get("path"), origin.get("index")
    if type(line) is int and line > 0:
        return str(line)
    if isinstance(path, str | int) and type(path) is not bool and len(str(path)) < MOST:
        return f"/{str(path).strip('/')}"
    return f"/{index}" if type(index) is int else ""


def words_of(place: str) -> str:
    """A place as people say it: line 12, column 7."""
    if place.startswith("/"):
        return f"record {place[1:]}"
    line, _, column = place.partition(":")
    return f"line {int(line):,}" + (f", column {int(column):,}" if column else "")


def is_place(place: str) -> bool:
    """Whether a text from a link is a place at all."""
    return len(place) < MOST and bool(re.fullmatch(r"\d{1,9}(:\d{1,9})?|/[^\x00-\x1f]*", place, re.ASCII))


def excerpt(data: bytes, name: str, member: str, place: str) -> Excerpt:
    """What stands at a place of a file, or of the `member` of it when it is a zip archive.

    Raises:
        TraceError: the file has no such place.
    """
    if data.startswith(ZIP):
        files = archive(data, name)
        if member not in files.files:
            raise TraceError(name, "its members are packed: this place cannot be shown", "unpack it")
        data, name = files.data(member), member
    document = decode(data, name)
    if place.startswith("/"):
        return _value(document.text, name, place[1:])
    line, _, column = place.partition(":")
    return _lines(document.text, name, int(line), int(column or 0))


def _lines(text: str, name: str, number: int, column: int) -> Excerpt:
    lines = text.split("\n")
    if not 1 <= number <= len(lines):
        raise TraceError(name, f"there is no line {number:,}", f"it has {len(lines):,}")
    first, last = max(1, number - AROUND), min(len(lines), number + AROUND)
    width = len(str(last))
    shown: list[str] = []
    for at in range(first, last + 1):
        line = lines[at - 1].rstrip("\r")
        is_it = at == number
        start = max(0, column - 1 - BEFORE) if is_it and column and len(line) > CUT else 0
        cut = ("…" if start else "") + line[start : start + CUT] + ("…" if len(line) > start + CUT else "")
        shown.append(f"{'▶' if is_it else ' '} {at:>{width}} │ {_printable(cut)}")
        if is_it and column:
            mark = column - 1 - start + (1 if start else 0)
            shown.append(f"  {' ' * width} │ {' ' * min(mark, len(cut))}▲ column {column:,}")
    size = len(lines[number - 1])
    return Excerpt(f"{size:,} characters" + (f", {CUT} of them shown" if size > CUT else ""), "\n".join(shown))


def _value(text: str, name: str, path: str) -> Excerpt:
    try:
        value: Any = json.loads(text.lstrip("\ufeff"))
        for step in path.split("/"):
            value = value[int(step)] if isinstance(value, list) else value[step]
        told = json.dumps(value, indent=1, ensure_ascii=False)
    except (ValueError, KeyError, IndexError, TypeError, RecursionError):
        raise TraceError(name, f"there is no record at {path[:80]!r}", "look at the file itself") from None
    more = f", {VALUE:,} of them shown" if len(told) > VALUE else ""
    return Excerpt(f"{len(told):,} characters{more}", told[:VALUE] + ("…" if more else ""))


def _printable(text: str) -> str:
    """Control characters as pictures of themselves, so that a terminal's tricks stay visible."""
    return "".join(chr(0x2400 + ord(c)) if ord(c) < 32 else "␡" if ord(c) == 127 else c for c in text)
