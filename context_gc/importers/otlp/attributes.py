"""Attributes of OTLP JSON: typed values, flattened keys and ids -> plain JSON values."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Mapping
from typing import Any

DEEPEST = 40  #: levels of a structured value, parts of a flattened key

_HEX = re.compile(r"[0-9a-fA-F]{16}|[0-9a-fA-F]{32}")


def attributes_of(listed: Any) -> dict[str, Any]:
    """[{"key": k, "value": {"stringValue": …}}, …] as a dict; a dict (as some tools export it) as it is."""
    if type(listed) is dict:
        return listed
    found = {}
    for each in listed if type(listed) is list else ():
        if type(each) is dict and type(each.get("key")) is str:
            found[each["key"]] = plain(each.get("value"))
    return found


def plain(value: Any, levels: int = DEEPEST) -> Any:
    """What an AnyValue holds; whole numbers may come as text."""
    if type(value) is not dict:
        return value
    for kind, held in value.items():
        name = kind.replace("_", "").lower()
        if name == "intvalue":
            return int(held) if type(held) is str and re.fullmatch(r"-?\d{1,18}", held) else held
        if name in ("stringvalue", "boolvalue", "doublevalue", "bytesvalue"):
            return held
        if name in ("arrayvalue", "kvlistvalue") and levels:
            inner = held.get("values") if type(held) is dict else None
            if name == "arrayvalue":
                return [plain(each, levels - 1) for each in inner] if type(inner) is list else []
            pairs = [each for each in inner if type(each) is dict] if type(inner) is list else []
            return {str(each.get("key")): plain(each.get("value"), levels - 1) for each in pairs}
    return value if value else None


def unflattened(attributes: Mapping[str, Any], prefix: str) -> list[Any]:
    """The list that keys like `prefix.0.message.role` spell out, in order of their numbers."""
    root: dict[str, Any] = {}
    for key, value in attributes.items():
        if not key.startswith(prefix + "."):
            continue
        parts = key[len(prefix) + 1 :].split(".", DEEPEST)
        level = root
        for part in parts[:-1]:
            inner = level.get(part)
            if type(inner) is not dict:
                inner = level[part] = {}
            level = inner
        level.setdefault(parts[-1], value)
    return _listed(root)


def hexadecimal(value: Any) -> str:
    """A span's or a trace's id: hex as it is, base64 (as protobuf writes bytes) as hex, other text unchanged."""
    if type(value) is not str:
        return ""
    if not _HEX.fullmatch(value):
        try:
            data = base64.b64decode(value, validate=True)
        except (binascii.Error, ValueError):
            return value
        return data.hex() if len(data) in (8, 16) else value
    return value.lower()


def milliseconds_of(nanoseconds: Any) -> float | None:
    """A time in nanoseconds since 1970, as a number or as text, in milliseconds."""
    if type(nanoseconds) is str and re.fullmatch(r"\d{1,20}", nanoseconds):
        nanoseconds = int(nanoseconds)
    if type(nanoseconds) is int and 0 < nanoseconds < 1 << 64:
        return nanoseconds / 1e6
    return None


def _listed(level: dict[str, Any]) -> list[Any]:
    """The values of a level whose keys are numbers, in their order; inner levels of that kind become lists."""
    numbered = sorted(
        (int(key), value) for key, value in level.items() if key.isascii() and key.isdigit() and len(key) <= 6
    )
    return [_lists_in(value) for _, value in numbered]


def _lists_in(value: Any) -> Any:
    if type(value) is not dict:
        return value
    return {key: _listed(inner) if _is_numbered(inner) else _lists_in(inner) for key, inner in value.items()}


def _is_numbered(value: Any) -> bool:
    return type(value) is dict and bool(value) and all(key.isascii() and key.isdigit() for key in value)


def first_of(holder: Mapping[str, Any], keys: Iterable[str]) -> Any:
    """The value of the first of these keys that is there and not empty."""
    return next((holder[key] for key in keys if holder.get(key) not in (None, "", [], {})), None)
