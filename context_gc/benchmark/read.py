"""Read: `load_traces` against `json.loads` of the same lines in the same process, and what it holds at most.

Each file is read in a process of its own, so that its peak memory is its own. Times are the process's own too.
Blind spot: of formats that hold JSON as text within their records (OTLP), `json.loads` parses the outer text only.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from time import process_time

from ..load import load_traces
from ..render import line
from ..trace import Trace
from .recordings import LISTS, RECORDINGS, lines
from .speed import peak_mb

MB = 1_000_000


def report(size: int, names: Sequence[str] = tuple(RECORDINGS)) -> str:
    """The table as Markdown, for files of about `size` MB: seconds, ratios, and the peak above an idle process."""
    rows = [
        "| format | file MB | visible MB | events | json.loads s | load_traces s | × json.loads"
        " | peak MB | × file | × visible |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    return "\n".join([*rows, *_rows(size, names)])


def _rows(size: int, names: Sequence[str]) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            path = os.path.join(folder, "recording.jsonl")
            with open(path, "w", encoding="utf-8", newline="\n") as file:
                file.writelines(text + "\n" for text in lines(name, size * MB))
            command = [sys.executable, "-m", "context_gc.benchmark.read", name, path]
            row = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
            whole = os.path.getsize(path) / MB
            yield (
                f"| {name} | {whole:.1f} | {row['visible']:.1f} | {row['events']:,} | {row['loads']:.2f}"
                f" | {row['load']:.2f} | {row['load'] / row['loads']:.2f} | {row['peak']:.0f}"
                f" | {row['peak'] / whole:.2f} | {row['peak'] / row['visible']:.2f} |"
            )


def one(name: str, path: str) -> dict[str, float]:
    """Read a file and parse its lines, three times each; the peak is that of the first reading."""
    idle = peak_mb()
    traces, first = _loaded(path)
    peak = (peak_mb() - idle) * 2**20 / MB
    found = [event for trace in traces for event in trace.events if "repeats" not in event]
    visible = sum(len(line(event).encode("utf-8", "surrogatepass")) for event in found)
    events = len(found)
    del traces, found
    load = min(first, *(_loaded(path)[1] for _ in range(2)))
    with open(path, "rb") as file:
        texts = [file.read()] if name in LISTS else file.read().split(b"\n")[:-1]
    loads = min(_parsed(texts) for _ in range(3))
    return {"loads": loads, "load": load, "peak": peak, "visible": visible / MB, "events": events}


def _loaded(path: str) -> tuple[list[Trace], float]:
    start = process_time()
    traces = load_traces(path)
    return traces, process_time() - start


def _parsed(texts: Sequence[bytes]) -> float:
    """Seconds to parse and to hold the values, the collector paused as it is for a reader."""
    gc.disable()
    start = process_time()
    values = [json.loads(text) for text in texts]
    took = process_time() - start
    del values
    gc.enable()
    return took


if __name__ == "__main__":
    print(json.dumps(one(*sys.argv[1:3])))
