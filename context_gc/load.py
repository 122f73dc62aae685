"""Load: read the traces in any file that an importer recognises."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from typing import BinaryIO

from .collector import collector_paused
from .errors import AmbiguousFormat, TraceError, UnknownFormat
from .importers import ARCHIVED, IMPORTERS, Grouping, Importer
from .importers.files.collection import Collection, archive, folder, printable
from .importers.files.decode import LARGEST, STEP, decode
from .importers.files.document import ARCHIVES, HEAD, Document
from .trace import Problem, Trace


def load_traces(
    source: str | os.PathLike[str] | bytes | BinaryIO, name: str | None = None, format: str | None = None
) -> list[Trace]:
    """Read every trace in a file of any known format; a string is a path, gzip is recognised by its bytes.

    A folder or a zip archive gives the traces of all files in it that are of a known format; the others are
    counted in the problems of the first trace. `name` is what messages and `Trace.source` call the file.
    `format`: the importer to read with, whatever the file looks like. Damaged records are skipped and listed
    in `problems` of the first trace. A binary stream is read to its end and left open.

    Raises:
        UnknownFormat, AmbiguousFormat: no importer claims the file, or several do; `format` is none of them.
        TraceError: it cannot be read, is empty, or nothing in it is whole.
    """
    with collector_paused():
        return _loaded(source, name or _label(source), format)


def _loaded(source: str | os.PathLike[str] | bytes | BinaryIO, label: str, format: str | None) -> list[Trace]:
    if isinstance(source, str | os.PathLike) and os.path.isdir(source):
        return _collected(folder(source), format)
    data = _contents(source, label)
    if data.startswith(ARCHIVES) and not any(importer.sniff(data[:HEAD]) for importer in ARCHIVED):
        return _collected(archive(data, label), format)
    return read_document(decode(data, label), format)


def read_document(document: Document, format: str | None = None) -> list[Trace]:
    """Every trace in a decoded file, by the importer that claims it or by the one that `format` names.

    Raises as `load_traces` does.
    """
    traces = (named(format, document.name) if format else _claimant(document)).read(document)
    if not traces:
        raise TraceError(document.name, "the file holds no trace")
    traces[0].problems[:0] = document.problems
    return traces


def load_trace(
    source: str | os.PathLike[str] | bytes | BinaryIO, name: str | None = None, format: str | None = None
) -> Trace:
    """Read a file that holds exactly one trace, as `load_traces` does.

    Raises:
        TraceError: it holds more than one, or any reason that `load_traces` has.
    """
    traces = load_traces(source, name, format)
    if len(traces) != 1:
        raise TraceError(traces[0].source, f"the file holds {len(traces)} traces, not one", "use load_traces")
    return traces[0]


def _label(source: object) -> str:
    if isinstance(source, str | os.PathLike):
        return printable(os.fsdecode(source))
    found = getattr(source, "name", None)
    return found if isinstance(found, str) else "the data"


def _contents(source: str | os.PathLike[str] | bytes | BinaryIO, label: str) -> bytes:
    if isinstance(source, bytes | bytearray | memoryview):
        return bytes(source)
    try:
        if not isinstance(source, str | os.PathLike):
            return _drained(source, label)
        with open(source, "rb") as file:
            facts = os.fstat(file.fileno())
            if not stat.S_ISREG(facts.st_mode) or not facts.st_size:
                return _drained(file, label)
            if facts.st_size <= LARGEST:
                return file.read(facts.st_size)
            raise _too_large(label)
    except TraceError:
        raise
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise TraceError(label, f"the file cannot be read: {reason}", "check the path") from error


def _drained(stream: BinaryIO, label: str) -> bytes:
    """All that a stream gives, which may be without end."""
    parts: list[bytes] = []
    size = 0
    while size <= LARGEST:
        part = stream.read(STEP)
        if not isinstance(part, bytes):
            raise TraceError(label, "the stream gives text, not bytes", "open it with mode 'rb'")
        if not part:
            return b"".join(parts)
        parts.append(part)
        size += len(part)
    raise _too_large(label)


def _too_large(label: str) -> TraceError:
    return TraceError(label, f"the file is larger than {LARGEST:,} bytes", "split it")


def _collected(collection: Collection, format: str | None) -> list[Trace]:
    """The traces of a folder or an archive: first the files that belong together, then each of the others."""
    traces: list[Trace] = []
    problems = list(collection.problems)
    unknown: list[str] = []
    left = list(collection.files)
    importers = [named(format, collection.name)] if format else IMPORTERS
    for importer in importers:
        if not isinstance(importer, Grouping):
            continue
        for group in importer.groups(left):
            left = [path for path in left if path not in set(group)]
            documents = []
            for path in group:
                try:
                    documents.append(collection.document(path))
                except TraceError as error:
                    problems.append(Problem(None, f"{error} (left out)", 0))
            try:
                traces += _described(importer.read_group(documents), documents) if documents else []
            except TraceError as error:
                problems.append(Problem(None, f"{error} (left out)", 0))
    for place, path in enumerate(left):
        if collection.is_spent:
            what = f"more than {collection.most:,} bytes in all: the last {len(left) - place:,} files"
            problems.append(Problem(None, f"{what} were not read (left out)", 0))
            break
        try:
            document = collection.document(path)
            reader = importers[0] if format else _claimant(document)
            traces += _described(reader.read(document), [document])
        except UnknownFormat:
            unknown.append(path)
        except TraceError as error:
            problems.append(Problem(None, f"{error} (left out)", 0))
    if unknown:
        shown = ", ".join(path[:80] for path in unknown[:3]) + (" …" if len(unknown) > 3 else "")
        problems.append(Problem(None, f"{len(unknown):,} files of no known format: {shown} (left out)", 0))
    if not traces and unknown and len(problems) == 1:
        raise UnknownFormat(collection.name, problems[0].text.removesuffix(" (left out)"), _known())
    if not traces:
        told = "; ".join(problem.text for problem in problems[:3]) or "it is empty"
        raise TraceError(collection.name, f"no trace could be read: {told}", "name a file or folder that holds one")
    traces[0].problems[:0] = problems
    return traces


def _described(traces: list[Trace], documents: Sequence[Document]) -> list[Trace]:
    if traces:
        traces[0].problems[:0] = [problem for document in documents for problem in document.problems]
    return traces


def named(format: str, label: str) -> Importer:
    """The importer of this name. Raises UnknownFormat, which says what `label` was to be read as."""
    for importer in IMPORTERS:
        if importer.name == format:
            return importer
    raise UnknownFormat(label, f"{format!r} is no format", _known())


def _known() -> str:
    return "known formats: " + ", ".join(importer.name for importer in IMPORTERS)


def _claimant(document: Document) -> Importer:
    head = document.head
    importers = ARCHIVED if head.startswith(ARCHIVES) else IMPORTERS
    claims = [importer for importer in importers if importer.sniff(head)]
    if len(claims) > 1:
        names = " and ".join(importer.name for importer in claims)
        raise AmbiguousFormat(
            document.name, f"the formats {names} both claim this file", "name one of them as its format"
        )
    if not claims:
        raise UnknownFormat(document.name, "this is no trace format that is known here", _known())
    return claims[0]
