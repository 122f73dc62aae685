"""Eviction: what may leave a prompt that is too full although it is not dead, in which order, and what may not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, NamedTuple

from .clipping import clipped
from .engine import Engine
from .events import Event
from .meter import Meter
from .semantics import Command, FileEdit, FileRead, Search, normalise
from .verdicts import Verdict

WORKING_FILES = 5  #: files touched last: the newest full text of each stays, as an edit has to quote it
SHARE = 0.25  #: of the window: what the last observations may hold, and again what the working files may
DEBUG, TEMPORARY, DERIVABLE, RESULT, PROSE, SESSION = range(6)  #: survival classes; what goes first is lowest
_ACTS = frozenset(
    "file_read file_edit command_run test_run build_run git_diff git_commit artifact_created verification error".split()
)
_SUMMARIES = frozenset(("summary", "compaction_summary"))


class _Eviction:
    """The stage that decisions of the budget engine name. It runs in a pass, never by itself."""

    name: ClassVar[str] = "eviction"
    rationale: ClassVar[str] = "The window was full; this is not dead, and what could best be spared went first."

    def reason(self, event: Event, witness: Event) -> str:
        return "evicted to make room"


EVICTION = _Eviction()


class Candidate(NamedTuple):
    """A unit that may go, or a result that may be shortened."""

    places: Sequence[int]
    clip: bool
    tokens: int  #: that this frees, stubs aside


class Eviction:
    """Looks at one prompt: `plan` holds the verdicts that are going to be committed."""

    def __init__(self, engine: Engine, meter: Meter, plan: Mapping[int, Verdict], window: float, recent: int) -> None:
        self._engine, self._meter, self._plan, self._window = engine, meter, plan, window
        self._events = engine.graph.events
        self._units, self._facts = engine.view.units, engine.view.facts
        self.spared: dict[int, str] = {}  #: lead -> what spares its unit
        self._leads = [
            lead
            for lead in range(engine.taken)
            if self._units.lead(lead) == lead and not ((verdict := plan.get(lead)) is not None and verdict.cut)
        ]
        self._spare(recent)

    # what stays

    def _spare(self, recent: int) -> None:
        first = self._first_recent(recent)
        unresolved, working = self._unresolved(), self._working()
        for lead in self._leads:
            event = self._events[lead]
            if (reason := self._engine.protected(lead)) is not None:
                self.spared[lead] = f"protected ({reason.partition(' of ')[0]})"
            elif event["type"] == "abandon":
                self.spared[lead] = "abandons"
            elif event["type"] in ("requirement", "constraint") or "user" in (event.get("tags") or ()):
                self.spared[lead] = "instructions"
            elif event["type"] == "tool_call" and not self._units.results(lead):
                self.spared[lead] = "open calls"
            elif lead >= first:
                self.spared[lead] = "the last observations"
            elif lead in unresolved:
                self.spared[lead] = "errors not yet resolved"
            elif lead in working:
                self.spared[lead] = "files being worked on"
            elif event.get("importance") == "task" and lead >= self._engine.guard.ended.get("task_end", 0):
                self.spared[lead] = "importance=task until the task ends"

    def _observations(self) -> list[int]:
        """Units with results and acts that hold their outcome, by lead."""
        events, units = self._events, self._units
        return [lead for lead in self._leads if events[lead]["type"] in _ACTS or units.results(lead)]

    def _first_recent(self, count: int) -> int:
        """The place from which on everything is recent: `count` observations back, within a share of the window."""
        first, held = self._engine.taken, 0
        for number, lead in enumerate(reversed(self._observations()), start=1):
            held += self._size(lead)
            if number > count or (number > 1 and held > SHARE * self._window):
                break
            first = lead
        return first

    def _unresolved(self) -> set[int]:
        """Failures after which nothing of the same kind has succeeded. Blind spot: kinds are told by tool,
        path and the first two words of a command."""
        open_failures: dict[tuple[str, str], list[int]] = {}
        for lead in range(self._engine.taken):
            event = self._events[lead]
            if event["type"] == "error":
                cause = self._engine.graph.seq(event.get("related_to") or "")
                open_failures.setdefault(self._topic(lead if cause is None else self._units.lead(cause)), []).append(
                    lead
                )
            elif event["type"] in _ACTS or self._units.results(lead):
                if self._facts.failed(lead):
                    open_failures.setdefault(self._topic(lead), []).append(lead)
                else:
                    open_failures.pop(self._topic(lead), None)
        return {places[-1] for places in open_failures.values()}

    def _topic(self, lead: int) -> tuple[str, str]:
        event = self._events[lead]
        fact = self._facts.of(lead)
        if isinstance(fact, Command):
            return type(fact).__name__, "" if type(fact) is not Command else " ".join(fact.text.split()[:2])
        path = getattr(fact, "path", None)
        return str(event.get("tool_name", event["type"])), path or (event["id"] if event["type"] == "error" else "")

    def _working(self) -> set[int]:
        """The newest full text of each file that was touched last, within a share of the window."""
        touched: dict[str, int | None] = {}
        held = 0
        for lead in reversed(self._leads):
            fact = self._facts.of(lead)
            if not isinstance(fact, FileRead | FileEdit):
                continue
            path = normalise(fact.path)
            if path not in touched and len(touched) == WORKING_FILES:
                continue
            full = fact.whole if isinstance(fact, FileEdit) else fact.full
            known = touched.setdefault(path, None)
            if known is None and full and not self._facts.failed(lead):
                held += self._size(lead)
                if held > SHARE * self._window:
                    break
                touched[path] = lead
        return {lead for lead in touched.values() if lead is not None}

    # what may go

    def candidates(self, clip_over: int) -> list[Candidate]:
        """In the order of leaving: large results are shortened first, then units go by class and age.

        A unit is as old as the youngest event whose cut rests on it.
        """
        free = [lead for lead in self._leads if lead not in self.spared and self._size(lead)]
        age = {lead: lead for lead in free}
        for seq, verdict in self._plan.items():
            lead = self._units.lead(verdict.witness)
            if verdict.cut and lead in age:
                age[lead] = max(age[lead], seq)
        free.sort(key=lambda lead: (self._rank(lead), age[lead]))
        going = [Candidate(self._units.members(lead), False, self._size(lead)) for lead in free]
        return [*self._clips(free, clip_over), *going]

    def _clips(self, free: Sequence[int], clip_over: int) -> list[Candidate]:
        found = []
        for seq in sorted(seq for lead in free for seq in self._units.members(lead)):
            event = self._events[seq]
            if event["type"] != "tool_result" and event["type"] not in _ACTS:
                continue
            if self._meter.line(seq) <= clip_over or ((known := self._plan.get(seq)) is not None and known.clipped):
                continue
            text = clipped(event, clip_over, self._meter.counter)
            if text is not None:
                found.append(Candidate((seq,), True, self._meter.line(seq) - self._meter.count(text)))
        return found

    def _rank(self, lead: int) -> int:
        event, importance = self._events[lead], self._events[lead].get("importance")
        tags = event.get("tags") or ()
        if importance == "debug":
            return DEBUG
        if importance in ("temporary", "task") or "thinking" in tags:  # of a task that has ended
            return TEMPORARY
        if importance == "session" or not _SUMMARIES.isdisjoint(tags):
            return SESSION
        kind = event["type"]
        if kind == "git_diff" or isinstance(self._facts.of(lead), FileRead | Search):
            return DERIVABLE
        return RESULT if kind == "tool_call" or kind in _ACTS else SESSION if kind == "set_var" else PROSE

    def _size(self, lead: int) -> int:
        return sum(self._now(seq) for seq in self._units.members(lead))

    def _now(self, seq: int) -> int:
        verdict = self._plan.get(seq)
        if verdict is None or not verdict.clipped or verdict.kept is not None:
            return self._meter.line(seq)
        text = clipped(self._events[seq], self._engine.policy.clip_over, self._meter.counter)
        return self._meter.line(seq) if text is None else self._meter.count(text)

    def holds(self) -> dict[str, int]:
        """What stands in the prompt, in tokens by what spares it; what nothing spares is left out."""
        found: dict[str, int] = {}
        for lead, reason in self.spared.items():
            found[reason] = found.get(reason, 0) + self._size(lead)
        return found
