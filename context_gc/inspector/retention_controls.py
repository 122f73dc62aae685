"""Retention controls: what stays whatever is found, and until when."""

from __future__ import annotations

from collections import Counter

import streamlit as st

from ..events import EVENT_TYPES, IMPORTANCE
from ..policy import Policy
from ..render import sendable
from . import settings
from .compacting import Compacted
from .in_force import ended
from .parts import Part, el, event_link, parts
from .rows import short
from .say import count

_ENDS = {"task_end": "Task ended", "session_end": "Session ended"}


def retention_controls(found: Compacted, policy: Policy) -> None:
    """Importance, tags, types, the last turns, scopes that end, and the events that were pinned."""
    is_used = bool(policy.protect_ids or settings.texts("ended"))
    with st.expander("Retention", expanded=settings.begins_open("retention", is_used)):
        used = {tag for event in found.events for tag in event.get("tags") or () if tag == sendable(tag)}
        tags = sorted(used.union(policy.protect_tags))
        st.multiselect("Importance", IMPORTANCE, **settings.widget("importance", list(policy.protect_importance)))
        st.multiselect("Tags", tags, accept_new_options=True, **settings.widget("tags", list(policy.protect_tags)))
        st.multiselect("Types", EVENT_TYPES, **settings.widget("types", list(policy.protect_types)))
        st.number_input("Last turns", 0, step=1, **settings.widget("last", policy.protect_recent))
        _scopes(found)
        _pinned(found, policy)


def _scopes(found: Compacted) -> None:
    until = Counter(event.get("retain_until") for event in found.events)
    now = ended(settings.current())
    for scope, label in _ENDS.items():
        st.session_state[f"e_{scope}"] = scope in now
        implied = scope in now and scope not in settings.texts("ended")
        st.toggle(
            f"{label} · {count(until[scope], 'event')}", key=f"e_{scope}", on_change=settings.switch,
            args=("ended", scope, settings.SCOPES), disabled=implied,
            help="A session that has ended has ended its task." if implied else
            f"Events with retain_until={scope} are protected until it ends; then they are judged like all others.",
        )  # fmt: skip


def _pinned(found: Compacted, policy: Policy) -> None:
    if not policy.protect_ids:
        st.html("<small>No event is pinned: select one and press Pin.</small>")
        return
    cells: list[Part] = []
    for name in policy.protect_ids:
        row = found.by_id.get(name)
        told = f"Unpin {name}"
        cells += [
            event_link(row.number, name) if row else el("span", "–"),
            el("span", row.label if row else f"{short(name, 40)}, in another window", cls="name"),
            el("button", "unpin", go={"pin": name}, title=told, label=told),
        ]
    parts([el("p", count(len(policy.protect_ids), "pinned event")), el("div", *cells, cls="list short")], "pinned")
