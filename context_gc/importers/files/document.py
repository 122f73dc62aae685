"""A file's contents as importers see them: its head, its text, and its numbered JSON records."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ...trace import Problem

HEAD = 64 << 10  #: bytes that a sniffer sees at least, and the rest of the line there
HEAD_LINES = 20  #: lines that it sees at least: a huge first line must not hide the others
LONGEST_HEAD = 4 << 20  #: bytes that it sees at most
STEP = 256 << 10  #: bytes that are decoded at a time
ARCHIVES = (b"PK\x03\x04", b"PK\x05\x06")  # how a zip archive begins, and one without members
BLANK = " \t\r\n\x0b\x0c\x1e\ufeff"  # what may stand around a record: also JSON-sequence and byte order marks

_decoder = json.JSONDecoder()
_BLANKS = re.compile(rb"(?:[ \t\r\n\x0b\x0c\x1e]|\xef\xbb\xbf)*+")


class Record(NamedTuple):
    """A JSON object and the number of the line that it began on, from 1."""

    line: int
    value: dict[str, Any]


@dataclass
class Document:
    """One file. `data` is UTF-8 for text files; `problems` collects what concerns the file as a whole."""

    name: str
    data: bytes
    problems: list[Problem] = field(default_factory=list)
    _undecodable: bool = field(default=False, init=False, repr=False, compare=False)

    @property
    def head(self) -> bytes:
        """Whole lines: the first 64 KiB and the first 20 lines at least, 4 MiB at most.

        Lines too long for that are left out; of the first one, and of an archive, the first 64 KiB are there.
        """
        if self.data.startswith(ARCHIVES):
            return self.data[:HEAD]
        lines: list[bytes] = []
        start, size = _blanks(self.data, 0), 0
        for _ in range(HEAD):
            stop = self.data.find(b"\n", start)
            stop = len(self.data) if stop < 0 else stop
            if size + stop - start <= LONGEST_HEAD or not lines:
                line = self.data[start : stop if stop - start <= LONGEST_HEAD else start + HEAD]
                lines.append(line)
                size += len(line) + 1
            start = stop + 1
            if start > len(self.data) or (len(lines) >= HEAD_LINES and size > HEAD):
                break
        return b"\n".join(lines)

    @property
    def text(self) -> str:
        """The whole file, decoded anew each time. Bytes that are not UTF-8 are replaced and reported in `problems`."""
        return self._decoded(0, len(self.data))

    @property
    def first_line(self) -> str:
        """The first line of a JSONL file: one whole object, with more than blanks below it; "" for any other file."""
        start = _blanks(self.data, 0)
        stop = self.data.find(b"\n", start)
        if stop < 0 or not self.data.startswith(b"{", start) or _blanks(self.data, stop) == len(self.data):
            return ""
        line = self.data[start:stop].decode("utf-8", "replace").rstrip(BLANK)
        try:
            value, end = _decoder.raw_decode(line)
        except (ValueError, RecursionError):
            return ""
        return line if end == len(line) and type(value) is dict else ""

    def records(self) -> tuple[list[Record], list[Problem]]:
        """The JSON objects of a JSONL file, and what is no object, by line. Never raises.

        Several objects on one line are several records; after damage the rest of its line is skipped.
        """
        problems: list[Problem] = []
        return list(self.each_record(problems)), problems

    def each_record(self, problems: list[Problem]) -> Iterator[Record]:
        """The same one after the other, for a reader that lets go of each; what is no object goes into `problems`."""
        parse = _decoder.raw_decode
        last = -1  # the line that the file ends within; counted when it is asked for
        for number, line in enumerate(self._lines(), 1):
            line = line.strip(BLANK)
            if not line:
                continue
            try:
                value, end = parse(line)
            except (ValueError, RecursionError):
                end = -1
            if end == len(line) and type(value) is dict:
                yield Record(number, value)
                continue
            if last < 0:
                last = 0 if self.data.endswith(b"\n") else self.data.count(b"\n") + 1
            yield from _split(line, number, number == last, problems)

    def _lines(self) -> Iterator[str]:
        """The lines, decoded some at a time: the whole text would take up to four times its bytes."""
        start, size = 0, len(self.data)
        while start < size:
            stop = self.data.find(b"\n", start + STEP)
            stop = size if stop < 0 else stop
            yield from self._decoded(start, stop).split("\n")
            start = stop + 1

    def _decoded(self, start: int, stop: int) -> str:
        data = self.data if stop - start == len(self.data) else self.data[start:stop]
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as error:
            if not self._undecodable:
                self._undecodable = True
                line = self.data.count(b"\n", 0, start + error.start) + 1
                text = f"bytes that are not UTF-8, first on line {line} (each replaced by U+FFFD)"
                self.problems.append(Problem(None, text, 0))
            return data.decode("utf-8", "replace")


def parse_at(text: str, start: int = 0) -> tuple[Any, int]:
    """The JSON value at a place and where it ends.

    Raises:
        ValueError: what is wrong there, in words.
    """
    try:
        return _decoder.raw_decode(text, start)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except json.JSONDecodeError as error:
        raise ValueError(
            f"{error.msg[:1].lower()}{error.msg[1:].removesuffix(' at')} at column {error.colno}"
        ) from None
    except ValueError:
        raise ValueError("a number with too many digits") from None


def objects(text: str, limit: int) -> Iterator[dict[str, Any]]:
    """The first objects of JSONL text, `limit` lines at most, passing over what is damaged. For sniffing."""
    for line in text.split("\n", limit)[:limit]:
        line = line.strip(BLANK)
        try:
            value = parse_at(line)[0] if line else None
        except ValueError:
            continue
        if type(value) is dict:
            yield value


def kind_of(value: object) -> str:
    """What a JSON value is called in messages."""
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")


def _is_cut(line: str, start: int) -> bool:
    """Whether the JSON that begins at a place is well formed as far as the line goes, give or take its last word."""
    try:
        _decoder.raw_decode(line, start)
    except json.JSONDecodeError as error:
        return error.msg.startswith("Unterminated") or (error.pos > len(line) - 8 and "control" not in error.msg)
    except (ValueError, RecursionError):
        pass
    return False


def _blanks(data: bytes, start: int) -> int:
    """Where the blanks that begin at a place end."""
    found = _BLANKS.match(data, start)
    return found.end() if found else start


def _split(line: str, number: int, is_last: bool, problems: list[Problem]) -> Iterator[Record]:
    """Read the values of a line that is not exactly one object; at most one problem comes of it.

    `is_last`: the file ends within it.
    """
    at, kept, stray = 0, 0, ""
    while at < len(line):
        try:
            value, at = parse_at(line, at)
        except ValueError as error:
            done = "rest of the line skipped" if kept else "line skipped"
            cut = ", where the file is cut off" if is_last and _is_cut(line, at) else ""
            problems.append(Problem(number, f"not JSON: {error}{cut} ({done})"))
            return
        if type(value) is dict:
            yield Record(number, value)
            kept += 1
        else:
            stray = stray or kind_of(value)
        while at < len(line) and line[at] in BLANK:
            at += 1
    if stray:
        problems.append(Problem(number, f"{stray} where an object was expected (skipped)"))
