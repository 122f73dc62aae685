"""Inspect AI: evaluation logs, as .eval archives, as one .json file, or unpacked; also one sample's file alone.

A sample in one epoch is one trace, and so is each further conversation in it (an agent that works as a
tool). Records are the sample's events, with those nested in others, and its final messages taken together
as one. Blind spot: samples that were converted to chunks are named in the problems and not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...errors import TraceError
from ...trace import Problem, Trace
from ..dialects.messages import text_at
from ..files.collection import archive
from ..files.decode import ZIP, decode
from ..files.document import Document
from ..files.json_roots import first_objects, roots
from .sample import Sample

name = "inspect-ai"

_SAMPLE = re.compile(r"samples/[^/]+_epoch_\d+\.json")
_INSIDE = re.compile(r"((?:.*/)?)samples/[^/]+_epoch_\d+\.json")
_CHUNKED = re.compile(r"samples/([^/]+_epoch_\d+)/sample\.json")
_OWN = re.compile(r"samples/[^/]+_epoch_\d+\.json|_journal/start\.json|header\.json")
_ABOUT = ("_journal/start.json", "header.json")
_EVENTS = frozenset("sample_init span_begin step model tool state store info score".split())


def sniff(head: bytes) -> bool:
    """Whether it is an archive that begins with members of an .eval log, or JSON of a log, a sample or its events."""
    if head.startswith(ZIP):
        return any(_names_log(member) for _, member in _members(head))
    return any(_is_log(value) or _is_sample(value) for value in first_objects(head))


def read(document: Document) -> list[Trace]:
    """The traces of all samples. `extra`: `sample_id`, `epoch`, and `task`, `scores`, `error`, `limit` where told.

    Raises:
        TraceError: it holds no sample that can be read, or the members are packed with zstd and this Python
            cannot unpack them.
    """
    if document.data.startswith(ZIP):
        files = archive(document.data, document.name)
        documents, problems = [], list(files.problems)
        for path in files.files:
            try:
                needed = path in _ABOUT or _SAMPLE.fullmatch(path)
                documents.append(decode(files.data(path), path) if needed else Document(path, b""))
            except TraceError as error:
                if isinstance(error.__cause__, ImportError):  # the extra that unpacks all of them is missing
                    raise TraceError(document.name, error.what, error.todo) from error
                problems.append(Problem(None, f"{error} (left out)", 0))
        return _read(documents, document.name, problems)
    found, problems = roots(document)
    log = found[0].value
    samples: list[tuple[dict[str, Any], Any]] = [(origin, value) for origin, value in found if not _is_log(value)]
    listed = log.get("samples") if _is_log(log) else None
    samples += [
        ({"path": f"samples/{place}"}, each) for place, each in enumerate(listed if type(listed) is list else ())
    ]
    return _collect(log, samples, document.name, problems)


def groups(paths: Sequence[str]) -> list[tuple[str, ...]]:
    """The samples of each .eval log that was unpacked, samples/<id>_epoch_<n>.json, and what tells about it."""
    found = [_INSIDE.fullmatch(path) for path in paths]
    above = dict.fromkeys(each[1] for each in found if each is not None)
    return [tuple(path for path in paths if path.startswith(top) and _OWN.fullmatch(path[len(top) :])) for top in above]


def read_group(documents: Sequence[Document]) -> list[Trace]:
    """The traces of an unpacked log. Raises TraceError as `read` does."""
    top = next((found[1] for each in documents if (found := _INSIDE.fullmatch(each.name))), "")
    inner = [Document(each.name[len(top) :], each.data, each.problems) for each in documents]
    return _read(inner, top.rstrip("/") or "the folder", [])


def _read(documents: Sequence[Document], source: str, problems: list[Problem]) -> list[Trace]:
    """The traces of a log whose members are documents by their names."""
    log: dict[str, Any] = {}
    samples: list[tuple[dict[str, Any], Any]] = []
    others = 0
    for document in sorted(documents, key=_natural):
        try:
            if _SAMPLE.fullmatch(document.name):
                found, told = roots(document)
                problems += [replace(each, line=None, text=f"{document.name}: {each.text}") for each in told]
                samples.append(({"member": document.name}, found[0].value))
            elif chunked := _CHUNKED.fullmatch(document.name):
                problems.append(Problem(None, f"the sample {chunked[1]} is in chunks (not read)", 0))
            else:
                others += 1
                if document.name in _ABOUT:
                    log |= roots(document)[0][0].value
        except TraceError as error:
            problems.append(Problem(None, f"{error} (left out)", 0))
    traces = _collect(log, samples, source, problems)
    if others:
        traces[0].ignored["file about the log"] = others
    return traces


def _collect(
    log: Mapping[str, Any], samples: Iterable[tuple[dict[str, Any], Any]], source: str, problems: list[Problem]
) -> list[Trace]:
    about = log.get("eval")
    traces: list[Trace] = []
    for origin, sample in samples:
        where = str(origin.get("member") or origin.get("path") or "the sample")
        if type(sample) is not dict or not _holds_messages(sample):
            problems.append(Problem(origin.get("line"), f"{where}: not a sample (skipped)"))
            continue
        traces += Sample(sample, origin, problems).traces(name, source, about if type(about) is dict else {})
    if not traces:
        status = text_at(log, "status")
        told = f" (its status is {status!r})" if status else ""
        more = "; ".join(each.text for each in problems[:3])
        what = f"it holds no samples{told}" + (f": {more}" if more else "")
        raise TraceError(source, what, "name a log of a run that got so far")
    traces[0].problems += problems
    return traces


def _is_log(value: Mapping[str, Any]) -> bool:
    about = value.get("eval")
    return type(about) is dict and "task" in about and ("version" in value or "status" in value)


def _is_sample(value: Mapping[str, Any]) -> bool:
    events = value.get("events")
    first = events[0] if type(events) is list and events and type(events[0]) is dict else {}
    kind = first.get("event")
    if type(kind) is str and kind in _EVENTS and "timestamp" in first:
        return True
    return "epoch" in value and "target" in value and type(value.get("messages")) is list


def _holds_messages(value: Mapping[str, Any]) -> bool:
    return "epoch" in value or "messages" in value or _is_sample(value)


def _members(data: bytes) -> list[tuple[int, str]]:
    """How the members are packed, and their names, of those whose headers are in the first bytes of an archive.

    Contents are passed over, so that an archive in an archive is not taken for its members.
    """
    found: list[tuple[int, str]] = []
    at = 0
    while data.startswith(ZIP, at):
        flags, method, packed, named, more = (
            int.from_bytes(data[at + start : at + stop], "little")
            for start, stop in ((6, 8), (8, 10), (18, 22), (26, 28), (28, 30))
        )
        found.append((method, data[at + 30 : at + 30 + named].decode("utf-8", "replace")))
        at += 30 + named + more
        unknown = flags & 8 or packed == 0xFFFFFFFF  # the size stands behind the contents, or elsewhere
        at = data.find(ZIP, at) if unknown else at + packed
        if at < 0:
            break
    return found


def _names_log(member: str) -> bool:
    return member == "_journal/start.json" or bool(_SAMPLE.fullmatch(member) or _CHUNKED.fullmatch(member))


def _natural(document: Document) -> list[tuple[int, str]]:
    """Sorts `2_epoch_1` before `10_epoch_1`."""
    parts = re.split(r"(\d+)", document.name)
    return [(int(part[:18]) if part.isdecimal() and part.isascii() else -1, part) for part in parts]
