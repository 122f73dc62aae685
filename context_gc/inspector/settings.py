"""Settings: every control of the inspector as one dict, read once from the address, mirrored back to it.

A widget never holds state of its own: before it is drawn its key is written from the dict, and its
callback writes to the dict. So a link reproduces the view, and a page change loses nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import streamlit as st

from ..budget import Budget
from ..events import EVENT_TYPES, IMPORTANCE
from ..importers import IMPORTERS
from ..policy import DEFAULT_STAGES, KNOWN_STAGES, STUBS, Policy
from ..render import sendable
from ..replay.grid import DEFAULT
from ..tokens import COUNTERS
from .line_data import is_place
from .palette import KINDS, STATUSES

Value = str | tuple[str, ...]
NOTHING = "none"  # stands for an empty list in the address
AUTO = "auto"  # the counter that fits the trace's model
ON, OFF = "on", "off"
DETECT = "detect"  # the importer that claims the file, where another one was named at start
SCOPES = ("task_end", "session_end")
START = (*DEFAULT_STAGES, "stale-reads", "superseded-status", "repeated-failures")  #: the stages that run at first
HOUR, FLOOR = "hour", "floor"
GRID = tuple(f"{key}={json.dumps(value)}" for key, values in DEFAULT.items() for value in values)  #: what a sweep tries
_SHARES = ("low", "high", "target")
_NUMBERS = ("limit", "part", "window", "last", "recent", "gain", "most", "clip", "call", "agent")

DEFAULTS: Mapping[str, Value] = {
    "trace": "",  # a sample's name, open/<path>, or the first 12 digits of a file's sha256
    "format": "",  # the importer that the file is read with; "" is the one named at start, else the one that claims it
    "follow": "",  # ON or OFF; "" is as the inspector was started
    "part": "0",  # which trace of the file
    "window": "",  # number of the context window from 1; "" is the last
    "stages": START,
    "importance": Policy().protect_importance,
    "tags": Policy().protect_tags,
    "types": Policy().protect_types,
    "last": str(Policy().protect_recent),  # turns that are protected
    "pins": (),  # ids of events that are protected by hand
    "ended": (),  # scopes that have ended
    "stubs": Policy().stubs,
    "counter": AUTO,
    "budget": "",  # ON, or "": all that is dead goes at once
    "limit": "",  # tokens of the model's window; "" is what is known of the model
    **{key: str(getattr(Budget(1), name)) for key, name in (("low", "threshold_low"), ("high", "threshold_high"))},
    "target": str(Budget(1).target),
    "recent": str(Budget(1).recent_observations),
    "gain": "",  # tokens; "" is a tenth of the window
    "most": "",  # tokens at which passes begin at the latest; "" is where the low threshold lies
    "clip": str(Policy().clip_over),  # tokens from which on clip shortens a result
    "arrival": "",  # ON or ""
    "cold": "",
    "event": "",
    "line": "",  # what is shown of the file: "12", "12:7" with a column, "/messages/3" of JSON
    "find": "",
    "show": (),  # statuses that the graph and the table show; () is all
    "kinds": (),
    "turns": "",  # "12-40"; "" lets the graph choose
    "by": "tool",
    "call": "",  # number of the model call that is looked at; "" is the last
    "against": "",  # what the policy in force is compared with: "full", "defaults" or TOML; "" is "full"
    "other": "",  # another run to compare with, as "trace" names it; "" compares two policies
    "agent": "0",  # which trace of that file
    "prices": "",  # the model whose prices count; "" is the trace's own
    "cache": "",  # HOUR, or "" for the provider's shorter one
    "breaks": "",  # FLOOR, or "" for a breakpoint right before the first change
    "range": "",  # "12-40": the model calls that are drawn; "" is all
    "lost": "",  # the measure whose losses are listed; "" is all
    "recall": "",  # what a sweep's picture shows: "M2", or "" for M1
    "grid": GRID,
}
#: forgotten when another trace is opened
_OF_TRACE = ("part", "window", "event", "find", "turns", "pins", "ended", "line", "prices", "range", "call")
_OF_WINDOW = ("event", "turns")
_POLICY = (
    "stages", "importance", "tags", "types", "last", "pins", "ended", "stubs", "counter", "budget", "limit", *_SHARES,
    "recent", "gain", "most", "clip", "arrival", "cold",
)  # fmt: skip


def begin(page: str) -> dict[str, Value]:
    """The settings, at the start of a page's run.

    The address is read when the browser session begins. Later it is only heard when a link to another
    page brought an event along: the address lags behind the clicks on a page.
    """
    state = st.session_state
    if "settings" not in state:
        state.settings = {key: _read(key) for key in DEFAULTS}
    elif state.get("page") != page:
        brought = [key for key in ("event", "call", "against") if key in st.query_params]
        state.settings.update({key: _read(key) for key in brought})
    state.page = page
    settings: dict[str, Value] = state.settings
    return settings


def current() -> dict[str, Value]:
    """The settings of this browser session."""
    settings: dict[str, Value] = st.session_state.settings
    return settings


def text(key: str) -> str:
    """One setting that is a text."""
    value = current()[key]
    return value if isinstance(value, str) else ""


def texts(key: str) -> tuple[str, ...]:
    """One setting that is a list of texts."""
    value = current()[key]
    return value if isinstance(value, tuple) else ()


def put(key: str, value: Value) -> None:
    """Change one setting; what depended on it is forgotten."""
    settings = current()
    if settings[key] != value:
        settings[key] = value
        formats = st.session_state.setdefault("formats", {})  # what was chosen, by file
        if key == "trace":
            settings["format"] = formats.get(value, DEFAULTS["format"])
        elif key == "format":
            formats[settings["trace"]] = value
        for other in _OF_TRACE if key in ("trace", "format") else _OF_WINDOW if key in ("window", "part") else ():
            settings[other] = DEFAULTS[other]
        if key == "part":
            settings.update({other: DEFAULTS[other] for other in ("window", "range")})


def widget(key: str, value: Any) -> dict[str, Any]:
    """Keyword arguments that tie a widget to a setting; `value` is what it shows now."""
    st.session_state[f"w_{key}"] = value
    return {"key": f"w_{key}", "on_change": _take, "args": (key,)}


def begins_open(group: str, is_used: bool) -> bool:
    """Whether a group of controls is open at first: settled when a page is opened, so that no click closes it."""
    state = st.session_state.setdefault("groups", {})
    if state.get(group, ("",))[0] != st.session_state.page:
        state[group] = st.session_state.page, is_used
    found: bool = state[group][1]
    return found


def switch(key: str, name: str, known: tuple[str, ...]) -> None:
    """Take one of the `known` names into a list, or out of it, as its switch now says."""
    on = set(texts(key)) ^ {name}
    put(key, tuple(each for each in known if each in on))


def pin(event_id: str) -> None:
    """Protect one event by hand, or no longer."""
    pins = texts("pins")
    put("pins", tuple(name for name in pins if name != event_id) if event_id in pins else (*pins, event_id))


def reset_policy() -> None:
    """Put the policy's controls back to what the inspector starts with."""
    for key in _POLICY:
        put(key, DEFAULTS[key])


