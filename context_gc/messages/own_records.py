"""Own records: messages put together again from the events that an importer made of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..canonical import own
from ..events import Event
from ..importers.provider_messages.envelope import assembled
from .dialect import SOURCE, Part, Record, Told, role_of

Blank = tuple[int, Record]  #: a message without events, and the place of the event that it stands before


def told_from_records(
    places: Iterable[int], events: Sequence[Event], role: Callable[[Record], str] = role_of, blank: Sequence[Blank] = ()
) -> list[Told]:
    """The messages at these places; the first event there begins one."""
    groups: list[list[int]] = []
    loose: list[Told] = []
    for place in places:
        if events[place]["type"] == "abandon":
            loose.append(Told({}, "none", [Part(place, ())]))
        elif "envelope" in events[place]:
            groups.append([place])
        else:
            groups[-1].append(place)
    found = [(each.parts[0].place, 1, each) for each in (*(_told(group, events, role) for group in groups), *loose)]
    found += [(before, 0, Told(own(record), role(record), [])) for before, record in blank]
    return [each for _, _, each in sorted(found, key=lambda each: each[:2])]


def recorded(
    places: Iterable[int], events: Sequence[Event], blank: Sequence[dict[str, Any]] = ()
) -> tuple[list[Any], Any]:
    """The messages of these places exactly as they were read, and their system prompt (None for none).

    `blank`: messages without events, each with the place of the event that it stood before.
    """
    tolds = [each for each in told_from_records(places, events) if each.role != "none"]
    systems = [each.record["system"] for each in tolds if each.is_field]
    found = [(each.parts[0].place, 1, each.record) for each in tolds if not each.is_field]
    found += [(each["before"], 0, own(each["record"])) for each in blank]
    found.sort(key=lambda each: each[:2])
    return [record for _, _, record in found], systems[0] if systems else None


def _told(group: Sequence[int], events: Sequence[Event], role: Callable[[Record], str]) -> Told:
    first = events[group[0]]
    record = own(assembled([events[place] for place in group]))
    parts = [Part(place, tuple(events[place].get("origin", {}).get("at", ()))) for place in group]
    if "field" in first.get("origin", {}):
        return Told(record, "system", parts, True)
    if type(record) is not dict:
        return Told(record, "none", parts)
    if "message" in first.get("origin", {}):
        record[SOURCE] = first["origin"]["message"]
    return Told(record, role(record), parts)
