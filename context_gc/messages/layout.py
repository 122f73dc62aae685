"""Layout: the messages of a trace with the fate of each of their events. See the package for the rules."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from ..compaction import Compaction
from ..events import Event
from .dialect import Dialect, Part, Path, Record, Request, Stub, Told, blocks, shortened
from .fates import Fates, kind_of_event
from .foreign import told_from_events
from .own_records import Blank, told_from_records


def compacted(
    compaction: Compaction,
    dialect: Dialect,
    is_own: bool | None,
    is_signed: bool = False,
    blank: Sequence[Blank] = (),
) -> Request:
    """The messages of a compaction.

    `is_own`: its events come from messages of this provider, which are put together again; None: those do whose
    origin names its `format`. `is_signed`: the signatures on its thinking are this provider's. `blank`: messages
    that gave no event; without it they are left out.
    """
    lost: dict[str, int] = {}
    tolds = dialect.grouped(_tolds(compaction.events, dialect, is_own, is_signed, blank, lost))
    return _Compacting(Fates(compaction), dialect, tolds).request(bool(is_own), lost)


def whole(events: Sequence[Event], dialect: Dialect, is_signed: bool = False) -> Request:
    """All events as messages of a provider that they do not come from, nothing cut."""
    lost: dict[str, int] = {}
    tolds = dialect.grouped(_tolds(events, dialect, False, is_signed, (), lost))
    entries = [each.record for each in tolds if not each.is_field and each.role != "none"]
    return _request(dialect, tolds, entries, False, lost)


def _tolds(
    events: Sequence[Event],
    dialect: Dialect,
    is_own: bool | None,
    is_signed: bool,
    blank: Sequence[Blank],
    lost: dict[str, int],
) -> list[Told]:
    """The messages that events are part of."""
    if is_own is None:
        told: list[Told] = []
        for ours, run in groupby(range(len(events)), key=lambda place: format_of(events[place]) == dialect.name):
            places = list(run)
            told += (
                told_from_records(places, events, dialect.role)
                if ours
                else told_from_events(places, events, dialect, is_signed, lost)
            )
        return told
    if not is_own:
        return told_from_events(range(len(events)), events, dialect, is_signed, lost)
    first = next((place for place, event in enumerate(events) if "envelope" in event), len(events))
    loose = told_from_events(range(first), events, dialect, is_signed, lost)
    return loose + told_from_records(range(first, len(events)), events, dialect.role, blank)


def format_of(event: Event) -> str:
    """The dialect of the message that an event came in with, in the loop of an agent; "" for any other."""
    origin = event.get("origin")
    found = origin.get("format", "") if type(origin) is dict else ""
    return found if type(found) is str else ""


def _request(
    dialect: Dialect,
    tolds: Iterable[Told],
    entries: Sequence[Record | Stub | None],
    is_own: bool,
    lost: dict[str, int],
) -> Request:
    fields = [each.record["system"] for each in tolds if each.is_field and each.record.get("system") is not None]
    system: Any = fields[0] if len(fields) == 1 else [block for each in fields for block in blocks(each)]
    return Request(dialect.joined(entries, is_own), system or None, lost)


class _Compacting:
    """Takes messages through the fates of their events."""

    def __init__(self, fates: Fates, dialect: Dialect, tolds: list[Told]) -> None:
        self.fates, self.dialect, self.tolds = fates, dialect, tolds
        self._entries: list[Record | Stub | None] = []
        self._held: list[str] = []  # stubs for behind the message that is being read
        self._gone: set[str] = set()  # ids of the calls that went with the last message of the model
        self._results = self._answers()
        self._free = self._first_that_stays()

    def request(self, is_own: bool, lost: dict[str, int]) -> Request:
        """The messages."""
        for number, each in enumerate(self.tolds):
            if not each.parts:
                self._entries.append(each.record)
            elif each.role == "assistant":
                self._asked(number, each)
            elif each.role == "none":
                self._missing(part.place for part in each.parts if self.fates.is_cut(part.place))
            else:
                self._said(each)
            self._entries += map(Stub, self._held)
            self._held = []
        return _request(self.dialect, self.tolds, self._entries, is_own, lost)

    # what the model wrote

    def _asked(self, number: int, each: Told) -> None:
        cut = [part for part in each.parts if self.fates.is_cut(part.place)]
        fixed = self.dialect.is_fixed(each.record)
        goes = len(cut) == len(each.parts) and all(map(self.fates.is_cut, self._results.get(number, ())))
        stays = fixed and number >= self._free and not any(self.fates.is_abandoned(part.place) for part in cut)
        self._gone = set()
        if goes and not stays:
            self._gone = set(self.dialect.call_ids(each.record))
            self._missing(part.place for part in each.parts)
            self._entries += [None, *map(Stub, self._held)]
            self._held = []
            return
        if not fixed:
            self._edit(each, cut)
        self._entries += map(Stub, self._held)
        self._held = []
        self._entries.append(each.record)

    def _edit(self, each: Told, cut: Sequence[Part]) -> None:
        events, fates = self.fates.events, self.fates
        seen = [part for part in each.parts if kind_of_event(events[part.place]) != "thinking"]
        speaks = any(part not in cut or kind_of_event(events[part.place]) == "call" for part in seen)
        dropped = []
        for part in each.parts:
            kind = kind_of_event(events[part.place])
            if part in cut and kind == "call":
                put(each.record, part.at, shortened(value_at(each.record, part.at), fates.receipt(part.place)))
            elif part in cut and speaks:
                dropped.append(part.at)
                self._missing((part.place,))
            elif part not in cut and kind == "text":
                put(each.record, part.at, fates.shown(part.place, value_at(each.record, part.at), True))
        drop(each.record, dropped)

    # what others said

    def _said(self, each: Told) -> None:
        fates, dropped, left = self.fates, [], len(each.parts)
        record: Record | None = each.record
        gone = self._gone.intersection(self.dialect.result_ids(each.record))
        for part in each.parts:
            is_result = kind_of_event(fates.events[part.place]) == "result"
            if not fates.is_cut(part.place):
                put(each.record, part.at, fates.shown(part.place, value_at(each.record, part.at), False))
            elif is_result and not gone:
                put(each.record, part.at, fates.result(part.place))
            elif is_result:
                self._missing((part.place,))
            else:
                dropped.append(part.at)
                left -= 1
                self._missing((part.place,))
        drop(each.record, dropped)
        if gone:
            record = self.dialect.without_results(each.record, gone)
        if not left:
            record = None
        if not each.is_field:
            self._entries.append(record)
        elif not left:
            each.record["system"] = None

    # the whole

    def _missing(self, places: Iterable[int]) -> None:
        self._held += [stub for place in places if (stub := self.fates.stub(place))]

    def _answers(self) -> dict[int, list[int]]:
        """Number of a message of the model -> the places of the results of its calls."""
        found: dict[int, list[int]] = {}
        asked = -1
        for number, each in enumerate(self.tolds):
            if each.role == "assistant":
                asked = number
            elif each.role in ("user", "tool"):
                events = self.fates.events
                places = [part.place for part in each.parts if kind_of_event(events[part.place]) == "result"]
                found.setdefault(asked, []).extend(places)
        return found

    def _first_that_stays(self) -> int:
        """The number from which on what is fixed stays: the last tool loop, and the latest message of the model.

        Under a budget as they were at the last pass, so that nothing that was sent goes between two passes.
        """
        events, cut, settled = self.fates.events, self.fates.is_cut, self.fates.settled
        said = told = 0
        for number, each in enumerate(self.tolds):
            if not each.parts:
                continue
            if each.parts[0].place >= settled:
                break
            texts = (part.place for part in each.parts if kind_of_event(events[part.place]) == "text")
            if each.role == "user" and not all(map(cut, texts)):
                said = number
            elif each.role == "assistant":
                told = number
        return min(said, told)


def value_at(record: Any, at: Path) -> Any:
    """What stands at a path; None where it leads nowhere."""
    for step in at:
        try:
            record = record[step]
        except (KeyError, IndexError, TypeError):
            return None
    return record if at else None


def put(record: Any, at: Path, value: Any) -> None:
    """Set what stands at a path; a path that leads nowhere changes nothing."""
    holder = value_at(record, at[:-1]) if len(at) > 1 else record
    if at and value_at(record, at) is not None:
        holder[at[-1]] = value


def drop(record: Record, paths: Iterable[Path]) -> None:
    """Take out what stands at these paths: a block of a list, or a field's text."""
    taken: dict[str, set[int]] = {}
    for at in paths:
        if len(at) > 1 and type(at[0]) is str and type(at[1]) is int:
            taken.setdefault(at[0], set()).add(at[1])
        elif at and at[0] in record:
            record[at[0]] = None
    for name, places in taken.items():
        record[name] = [block for place, block in enumerate(record[name]) if place not in places]
        if not record[name]:
            record[name] = None
