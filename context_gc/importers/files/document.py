"""A file's contents as importers see them: its head, its text, and its numbered JSON records."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from ...trace import Problem

HEAD = 64 << 10  #: bytes that a sniffer sees at least, and the rest of the line there
HEAD_LINES = 20  #: lines that it sees at least: a huge first line must not hide the others
LONGEST_HEAD = 4 << 20  #: bytes that it sees at most
BLANK = " \t\r\n\x1e\ufeff"  # what may stand around a record: also JSON-sequence and byte order marks

_decoder = json.JSONDecoder()


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

    @property
    def head(self) -> bytes:
        """Whole lines: the first 64 KiB and the first 20 lines at least, 4 MiB at most. A longer line is cut."""
        find, whole = self.data.find, len(self.data) <= LONGEST_HEAD
        end = find(b"\n", HEAD, LONGEST_HEAD)
        if end < 0:
            return self.data if whole else self.data[:HEAD]
        for _ in range(self.data.count(b"\n", 0, end) + 1, HEAD_LINES):
            further = find(b"\n", end + 1, LONGEST_HEAD)
            if further < 0:
                return self.data if whole else self.data[:end]
            end = further
        return self.data[:end]

    @cached_property
    def text(self) -> str:
        """The whole file. Bytes that are not UTF-8 are replaced and reported in `problems`."""
        try:
            return self.data.decode("utf-8")
        except UnicodeDecodeError as error:
            line = self.data.count(b"\n", 0, error.start) + 1
            text = f"bytes that are not UTF-8, first on line {line} (each replaced by U+FFFD)"
            self.problems.append(Problem(None, text))
            return self.data.decode("utf-8", "replace")

    def records(self) -> tuple[list[Record], list[Problem]]:
        """The JSON objects of a JSONL file, and what is no object, by line. Never raises.

        Several objects on one line are several records; after damage the rest of its line is skipped.
        """
        records: list[Record] = []
        problems: list[Problem] = []
        parse = _decoder.raw_decode
        for number, line in enumerate(self.text.split("\n"), 1):
            line = line.strip(BLANK)
            if not line:
                continue
            try:
                value, end = parse(line)
            except (ValueError, RecursionError):
                end = -1
            if end == len(line) and type(value) is dict:
                records.append(Record(number, value))
            else:
                _split(line, number, records, problems)
        return records, problems


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


def _split(line: str, number: int, records: list[Record], problems: list[Problem]) -> None:
    """Read the values of a line that is not exactly one object; at most one problem comes of it."""
    at, kept, stray = 0, 0, ""
    while at < len(line):
        try:
            value, at = parse_at(line, at)
        except ValueError as error:
            done = "rest of the line skipped" if kept else "line skipped"
            problems.append(Problem(number, f"not JSON: {error} ({done})"))
            return
        if type(value) is dict:
            records.append(Record(number, value))
            kept += 1
        else:
            stray = stray or kind_of(value)
        while at < len(line) and line[at] in BLANK:
            at += 1
    if stray:
        problems.append(Problem(number, f"{stray} where an object was expected (skipped)"))
