"""Bytes of any file -> a `Document`: unpacked, in UTF-8, without byte order mark and NULs."""

from __future__ import annotations

import zlib
from collections.abc import Mapping

from ...errors import TraceError
from ...trace import Problem
from .document import ARCHIVES, Document

LARGEST = 1 << 30  #: bytes of one file, unpacked: more is refused
MAX_RATIO = 300  #: unpacked to packed size; what is beyond it is refused once it exceeds RATIO_FROM
RATIO_FROM = 32 << 20  #: bytes: below this size no ratio is suspicious
STEP = 4 << 20

GZIP = b"\x1f\x8b"
ZIP, EMPTY_ZIP = ARCHIVES
BINARY = (*ARCHIVES, b"SQLite format 3\0")
_BY_NULS: Mapping[tuple[bool, ...], str] = {
    (False, True, True, True): "utf-32-le",
    (True, True, True, False): "utf-32-be",
    (False, True, False, True): "utf-16-le",
    (True, False, True, False): "utf-16-be",
}  # which of the first four bytes are NUL
EMPTY = frozenset((b"null", b"[]", b"{}"))


def decode(data: bytes, name: str) -> Document:
    """Undo packing and encoding; what had to be mended is in the document's problems.

    Zip archives and SQLite files are passed on as they are.

    Raises:
        TraceError: the file is empty, or it unpacks to too much or to nothing.
    """
    problems: list[Problem] = []
    if data.startswith(GZIP):
        data = _unpacked(data, name, problems)
    if not data.startswith(BINARY):
        data = _plain(data, problems)
    if not data[:STEP].strip() and not data.strip():
        raise TraceError(name, "the file is empty", "name a file that holds a trace")
    if len(data) < 100 and b"".join(data.split()) in EMPTY:
        raise TraceError(name, f"the file holds only {data.strip().decode()}", "name a file that holds a trace")
    return Document(name, data, problems)


def _unpacked(data: bytes, name: str, problems: list[Problem]) -> bytes:
    parts: list[bytes] = []
    size, rest = 0, data
    while rest.startswith(GZIP):
        stream = zlib.decompressobj(wbits=31)
        while not stream.eof:
            try:
                part = stream.decompress(rest, STEP)
            except zlib.error as error:
                if not size:
                    raise TraceError(name, f"the gzip data is damaged: {error}", "unpack it by other means") from error
                problems.append(Problem(None, "the gzip data is damaged (what came before was kept)", 0))
                return b"".join(parts)
            size += len(part)
            if size > LARGEST or size > max(RATIO_FROM, MAX_RATIO * len(data)):
                what = f"{len(data):,} bytes of gzip unpack to more than {size - len(part):,}"
                raise TraceError(name, what, "if that is meant, unpack it first")
            parts.append(part)
            rest = stream.unconsumed_tail
            if not part and not rest and not stream.eof:
                if not size:
                    raise TraceError(name, "the gzip data ends before its first byte", "get the whole file")
                problems.append(Problem(None, "the gzip data ends too early (what came before was kept)", 0))
                return b"".join(parts)
        rest = stream.unused_data.lstrip(b"\0")
    return b"".join(parts)


def _plain(data: bytes, problems: list[Problem]) -> bytes:
    encoding = _wide_encoding(data[:4])
    if encoding:
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError as error:
            line = data[: error.start].decode(encoding, "replace").count("\n") + 1
            what = f"bytes that are not {encoding[:6].upper()}, first on line {line} (each replaced by U+FFFD)"
            problems.append(Problem(None, what, 0))
            text = data.decode(encoding, "replace")
        data = text.encode("utf-8", "replace")
    data = data.removeprefix(b"\xef\xbb\xbf")
    if b"\0" in data:
        problems.append(Problem(None, f"{data.count(0):,} NUL bytes (removed)", 0))
        data = data.replace(b"\0", b"")
    return data


def _wide_encoding(start: bytes) -> str:
    """The encoding that a byte order mark names, or that the NUL bytes around a first ASCII letter show."""
    if start in (b"\xff\xfe\0\0", b"\0\0\xfe\xff"):
        return "utf-32"
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    return _BY_NULS.get(tuple(byte == 0 for byte in start), "")
