"""Overview: what the runs on a shelf amount to, as the tool context_report tells it."""

from __future__ import annotations

from contextlib import closing

from ..compactor import ContextGC
from ..errors import StoreError
from .pages import shortened
from .shelf import Run, Shelf

MOST_RUNS = 10  #: that are told of in detail


def report(shelf: Shelf) -> str:
    """The newest runs, each with its size, what was cut by which stage, and how its window stands."""
    runs = shelf.runs()
    if not runs:
        return f"{shelf.name}: there are no runs and no receipts yet"
    lines = [f"{len(runs):,} run{'' if len(runs) == 1 else 's'}, the newest first"]
    for run in runs[:MOST_RUNS]:
        lines += _told(shelf, run)
    if len(runs) > MOST_RUNS:
        names = ", ".join(shortened(run.name, 60) or "-" for run in runs[MOST_RUNS : MOST_RUNS + 40])
        lines.append(f"… and {len(runs) - MOST_RUNS:,} older: {names}")
    return "\n".join(lines)


def _told(shelf: Shelf, run: Run) -> list[str]:
    client = shelf.client(run)
    lines = [f"run {run.name or '-'}" + ("" if client is None else f": {_size(client)}")]
    store = shelf.store(run)
    if store is None:
        return [*lines, "  no receipts"]
    by_stage: dict[str, list[int]] = {}
    try:
        with closing(store):
            for receipt in store.receipts(run.run_id):
                both = by_stage.setdefault(receipt.stage, [0, 0])
                both[0] += 1
                both[1] += receipt.tokens
    except StoreError as error:
        return [*lines, f"  problem: {error}"]
    for stage, (count, tokens) in sorted(by_stage.items(), key=lambda pair: -pair[1][1]):
        lines.append(f"  {shortened(stage, 60)}: {count:,} receipt{'' if count == 1 else 's'}, {tokens:,} tokens")
    return lines if by_stage else [*lines, "  no receipts"]


def _size(client: ContextGC) -> str:
    result, budget = client.look(), client.budget
    told = f"{len(result.events):,} events, {result['tokens_before']:,} -> {result['tokens_after']:,} tokens"
    if budget is not None:
        told += f", {budget.usage:.1%} of {budget.max_tokens:,}, {len(budget.passes)} passes, level {budget.level}"
    return told
