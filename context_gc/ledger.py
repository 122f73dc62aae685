"""Ledger: an engine's verdicts as decisions by event id, with the survivors that stand behind them."""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence

from .decision import Decision
from .engine import Engine
from .events import Event
from .eviction import EVICTION
from .stages import Stage, SweepStage
from .verdicts import Verdict, Verdicts

LONGER = "its stub would be longer than it"


class Ledger(Mapping[str, Decision]):
    """Decisions in trace order, read from verdicts when asked; it shows what they say at that moment."""

    def __init__(self, engine: Engine, verdicts: Mapping[int, Verdict]) -> None:
        self._engine = engine
        self.verdicts = verdicts
        self._stages: tuple[Stage, ...] = (*engine.stages, EVICTION)
        self._sweeps = {at for at, stage in enumerate(engine.stages) if isinstance(stage, SweepStage)}
        self._clusters: tuple[int, dict[int, str]] = (-1, {})
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
        reason, cluster = stage.reason(events[seq], survivor), self.clusters.get(seq)
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

    def evicted(self, places: range) -> Iterator[tuple[Event, Sequence[Event]]]:
        """The lead and the results of each unit in a stretch of the trace that made room although it is live."""
        events, stage = self._engine.graph.events, len(self._engine.stages)
        for seq in places:
            lead, *results = self.unit(seq)
            if lead == seq and self.verdicts[seq].stage == stage:
                yield events[seq], [events[place] for place in results]

    def _survivor(self, seq: int) -> int:
        """Follow witnesses that a group stage cut in their turn to the one that stands."""
        verdicts = self.verdicts
        stage, witness = verdicts[seq].stage, verdicts[seq].witness
        if stage in self._sweeps:
            return witness
        while (after := verdicts.get(witness)) is not None and after.stage == stage and after.witness != witness:
            witness = after.witness
        return witness

    @property
    def has_rings(self) -> bool:
        """Whether one receipt may stand for several events."""
        return bool(self._engine.view.rings)

    @property
    def clusters(self) -> Mapping[int, str]:
        """Place -> id of the receipt that stands for its ring: `cluster_` and 12 hex of sha256 over the members."""
        if not self.has_rings:
            return {}
        version = len(self.verdicts.log) if isinstance(self.verdicts, Verdicts) else 0
        if self._clusters[0] != version:
            self._clusters = version, self._name_clusters()
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
