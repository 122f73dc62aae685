"""The first two stages once more: slow, simple, and straight from the design."""

from __future__ import annotations

from typing import Any

from invariants import reach, units

from context_gc import Policy
from context_gc.protection import protection

Event = dict[str, Any]


def oracle(events: list[Event], policy: Policy) -> tuple[set[str], set[str], set[str]]:
    """(found but kept, cut, superseded) by id."""
    place = {event["id"]: at for at, event in enumerate(events)}
    unit = units(events)
    protected = {
        name for name, members in unit.items() if any(_protected(events[place[each]], policy) for each in members)
    }
    branches: dict[str, set[str]] = {}
    for event in events:
        if event["type"] == "abandon":
            before = {each["id"] for each in events[: place[event["id"]]]}
            branch = set()
            for target in event["ref_to"]:
                if target in place and target != event["id"]:
                    seen = {target}
                    while more := {c["id"] for c in events if c.get("parent_id") in seen and c["id"] in before} - seen:
                        seen |= more
                    branch |= seen
            if branch:
                branches[event["id"]] = branch
    dead = set(branches).union(*branches.values())
    dead_units = set().union(*(unit[name] for name in dead))
    kept = dead_units & protected
    partly = {name for name, branch in branches.items() if branch & kept - {name}}
    kept |= partly
    cut = dead_units - protected - partly
    writes = [event for event in events if event["type"] == "set_var" and event["id"] not in dead_units]
    edges = [(event["parent_id"], event["id"]) for event in events if event.get("parent_id") in place]
    below = reach(list(place), edges)
    superseded = set()
    for old in writes:
        for new in writes:
            if old is not new and type(old["key"]) is type(new["key"]) and old["key"] == new["key"]:
                newer = (new["timestamp"], place[new["id"]]) > (old["timestamp"], place[old["id"]])
                if new["id"] in below[old["id"]] if policy.override_scope == "path" else newer:
                    superseded.add(old["id"])
    return kept | (superseded & protected), cut | (superseded - protected), superseded


def _protected(event: Event, policy: Policy) -> bool:
    return event.get("retain_until") is not None or protection(event, policy) is not None
