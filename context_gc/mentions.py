"""Mentions: what a stub still tells of what is in it: live work that had to make room, and what failed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .events import Event
from .outcomes import first_error_line, text_of
from .render import escape, line
from .semantics import Command, FileEdit, FileRead, Search, Status, semantics

MOST = 10  #: mentions in one stub; the rest is behind its receipt
LENGTH = 72  #: characters of one mention

FOUND, DID, LOOKED = range(3)  #: what only this could tell; what was changed or run; what can be asked again


Unit = tuple[Event, Sequence[Event]]  #: a lead and its results


def mentions(units: Iterable[Unit]) -> list[str]:
    """One line for each unit (its lead and its results), without repetition, escaped.

    Where there are too many, what can be asked again gives way first, then the oldest.
    """
    found: dict[str, int] = {}
    for lead, results in units:
        rank, text = _mention(lead, results)
        if text := _short(text):
            found.pop(text, None)
            found[text] = rank
    if len(found) > MOST:
        places = list(found)
        kept = set(sorted(places, key=lambda text: (found[text], -places.index(text)))[:MOST])
        found = {text: rank for text, rank in found.items() if text in kept}
    return [escape(text) for text in found]


def failures(units: Iterable[Unit]) -> list[str]:
    """The first error line of each failure, with how many times it came."""
    found: dict[str, int] = {}
    for lead, results in units:
        text = first_error_line(text_of(results[0] if results else lead), LENGTH) or "failed"
        found[text] = found.get(text, 0) + 1
    return [escape(text if times == 1 else f"{text} ×{times}") for text, times in found.items()][-MOST:]


def _mention(lead: Event, results: Sequence[Event]) -> tuple[int, str]:
    fact = semantics(lead)
    if isinstance(fact, FileEdit):
        return DID, f"edited {fact.path}"
    if isinstance(fact, FileRead):
        return LOOKED, f"read {fact.path}"
    if isinstance(fact, Command):
        return DID, f"ran {fact.text}"
    if isinstance(fact, Search):
        return LOOKED, f"searched {fact.query}"
    if isinstance(fact, Status):
        return LOOKED, ""
    if lead["type"] == "tool_call":
        told = line(results[0]).removeprefix("RESULT ") if results else ""
        return FOUND, f"{lead['tool_name']}: {told}"
    if lead["type"] == "set_var":
        return FOUND, line(lead)
    return LOOKED, ""


def _short(text: str) -> str:
    flat = " ".join(text[: 4 * LENGTH].split())
    return flat if len(flat) <= LENGTH else flat[: LENGTH - 1].rsplit(" ", 1)[0] + "…"
