"""Policy: which stages run, what is protected, how stubs look. Frozen; read from and written to TOML."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from fnmatch import translate
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from .budget import Budget
from .errors import InvalidPolicy
from .events import EVENT_TYPES, IMPORTANCE
from .tokens import COUNTERS

#: the stages that run by default, by name; `context_gc.stages.STAGES` holds the rules and their order
DEFAULT_STAGES = ("dead-branches", "overrides", "duplicates", "cycles")
#: the opt-in stages
MORE_STAGES = ("stale-reads", "superseded-status", "repeated-failures", "clip")
KNOWN_STAGES = DEFAULT_STAGES + MORE_STAGES
STUBS = ("always", "worthwhile", "described", "none")
OVERRIDE_SCOPES = ("trace", "path")

#: Tools whose repetition is an act, not a question. Globs, matched without case against the whole name
#: and against its last part (`mcp__mail__send_draft` is also `send_draft`).
SIDE_EFFECTS = tuple(
    "add_* agent append* apply* approve* assign* bash* book* buy* cancel* charge* chmod* click* cmd* command* "
    "commit* copy* create* delegate* delete* deploy* disable* edit* email* enable* exchange* exec* execute* "
    "fill* git_* insert* install* ipython* kill* local_shell merge* mkdir* modify* move* multiedit* mv "
    "navigate* notebook* notify* order* patch* pay* post* powershell* press* publish* purchase* push* put* "
    "python* refund* register* reject* remove* rename* repl replace* reply* reset* restart* restore* return_* "
    "revert* rm rmdir* run* save* schedule* send* set_* sh shell* spawn* start* stop* store* str_replace* "
    "submit* subscribe* task terminal* todowrite* touch* transfer* type* undo* uninstall* update* upload* "
    "upsert* write*".split()
)

_VALUES: Mapping[str, tuple[str, ...]] = {
    "stages": KNOWN_STAGES,
    "protect_types": EVENT_TYPES,
    "protect_importance": IMPORTANCE,
    "override_scope": OVERRIDE_SCOPES,
    "stubs": STUBS,
    "counter": tuple(COUNTERS),
}


_EXPECTED = {tuple: "a list of strings", str: "a string", bool: "true or false", int: "a whole number from 0 on"}


@dataclass(frozen=True)
class Policy:
    """What a compaction may do. The defaults are the documented ones.

    Raises:
        InvalidPolicy: a value has a wrong type or is not one of those known.
    """

    stages: tuple[str, ...] = DEFAULT_STAGES  #: the stages that run, by name; their order is fixed
    protect_types: tuple[str, ...] = ("requirement", "constraint")
    protect_importance: tuple[str, ...] = ("critical",)
    protect_tags: tuple[str, ...] = ("user",)
    protect_tools: tuple[str, ...] = ()  #: globs over tool names
    protect_paths: tuple[str, ...] = ()  #: globs over the path that an event is about
    protect_ids: tuple[str, ...] = ()
    protect_recent: int = 0  #: the last n turns
    side_effects: tuple[str, ...] = SIDE_EFFECTS  #: globs over tool names whose calls are never duplicates
    outdated_reads: bool = False  #: stale-reads also cuts reads before a partial edit: lossy
    clip_over: int = 2_000  #: tokens from which on clip shortens a result
    override_scope: str = "trace"  #: "trace": the newest write wins; "path": only over its own ancestors
    stubs: str = "always"  #: "always", "worthwhile", "described" or "none"
    counter: str = "o200k"  #: the token counter, by its name in `context_gc.tokens.COUNTERS`
    budget: Budget | None = None  #: the window and its thresholds; None: all that is dead goes at once

    def __post_init__(self) -> None:
        for field in fields(self):
            value, kind = getattr(self, field.name), type(field.default)
            if field.name == "budget":
                if value is not None and not isinstance(value, Budget):
                    raise InvalidPolicy("policy", f"budget is {value!r}", "a Budget, or a [budget] table in TOML")
                continue
            if kind is tuple and isinstance(value, list):
                object.__setattr__(self, field.name, value := tuple(value))
            parts = value if kind is tuple and isinstance(value, tuple) else (value,)
            if not isinstance(value, kind) or (kind is int and (type(value) is not int or value < 0)):
                raise InvalidPolicy("policy", f"{field.name} is {value!r}, expected {_EXPECTED[kind]}")
            if kind is tuple and not all(isinstance(part, str) for part in parts):
                raise InvalidPolicy("policy", f"{field.name} is {value!r}, expected {_EXPECTED[kind]}")
            known = _VALUES.get(field.name)
            for part in parts:
                if known is not None and part not in known:
                    raise InvalidPolicy("policy", f"{field.name} has {part!r}", "known: " + ", ".join(known))

    @classmethod
    def from_mapping(cls, given: Mapping[str, Any]) -> Policy:
        """A policy from plain values. Raises InvalidPolicy for a key that is not a field, naming it."""
        known = [field.name for field in fields(cls)]
        for key in given:
            if key not in known:
                raise InvalidPolicy("policy", f"unknown key {key!r}", "known: " + ", ".join(known))
        if isinstance(given.get("budget"), Mapping):
            given = {**given, "budget": Budget.from_mapping(given["budget"])}
        return cls(**given)

    @classmethod
    def from_toml(cls, text: str, where: str = "policy") -> Policy:
        """A policy from TOML text; keys that are absent have their defaults. Raises InvalidPolicy."""
        try:
            given = tomllib.loads(text)
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            raise InvalidPolicy(where, f"not TOML: {error}", "see `Policy().to_toml()` for the form") from None
        try:
            return cls.from_mapping(given)
        except InvalidPolicy as error:
            raise InvalidPolicy(where, error.what, error.todo) from None

    @classmethod
    def load(cls, path: str | Path) -> Policy:
        """Read a policy file (TOML, UTF-8). Raises InvalidPolicy, also for a file that cannot be read."""
        try:
            text = Path(path).read_text("utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "not UTF-8 text"
            raise InvalidPolicy(str(path), f"cannot be read: {reason}") from None
        return cls.from_toml(text, str(path))

    def to_toml(self) -> str:
        """The whole policy as TOML; `Policy.from_toml` gives an equal policy back."""
        given = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "budget"}
        lines = [f"{name} = {_toml(value)}\n" for name, value in given.items()]
        if self.budget is not None:
            lines.append("\n[budget]\n")
            kept = {field.name: getattr(self.budget, field.name) for field in fields(self.budget)}
            lines += [f"{name} = {_toml(value)}\n" for name, value in kept.items() if value is not None]
        return "".join(lines)

    @property
    def stub_style(self) -> str:
        """How stubs look. Under a budget `always` means `worthwhile`: no pass may make the prompt longer."""
        return "worthwhile" if self.budget is not None and self.stubs == "always" else self.stubs

    def is_side_effect(self, tool_name: str) -> bool:
        """Whether repeating a call of this tool is an act of its own."""
        known = self._acts.get(tool_name)
        if known is None:
            known = self._acts[tool_name] = matches(self.side_effects, tool_name)
        return known

    @cached_property
    def _acts(self) -> dict[str, bool]:
        return {}


@lru_cache(maxsize=65_536)
def matches(globs: tuple[str, ...], name: str) -> bool:
    """Whether a name, or the last part of a dotted or `a__b` one, matches one of the globs; without case."""
    pattern = _pattern(globs)
    return any(pattern.match(part) for part in {name, re.split(r"__|[.:/]", name)[-1]})


@lru_cache(maxsize=256)
def _pattern(globs: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(map(translate, globs)) or r"(?!)", re.IGNORECASE)


def _toml(value: tuple[str, ...] | str | bool | float) -> str:
    if isinstance(value, tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
