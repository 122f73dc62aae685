"""JSON roots: the objects that a JSON, JSONL or JSON array file consists of, also where the file is cut or damaged."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from ...errors import TraceError
from ...trace import Problem
from .document import BLANK, Document, kind_of, objects, parse_at

FIRST = 20  #: objects that a sniffer sees at most
GLANCE = 256 << 10  #: characters of a cut head that a sniffer looks at

_decoder = json.JSONDecoder()
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"|[\[\]{},:]|[^\s\[\]{},:"]+', re.DOTALL)
_SPREAD = re.compile(r"\{\s*\n")

_Opened = tuple[str, "_Opened | None"]


class Root(NamedTuple):
    """An object of a file and where it stands: {"line"} of JSONL, {"path": its index} of an array, {} of one alone."""

    origin: dict[str, Any]
    value: dict[str, Any]


def roots(document: Document) -> tuple[list[Root], list[Problem]]:
    """The objects of a file in order, and what is wrong with it. Of a damaged array or object the start is kept.

    Raises:
        TraceError: there is no object in it.
    """
    problems: list[Problem] = []
    if document.first_line:
        return _lines(document, problems), problems
    text = document.text
    start = len(text) - len(text.lstrip(BLANK))
    try:
        value, end = parse_at(text, start)
    except ValueError as error:
        found = [] if text[start] == "[" or _SPREAD.match(text, start) else _lines(document, problems)
        if found:
            return found, problems
        value, place = _mended(text, start)
        line = text.count("\n", 0, place) + 1
        if value is None:
            raise TraceError(document.name, f"line {line} is not JSON: {error}", "get the whole file") from None
        problems = [Problem(line, f"not JSON: {error} (what came before was kept)")]
    else:
        if text[end:].strip(BLANK):
            found = _lines(document, problems)
            if found:
                return found, problems
    found = _of_value(value, problems)
    if not found:
        raise TraceError(document.name, "it holds no JSON object", "name a file that holds a trace")
    return found, problems


def each_root(document: Document, problems: list[Problem]) -> Iterator[Root]:
    """The same one after the other, for a reader that lets go of each; what is wrong goes into `problems`.

    Raises as `roots` does.
    """
    if document.first_line:
        for line, value in document.each_record(problems):
            yield Root({"line": line}, value)
    else:
        found, damaged = roots(document)
        problems += damaged
        yield from found


@lru_cache(maxsize=2)
def first_objects(head: bytes) -> tuple[dict[str, Any], ...]:
    """The first objects of a file as far as its head shows them; a cut one is closed where it is cut."""
    text = head.decode("utf-8", "replace").lstrip(BLANK)
    if text[:1] not in ("{", "["):
        return tuple(objects(text, FIRST))
    try:
        value, end = parse_at(text)
    except ValueError:
        value, end = _mended(text[:GLANCE], 0)[0], 0
    found = [root.value for root in _of_value(value, [])][:FIRST]
    if text[0] == "{" and not _SPREAD.match(text) and text[end:].strip(BLANK):
        found = list(objects(text, FIRST)) or found
    return tuple(found)


def decoded(value: Any, levels: int = 2) -> Any:
    """A value that may be JSON in a string, also twice; text that is no object, list or string of JSON stays."""
    while levels and type(value) is str and value.lstrip()[:1] in ("{", "[", '"'):
        levels -= 1
        try:
            inner, end = parse_at(value.strip())
        except ValueError:
            return value
        if end != len(value.strip()):
            return value
        value = inner
    return value


def _lines(document: Document, problems: list[Problem]) -> list[Root]:
    records, damaged = document.records()
    problems += damaged
    return [Root({"line": line}, value) for line, value in records]


def _of_value(value: Any, problems: list[Problem]) -> list[Root]:
    if type(value) is dict:
        return [Root({}, value)]
    found = []
    for index, element in enumerate(value if type(value) is list else ()):
        if type(element) is dict:
            found.append(Root({"path": str(index)}, element))
        else:
            text = f"element {index}: {kind_of(element)} where an object was expected (skipped)"
            problems.append(Problem(None, text))
    return found


def _mended(text: str, start: int) -> tuple[Any, int]:
    """What damaged JSON holds before the damage, with its brackets closed, and where that is; None for nothing."""
    try:
        _decoder.raw_decode(text, start)
        return None, start
    except json.JSONDecodeError as error:
        stop = min(error.pos, len(text))
    except (ValueError, RecursionError):
        return None, start
    opened: _Opened | None = None  # the brackets that are open, innermost first
    kept: _Opened | None = None  # and those that were open where the text may end
    safe, after_colon = start, False
    for token in _TOKEN.finditer(text, start, stop):
        first = token[0][0]
        if first in "{[":
            opened = ("}" if first == "{" else "]", opened)
        elif first in "}]":
            opened = opened[1] if opened else None
        elif first == ":":
            after_colon = True
            continue
        elif first == "," or (opened and opened[0] == "}" and not after_colon):
            continue  # behind a comma or a key the text must not end
        elif first != '"' and token.end() == len(text):
            break  # a number that may go on
        safe, kept, after_colon = token.end(), opened, False
    closing = []
    while kept:
        closing.append(kept[0])
        kept = kept[1]
    try:
        return parse_at(text[start:safe] + "".join(closing))[0], stop
    except ValueError:
        return None, stop
