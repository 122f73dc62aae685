"""Bytes of any file -> a `Document`: unpacked, in UTF-8, without byte order mark and NULs."""

from __future__ import annotations

import zlib

from ...errors import TraceError
from ...trace import Problem
from .document import Document

MAX_UNPACKED = 1 << 30  #: bytes: a gzip file that unpacks to more is refused
MAX_RATIO = 300  #: unpacked to packed size; a gzip file beyond it is refused once it exceeds RATIO_FROM
RATIO_FROM = 32 << 20  #: bytes: below this size no ratio is suspicious
STEP = 4 << 20

GZIP = b"\x1f\x8b"
BINARY = (b"PK\x03\x04", b"SQLite format 3\0")
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
    if not data.strip():
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
                problems.append(Problem(None, "the gzip data is damaged (what came before was kept)"))
                return b"".join(parts)
            size += len(part)
            if size > MAX_UNPACKED or size > max(RATIO_FROM, MAX_RATIO * len(data)):
                what = f"{len(data):,} bytes of gzip unpack to more than {size - len(part):,}"
                raise TraceError(name, what, "if that is meant, unpack it first")
            parts.append(part)
            rest = stream.unconsumed_tail
            if not part and not rest and not stream.eof:
                if not size:
                    raise TraceError(name, "the gzip data ends before its first byte", "get the whole file")
                problems.append(Problem(None, "the gzip data ends too early (what came before was kept)"))
                return b"".join(parts)
        rest = stream.unused_data.lstrip(b"\0")
    return b"".join(parts)


def _plain(data: bytes, problems: list[Problem]) -> bytes:
    encoding = _wide_encoding(data[:4])
    if encoding:
        data = data.decode(encoding, "replace").encode("utf-8", "replace")
    data = data.removeprefix(b"\xef\xbb\xbf")
    nuls = data.count(0)
    if nuls:
        problems.append(Problem(None, f"{nuls:,} NUL bytes (removed)"))
        data = data.replace(b"\0", b"")
    return data


def _wide_encoding(start: bytes) -> str:
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    if len(start) == 4 and start[1] == start[3] == 0 and start[0] and start[2]:
        return "utf-16-le"
    if len(start) == 4 and start[0] == start[2] == 0 and start[1] and start[3]:
        return "utf-16-be"
    return ""
