"""View: what a stage may look at. Read only."""

from __future__ import annotations

from collections.abc import Sequence

from ..events import Event
from ..facts import Facts
from ..graph import StateGraph
from ..mutations import Mutations
from ..policy import Policy
from ..tokens import Counter
from ..units import Units
from ..walks import cycles


class View:
    """The trace as a stage sees it: events by place, units, what was changed where, and the policy."""

    def __init__(self, graph: StateGraph, policy: Policy, counter: Counter) -> None:
        self.graph = graph
        self.policy = policy
        self.counter = counter
        self.events: Sequence[Event] = graph.events
        self.units = Units()
        self.facts = Facts(graph.events, self.units)
        self.mutations = Mutations(graph.events, policy)
        #: place -> number of the ring it is part of; events that are appended never close one
        self.rings = {seq: ring for ring, members in enumerate(cycles(graph)) for seq in members}
