"""Warnings: what is odd about a trace and was tolerated. Nothing odd passes in silence."""

from __future__ import annotations

from collections.abc import Sequence

from .events import Event
from .units import Units

SHOWN = 3  #: ids named in one warning; the rest are counted


def warnings(events: Sequence[Event]) -> list[str]:
    """One sentence for each kind of oddity, naming the first few events."""
    ids = {event["id"] for event in events}
    units = Units.of(events)
    found: dict[str, list[str]] = {}
    for event in events:
        name, kind, parent = event["id"], event["type"], event.get("parent_id")
        if parent == name:
            found.setdefault("is its own parent; taken as having none", []).append(name)
        elif parent is not None and parent not in ids:
            found.setdefault("has a parent that is not in the trace; taken as having none", []).append(name)
        if kind == "abandon":
            if not event["ref_to"]:
                found.setdefault("abandons nothing", []).append(name)
            elif not ids.issuperset(event["ref_to"]):
                found.setdefault("abandons an event that is not in the trace", []).append(name)
        elif kind == "error" and event.get("related_to") is not None and event["related_to"] not in ids:
            found.setdefault("relates to an event that is not in the trace", []).append(name)
    for what, places in (("answers no call in the trace", units.orphans), ("has no result yet", units.open_calls)):
        if places:
            found[what] = [events[seq]["id"] for seq in places]
    return [f"{_named(names)} {what}" for what, names in found.items()]


def _named(names: list[str]) -> str:
    more = f" and {len(names) - SHOWN:,} more, each" if len(names) > SHOWN else ""
    return ", ".join(map(repr, names[:SHOWN])) + more
