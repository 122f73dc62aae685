"""Whether a cut was safe, worked out from the text of the events alone: nothing of the rules themselves is used.

`unsafe(events, cut)` tells for each event that was cut why what it carried is not to be found elsewhere.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from properties.safety_units import RANGE, Event, Unit, units_of

LISTS = re.compile(r"git (?:status|branch|stash list)|docker ps|kubectl get|(?:ls|pwd|ps|df|free|uptime|nvidia-smi)\b")


def unsafe(events: Sequence[Event], cut: Mapping[str, str]) -> list[str]:
    """What is lost by cutting these events: id -> the stage that cut it. One line for each."""
    units = units_of(events)
    leads = {units[name].lead["id"]: stage for name, stage in cut.items()}
    standing = [unit for name, unit in units.items() if name == unit.lead["id"] and name not in leads]
    told = []
    for name, stage in leads.items():
        unit = units[name]
        check = CHECKS.get(stage)
        if any(each["id"] not in cut for each in (unit.lead, *unit.results)):
            told.append(f"{name}: {stage}: a part of its unit stands")
        elif check is not None and (why := check(unit, standing, events)):
            told.append(f"{name}: {stage}: {why}")
    return told


def _stale(unit: Unit, standing: Sequence[Unit], events: Sequence[Event]) -> str:
    if not unit.path:
        return "what it read is not known"
    about = [each for each in standing if each.place > unit.place and each.path == unit.path and not each.failed]
    if unit.writes:
        about = [each for each in about if each.writes]
    if not about:
        return "nothing about its file stands behind it"
    if any(each.holds_all for each in about):
        return ""
    text = {line for each in about for line in (*each.shown, *each.wrote, *each.old)}
    gone: set[str] = set()
    unknown = 0
    for each in units_of(events).values():
        if each.place >= unit.begun and each.path == unit.path and not each.failed and each.writes:
            gone.update(() if each is unit else each.old)
            found = RANGE.match(each.command)
            begin, end = (found[1], found[2]) if found else (each.given.get("start_line"), each.given.get("end_line"))
            unknown += int(end) - int(begin) + 1 if begin and end and each is not unit else 0
    carried = unit.shown if not unit.writes else [*unit.shown, *unit.wrote]
    lost = [line for line in dict.fromkeys(carried) if line.strip() and line not in text and line not in gone]
    if len(lost) > unknown and not _wider(unit, about):
        return f"{len(lost)} lines stand nowhere else: {lost[0][:60]!r}"
    return ""


def _wider(unit: Unit, about: Sequence[Unit]) -> bool:
    """Whether a later read of the same tool asked for all the lines that this one asked for."""
    spans = [_asked_lines(each) for each in (unit, *about)]
    first = spans[0]
    return first is not None and any(span and span[0] <= first[0] and first[1] <= span[1] for span in spans[1:])


def _asked_lines(unit: Unit) -> tuple[int, int] | None:
    given = unit.given
    if type(given.get("view_range")) is list:
        return tuple(given["view_range"])  # type: ignore[return-value]
    if type(given.get("limit")) is int:
        begin = given.get("offset") or 0
        return begin, begin + given["limit"] - 1
    found = re.search(r"sed -n '?(\d+),(\d+)p", unit.command)
    return (int(found[1]), int(found[2])) if found else None


def _duplicate(unit: Unit, standing: Sequence[Unit], events: Sequence[Event]) -> str:
    answers = [each["result"] for each in unit.results]
    for each in standing:
        asked = (each.lead.get("tool_name"), each.lead.get("arguments"))
        told = json.dumps([other["result"] for other in each.results])
        if asked == (unit.lead["tool_name"], unit.lead["arguments"]) and told == json.dumps(answers):
            return ""
    return "the same answer to the same question stands nowhere else"


def _status(unit: Unit, standing: Sequence[Unit], events: Sequence[Event]) -> str:
    later = [each for each in standing if each.place > unit.place and not each.failed]
    if unit.lead["type"] != "tool_call":
        alike = [each for each in later if each.lead["type"] == unit.lead["type"]]
        same = any(_headings(each.lead["content"]) == _headings(unit.lead["content"]) for each in alike)
        return "" if same else "no newer block of its kind stands"
    later = [each for each in later if each.lead.get("tool_name") == unit.lead["tool_name"]]
    if unit.command:
        again = [each for each in later if each.command == unit.command]
        body = re.sub(r"\s*cd \S+ && ", "", unit.command)
        if any(_plain(each.answer) == _plain(unit.answer) for each in again) or (again and LISTS.match(body)):
            return ""
        return "no newer answer of the same command says the same"
    whole = [each for each in later if each.asked == unit.asked or any(map(_is_list, each.given.values()))]
    return "" if whole else "no newer whole state stands"


def _failure(unit: Unit, standing: Sequence[Unit], events: Sequence[Event]) -> str:
    if not unit.failed:
        return "it did not fail"
    alike = [each for each in standing if each.asked == unit.asked]
    if any(each.place > unit.place and not each.failed for each in alike):
        return ""
    same = [each.place for each in alike if each.failed and _plain(each.answer) == _plain(unit.answer)]
    if any(place < unit.place for place in same) and any(place > unit.place for place in same):
        return ""
    for each in standing:
        if each.place > unit.place and unit.path and each.path == unit.path and each.writes and not each.failed:
            if each.holds_all or (unit.old and each.old == unit.old) or (unit.wrote and each.wrote == unit.wrote):
                return ""
            if _overlap(unit, each):
                return ""
    return "neither the same call nor an edit of the same place succeeded later, nor is it one of a row"


def _overlap(unit: Unit, other: Unit) -> bool:
    spans = []
    for each in (unit, other):
        found = RANGE.match(each.command)
        begin, end = (found[1], found[2]) if found else (each.given.get("start_line"), each.given.get("end_line"))
        if not begin or not end:
            return False
        spans.append((int(begin), int(end)))
    return spans[0][0] <= spans[1][1] and spans[1][0] <= spans[0][1]


def _dead(unit: Unit, standing: Sequence[Unit], events: Sequence[Event]) -> str:
    if unit.lead["type"] == "abandon":
        return ""
    named = {name for event in events[unit.begun :] if event["type"] == "abandon" for name in event["ref_to"]}
    above = {event["id"]: event.get("parent_id") for event in events}
    seen: set[str] = set()
    name: str | None = unit.lead["id"]
    while name is not None and name not in seen:
        if name in named:
            return ""
        seen.add(name)
        name = above.get(name)
    return "no abandon names it, or what it hangs below"


def _override(unit: Unit, standing: Sequence[Unit], events: Sequence[Event]) -> str:
    key, time = unit.lead["key"], unit.lead["timestamp"]
    newer = [each.lead for each in standing if each.lead.get("key") == key and each.lead["timestamp"] >= time]
    return "" if newer else "no newer value of its key stands"


CHECKS = {
    "dead-branches": _dead,
    "overrides": _override,
    "duplicates": _duplicate,
    "stale-reads": _stale,
    "superseded-status": _status,
    "repeated-failures": _failure,
}


def _plain(text: str) -> str:
    return re.sub(r"\d+(?:\.\d+)?", "0", text)


def _headings(text: str) -> Counter[str]:
    return Counter(re.findall(r"^[ \t]*(?:<[\w-]+|#+ *.+)", text, re.MULTILINE))


def _is_list(value: Any) -> bool:
    return type(value) is list or (type(value) is str and "\n" in value)