def query(**changed: str) -> dict[str, str | list[str]]:
    """The settings that differ from their defaults, as query parameters; `changed` overrides some."""
    told: dict[str, str | list[str]] = {}
    for key, value in {**current(), **changed}.items():
        if value != DEFAULTS[key] and all(part == sendable(part) for part in value):
            told[key] = value if isinstance(value, str) else list(value) or [NOTHING]
    return told


def mirror() -> None:
    """Write the settings to the address, so that a link reproduces the view."""
    st.query_params.from_dict(query())


def _take(key: str) -> None:
    put(key, _told(st.session_state[f"w_{key}"]))


def _told(value: Any) -> Value:
    """What a widget shows, as a setting has it."""
    if isinstance(value, list | tuple):
        return tuple(map(str, value))
    if isinstance(value, bool):
        return ON if value else ""
    if isinstance(value, float):
        return str(round(value, 4))  # a slider's steps add up to 0.7000000000000001
    return "" if value is None else str(value)


def _read(key: str) -> Value:
    """A setting from the address; what makes no sense there is its default."""
    default = DEFAULTS[key]
    given = st.query_params.get_all(key)
    if not given:
        return default
    if isinstance(default, tuple):
        values = () if given == [NOTHING] else tuple(given)
        return values if all(_makes_sense(key, value) for value in values) else default
    return given[0] if _makes_sense(key, given[0]) else default


def _makes_sense(key: str, value: str) -> bool:
    if key in _NUMBERS:
        return value.isascii() and value.isdigit() and len(value) < 10
    if key in _SHARES:
        return value.isascii() and value.replace(".", "", 1).isdigit() and len(value) < 10 and 0.01 <= float(value) <= 1
    if key == "line":
        return is_place(value)
    known = _KNOWN.get(key)
    return known is None or value in known


_KNOWN: Mapping[str, tuple[str, ...]] = {
    "stages": KNOWN_STAGES,
    "importance": IMPORTANCE,
    "types": EVENT_TYPES,
    "ended": SCOPES,
    "stubs": STUBS,
    "counter": (AUTO, *COUNTERS),
    "format": (DETECT, *(importer.name for importer in IMPORTERS)),
    "follow": (ON, OFF),
    **dict.fromkeys(("budget", "arrival", "cold"), (ON,)),
    "kinds": tuple(KINDS),
    "show": tuple(STATUSES),
    "by": ("tool", "type", "file"),
    "cache": (HOUR,),
    "breaks": (FLOOR,),
    "recall": ("M2",),
    "lost": ("M1", "M2", "M4", "M5", "M6", "M9"),
}
