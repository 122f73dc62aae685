"""Tune grid: a grid of values as one setting of texts, and a policy as the settings of the controls."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from ..budget import Budget
from ..policy import Policy
from ..replay.grid import DEFAULT, STAGE_SETS
from . import settings
from .settings import AUTO, ON, Value

#: what the page offers, as (key of a grid, label, values that are offered besides those that are chosen)
OFFERED: Sequence[tuple[str, str, Sequence[Any]]] = (
    ("stages", "Stages", tuple(STAGE_SETS)),
    ("clip_over", "Clip over", (1_000, 2_000, 4_000, 8_000)),
    ("max_prompt_tokens", "Max prompt tokens", (40_000, 60_000, 100_000, 150_000, None)),
    ("threshold_low", "Low threshold", (0.5, 0.6, 0.7, 0.75, 0.8)),
    ("threshold_high", "High threshold", (0.85, 0.9, 0.92, 0.95)),
    ("target", "Target", (0.3, 0.4, 0.5)),
    ("recent_observations", "Recent observations", (3, 5, 10, 20)),
    ("min_gain", "Least gain", (5_000, 10_000, 20_000, 40_000)),
    ("commit_on_arrival", "Commit on arrival", (False, True)),
    ("commit_when_cold", "Commit when cold", (False, True)),
)
#: field of a budget -> its setting
_BUDGET = {
    "max_tokens": "limit", "threshold_low": "low", "threshold_high": "high", "target": "target",
    "recent_observations": "recent", "min_gain": "gain", "max_prompt_tokens": "most",
    "commit_on_arrival": "arrival", "commit_when_cold": "cold",
}  # fmt: skip
_POLICY = {
    "stages": "stages", "protect_importance": "importance", "protect_tags": "tags", "protect_types": "types",
    "protect_recent": "last", "protect_ids": "pins", "stubs": "stubs", "clip_over": "clip",
}  # fmt: skip
_UNCOUNTED = ("budget", "counter")  # told apart from the rest


def listed(grid: Mapping[str, Any]) -> tuple[str, ...]:
    """A grid as texts, one a value: `min_gain=5000`."""
    found = []
    for key, given in grid.items():
        values = given if isinstance(given, list | tuple) else [given]
        if key == "stages" and values and all(name not in STAGE_SETS for name in values if isinstance(name, str)):
            values = [values] if isinstance(values[0], str) else values
        found += [entry(key, value) for value in values]
    return tuple(found)


def entry(key: str, value: Any) -> str:
    """One value of a grid as a text."""
    return f"{key}={json.dumps(value, default=str)}"


def grid(texts: Sequence[str]) -> dict[str, list[Any]]:
    """The grid that texts stand for; a value that is no JSON is its text."""
    found: dict[str, list[Any]] = {}
    for text in texts:
        key, _, told = text.partition("=")
        found.setdefault(key, []).append(value_of(told))
    return found


def of_chip(key: str, chip: str) -> Any:
    """The value of a chip, be it one that was offered or one that somebody wrote."""
    if key == "stubs":
        return chip.strip()
    if key != "stages":
        return value_of(chip)
    return chip if chip in STAGE_SETS else [name.strip() for name in chip.split("+")]


def value_of(told: str) -> Any:
    """The value that somebody wrote: a number with or without separators, yes or no, none, or a text."""
    plain = told.strip()
    words = {"none": None, "None": None, "no limit": None, "yes": True, "no": False, "True": True, "False": False}
    if plain in words:
        return words[plain]
    try:
        return json.loads(plain.replace(",", "") if plain.replace(",", "").isdigit() else plain)
    except (ValueError, RecursionError):
        return plain


def with_values(texts: Sequence[str], key: str, values: Sequence[Any]) -> tuple[str, ...]:
    """The texts with other values of one key, in its place; no values take the key out."""
    order = list(dict.fromkeys([*(text.partition("=")[0] for text in texts), key]))
    held = grid(texts) | {key: list(values)}
    return tuple(entry(name, value) for name in order for value in held[name])


def shown(value: Any) -> str:
    """A value as a chip shows it."""
    if value is None:
        return "no limit"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return " + ".join(map(str, value))
    return f"{value:,}" if isinstance(value, int) else str(value)


def as_settings(policy: Policy, model_window: int, counter: str = AUTO) -> dict[str, Value]:
    """The controls that stand for a policy; see `left_out` for what they cannot say."""
    found: dict[str, Value] = {key: _told(getattr(policy, name)) for name, key in _POLICY.items()}
    found["counter"] = counter
    budget = policy.budget
    found["budget"] = ON if budget is not None else ""
    if budget is not None:
        found |= {key: _told(getattr(budget, name)) for name, key in _BUDGET.items()}
        if budget.max_tokens == model_window:
            found["limit"] = settings.DEFAULTS["limit"]
    return found


def left_out(policy: Policy) -> list[str]:
    """What a policy sets for which there is no control, as `name = value`."""
    held = [(policy, Policy(), (*_POLICY, *_UNCOUNTED))]
    told = []
    for given, default, known in held:
        told += [
            f"{field.name} = {getattr(given, field.name)!r}"
            for field in fields(given)
            if field.name not in known and getattr(given, field.name) != getattr(default, field.name)
        ]
    if policy.budget is not None:
        plain = Budget(policy.budget.max_tokens)
        told += [
            f"{field.name} = {getattr(policy.budget, field.name)!r}"
            for field in fields(Budget)
            if field.name not in _BUDGET and getattr(policy.budget, field.name) != getattr(plain, field.name)
        ]
    return told


def offered(key: str, chosen: Sequence[Any]) -> list[str]:
    """The chips of one key: what is offered and what is chosen."""
    known = next((values for name, _, values in OFFERED if name == key), ())
    return list(dict.fromkeys(map(shown, [*known, *chosen])))


def more_keys(texts: Sequence[str]) -> list[str]:
    """The keys of a grid beyond those that are always offered: from a file or a link, as far as they are names."""
    known = [key for key, _, _ in OFFERED]
    return [
        key
        for key in dict.fromkeys(text.partition("=")[0] for text in texts)
        if key not in known and key.isidentifier()
    ]


def is_default(texts: Sequence[str]) -> bool:
    """Whether a grid is the one that `context-gc tune` tries."""
    return grid(texts) == {key: list(values) for key, values in DEFAULT.items()}


def _told(value: Any) -> Value:
    if isinstance(value, tuple):
        return value
    if isinstance(value, bool):
        return ON if value else ""
    return "" if value is None else str(value)
