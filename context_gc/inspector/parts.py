"""Parts: sentences, bars and lists with links inside them, built without HTML so that trace text stays text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from typing import Any

import streamlit as st

from . import settings
from .home import PAGES

Part = str | list[Any]
LINKED = ("window", "event", "find", "line", "lost")  # the settings that a link may change

_HERE = files(__package__)
_draw = st.components.v2.component(
    "cg_parts",
    html='<div class="parts"></div>',
    css=(_HERE / "parts.css").read_text("utf-8"),
    js=(_HERE / "parts.js").read_text("utf-8"),
)


def el(
    tag: str,
    *children: Part,
    cls: str = "",
    go: Mapping[str, str] | None = None,
    title: str = "",
    role: str = "",
    label: str = "",
    vars: Mapping[str, str | float] | None = None,
) -> Part:
    """One element. `go` is what a click does: the settings that it changes, the event that it pins or unpins
    (`pin`) and the `page` that it opens."""
    given = {"cls": cls, "go": go, "title": title, "role": role, "label": label, "vars": vars}
    return [tag, {name: value for name, value in given.items() if value}, list(children)]


def event_link(number: int, event_id: str, page: str = "") -> Part:
    """A link that selects an event, here or on another page: #12."""
    return el("button", f"#{number}", go={"event": event_id, "page": page}, title=f"Select event {event_id}")


def parts(tree: Sequence[Part], key: str) -> None:
    """Draw a tree. Clicks change the selection or a setting; a link to another page goes there."""
    found = _draw(key=key, data={"tree": list(tree)}, on_go_change=_follow(key))
    scripts = {title: script for script, title in PAGES}
    if found.go and found.go.get("page") in scripts:
        st.switch_page(scripts[found.go["page"]], query_params=settings.query())


def _follow(key: str) -> Callable[[], None]:
    def follow() -> None:
        for name, value in (st.session_state[key]["go"] or {}).items():
            if name in LINKED:
                settings.put(name, str(value))
            elif name == "pin":
                settings.pin(str(value))

    return follow
