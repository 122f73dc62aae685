"""Load: read the traces in any file that an importer recognises."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import BinaryIO

from .errors import AmbiguousFormat, TraceError, UnknownFormat
from .importers import IMPORTERS, Grouping, Importer
from .importers.files.collection import ZIP, Collection, archive, folder
from .importers.files.decode import decode
from .importers.files.document import HEAD, Document
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
    label = name or _label(source)
    if isinstance(source, str | os.PathLike) and os.path.isdir(source):
        return _collected(folder(source), format)
    data = _contents(source, label)
    if data.startswith(ZIP) and not any(importer.sniff(data[:HEAD]) for importer in IMPORTERS):
        return _collected(archive(data, label), format)
    document = decode(data, label)
    traces = (_named(format, label) if format else _claimant(document)).read(document)
    if not traces:
        raise TraceError(label, "the file holds no trace")
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
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise TraceError(label, f"the file cannot be read: {reason}", "check the path") from error
    if not isinstance(data, bytes):
        raise TraceError(label, "the stream gives text, not bytes", "open it with mode 'rb'")
    return data


def _collected(collection: Collection, format: str | None) -> list[Trace]:
    """The traces of a folder or an archive: first the files that belong together, then each of the others."""
    traces: list[Trace] = []
    problems = list(collection.problems)
    unknown: list[str] = []
    left = list(collection.files)
    importers = [_named(format, collection.name)] if format else IMPORTERS
    for importer in importers:
        if not isinstance(importer, Grouping):
            continue
        for group in importer.groups(left):
            left = [path for path in left if path not in set(group)]
            documents = []
            for path in group:
                try:
                    documents.append(decode(collection.data(path), path))
                except TraceError as error:
                    problems.append(Problem(None, f"{error} (left out)"))
            try:
                traces += _described(importer.read_group(documents), documents) if documents else []
            except TraceError as error:
                problems.append(Problem(None, f"{error} (left out)"))
    for path in left:
        try:
            document = decode(collection.data(path), path)
            reader = importers[0] if format else _claimant(document)
            traces += _described(reader.read(document), [document])
        except UnknownFormat:
            unknown.append(path)
        except TraceError as error:
            problems.append(Problem(None, f"{error} (left out)"))
    if unknown:
        shown = ", ".join(path[:80] for path in unknown[:3]) + (" …" if len(unknown) > 3 else "")
        problems.append(Problem(None, f"{len(unknown):,} files of no known format: {shown} (left out)"))
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


def _named(format: str, label: str) -> Importer:
    for importer in IMPORTERS:
        if importer.name == format:
            return importer
    raise UnknownFormat(label, f"{format!r} is no format", _known())


def _known() -> str:
    return "known formats: " + ", ".join(importer.name for importer in IMPORTERS)


def _claimant(document: Document) -> Importer:
    head = document.head
    claims = [importer for importer in IMPORTERS if importer.sniff(head)]
    if len(claims) > 1:
        names = " and ".join(importer.name for importer in claims)
        raise AmbiguousFormat(document.name, f"the formats {names} both claim this file", "convert it to native")
    if not claims:
        raise UnknownFormat(document.name, "this is no trace format that is known here", _known())
    return claims[0]
