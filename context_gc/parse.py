"""Parse: JSON text back into values, at any depth; the inverse of `canonical` and `readable`."""

from __future__ import annotations

import json
import re
from reprlib import repr
from typing import Any

_decoder = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\r\n]*")
_HEX = re.compile(r"-?0x[0-9a-f]+")
_CLOSING = {"[": "]", "{": "}"}


def parse(text: str, unique: bool = False) -> Any:
    """The value of a JSON text. NaN, Infinity and the long integers that `canonical` writes in hex are read too.

    Raises:
        ValueError: it is not one JSON value (the message says where); with `unique` also when an object has
            the same key twice.
    """
    try:
        return json.loads(text, object_pairs_hook=_unique if unique else None)
    except (RecursionError, json.JSONDecodeError) as error:
        if isinstance(error, json.JSONDecodeError) and _HEX.search(text) is None:
            raise _refusal(error) from None
    except ValueError as error:
        raise _refusal(error) from None
    return _parse_deep(text, unique)


class _Twice(ValueError):
    """Raised when an object has the same key twice."""


def _parse_deep(text: str, unique: bool) -> Any:
    """Read with an explicit stack: each open list or object, and in an object the key that is being filled."""
    stack: list[Any] = []
    keys: list[str] = []
    value: Any
    at = 0
    while True:
        at = _skip(text, at)
        head = text[at : at + 1]
        if head in _CLOSING:
            value, inner = ([] if head == "[" else {}), _skip(text, at + 1)
            if not text.startswith(_CLOSING[head], inner):
                stack.append(value)
                at = _key(text, inner, keys) if head == "{" else inner
                continue
            at = inner + 1
        else:
            value, at = _atom(text, at)
        while stack:
            holder = stack[-1]
            if type(holder) is list:
                holder.append(value)
            elif unique and keys[-1] in holder:
                raise _Twice(f"the key {repr(keys[-1])} is there twice")
            else:
                holder[keys.pop()] = value
            at = _skip(text, at)
            if text.startswith(",", at):
                at = at + 1 if type(holder) is list else _key(text, _skip(text, at + 1), keys)
                break
            if not text.startswith("]" if type(holder) is list else "}", at):
                raise ValueError(f"expecting ',' or the end of a container at character {at}")
            value, at = stack.pop(), at + 1
        else:
            if _skip(text, at) != len(text):
                raise ValueError(f"extra data at character {at}")
            return value


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _key(text: str, at: int, keys: list[str]) -> int:
    """Read `"key":` and give the place after it."""
    if text.startswith('"', at):
        key, at = _atom(text, at)
        at = _skip(text, at)
        if text.startswith(":", at):
            keys.append(key)
            return at + 1
    raise ValueError(f"expecting a key and ':' at character {at}")


def _atom(text: str, at: int) -> tuple[Any, int]:
    long = _HEX.match(text, at)
    if long:
        return int(long[0], 16), long.end()
    try:
        return _decoder.raw_decode(text, at)
    except ValueError as error:
        raise _refusal(error) from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise _Twice(f"the key {repr(key)} is there twice")
        found[key] = value
    return found


def _refusal(error: ValueError) -> ValueError:
    if isinstance(error, json.JSONDecodeError):
        return ValueError(f"{error.msg[:1].lower()}{error.msg[1:].removesuffix(' at')} at character {error.pos}")
    return error if isinstance(error, _Twice) else ValueError("a number with too many digits")
