"""Canonical JSON: one text for one value, in every process; and private copies of JSON values.

Nothing here recurses, so a value may be nested as deeply as memory allows.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

ATOMS = frozenset((str, int, float, bool, type(None)))
_flat, _named = ATOMS.issuperset, frozenset((str,)).issuperset
_sorted = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)
_readable, _escaped = json.JSONEncoder(ensure_ascii=False), json.JSONEncoder()


def canonical(value: Any) -> str:
    """The JSON text of a value with sorted keys and no spaces. 1, 1.0 and true stay different."""
    return _encode(value, _sorted, ",", ":", True)


def readable(value: Any, ascii_only: bool = False) -> str:
    """The JSON text of a value as a person writes it: keys as they come, a space after each comma."""
    return _encode(value, _escaped if ascii_only else _readable, ", ", ": ", False)


def digest(value: Any) -> str:
    """sha256 of the canonical JSON in UTF-8, 64 hex characters. Lone surrogates are kept as they are."""
    return hashlib.sha256(canonical(value).encode("utf-8", "surrogatepass")).hexdigest()


def own(value: Any) -> Any:
    """A private copy of a JSON value that shares no list and no dict with it.

    Raises:
        TypeError: something in it is not JSON (its message names the type).
    """
    if type(value) in ATOMS:
        return value
    if type(value) is dict and _flat(map(type, value.values())) and _named(map(type, value)):
        return value.copy()
    root: list[Any] = [value]
    todo: list[tuple[Any, Any]] = [(root, 0)]
    opened: set[int] = set()
    while todo:
        holder, slot = todo.pop()
        if holder is None:
            opened.discard(slot)
            continue
        item = holder[slot]
        if type(item) in ATOMS:
            continue
        holder[slot] = copy = _own_level(item)
        if type(copy) in ATOMS:
            continue
        if id(item) in opened:
            raise TypeError("a value that contains itself")
        opened.add(id(item))
        todo.append((None, id(item)))
        places = copy if type(copy) is dict else range(len(copy))
        todo.extend((copy, place) for place in places if type(copy[place]) not in ATOMS)
    return root[0]


def _own_level(item: Any) -> Any:
    if isinstance(item, dict):
        if not all(type(key) is str for key in item):
            raise TypeError("an object key that is not a string")
        return dict(item)
    if isinstance(item, list | tuple):
        return list(item)
    for plain in (str, int, float):
        if isinstance(item, plain):
            return plain(item)
    raise TypeError(f"a {type(item).__name__}, which is not JSON")


def _encode(value: Any, encoder: json.JSONEncoder, comma: str, colon: str, ordered: bool) -> str:
    try:
        return encoder.encode(value)
    except (RecursionError, ValueError):  # too deep, or an integer beyond what Python prints in decimal
        return "".join(_tokens(value, encoder, comma, colon, ordered))


def _tokens(value: Any, encoder: json.JSONEncoder, comma: str, colon: str, ordered: bool) -> Iterator[str]:
    """The same text as the encoder's, with an explicit stack: strings are output, the rest is opened."""
    todo: list[tuple[bool, Any]] = [(False, value)]
    while todo:
        is_text, item = todo.pop()
        if is_text:
            yield item
        elif isinstance(item, dict):
            todo.append((True, "}"))
            pairs = sorted(item.items()) if ordered else list(item.items())
            for i in range(len(pairs) - 1, -1, -1):
                key, part = pairs[i]
                todo.append((False, part))
                todo.append((True, (comma if i else "") + encoder.encode(key) + colon))
            yield "{"
        elif isinstance(item, list):
            todo.append((True, "]"))
            for i in range(len(item) - 1, -1, -1):
                todo.append((False, item[i]))
                if i:
                    todo.append((True, comma))
            yield "["
        else:
            yield hex(item) if type(item) is int and item.bit_length() > 10_000 else encoder.encode(item)
