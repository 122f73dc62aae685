"""What a stretch of a trace holds that measures ask for, worked out once and the same for every policy."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import accumulate
from typing import Any, NamedTuple

from ..events import Event
from ..meter import event_tokens
from ..outcomes import PAYLOAD, failed, text_of
from ..policy import Policy
from ..protection import protection
from ..render import line
from ..semantics import FileEdit, FileRead, arguments, path_of, semantics
from ..tokens import Counter
from ..units import Units
from .calls import ModelCall, Stretch
from .identifiers import identifiers

_OLD = ("old_string", "oldString", "old_str", "oldText", "old_text", "search")  # what an edit has to quote
_PATCH = ("patch", "input", "patchText", "diff")
_NUMBERED = re.compile(r"^ {0,8}\d+(?:→|\t|: ?| \| ?)", re.MULTILINE)  # line numbers that a reading tool adds
_RULES = Policy()  # at its defaults it protects what no policy should cut
LEAST_QUOTE = 3  #: characters that a quote has at least, white space aside


class Demand(NamedTuple):
    """An identifier that the model wrote and that occurred before."""

    identifier: str
    source: int  #: place of the last event before the call that holds it
    sole: bool  #: only observations held it


class Quote(NamedTuple):
    """Text that an edit quotes and that stood somewhere before."""

    text: str
    sources: tuple[int, ...]  #: places that hold it, the newest first


class Touch(NamedTuple):
    """The last operation on a path."""

    place: int
    verb: str  #: "read" or "edited", as stubs say it


class Reading:
    """One stretch as measures see it. Lists are by place or by call."""

    def __init__(self, stretch: Stretch) -> None:
        self.stretch = stretch
        self.events = stretch.events
        self.units = Units.of(self.events)
        self._refs: dict[int, frozenset[str]] = {}
        self._full: dict[str, list[int]] = {}

    @cached_property
    def lines(self) -> list[str]:
        """The full line of each event."""
        return [line(event) for event in self.events]

    def full(self, counter: Counter) -> list[int]:
        """Tokens of the full history before each place, and at its end."""
        found = self._full.get(counter.name)
        if found is None:
            tokens = (event_tokens(event, counter) for event in self.events)
            found = self._full[counter.name] = list(accumulate(tokens, initial=0))
        return found

    @cached_property
    def instructions(self) -> list[int]:
        """Places of what must be in every prompt, byte for byte: requirements, constraints, user text, critical."""
        return [seq for seq, event in enumerate(self.events) if protection(event, _RULES) and self.lines[seq]]

    def refs(self, seq: int) -> frozenset[str]:
        """The identifiers of an event."""
        found = self._refs.get(seq)
        if found is None:
            found = self._refs[seq] = identifiers("\n".join(_said(self.events[seq])))
        return found

    @cached_property
    def demands(self) -> list[list[Demand]]:
        """For each call the identifiers that it wrote and that its window held before."""
        last: dict[str, int] = {}
        told: set[str] = set()  # by something else than an observation
        found: list[list[Demand]] = []
        taken = 0
        for call in self.stretch.calls:
            for seq in range(taken, call.start):
                refs = self.refs(seq)
                last.update(dict.fromkeys(refs, seq))
                if not _is_observation(self.events[seq]):
                    told |= refs
            taken = max(taken, call.start)
            wrote = self._wrote(call)
            found.append([Demand(name, last[name], name not in told) for name in sorted(wrote & last.keys())])
        return found

    @cached_property
    def quotes(self) -> list[list[Quote]]:
        """For each call the texts that its edits quote, as far as they stood in its window before."""
        plain: list[str] = []
        found: list[list[Quote]] = []
        for call in self.stretch.calls:
            plain += [_NUMBERED.sub("", "\n".join(_said(event))) for event in self.events[len(plain) : call.start]]
            quotes = []
            for seq in call.written:
                for text in _quoted(self.events[seq]):
                    sources = tuple(place for place in range(call.start - 1, -1, -1) if text in plain[place])
                    if sources:
                        quotes.append(Quote(text, sources))
            found.append(quotes)
        return found

    @cached_property
    def touched(self) -> list[tuple[int, str, Touch]]:
        """What touched a path and did not fail, in trace order: when it is known, the path, and what was done."""
        found = []
        for seq, event in enumerate(self.events):
            fact = semantics(event)
            if isinstance(fact, FileRead | FileEdit) and not self.failed(seq):
                path = path_of(event) or fact.path
                known = max(self.units.members(seq))
                found.append((known, path, Touch(seq, "read" if isinstance(fact, FileRead) else "edited")))
        return sorted(found)

    @cached_property
    def rereads(self) -> dict[int, int]:
        """Reads of what had been read and not changed since: place of the call -> place of the earlier call."""
        newest: dict[tuple[str, object], int] = {}
        spans: dict[str, list[tuple[str, object]]] = {}
        again: dict[int, int] = {}
        for _, path, touch in self.touched:
            fact = semantics(self.events[touch.place])
            if not isinstance(fact, FileRead):
                for span in spans.pop(path, ()):
                    newest.pop(span, None)
                continue
            key = path, (fact.offset, fact.limit, fact.partial)
            if not fact.partial and key in newest:
                again[touch.place] = newest[key]
            newest[key] = touch.place
            spans.setdefault(path, []).append(key)
        return again

    @cached_property
    def outdated(self) -> dict[int, list[int]]:
        """When a write is known -> places of the reads of that path that it made stale, results included."""
        reads: dict[str, list[int]] = {}
        found: dict[int, list[int]] = {}
        for known, path, touch in self.touched:
            if touch.verb == "read":
                reads.setdefault(path, []).extend(self.units.members(touch.place))
            else:
                found.setdefault(known, []).extend(reads.pop(path, ()))
        return found

    def failed(self, seq: int) -> bool:
        """Whether a call, or an act with its outcome, is known to have failed."""
        return failed(self.events[seq], [self.events[place] for place in self.units.results(seq)])

    def _wrote(self, call: ModelCall) -> set[str]:
        wrote: set[str] = set()
        for seq in call.written:
            event = self.events[seq]
            if "thinking" not in (event.get("tags") or ()):
                wrote |= identifiers("\n".join(_acted(event)))
        return wrote


def _said(event: Event) -> Iterator[str]:
    """The texts of an event as a model reads them, strings unescaped."""
    kind = event["type"]
    if kind == "tool_call":
        yield from _acted(event)
    elif kind == "tool_result":
        yield text_of(event) or line(event)
    else:
        yield line(event)


def _acted(event: Event) -> Iterator[str]:
    """What the model itself wrote of an event."""
    kind = event["type"]
    if kind == "tool_call":
        yield event["tool_name"]
        yield from _leaves(arguments(event) or event["arguments"])
    elif kind in ("decision", "verification"):
        yield event["content"]
    else:
        yield from _leaves({key: event[key] for key in ("path", "command", "key", "value") if key in event})


def _leaves(value: Any, depth: int = 20) -> Iterator[str]:
    if type(value) is str:
        yield value
    elif isinstance(value, Mapping | list) and depth:
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from _leaves(inner, depth - 1)
    elif type(value) in (int, float):
        yield str(value)


def _is_observation(event: Event) -> bool:
    return event["type"] in ("tool_result", "error") or any(
        event.get(key) for key in PAYLOAD if event["type"] not in ("decision", "requirement", "constraint")
    )


def _quoted(event: Event) -> Iterator[str]:
    if event["type"] != "tool_call" or not isinstance(semantics(event), FileEdit):
        return
    given = arguments(event)
    edits = given.get("edits")
    for each in (given, *(edits if type(edits) is list else ())):
        if type(each) is dict:
            for key in _OLD:
                text = each.get(key)
                if type(text) is str and len("".join(text.split())) >= LEAST_QUOTE:
                    yield text
    for key in _PATCH:
        if type(given.get(key)) is str:
            yield from _hunks(given[key])


def _hunks(patch: str) -> Iterator[str]:
    """The old text of each hunk of a patch: its context and what it takes out."""
    if "@@" not in patch:
        return
    old: list[str] = []
    for each in [*patch.split("\n"), "@@"]:
        if each.startswith(("@@", "***", "---", "+++")):
            text = "\n".join(old).strip("\n")
            if len("".join(text.split())) >= LEAST_QUOTE:
                yield text
            old = []
        elif each[:1] in (" ", "-"):
            old.append(each[1:])
