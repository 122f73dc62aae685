"""Foreign: the events of any trace as the messages that a provider would have seen, as far as it can be told.

What the model wrote until somebody else speaks is one message, and so is what shares a `message_id`. The
results of its calls follow it at once, wherever they stand in the trace. Instructions are the system prompt;
those that come later, the facts of native events and results without a call are said on the user's side.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ..events import Event
from ..render import line
from ..units import Units
from .dialect import Dialect, Part, Told

_ASIDE = frozenset(("summary", "observation"))
_BY_MODEL = frozenset(("decision", "set_var", "verification", "tool_call"))
_FOREIGN = re.compile(r"[^A-Za-z0-9_-]+")
_LONGEST_ID = 40  # characters that every provider takes


@dataclass(slots=True)
class _Turn:
    role: str
    places: list[int] = field(default_factory=list)
    message: object = None


def told_from_events(
    places: Iterable[int], events: Sequence[Event], dialect: Dialect, is_signed: bool, lost: dict[str, int]
) -> list[Told]:
    """The messages that a provider would have seen; `lost` counts what cannot be said in them."""
    units, wanted = Units.of(events), list(places)
    among = set(wanted)
    tolds: list[Told] = []
    names = _ids([events[place] for place in wanted if events[place]["type"] == "tool_call"])
    for turn in _turns(wanted, events, units):
        if turn.role == "none":
            tolds.append(Told({}, "none", [Part(place, ()) for place in turn.places]))
        elif turn.role == "assistant":
            given = [(place, events[place], names.get(events[place]["id"], "")) for place in turn.places]
            asked = dialect.asks(given, is_signed, lost)
            if asked is None:
                tolds.append(Told({}, "none", [Part(place, ()) for place in turn.places]))
                continue
            tolds.append(asked)
            results = [
                (result, events[result], name)
                for place, event, name in given
                if event["type"] == "tool_call"
                for result in units.results(place)[:1]
                if result in among
            ]
            tolds += dialect.answers(sorted(results), lost)
        else:
            for place in turn.places:
                tolds.append(dialect.says(turn.role, place, events[place], _words(events[place]), lost))
    return tolds


def _turns(places: Sequence[int], events: Sequence[Event], units: Units) -> list[_Turn]:
    turns: list[_Turn] = []
    now: _Turn | None = None
    among = set(places)
    answered = False  # whether a result has come since the last thing that the model wrote
    for place in places:
        event = events[place]
        role = _role(place, event, units, among)
        if role == "answer":  # it stands with its call
            answered = True
        elif role == "assistant":
            # what a window carried over has the id of the message that carried it, which tells nothing
            message = None if "repeats" in event else event.get("message_id")
            goes_on = now is not None and now.message == message
            if answered and (message is None or event["type"] != "tool_call"):
                goes_on = False
            if now is None or not goes_on:
                now = _Turn("assistant", message=message)
                turns.append(now)
            now.places.append(place)
            answered = False
        else:
            turns.append(_Turn(role, [place]))
            now = now if role == "none" else None
    return turns


def _role(place: int, event: Event, units: Units, among: set[int]) -> str:
    kind = event["type"]
    if kind == "tool_result":
        call = units.lead(place)
        return "answer" if call != place and call in among and units.results(call)[0] == place else "user"
    if kind == "abandon":
        return "none"
    if kind == "constraint":
        return "system"
    return "assistant" if kind in _BY_MODEL and _ASIDE.isdisjoint(event.get("tags", ())) else "user"


def _words(event: Event) -> str:
    if event["type"] in ("requirement", "constraint", "decision"):
        text: str = event["content"]
        return text
    return line(event)


def _ids(calls: Iterable[Event]) -> dict[str, str]:
    """Event id -> an id that every provider takes, each once."""
    found: dict[str, str] = {}
    used: set[str] = set()
    for call in calls:
        name = plain = _FOREIGN.sub("_", call["id"])[:_LONGEST_ID]
        number = 1
        while name in used:
            number += 1
            name = f"{plain[: _LONGEST_ID - 7]}_{number}"
        used.add(name)
        found[call["id"]] = name
    return found
