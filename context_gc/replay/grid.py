"""Grids: the policies that a sweep tries, from lists of values in TOML."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import product
from pathlib import Path
from typing import Any

from ..budget import Budget
from ..errors import ContextGCError, InvalidPolicy
from ..policy import KNOWN_STAGES, Policy
from .courses import ByPolicy

MOST = 10_000  #: cells of one grid

_OF_POLICY = ("stages", "stubs", "clip_over", "outdated_reads", "protect_recent")
_OF_BUDGET = tuple(field.name for field in fields(Budget))
_NAMES = ("stages", "stubs")  # keys for which "none" is a value of its own
#: names for sets of stages, so that a grid can list them
STAGE_SETS: Mapping[str, tuple[str, ...]] = {
    "none": (),
    "default": Policy().stages,
    "lossless": tuple(name for name in KNOWN_STAGES if name != "clip"),
    "all": tuple(KNOWN_STAGES),
}


@dataclass(frozen=True, slots=True)
class Cell:
    """One policy of a grid, with what sets it apart."""

    values: Mapping[str, Any]
    method: ByPolicy


#: what `context-gc tune` tries where no grid is given
DEFAULT: Mapping[str, Sequence[Any]] = {
    "stages": ["lossless", "all"],
    "clip_over": [8_000],
    "max_prompt_tokens": [60_000, 66_000, 72_000, 80_000, 100_000, None],
    "target": [0.3, 0.4, 0.5],
    "min_gain": [20_000],
    "commit_when_cold": [True],
    "commit_on_arrival": [False, True],
}


def cells(grid: Mapping[str, Any], policy: Policy | None = None, max_tokens: int | None = None) -> list[Cell]:
    """Every combination of the values, on top of a policy. Combinations that differ in nothing stand once.

    `max_tokens`: the model's window, where neither the grid nor the policy says it.

    Raises:
        InvalidPolicy: a key is unknown, a list is empty, no combination is possible, or there are too many.
    """
    base = policy or Policy()
    lists = {key: _values(key, given) for key, given in grid.items()}
    count = 1
    for given in lists.values():
        count *= len(given)
    if count > MOST:
        raise InvalidPolicy("grid", f"{count:,} combinations", f"at most {MOST:,}: shorten a list")
    found: dict[Policy, Cell] = {}
    fault: ContextGCError | None = None
    for combination in product(*lists.values()):
        values = dict(zip(lists, combination, strict=True))
        try:
            made = _policy(base, values, max_tokens)
        except ContextGCError as error:
            fault = fault or error
            continue
        apart = {key: value for key, value in values.items() if len(lists[key]) > 1}
        found.setdefault(made, Cell(values, ByPolicy(made, _name(apart or values))))
    if not found:
        told = f"no combination is a policy: {fault}" if fault else "there is nothing to try"
        raise InvalidPolicy("grid", told, "change the lists that contradict each other")
    return list(found.values())


def load(path: str) -> Mapping[str, Any]:
    """A grid from a TOML file: each key a list of values. Raises InvalidPolicy when it cannot be read."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise InvalidPolicy(path, f"the grid cannot be read: {error}", "write key = [values] in TOML") from error
    return grid_of(data, path)


def grid_of(data: bytes, where: str) -> Mapping[str, Any]:
    """The same from the bytes of such a file."""
    try:
        return tomllib.loads(data.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise InvalidPolicy(where, f"the grid cannot be read: {error}", "write key = [values] in TOML") from error


def _values(key: str, given: Any) -> Sequence[Any]:
    if key not in (*_OF_POLICY, *_OF_BUDGET):
        raise InvalidPolicy("grid", f"unknown key {key!r}", "known: " + ", ".join((*_OF_POLICY, *_OF_BUDGET)))
    found = given if isinstance(given, list | tuple) else [given]
    if key == "stages" and found and all(name in KNOWN_STAGES for name in found):
        found = [found]
    if not found:
        raise InvalidPolicy("grid", f"{key} has no values", "give at least one")
    return [None if value in ("none", "None") and key not in _NAMES else value for value in found]


def _policy(base: Policy, values: Mapping[str, Any], max_tokens: int | None) -> Policy:
    told = {field.name: getattr(base, field.name) for field in fields(base)}
    for key in values.keys() & set(_OF_POLICY):
        told[key] = _stages(values[key]) if key == "stages" else values[key]
    if "clip" not in told["stages"]:
        told["clip_over"] = base.clip_over if told["budget"] is None else told["clip_over"]
    budget = dict(_asked(base.budget)) | {key: value for key, value in values.items() if key in _OF_BUDGET}
    if max_tokens is not None:
        budget.setdefault("max_tokens", max_tokens)
    if budget:
        told["budget"] = Budget.from_mapping(budget)
    return Policy(**told)


def _asked(budget: Budget | None) -> Iterator[tuple[str, Any]]:
    if budget is not None:
        yield from ((name, getattr(budget, name)) for name in _OF_BUDGET)


def _stages(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        if value not in STAGE_SETS:
            known = ", ".join(STAGE_SETS)
            raise InvalidPolicy("grid", f"unknown set of stages {value!r}", f"{known}, or a list of stages")
        return STAGE_SETS[value]
    return tuple(value)


def _name(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{key}={_short(value)}" for key, value in values.items())


def _short(value: Any) -> str:
    if isinstance(value, list | tuple):
        return "+".join(map(str, value))
    return f"{value:,}" if type(value) is int else str(value)
