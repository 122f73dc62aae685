"""Arguments of the tools: what they may be, as a JSON schema and as a check that says what is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from reprlib import repr
from typing import Any

from ..errors import ContextGCError

LONGEST_ID = 200  #: characters of an id
LONGEST_QUERY = 400  #: characters of a query


@dataclass(frozen=True, slots=True)
class Text:
    """A text of at most `most` characters, all of them printable; without a `default` it must be given."""

    about: str
    most: int
    default: str | None = None

    def schema(self) -> dict[str, Any]:
        """As JSON schema."""
        told = {"type": "string", "description": self.about, "maxLength": self.most}
        return told | ({"minLength": 1} if self.default is None else {"default": self.default})

    def check(self, value: Any) -> str | None:
        """What is wrong with a value; None for nothing."""
        if type(value) is not str:
            return "expected a text"
        if not value.strip() and self.default is None:
            return "it is empty"
        if len(value) > self.most:
            return f"it has {len(value):,} characters, more than {self.most:,}"
        return None if value.isprintable() else "it has characters that cannot be printed"


@dataclass(frozen=True, slots=True)
class Number:
    """A whole number from 1 to `most`."""

    about: str
    most: int
    default: int = 1

    def schema(self) -> dict[str, Any]:
        """As JSON schema."""
        return {
            "type": "integer",
            "description": self.about,
            "minimum": 1,
            "maximum": self.most,
            "default": self.default,
        }

    def check(self, value: Any) -> str | None:
        """What is wrong with a value; None for nothing."""
        whole = type(value) is int or (type(value) is float and value.is_integer())
        return None if whole and 1 <= value <= self.most else f"expected a whole number from 1 to {self.most:,}"


Parameters = Mapping[str, Text | Number]


def schema(parameters: Parameters) -> dict[str, Any]:
    """The JSON schema of an object with these parameters and no others."""
    return {
        "type": "object",
        "properties": {name: each.schema() for name, each in parameters.items()},
        "required": [name for name, each in parameters.items() if each.default is None],
        "additionalProperties": False,
    }


def checked(tool: str, parameters: Parameters, given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments with defaults for those that are not given.

    Raises:
        ContextGCError: one is unknown, missing, of a wrong type or out of range.
    """
    known = ", ".join(parameters) or "none"
    for name in given:
        if name not in parameters:
            raise ContextGCError(tool, f"{repr(name)} is no argument of this tool", f"its arguments: {known}")
    values: dict[str, Any] = {}
    for name, each in parameters.items():
        value = given.get(name)
        if value is None:
            if each.default is None:
                raise ContextGCError(tool, f"{name} is missing", each.about)
            value = each.default
        elif (wrong := each.check(value)) is not None:
            raise ContextGCError(tool, f"{name} is {repr(value)}: {wrong}", each.about)
        values[name] = int(value) if isinstance(each, Number) else value
    return values
