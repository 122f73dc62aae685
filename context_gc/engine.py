"""The engine: runs the stages over what changed and keeps one verdict an event.

Findings are what the stages say; a verdict is what follows from them for a whole unit once protection
is asked. Batch and incremental are the same code: `advance` takes in what is new in the graph, judges
the groups that changed and settles the units that were touched. Everything is by place in the trace.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .events import label
from .findings import Findings
from .graph import StateGraph
from .groups import Groups
from .guard import Guard, Moment
from .policy import Policy
from .stages import STAGES, ClipStage, GroupStage, SweepStage, View
from .tokens import COUNTERS, Counter
from .verdicts import Verdict, Verdicts

PART_KEPT = "part of its branch is kept"
NEEDED = "another event was pruned because this one is here"


class Engine:
    """The state of one compaction over a graph that only grows."""

    def __init__(self, graph: StateGraph, policy: Policy, counter: Counter | None = None) -> None:
        self.graph = graph
        self.policy = policy
        self.counter = counter or COUNTERS[policy.counter]
        self.view = View(graph, policy, self.counter)
        self.stages = [stage for stage in STAGES if stage.name in policy.stages]
        self.taken = 0  #: events taken in so far
        self.verdicts = Verdicts()
        self.abandons: list[int] = []  #: places of all abandon events, in order
        self.guard = Guard(graph.events, policy)
        self._found = [Findings() for _ in self.stages]
        self._groups = [Groups() for _ in self.stages]
        self._touched: set[int] = set()
        self._named: dict[str, list[int]] = {}  # ids that an abandon names and that have not come yet
        self._swept_by: dict[int, list[int]] = {}
        self._kept_in: dict[int, int] = {}  # abandon -> how many events of its branch are kept
        self._sweep: tuple[int, SweepStage] | None = None
        self._keys: dict[str, list[tuple[int, GroupStage]]] = {}
        self._judges: list[tuple[int, GroupStage]] = []
        self._clip: tuple[int, ClipStage] | None = None
        for at, stage in enumerate(self.stages):
            if isinstance(stage, SweepStage):
                self._sweep = at, stage
                continue
            if isinstance(stage, ClipStage):
                self._clip = at, stage
                continue
            kinds = stage.types(self.view)
            for kind in kinds:
                self._keys.setdefault(kind, []).append((at, stage))
            if kinds:
                self._judges.append((at, stage))
        # the groups that a finding of each stage may take members from
        self._later = [
            [self._groups[later] for later, _ in self._judges if later > at] for at in range(len(self.stages))
        ]

    def advance(self) -> None:
        """Take in the events that were added to the graph, and bring every verdict up to date."""
        self._take_new()
        for at, stage in self._judges:
            self._judge(at, stage)
        self._settle_touched()

    def end(self, scope: str) -> None:
        """End `task_end` or `session_end` for all events so far; what it retained is judged like the rest."""
        self.guard.ended[scope] = len(self.graph)
        for found in self._found:
            self._touched.update(found.units)

    def pin(self, seq: int) -> None:
        """Keep an event, and its unit, from now on."""
        self.guard.pinned.add(seq)
        self._touched.add(seq)

    def unpin(self, seq: int) -> None:
        """Judge an event, and its unit, like all others again."""
        self.guard.pinned.discard(seq)
        self._touched.add(seq)

    def protected(self, seq: int, then: Moment | None = None) -> str | None:
        """What protects an event, or one that it is a unit with; as of now or of a moment in the past."""
        members = self.view.units.members(self.view.units.lead(seq))
        if then is not None:
            members = [place for place in members if place < then.size]
        reasons = {place: reason for place in members if (reason := self.guard.reason(place, then)) is not None}
        return self._shared(seq, reasons) if reasons else None

    # taking in

    def _take_new(self) -> None:
        view, units, keys = self.view, self.view.units, self._keys
        watched = {*keys, "tool_call", "tool_result", "abandon"}
        for seq, event in enumerate(self.graph.events[self.taken :], self.taken):
            kind = event["type"]
            if kind in watched:
                if kind == "tool_call":
                    for result in units.add_call(seq, event):
                        self._joined(seq, result)
                elif kind == "tool_result":
                    call = units.add_result(seq, event)
                    if call is not None:
                        self._joined(call, seq)
                elif kind == "abandon":
                    self.abandons.append(seq)
                    if self._sweep is not None:
                        self._sweep_from(seq, *self._sweep)
                for at, stage in keys.get(kind, ()):
                    key = stage.key(event, seq, view)
                    if key is not None:
                        self._groups[at].gain(seq, key)
            if self._clip is not None and self._clip[1].finds(event, seq, view):
                self._find(self._clip[0], seq, seq)
            if self._named and self._sweep is not None:
                for abandon in self._named.pop(event["id"], ()):
                    self._swept(seq, abandon, self._sweep[0])
        self._touched.update(self.guard.advance())
        self.taken = len(self.graph)

    def _joined(self, call: int, result: int) -> None:
        """Two halves of a unit met: what is known of one holds for both, and its group looks again."""
        found_before = any(call in found.units for found in self._found)
        if not found_before and not any(result in found.units for found in self._found):
            for at, _ in self._keys.get("tool_call", ()):
                self._groups[at].touch(call)
            return
        self._touched.add(call)
        for found in self._found:
            found.join(result, call)
        for seq in (call, result) if found_before else self.view.units.members(call):
            for groups in self._groups:
                groups.touch(seq, lost=True)

    def _sweep_from(self, seq: int, at: int, stage: SweepStage) -> None:
        for place in dict.fromkeys(stage.sweep(seq, self.view)):
            if place != seq:
                self._swept(place, seq, at)
        for name in dict.fromkeys(self.graph.events[seq]["ref_to"]):
            if name not in self.graph:
                self._named.setdefault(name, []).append(seq)

    def _swept(self, seq: int, abandon: int, at: int) -> None:
        self._swept_by.setdefault(seq, []).append(abandon)
        if _counts(self.verdicts.get(seq)):
            self._kept_in[abandon] = self._kept_in.get(abandon, 0) + 1
        found = self._found[at].witness
        if seq not in found or (found[seq] != seq and abandon < found[seq]):  # the first to abandon it counts
            self._find(at, seq, abandon)
        if found.get(abandon) != abandon:  # an abandon goes with its own branch, whoever else names it
            self._find(at, abandon, abandon)

    # judging

    def _judge(self, at: int, stage: GroupStage) -> None:
        found, view = self._found[at].witness, self.view
        earlier = [past.units for past in self._found[:at] if past.units]
        lead = view.units.lead

        def settled(group: Sequence[int]) -> Sequence[int]:
            left = group
            for units in earlier:
                left = [seq for seq in left if lead(seq) not in units]
            return left

        for group, now in self._groups[at].rejudge(lambda alive, fresh: stage.judge(alive, fresh, view), settled):
            for seq in group:
                if seq in found and seq not in now:
                    self._drop(at, seq)
            for seq, witness in now.items():
                if found.get(seq) != witness:
                    self._find(at, seq, witness)

    def _find(self, at: int, seq: int, witness: int) -> None:
        if seq in self._found[at].witness:
            self._drop(at, seq)
        lead = self.view.units.lead(seq)
        self._found[at].add(seq, witness, lead)
        self._changed(at, lead, witness)

    def _drop(self, at: int, seq: int) -> None:
        lead = self.view.units.lead(seq)
        self._changed(at, lead, self._found[at].remove(seq, lead))

    def _changed(self, at: int, lead: int, witness: int) -> None:
        """A finding in a unit came or went: settle it; later groups win or lose its members."""
        self._touched.add(lead)
        for later in self._later[at]:
            for place in self.view.units.members(lead):
                later.touch(place, lost=True)
        held = self.view.units.lead(witness)
        if any(held in past.units for past in self._found[at + 1 :]):
            self._touched.add(held)

    # settling

    def _settle_touched(self) -> None:
        touched, self._touched = self._touched, set()
        for lead in sorted({self.view.units.lead(seq) for seq in touched}):
            self._settle(lead)
        for abandon in sorted(self._touched):  # those whose branch gained or lost an event that is kept
            self._settle(abandon)
        self._touched = set()

    def _settle(self, lead: int) -> None:
        members = self.view.units.members(lead)
        for at, findings in enumerate(self._found):  # noqa: B007 - read after the loop
            if lead in findings.units:
                break
        else:
            for seq in members:
                self._record(seq, None)
            return
        found, kept = findings.witness, self._keeps(members, at)
        if self._clip is not None and at == self._clip[0]:
            for seq in members:
                self._record(seq, Verdict(at, seq, kept.get(seq), clipped=True) if seq in found else None)
            return
        witness = found[lead] if lead in found else next(found[seq] for seq in members if seq in found)
        for seq in members:
            self._record(seq, Verdict(at, found.get(seq, witness), kept.get(seq)))

    def _keeps(self, members: Sequence[int], at: int) -> dict[int, str]:
        """What keeps each member of a unit; for all of them or for none."""
        for seq in members:
            if self.guard.reason(seq) is not None:
                return {place: reason for place in members if (reason := self.protected(place)) is not None}
        if self._kept_in.get(members[0]) and members[0] in self._found[at]:
            return {members[0]: PART_KEPT}
        for past in self._found[:at]:
            if past.needed and any(past.needed.get(seq) for seq in members):
                return dict.fromkeys(members, NEEDED)
        return {}

    def _shared(self, seq: int, reasons: Mapping[int, str]) -> str:
        if seq in reasons:
            return reasons[seq]
        guarded = next(iter(reasons))
        return f"{reasons[guarded]} of {label(self.graph.events[guarded]['id'])}"

    def _record(self, seq: int, verdict: Verdict | None) -> None:
        before = self.verdicts.get(seq)
        if before == verdict:
            return
        self.verdicts.record(seq, verdict)
        for abandon in self._swept_by.get(seq, ()) if self._swept_by else ():
            change = _counts(verdict) - _counts(before)
            if change:
                self._kept_in[abandon] = self._kept_in.get(abandon, 0) + change
                self._touched.add(abandon)


def _counts(verdict: Verdict | None) -> int:
    return int(verdict is not None and verdict.stage == 0 and verdict.kept not in (None, PART_KEPT))
