"""Run directories for tests, made as a user makes them: a client that is saved, a bus that is recorded."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from notation import trace

from context_gc import Budget, ContextBus, ContextCompactor, ContextGC, Policy, ReceiptStore, RunLog

TIGHT = Policy(budget=Budget(200, recent_observations=1))
MEMORY = {"goal": "ship it", "branch": "main"}


def save_plain(directory: Path, run_id: str = "plain", user_text: str = "") -> ContextGC:
    """A run without a budget, in which one event was superseded."""
    bus = ContextBus()
    with RunLog(bus, directory / "runs" / run_id):
        client = ContextGC(bus=bus, run_id=run_id)
        client.extend(trace("v1 x = the old value\nv2 x = 2"))
        if user_text:
            odd: Any = {"id": user_text, "type": "set_var", "timestamp": 9, "key": user_text, "value": user_text}
            client.extend([odd, {**odd, "id": "newer", "timestamp": 10}])
        client.compact()
        client.save(directory)
    return client


def save_tight(directory: Path, run_id: str = "tight", policy: Policy = TIGHT) -> ContextGC:
    """A run under a budget of 200 tokens that makes passes and ends its task."""
    client = ContextGC(policy, run_id=run_id)
    for number in range(20):
        client.extend(trace(f"c{number} call ask\nr{number} result c{number} {'answer ' * 20}"))
        client.compact()
    client.end_task()
    client.save(directory)
    return client


def save_contexts(
    directory: Path,
    run_id: str = "contexts",
    count: int = 2,
    observations: int = 6,
    more: Mapping[str, Any] | None = None,
) -> None:
    """A run whose context dict was compacted `count` times, with its receipts in the run directory's store."""
    bus = ContextBus()
    context: dict[str, Any] = {"run_id": run_id, "plan_contract": ["read", "edit"], "observations": [], **(more or {})}
    with RunLog(bus, directory / "runs" / run_id), ReceiptStore(directory / "receipts.db") as store:
        client = ContextGC(bus=bus, run_id=run_id)
        client.extend(trace("d1 decision plan"))
        compactor = ContextCompactor(memory_keys=dict(MEMORY), store=store, bus=bus)
        for place in range(count):
            told = [f"observation {place}.{number}: it went well {'again ' * 60}" for number in range(observations)]
            context["observations"] = [*context["observations"], *told]
            context = compactor.compact(context).context
        client.save(directory)
