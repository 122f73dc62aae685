"""Fleet: a thousand made-up traces swept by one worker process and by two: traces a second, and how it scales."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from time import perf_counter, process_time

from ..events import Event
from ..fleet import Order, find, local, sweep_fleet
from .scenarios import SIZES, WRITERS, Script

MODEL = "claude-sonnet-4-5"
GRID = {"max_prompt_tokens": [5_000, 20_000, 60_000], "min_gain": [1_000, 5_000, 20_000], "stages": ["lossless"]}
SHARES = {"short": 6, "medium": 3, "long": 1}  #: how many of ten traces are of each length


def report(count: int, workers: Sequence[int] = (1, 2)) -> str:
    """The table as Markdown. Workers have started before the clock does; every run sweeps all traces anew."""
    order = Order(GRID, model=MODEL)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "traces.jsonl"
        events = 0
        with open(source, "w", encoding="utf-8", newline="\n") as file:
            for number, trace in enumerate(traces(count)):
                events += len(trace)
                file.write(json.dumps({"trace_id": f"made-{number}", "model": MODEL, "trace": trace}) + "\n")
        size = source.stat().st_size / 1e6
        rows = [
            f"{count:,} made-up traces of {events:,} events ({size:.1f} MB), {len(order.cells(1)):,} policies each",
            "",
            "| workers | seconds | traces/s | × the first | CPU s of the workers | traces swept | rows |",
            "|---:|---:|---:|---:|---:|---:|---:|",
        ]
        first = 0.0
        for number in workers:
            with local(number) as client:
                idle, start = sum(client.run(process_time).values()), perf_counter()
                found = sweep_fleet(find(str(source)), order, f"{folder}/{number}", partial(nullcontext, client))
                rate = count / (perf_counter() - start)
                busy = sum(client.run(process_time).values()) - idle
            first = first or rate
            rows.append(
                f"| {number} | {count / rate:.1f} | {rate:.1f} | {rate / first:.2f} | {busy:.1f}"
                f" | {found.traces:,} | {found.traces * len(found.rows):,} |"
            )
    return "\n".join(rows)


def traces(count: int) -> Iterator[list[Event]]:
    """Sessions of all kinds and lengths in turn, no two alike, the same ones every time."""
    domains, lengths = list(WRITERS), [size for size, share in SHARES.items() for _ in range(share)]
    for number in range(count):
        domain, size = domains[number % len(domains)], lengths[number // len(domains) % len(lengths)]
        script = Script(f"{domain} {size} {number}")
        WRITERS[domain](script, SIZES[size])
        yield script.events
