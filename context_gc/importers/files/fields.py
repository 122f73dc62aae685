"""Fields: what a record holds in a place where it may hold anything, as the type that is expected there."""

from __future__ import annotations

from typing import Any


def text(value: Any) -> str:
    """A string; "" for anything else."""
    return value if type(value) is str else ""


def count(value: Any) -> int:
    """A whole number that is not negative; 0 for anything else."""
    return value if type(value) is int and value >= 0 else 0


def mapping(value: Any) -> dict[str, Any]:
    """An object; {} for anything else."""
    return value if type(value) is dict else {}


def items(value: Any) -> list[Any]:
    """A list; [] for anything else."""
    return value if type(value) is list else []


def within(origin: dict[str, Any], part: str) -> dict[str, Any]:
    """The origin of a part of what came from an origin."""
    return {**origin, "path": f"{origin['path']}/{part}" if "path" in origin else part}
