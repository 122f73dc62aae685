"""Prices: what a provider bills for input, output and its prompt cache, from a dated table that anyone may override."""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

from ..errors import InvalidPolicy

TABLE = Path(__file__).with_name("prices.json")  #: made by `python -m context_gc.replay.refresh_prices`


_FIGURES = ("input", "output", "cache_read", "cache_write", "tier", "tier_output", "ttl", "min_prefix")


@dataclass(frozen=True, slots=True)
class Prices:
    """US dollars for a million tokens.

    `tier_from`: prompt tokens from which on the prompt costs `tier` times and the output `tier_output` times as much.

    Raises:
        InvalidPolicy: a price is negative or no number, or the input costs nothing.
    """

    model: str
    input: float
    output: float
    cache_read: float
    cache_write: float  #: for five minutes; where a provider bills no write it is `input`
    cache_write_1h: float | None = None
    min_prefix: int = 1_024  #: tokens; shorter prompts are not cached
    ttl: float = 300.0  #: seconds that an unused prefix stays cached
    window: int | None = None  #: tokens
    tier_from: int | None = None
    tier: float = 1.0
    tier_output: float = 1.0
    as_of: str = ""  #: year and month of the table
    source: str = ""

    def __post_init__(self) -> None:
        optional = ("cache_write_1h", "window", "tier_from")
        for name in (*_FIGURES, *optional):
            value = getattr(self, name)
            if value is None and name in optional:
                continue
            if type(value) not in (int, float) or not math.isfinite(value) or value < 0:
                raise InvalidPolicy(f"prices of {self.model}", f"{name} is {value!r}", "dollars for a million tokens")
        if not self.input or not self.cache_read:
            name = "cache_read" if self.input else "input"
            told = f"{name} is 0, so no share of a price can be worked out"
            raise InvalidPolicy(f"prices of {self.model}", told, "give what the provider bills")

    @property
    def r(self) -> float:
        """Price of a cache read relative to plain input."""
        return self.cache_read / self.input

    @property
    def w(self) -> float:
        """Price of a cache write relative to plain input."""
        return self.cache_write / self.input

    def for_an_hour(self) -> Prices:
        """The same with the cache kept for an hour. Raises InvalidPolicy where the provider sells none."""
        if self.cache_write_1h is None:
            raise InvalidPolicy(f"prices of {self.model}", "there is no one-hour cache", "use the shorter one")
        told = {field.name: getattr(self, field.name) for field in fields(self)}
        return Prices(**(told | {"cache_write": self.cache_write_1h, "ttl": 3_600.0}))


def prices_of(model: str, overrides: Mapping[str, Mapping[str, Any]] | None = None) -> Prices:
    """The prices of a model by the name that its traces give, dates and routes in it aside.

    `overrides`: model -> fields of `Prices` that differ from the table, or all of them for a model of one's own.

    Raises:
        InvalidPolicy: the model is in neither; or a price is impossible.
    """
    name = _plain(model)
    own = {_plain(key): fields for key, fields in (overrides or {}).items()}
    found = next((key for key in sorted({*_table(), *own}, key=len, reverse=True) if _is_a(name, key)), None)
    if found is None:
        raise InvalidPolicy("prices", f"the model {model!r} is not known", f"known: {', '.join(models())}")
    given = {**_table().get(found, {}), **own.get(found, {})}
    known = {field.name for field in fields(Prices)}
    for key in given.keys() - known:
        raise InvalidPolicy(f"prices of {model}", f"unknown key {key!r}", "known: " + ", ".join(sorted(known)))
    given.setdefault("cache_write", given.get("input"))
    given.setdefault("cache_read", given.get("input"))
    missing = [key for key in ("input", "output") if key not in given]
    if missing:
        raise InvalidPolicy(f"prices of {model}", f"{missing[0]} is missing", "dollars for a million tokens")
    return Prices(**{**given, "model": found})


def load_overrides(path: str) -> Mapping[str, Mapping[str, Any]]:
    """Prices of one's own from a TOML file with one table for each model. Raises InvalidPolicy."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise InvalidPolicy(path, f"the prices cannot be read: {error}", 'write ["model"] tables in TOML') from error
    return overrides_of(data, path)


def overrides_of(data: bytes, where: str) -> Mapping[str, Mapping[str, Any]]:
    """The same from the bytes of such a file."""
    try:
        given = tomllib.loads(data.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise InvalidPolicy(where, f"the prices cannot be read: {error}", 'write ["model"] tables in TOML') from error
    for model, told in given.items():
        if not isinstance(told, dict):
            raise InvalidPolicy(where, f"{model} is no table", f'write ["{model}"] and its prices below')
    return given


def models() -> list[str]:
    """The models in the table."""
    return sorted(_table())


def as_of() -> str:
    """Year and month of the table."""
    told: str = json.loads(TABLE.read_text("utf-8"))["as_of"]
    return told


@cache
def _table() -> Mapping[str, Mapping[str, Any]]:
    given = json.loads(TABLE.read_text("utf-8"))
    told = {"as_of": given["as_of"], "source": given["source"]}
    return {_plain(model): {**told, **prices} for model, prices in given["models"].items()}


def _plain(model: str) -> str:
    """A model's name without its provider's route: `us.anthropic/Claude-Sonnet-4.5` is `claude-sonnet-4-5`."""
    name = model.lower().strip().rpartition("/")[2].partition(":")[0]
    name = re.sub(r"^(?:[a-z]{2,6}\.)?(?:anthropic|openai|google|deepseek|moonshotai|x-ai)\.", "", name)
    return re.sub(r"[.@_]", "-", name).partition("[")[0]


def _is_a(name: str, known: str) -> bool:
    """Whether a name is a known model, or that model with a date or a word such as `latest` behind it."""
    rest = name.removeprefix(known)
    return name == known or (
        rest != name
        and re.fullmatch(
            r"(?:-(?:20\d{6}|20\d\d(?:-\d\d){1,2}|v\d+|latest|codex"
            r"|preview))+(?:-\d)?",
            rest,
        )
        is not None
    )
