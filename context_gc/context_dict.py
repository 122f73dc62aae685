"""The context dict of a run: its conventional keys, read and checked, and a private copy of all of it."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

from .canonical import ATOMS, own
from .errors import InvalidContext


@dataclass(frozen=True, slots=True)
class ContextDict:
    """The conventional keys of a context; a key that is absent or None has its empty value."""

    given: dict[str, Any]  #: the context itself
    observations: list[Any]  #: private copies, plain JSON values
    summary: str
    count: int
    memory: dict[str, Any]

    @classmethod
    def read(cls, given: Any) -> ContextDict:
        """Check a context. Raises InvalidContext naming the key, what it is and what was expected."""
        if not isinstance(given, dict):
            raise InvalidContext("context", f"a {type(given).__name__} where a dict was expected", "pass a dict")
        observations: list[Any] = _value(given, "observations", list, "a list")
        summary: str = _value(given, "compacted_summary", str, "a string")
        count: int = _value(given, "compaction_count", int, "a whole number >= 0")
        if count < 0 or isinstance(count, bool):
            raise _wrong("compaction_count", count, "a whole number >= 0")
        memory: dict[str, Any] = _value(given, "memory_keys", dict, "a dict")
        return cls(given, [_json(value, place) for place, value in enumerate(observations)], summary, count, memory)

    def with_values(self, values: dict[str, Any]) -> dict[str, Any]:
        """A private copy of the context with other values, which are not copied; new keys are at the end."""
        rest = private_copy({key: value for key, value in self.given.items() if key not in values})
        return {**{key: values[key] if key in values else rest[key] for key in self.given}, **values}


def private_copy(value: Any) -> Any:
    """A copy that shares no list and no dict, however deep; other objects are deep copies.

    What `copy.deepcopy` cannot copy (a lock, an open file) is the same object.
    """
    root = [value]
    todo: list[tuple[Any, Any]] = [(root, 0)]
    copies: dict[int, Any] = {}
    while todo:
        holder, slot = todo.pop()
        item = holder[slot]
        if type(item) in ATOMS:
            continue
        known = copies.get(id(item))
        if known is not None:
            holder[slot] = known
            continue
        holder[slot] = copies[id(item)] = made = _copied(item)
        if type(item) is dict:
            todo.extend((made, key) for key in made)
        elif type(item) is list:
            todo.extend((made, place) for place in range(len(made)))
    return root[0]


def _copied(item: Any) -> Any:
    if type(item) in (dict, list):
        return item.copy()
    try:
        return copy.deepcopy(item)
    except Exception:  # whatever an object raises that refuses to be copied
        return item


def _value(given: dict[str, Any], key: str, kind: type, expected: str) -> Any:
    value = given.get(key)
    if value is None:
        return kind()
    if not isinstance(value, kind):
        raise _wrong(key, value, expected)
    return value


def _wrong(key: str, value: Any, expected: str) -> InvalidContext:
    found = str(value) if type(value) in (bool, float) else f"a {type(value).__name__}"
    found = "a negative number" if type(value) is int else found
    return InvalidContext("context", f"{key} is {found}, expected {expected}")


def _json(value: Any, place: int) -> Any:
    try:
        return own(value)
    except TypeError as error:
        raise InvalidContext("context", f"observations[{place}] is or holds {error}", "pass JSON values") from None
