"""Settings: every control of the inspector as one dict, read once from the address, mirrored back to it.

A widget never holds state of its own: before it is drawn its key is written from the dict, and its
callback writes to the dict. So a link reproduces the view, and a page change loses nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from ..events import EVENT_TYPES
from ..policy import STUBS, Policy
from ..render import sendable
from ..stages import STAGES
from ..tokens import COUNTERS, family_of
from .palette import KINDS, STATUSES

Value = str | tuple[str, ...]
NOTHING = "none"  # stands for an empty list in the address
AUTO = "auto"  # the counter that fits the trace's model

DEFAULTS: Mapping[str, Value] = {
    "trace": "",  # a sample's name, open/<path>, or the first 12 digits of a file's sha256
    "part": "0",  # which trace of the file
    "window": "",  # number of the context window from 1; "" is the last
    "stages": Policy().stages,
    "tags": Policy().protect_tags,
    "types": Policy().protect_types,
    "pins": (),  # ids of events that are protected by hand
    "stubs": Policy().stubs,
    "counter": AUTO,
    "limit": "200000",  # tokens of the model's window
    "event": "",
    "find": "",
    "show": (),  # statuses that the graph and the table show; () is all
    "kinds": (),
    "turns": "",  # "12-40"; "" lets the graph choose
    "by": "tool",
}
_OF_TRACE = ("part", "window", "event", "find", "turns", "pins")  # forgotten when another trace is opened
_OF_WINDOW = ("event", "turns")
POLICY_KEYS = ("stages", "tags", "types", "pins", "stubs", "counter")


def begin(page: str) -> dict[str, Value]:
    """The settings, at the start of a page's run.

    The address is read when the browser session begins. Later it is only heard when a link to another
    page brought an event along: the address lags behind the clicks on a page.
    """
    state = st.session_state
    if "settings" not in state:
        state.settings = {key: _read(key) for key in DEFAULTS}
    elif state.get("page") != page and "event" in st.query_params:
        state.settings["event"] = str(_read("event"))
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
        for other in _OF_TRACE if key == "trace" else _OF_WINDOW if key in ("window", "part") else ():
            settings[other] = DEFAULTS[other]
        if key == "part":
            settings["window"] = DEFAULTS["window"]


def widget(key: str, value: Any) -> dict[str, Any]:
    """Keyword arguments that tie a widget to a setting; `value` is what it shows now."""
    st.session_state[f"w_{key}"] = value
    return {"key": f"w_{key}", "on_change": _take, "args": (key,)}


def switch_stage(name: str) -> None:
    """Turn a stage on or off, as its switch now says."""
    on = set(texts("stages")) ^ {name}
    put("stages", tuple(stage.name for stage in STAGES if stage.name in on))


def pin(event_id: str) -> None:
    """Protect one event by hand, or no longer."""
    pins = texts("pins")
    put("pins", tuple(name for name in pins if name != event_id) if event_id in pins else (*pins, event_id))


def reset_policy() -> None:
    """Put the policy's controls back to the library's defaults."""
    for key in POLICY_KEYS:
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


def policy(settings: Mapping[str, Value], model: str) -> Policy:
    """The policy that the controls stand for."""
    counter = str(settings["counter"])
    return Policy(
        stages=tuple(settings["stages"]),
        protect_tags=tuple(settings["tags"]),
        protect_types=tuple(settings["types"]),
        protect_ids=tuple(settings["pins"]),
        stubs=str(settings["stubs"]),
        counter=family_of(model) if counter == AUTO else counter,
    )


def _take(key: str) -> None:
    value = st.session_state[f"w_{key}"]
    put(key, tuple(map(str, value)) if isinstance(value, list | tuple) else "" if value is None else str(value))


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
    if key in ("limit", "part", "window"):
        return value.isascii() and value.isdigit() and len(value) < 10
    known = _KNOWN.get(key)
    return known is None or value in known


_KNOWN: Mapping[str, tuple[str, ...]] = {
    "stages": tuple(stage.name for stage in STAGES),
    "types": EVENT_TYPES,
    "stubs": STUBS,
    "counter": (AUTO, *COUNTERS),
    "kinds": tuple(KINDS),
    "show": tuple(STATUSES),
    "by": ("tool", "type", "file"),
}
