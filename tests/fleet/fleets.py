"""Small sessions, the sources that hold them, and what a table of results holds."""

from __future__ import annotations

import json
import zipfile
from collections import Counter
from contextlib import nullcontext
from pathlib import Path

from context_gc.fleet import Order, find, sweep_fleet

MODEL = "claude-sonnet-4-5"
ORDER = Order({"max_prompt_tokens": [1_000, 4_000], "min_gain": [300]}, model=MODEL)
CELLS = len(ORDER.cells(1))


def messages(number, turns=5):
    """A session in OpenAI's words, each a bit longer than the one before it."""
    found = [{"role": "user", "content": f"Read everything under src/{number} and tell what is there."}]
    for turn in range(turns + number % 3):
        call = {"name": "read_file", "arguments": json.dumps({"path": f"src/{number}/part_{turn}.py"})}
        asked = {"id": f"c{number}_{turn}", "type": "function", "function": call}
        found.append({"role": "assistant", "content": f"Now part {turn}.", "tool_calls": [asked]})
        text = f"VALUE_{turn} = {number}{turn:03}\n" + "x = compute(value, other)\n" * 40
        found.append({"role": "tool", "tool_call_id": f"c{number}_{turn}", "content": text})
    return [*found, {"role": "assistant", "content": f"VALUE_0 is {number}000."}]


def rows(count):
    return [{"instance_id": f"run-{number}", "messages": messages(number)} for number in range(count)]


def in_folder(path, count):
    path.mkdir()
    for row in rows(count):
        (path / f"{row['instance_id']}.json").write_text(json.dumps(row), "utf-8")
    return path


def in_zip(path, count):
    with zipfile.ZipFile(path, "w") as file:
        for row in rows(count):
            file.writestr(f"runs/{row['instance_id']}.json", json.dumps(row))
    return path


def in_lines(path, count):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows(count)), "utf-8")
    return path


def in_parquet(path, count):
    import pyarrow
    from pyarrow import parquet

    parquet.write_table(pyarrow.Table.from_pylist(rows(count)), path, row_group_size=4)
    return path


def swept(source, out, client, **more):
    """Sweep with workers that are there already; gives what the fleet came to."""
    return sweep_fleet(find(str(source)), more.pop("order", ORDER), str(out), lambda: nullcontext(client), **more)


def stored(out):
    """Every row of a table of results."""
    from pyarrow import parquet

    return [row for path in sorted(Path(out, "rows").glob("*.parquet")) for row in parquet.read_table(path).to_pylist()]


def held(out):
    """How often each trace stands in the table under each cell."""
    return Counter((row["unit"], row["trace"], row["cell"]) for row in stored(out))


def all_of(units):
    """What `held` gives when each of these files or rows is one trace, swept once."""
    return Counter((unit, 1, cell) for unit in units for cell in range(CELLS))
