"""One log file of Claude Code: its lines, and a trace of each agent that speaks in it."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...trace import Problem, Trace
from ..files.document import Document
from ..files.fields import items, mapping, text
from ..recording.history import one_line
from .blocks import why_none
from .events import Builder
from .lines import Line, classify, damage, needed, same_record
from .queued import deliver
from .tree import Tree

MOST_REPEATED = 200_000  #: events of a trace that rewinds and compactions may repeat in later windows
TITLE_FIELDS = ("customTitle", "aiTitle", "summary")  #: of records that name the session, best first
NAMES = frozenset(TITLE_FIELDS)


@dataclass
class Told:
    """The trace of one agent, and what links it to others."""

    trace: Trace
    started: dict[str, str]  #: a subagent's id -> the id of the call that started it
    prompts: dict[str, list[str]]  #: what calls told a subagent to do -> the ids of these calls
    ids: dict[str, str] = field(default_factory=dict)  #: uuid of a line -> the id of the event that it ends with


@dataclass
class Copied:
    """Lines that several sessions hold: the first of each by its key, with the uuid that it has there."""

    shared: Container[str] = ()  #: the keys that may occur in several files
    seen: dict[str, tuple[dict[str, Any], Document]] = field(default_factory=dict)


class Log:
    """A file's lines, without damaged ones, and without those that were read before, here or in another file.

    `copied` counts the lines that another file held, `resumed` is the key of the one that this file goes on from.
    """

    def __init__(self, document: Document, copied: Copied | None = None) -> None:
        self.document = document
        self.problems: list[Problem] = []
        self.lines: list[Line] = []
        self._forked_from = ""  # the session that it says it is a copy of
        self._names: list[dict[str, Any]] = []  # that records give the session
        self._uuids: set[str] = set()
        self.repeated, self.copied, self.resumed = 0, 0, ""
        copied = copied or Copied()
        first: dict[str, dict[str, Any]] = {}
        damaged: list[Problem] = []
        for number, whole in document.each_record(self.problems):
            record, key = needed(whole), key_of(whole)
            self._note(whole)
            if key:
                known = copied.seen.get(key)
                if known is not None and same_record(known[0], record):
                    self.copied, self.resumed = self.copied + 1, key
                    continue
                earlier = first.setdefault(key, record)
                if earlier is not record and same_record(earlier, record):
                    self.repeated += 1
                    continue
            fault = damage(record)
            if fault:
                damaged.append(Problem(number, f"{fault} (skipped)"))
            else:
                self.lines.append(classify(number, whole, record))
        self.problems += damaged
        for key, record in first.items():
            if key in copied.shared:
                copied.seen.setdefault(key, (record, document))
        start = next((line.parent for line in self.lines if line.role and line.parent), "")
        self.resumed = start if start in copied.seen and copied.seen[start][1] is not document else self.resumed
        deliver(self.lines)

    def told(self, format_name: str, wanted: Container[str] = ()) -> list[Told]:
        """The main session, then its subagents; `ids` of each has the uuids that are wanted."""
        source = self.document.name
        groups = _groups(self.lines)
        main = groups.pop("", [])
        if groups and not any(line.role for line in main):
            first, *rest = groups
            found = [self._told(format_name, first, groups.pop(first), main, wanted)]
        else:
            rest = list(groups)
            found = [self._told(format_name, "", main, (), wanted)]
            found[0].trace.title = self._title() or found[0].trace.title
        found += [self._told(format_name, key, groups[key], (), wanted) for key in rest]
        trace = found[0].trace
        trace.source = source
        trace.ignored |= {"repeated line": self.repeated} if self.repeated else {}
        trace.ignored |= {"line of the session that it goes on from": self.copied} if self.copied else {}
        if self._forked_from and self._forked_from != trace.extra.get("session_id"):
            trace.extra["resumes"] = {"session": self._forked_from}
        trace.problems = sorted(self.problems, key=lambda problem: problem.line or 0)
        return found

    def _note(self, record: dict[str, Any]) -> None:
        """What any record, also one that was read before, tells of the session."""
        uuid, forked = record.get("uuid"), record.get("forkedFrom")
        if type(uuid) is str:
            self._uuids.add(uuid)
        elif "uuid" not in record and not NAMES.isdisjoint(record):
            self._names.append({kind: record.get(kind) for kind in (*TITLE_FIELDS, "leafUuid")})
        if type(forked) is dict:
            self._forked_from = self._forked_from or text(forked.get("sessionId"))

    def _title(self) -> str:
        """The name of the session by its own records; old summaries may be those of other sessions."""
        for kind in TITLE_FIELDS:
            for name in reversed(self._names):
                title, leaf = name[kind], name["leafUuid"] or None
                ours = leaf is None or (type(leaf) is str and leaf in self._uuids)
                if type(title) is str and title.strip() and ours:
                    return one_line(title)
        return ""

    def _told(
        self, format_name: str, agent: str, lines: Sequence[Line], aside: Sequence[Line], wanted: Container[str]
    ) -> Told:
        """The trace of one agent; `aside` are lines of the file that no trace shows, counted here."""
        builder = Builder(format_name, self.document.name, next((line.cwd for line in lines if line.cwd), ""))
        told = Told(builder.recorder.trace, builder.started, builder.prompts)
        ignored = _build(builder, lines, told.ids, wanted)
        for line in aside:
            ignored[line.kind] = ignored.get(line.kind, 0) + 1
        trace = builder.trace()
        trace.ignored = ignored
        trace.records_read = len(lines) + len(aside) - sum(ignored.values())
        sessions = dict.fromkeys(line.session for line in lines)
        stem = self.document.name.rpartition("/")[2].removesuffix(".jsonl")
        session = stem if stem in sessions else next(filter(None, sessions), "")
        if session:
            trace.extra["session_id"] = session
        prompt = next((event["content"] for event in trace.events if event["type"] == "requirement"), "")
        trace.title = one_line(prompt) or session
        if agent:
            trace.extra["agent_id"] = agent
            trace.title = f"subagent {agent}: {trace.title}"
        return told


def key_of(record: dict[str, Any]) -> str:
    """What a line is known by in all sessions that hold it."""
    return text(mapping(record.get("forkedFrom")).get("messageUuid")) or text(record.get("uuid"))


def _groups(lines: Sequence[Line]) -> dict[str, list[Line]]:
    """Lines by the agent that they belong to; "" is the main session."""
    groups: dict[str, list[Line]] = {}
    root: dict[str, str] = {}  # uuid -> the agent of a subagent's line
    for line in lines:
        key = ""
        if line.aside:
            key = text(line.record.get("agentId")) or root.get(line.parent) or line.uuid or "subagent"
            if line.uuid:
                root.setdefault(line.uuid, key)
        groups.setdefault(key, []).append(line)
    return groups


def _build(builder: Builder, lines: Sequence[Line], ids: dict[str, str], wanted: Container[str]) -> dict[str, int]:
    """Give the lines to the builder in the order of their tree; returns what was left out by kind."""
    tree, events = Tree(lines), builder.recorder.events
    spans: list[tuple[int, int, int]] = [(0, 0, 0)] * len(lines)  # from, from without its abandon, up to
    tips: list[int] = [-1] * len(lines)
    ignored: dict[str, int] = {}
    at = {line.uuid: place for place, line in reversed(list(enumerate(lines))) if line.uuid}
    room = MOST_REPEATED

    def held(chain: Sequence[int]) -> list[int]:
        """The places of the events of lines, and of the answers beside them, as long as there is room to repeat."""
        nonlocal room
        members = sorted({*chain, *(each for place in chain for each in tree.beside(place))})
        places = [place for member in members for place in range(*spans[member][1:])]
        room -= len(places)
        return places if room >= 0 else []

    for place in tree.order:
        line, parent = lines[place], tree.parent[place]
        tip = tips[parent] if parent >= 0 else -1
        start = len(events)
        if place in tree.rival:
            rival = tree.rival[place]
            losing = [(spans[member][member == rival], spans[member][2]) for member in tree.branch(rival)]
            lowest = min((first for first, stop in losing if first < stop), default=start)
            if lowest < builder.window:
                chain = tree.above(parent) if room >= 0 else []
                moved = builder.open("rewind", None, held(chain))
                for member in chain:
                    tips[member] = tip = moved.get(tips[member], tip if tip >= builder.window else -1)
            else:
                tip = builder.rewind(tip, losing, line)
        own = len(events)
        if line.role == "boundary":
            tips[place] = builder.compact(line, _kept(line, at, tree, held))
        else:
            tips[place] = builder.add(line, tip, not tree.lost[place])
            line.record = {}  # it is never looked at again, and holds what its events do not
        spans[place] = (start, own, len(events))
        if line.uuid in wanted and tips[place] >= 0:
            ids.setdefault(line.uuid, events[tips[place]]["id"])
        if own == len(events) and line.role != "boundary":
            kind = why_none(line) if line.role else line.kind
            ignored[kind] = ignored.get(kind, 0) + 1
    return ignored


def _kept(
    line: Line, at: dict[str, int], tree: Tree, held: Callable[[Sequence[int]], list[int]]
) -> tuple[str, list[int]]:
    """What a compaction kept as it was: the uuid of the line that it follows, and the places of its events."""
    facts = mapping(line.record.get("compactMetadata"))
    told, segment = mapping(facts.get("preservedMessages")), mapping(facts.get("preservedSegment"))
    listed = items(told.get("allUuids")) or items(told.get("uuids"))
    chain = [at[each] for each in listed if type(each) is str and each in at]
    anchor = text(told.get("anchorUuid")) or text(segment.get("anchorUuid"))
    head, tail = at.get(text(segment.get("headUuid")), -1), at.get(text(segment.get("tailUuid")), -1)
    if not chain and head >= 0 and tail >= 0:
        above = tree.above(tail)
        chain = above[above.index(head) :] if head in above else []
    return (anchor if anchor in at else line.uuid, held(chain)) if chain else ("", [])
