"""How a file holds its objects: one alone, a list, or one on each line; for formats that occur in any of these ways."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from ...trace import Problem
from ..files.document import BLANK, Document, Record
from ..files.json_roots import first_objects, roots


class Contents(NamedTuple):
    """`rows` are numbered by line (from 1) in the layout "lines", by place (from 0) in "list" and "object"."""

    layout: Literal["object", "list", "lines", "none"]
    rows: Sequence[Record]


def contents(document: Document) -> tuple[Contents, list[Problem]]:
    """The objects of a file, and what is wrong with it. Raises TraceError when there is no object in it."""
    found, problems = roots(document)
    origin = found[0].origin
    if "line" in origin:
        return Contents("lines", [Record(each.origin["line"], each.value) for each in found]), problems
    if "path" in origin:
        return Contents("list", [Record(int(each.origin["path"]), each.value) for each in found]), problems
    return Contents("object", [Record(0, found[0].value)]), problems


def opening(head: bytes) -> Contents:
    """What the beginning of a file shows, for sniffing. The last object in it may be cut."""
    start = head[:100].decode("utf-8", "replace").lstrip(BLANK)[:1]
    rows = [Record(place, value) for place, value in enumerate(first_objects(head))]
    if start not in ("{", "["):
        return Contents("none", ())
    if start == "[":
        return Contents("list", rows)
    return Contents("lines" if len(rows) > 1 else "object", rows)
