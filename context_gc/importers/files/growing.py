"""A file that is still being written: how much of it is whole, and its lines parsed no more than once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from ...trace import Problem
from .document import BLANK, Document, Record, parse_at

_BLANK = BLANK.encode()
_WIDE = (b"\xff\xfe", b"\xfe\xff")


@dataclass(slots=True)
class Lines:
    """The records of a file's lines so far; those of a last line without its end are parsed again."""

    records: list[Record] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    ended: int = 0  #: bytes of the lines that are ended
    count: int = 0  #: their number
    undecodable: bool = False

    def grown(self, document: Document, read: bytes) -> Document:
        """A document that was decoded from `read`, whose start is known: only the rest of it is parsed.

        One that had to be mended (NUL bytes, UTF-16) comes back as it is, to be parsed anew.
        """
        if document.data != read:
            return document
        stop = read.rfind(b"\n") + 1
        records, problems = self._parsed(read[self.ended : stop])
        self.records += records
        self.problems += problems
        self.count += read.count(b"\n", self.ended, stop)
        self.ended = stop
        records, problems = self._parsed(read[stop:])
        return _Parsed(
            document.name, read, document.problems, self.records + records, self.problems + problems, self.undecodable
        )

    def _parsed(self, part: bytes) -> tuple[list[Record], list[Problem]]:
        document = Document("", part)
        records, problems = document.records()
        self.undecodable = self.undecodable or bool(document.problems)
        return (
            [Record(line + self.count, value) for line, value in records],
            [replace(each, line=self.count + (each.line or 0)) for each in problems],
        )


@dataclass
class _Parsed(Document):
    """A document whose lines were parsed already."""

    known: list[Record] = field(default_factory=list)
    damaged: list[Problem] = field(default_factory=list)
    undecodable: bool = False

    def each_record(self, problems: list[Problem]) -> Iterator[Record]:
        """As a document's own."""
        if self.undecodable:
            _ = self.text  # reports it
        problems += self.damaged
        yield from self.known


def is_one_value(data: bytes) -> bool:
    """Whether a file is one JSON value over all its lines, rather than lines of their own."""
    if data[:256].lstrip(_BLANK)[:1] not in (b"{", b"["):
        return False
    data = data.lstrip(_BLANK)
    stop = data.find(b"\n")
    first = data[:stop] if stop >= 0 else data
    value, is_all = _value(first)
    if value is not None:
        return is_all and not data[len(first) : len(first) + 256].strip(_BLANK)
    second = data[len(first) :].lstrip(_BLANK).partition(b"\n")[0]
    return not (first[:1] == b"{" and second[:1] == b"{" and _is_object(second))  # else a damaged first line


def is_whole(data: bytes) -> bool:
    """Whether the file is one JSON value and nothing else."""
    return _value(data.lstrip(_BLANK))[1]


def whole_part(data: bytes) -> bytes:
    """The lines that are ended, and the last one too when it is one whole JSON object; UTF-16 becomes UTF-8."""
    if data.startswith(_WIDE):
        text = data[: len(data) // 2 * 2].decode("utf-16", "replace")
        data = text.encode("utf-8", "replace")
    stop = data.rfind(b"\n") + 1
    return data if _is_object(data[stop:]) else data[:stop]


def _is_object(line: bytes) -> bool:
    line = line.strip(_BLANK)
    if not (line.startswith(b"{") and line.endswith(b"}")):
        return False
    value, is_all = _value(line)
    return type(value) is dict and is_all


def _value(text: bytes) -> tuple[object, bool]:
    """The JSON value at the start of a text, and whether only blanks follow; (None, False) without one."""
    try:
        told = text.decode("utf-8", "replace")
        value, end = parse_at(told)
    except ValueError:
        return None, False
    return value, not told[end:].strip(BLANK)
