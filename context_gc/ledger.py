"""Ledger: an engine's verdicts as decisions by event id, with the survivors that stand behind them."""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence

from .decision import Decision
from .engine import Engine
from .events import Event
from .eviction import EVICTION
from .stages import Stage, SweepStage
from .verdicts import Verdict, Verdicts

LONGER = "its stub would be longer than it"
NOTED = 400  #: events of one run that its stub is made from at most, the newest


class Ledger(Mapping[str, Decision]):
    """Decisions in trace order, read from verdicts when asked; it shows what they say at that moment."""

    def __init__(self, engine: Engine, verdicts: Mapping[int, Verdict]) -> None:
        self._engine = engine
        self.verdicts = verdicts
        self._stages: tuple[Stage, ...] = (*engine.stages, EVICTION)
        self._sweeps = {at for at, stage in enumerate(engine.stages) if isinstance(stage, SweepStage)}
        self._clusters: tuple[int, dict[int, str]] = (-1, {})
        self._ends: tuple[int, dict[int, int]] = (-1, {})  # where chains of witnesses end, at one version
        self._noted: dict[str, list[int]] = {EVICTION.name: [], "repeated-failures": []}
        self._read = 0  # changes that `_noted` knows of
        self.shown: set[int] = set()  #: places that stand in full all the same, filled by the prompt

    def __len__(self) -> int:
        return len(self.verdicts)

    def __iter__(self) -> Iterator[str]:
        events = self._engine.graph.events
        return (events[seq]["id"] for seq in sorted(self.verdicts))

    def __getitem__(self, event_id: str) -> Decision:
        seq = self._engine.graph.seq(event_id)
        if seq is None or seq not in self.verdicts:
            raise KeyError(event_id)
        return self.decision(seq)

    def decision(self, seq: int) -> Decision:
        """The decision about the event at a place that has a verdict."""
        events, verdict = self._engine.graph.events, self.verdicts[seq]
        stage = self._stages[verdict.stage]
        witness = self._survivor(seq)
        name, survivor = events[seq]["id"], events[witness]["id"]
        kept = LONGER if seq in self.shown else verdict.held
        because = () if witness == seq or stage.name == "cycles" else (survivor,)
        reason, cluster = stage.reason(events[seq], events[witness]), self.clusters.get(seq)
        return Decision(name, stage.name, reason, because, cluster, kept, verdict.clipped, verdict.seam)

    def abandons(self, places: range) -> Iterator[int]:
        """The places of the abandon events in a stretch of the trace."""
        known = self._engine.abandons
        for at in range(bisect_left(known, places.start), len(known)):
            if known[at] >= places.stop:
                return
            yield known[at]

    def unit(self, seq: int) -> Sequence[int]:
        """The places of the unit that an event belongs to."""
        units = self._engine.view.units
        return units.members(units.lead(seq))

    def is_abandoned(self, seq: int) -> bool:
        """Whether an event that has a verdict was found in an abandoned branch."""
        return self.verdicts[seq].stage in self._sweeps

    def noted(self, stage: str, places: range) -> Iterator[tuple[Event, Sequence[Event]]]:
        """The lead and the results of each unit in a stretch of the trace that this stage cut; for the stages
        whose stubs tell more than that something was cut."""
        events, known = self._engine.graph.events, self._noted_places().get(stage, [])
        start, stop = bisect_left(known, places.start), bisect_left(known, places.stop)
        for seq in known[max(start, stop - NOTED) : stop]:
            lead, *results = self.unit(seq)
            if lead == seq:
                yield events[lead], [events[place] for place in results]

    def _noted_places(self) -> Mapping[str, list[int]]:
        log: Iterable[tuple[int, Verdict | None]] = self.verdicts.items()
        if isinstance(self.verdicts, Verdicts):
            log, self._read = self.verdicts.log[self._read :], len(self.verdicts.log)
        elif self._read:
            return self._noted
        self._read = self._read or 1
        for seq, verdict in log:
            for stage, places in self._noted.items():
                at, found = bisect_left(places, seq), verdict is not None and self._stages[verdict.stage].name == stage
                if found != (at < len(places) and places[at] == seq):
                    places[at : at + (not found)] = [seq] if found else []
        return self._noted

    def _survivor(self, seq: int) -> int:
        """Follow witnesses that a group stage cut in their turn to the one that stands."""
        verdicts = self.verdicts
        stage, witness = verdicts[seq].stage, verdicts[seq].witness
        if stage in self._sweeps:
            return witness
        if self._version != self._ends[0]:
            self._ends = self._version, {}
        ends, passed = self._ends[1], [seq]
        while (after := verdicts.get(witness)) is not None and after.stage == stage and after.witness != witness:
            if witness in ends:
                witness = ends[witness]
                break
            passed.append(witness)
            witness = after.witness
        ends.update(dict.fromkeys(passed, witness))
        return witness

    @property
    def _version(self) -> int:
        return len(self.verdicts.log) if isinstance(self.verdicts, Verdicts) else 0

    @property
    def has_rings(self) -> bool:
        """Whether one receipt may stand for several events."""
        return bool(self._engine.view.rings)

    @property
    def clusters(self) -> Mapping[int, str]:
        """Place -> id of the receipt that stands for its ring: `cluster_` and 12 hex of sha256 over the members."""
        if not self.has_rings:
            return {}
        if self._clusters[0] != self._version:
            self._clusters = self._version, self._name_clusters()
        return self._clusters[1]

    def _name_clusters(self) -> dict[int, str]:
        engine, rings = self._engine, self._engine.view.rings
        members: dict[int, list[int]] = {}
        for seq in sorted(self.verdicts):
            verdict = self.verdicts[seq]
            if verdict.cut and self._stages[verdict.stage].name == "cycles":
                members.setdefault(rings[verdict.witness], []).append(seq)
        named: dict[int, str] = {}
        for ring in members.values():
            ids = sorted(engine.graph.events[seq]["id"] for seq in ring)
            code = hashlib.sha256("\n".join(ids).encode("utf-8", "surrogatepass")).hexdigest()
            named |= dict.fromkeys(ring, f"cluster_{code[:12]}")
        return named
