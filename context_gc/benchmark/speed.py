"""Speed: compaction against `json.loads` of the same events in the same process, and the agent's loop.

Each row is measured in a process of its own, so that its peak memory is its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from time import perf_counter

from ..compactor import ContextGC, compact_events
from .fixtures import FIXTURES

SIZES = (1_000, 10_000, 100_000, 1_000_000)
LOOPS = (1_000, 2_000, 4_000, 8_000)


def report(sizes: Sequence[int] = SIZES, loops: Sequence[int] = LOOPS) -> str:
    """The tables as Markdown: seconds, ratios, peak memory in MB (input events included)."""
    rows = [
        "| fixture | events | pruned | json.loads s | compact + prompt s | × json.loads | + tokens s | peak MB |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for name in FIXTURES:
        for size in sizes:
            row = _in_process("batch", name, size)
            rows.append(
                f"| {name} | {size:,} | {row['pruned']:,.0f} | {row['loads']:.3f} | {row['compact']:.3f}"
                f" | {row['compact'] / row['loads']:.2f} | {row['tokens']:.2f} | {row['peak']:.0f} |"
            )
    rows += [
        "",
        "| loop: add_event + compact + prompt + tokens | s | × half as many | ms an event |",
        "|---:|---:|---:|---:|",
    ]
    before = 0.0
    for size in loops:
        seconds = _in_process("loop", "mixed", size)["seconds"]
        ratio = f"{seconds / before:.2f}" if before else ""
        rows.append(f"| {size:,} | {seconds:.3f} | {ratio} | {seconds / size * 1000:.3f} |")
        before = seconds
    return "\n".join(rows)


def batch(name: str, size: int) -> dict[str, float]:
    """One compaction of a fixture, from parsed events to the prompt text."""
    text = json.dumps(list(FIXTURES[name](size)))
    start = perf_counter()
    events = json.loads(text)
    loads = perf_counter() - start
    del text
    start = perf_counter()
    result = compact_events(events)
    result["prompt"]
    compact = perf_counter() - start
    peak = _peak_mb()
    start = perf_counter()
    result["tokens_before"], result["tokens_after"]
    tokens = perf_counter() - start
    return {"loads": loads, "compact": compact, "tokens": tokens, "pruned": len(result["pruned_ids"]), "peak": peak}


def loop(name: str, size: int) -> dict[str, float]:
    """An agent that compacts after every event and reads the prompt and its token counts."""
    events = list(FIXTURES[name](size))
    client = ContextGC()
    start = perf_counter()
    for event in events:
        client.add_event(event)
        result = client.compact()
        result["prompt"], result["tokens_before"], result["tokens_after"]
    return {"seconds": perf_counter() - start}


def _in_process(what: str, name: str, size: int) -> dict[str, float]:
    command = [sys.executable, "-m", "context_gc.benchmark", "one", what, name, str(size)]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    row: dict[str, float] = json.loads(told)
    return row


def _peak_mb() -> float:
    try:
        import resource
    except ImportError:  # not on Windows
        return float("nan")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)
