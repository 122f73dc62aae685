"""Speed: compaction against `json.loads` of the same events in the same process, and the agent's loop.

Each row is measured in a process of its own, so that its peak memory is its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from time import perf_counter

from ..compactor import ContextGC, compact_events
from ..events import Event
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
    return "\n".join([*rows, "", _LOOP_TITLE, "", *_loop_rows(loops)])


_LOOP_TITLE = (
    "The agent's loop on the mixed fixture: add_event and compact after every event; then the same and reading"
    " the prompt and both token counts each time (a reading copies the text)."
)


def _loop_rows(sizes: Sequence[int]) -> Iterator[str]:
    yield "| events | compact s | × half as many | and read s | × half as many |"
    yield "|---:|---:|---:|---:|---:|"
    before = {"compact": 0.0, "read": 0.0}
    for size in sizes:
        row = _in_process("loop", "mixed", size)
        told = [
            f"{row[what]:.3f} | {row[what] / before[what]:.2f}" if before[what] else f"{row[what]:.3f} |"
            for what in before
        ]
        yield f"| {size:,} | {' | '.join(told)} |"
        before = row


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
    peak = peak_mb()
    start = perf_counter()
    result["tokens_before"], result["tokens_after"]
    tokens = perf_counter() - start
    return {"loads": loads, "compact": compact, "tokens": tokens, "pruned": len(result["pruned_ids"]), "peak": peak}


def loop(name: str, size: int) -> dict[str, float]:
    """An agent that compacts after every event; and one that also reads the prompt and its token counts."""
    events = list(FIXTURES[name](size))
    return {"compact": _loop(events, ()), "read": _loop(events, ("prompt", "tokens_before", "tokens_after"))}


def _loop(events: Sequence[Event], keys: Sequence[str]) -> float:
    client = ContextGC()
    start = perf_counter()
    for event in events:
        client.add_event(event)
        result = client.compact()
        for key in keys:
            result[key]
    return perf_counter() - start


def _in_process(what: str, name: str, size: int) -> dict[str, float]:
    command = [sys.executable, "-m", "context_gc.benchmark", "one", what, name, str(size)]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    row: dict[str, float] = json.loads(told)
    return row


def peak_mb() -> float:
    """The most memory that this process ever held, in MB."""
    with suppress(OSError), open("/proc/self/status", encoding="ascii", errors="replace") as file:
        for line in file:
            if line.startswith("VmHWM:"):  # resource begins with the peak of the parent
                return int(line.split()[1]) / 2**10
    try:
        import resource
    except ImportError:  # not on Windows
        return float("nan")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)
