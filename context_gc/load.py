"""Load: read the traces in any file that an importer recognises."""

from __future__ import annotations

import os
from typing import BinaryIO

from .errors import AmbiguousFormat, TraceError, UnknownFormat
from .importers import IMPORTERS, Importer
from .importers.decode import decode
from .importers.document import Document
from .trace import Trace


def load_traces(source: str | os.PathLike[str] | bytes | BinaryIO, name: str | None = None) -> list[Trace]:
    """Read every trace in a file of any known format; a string is a path, gzip is recognised by its bytes.

    `name` is what messages and `Trace.source` call the file. Damaged records are skipped and listed in
    `problems` of the first trace. A binary stream is read to its end and left open.

    Raises:
        UnknownFormat, AmbiguousFormat: no importer claims the file, or several do.
        TraceError: it cannot be read, is empty, or nothing in it is whole.
    """
    label = name or _label(source)
    document = decode(_contents(source, label), label)
    traces = _claimant(document).read(document)
    if not traces:
        raise TraceError(label, "the file holds no trace")
    traces[0].problems[:0] = document.problems
    return traces


def load_trace(source: str | os.PathLike[str] | bytes | BinaryIO, name: str | None = None) -> Trace:
    """Read a file that holds exactly one trace, as `load_traces` does.

    Raises:
        TraceError: it holds more than one, or any reason that `load_traces` has.
    """
    traces = load_traces(source, name)
    if len(traces) != 1:
        raise TraceError(traces[0].source, f"the file holds {len(traces)} traces, not one", "use load_traces")
    return traces[0]


def _label(source: object) -> str:
    if isinstance(source, str | os.PathLike):
        path = os.fspath(source)
        return path if isinstance(path, str) else os.fsdecode(path)
    found = getattr(source, "name", None)
    return found if isinstance(found, str) else "the data"


def _contents(source: str | os.PathLike[str] | bytes | BinaryIO, label: str) -> bytes:
    if isinstance(source, bytes | bytearray | memoryview):
        return bytes(source)
    try:
        if isinstance(source, str | os.PathLike):
            with open(source, "rb") as file:
                return file.read()
        data = source.read()
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and isinstance(source, str | os.PathLike) and os.path.isdir(source):
            raise TraceError(label, "this is a folder", "name one file in it, such as a session's .jsonl") from error
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise TraceError(label, f"the file cannot be read: {reason}", "check the path") from error
    if not isinstance(data, bytes):
        raise TraceError(label, "the stream gives text, not bytes", "open it with mode 'rb'")
    return data


def _claimant(document: Document) -> Importer:
    head = document.head
    claims = [importer for importer in IMPORTERS if importer.sniff(head)]
    if len(claims) > 1:
        names = " and ".join(importer.name for importer in claims)
        raise AmbiguousFormat(document.name, f"the formats {names} both claim this file", "convert it to native")
    if not claims:
        known = ", ".join(importer.name for importer in IMPORTERS)
        raise UnknownFormat(document.name, "this is no trace format that is known here", f"known formats: {known}")
    return claims[0]
