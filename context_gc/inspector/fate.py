"""Fate: which pass decided about an event, and why it is out of the prompt, as the inspector tells it."""

from __future__ import annotations

from collections.abc import Mapping

from ..compaction import Compaction
from ..decision import Decision
from ..eviction import EVICTION


def passes_of(result: Compaction) -> Mapping[str, int]:
    """Event id -> number of the pass that cut or clipped it last; empty without a budget."""
    state = result["budget"]
    each = [] if state is None else state["passes"]
    return {name: told["number"] for told in each for name in (*told["pruned_ids"], *told["clipped_ids"])}


def reason_of(decision: Decision, passed: int) -> str:
    """The decision's reason. What made room is told with its pass: "evicted to make room in pass 3"."""
    if decision.stage != EVICTION.name:
        return decision.reason
    did = "clipped to make room" if decision.clipped else decision.reason
    return f"{did} in pass {passed}" if passed else did
