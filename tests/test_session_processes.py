"""A session and its processes: two may save at once, and any may be killed at any moment."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

from context_gc.session import Session

ROOT = Path(__file__).parents[1]

WRITER = """
import sys
from context_gc.session import Session

home, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
session = Session.load(home)
print("open", flush=True)
for number in range(count):
    session.add_run(f"{name}-{number}")
    session.save(home)
    print(f"{name}-{number}", flush=True)
"""


def writer(home: Path, name: str, count: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, str(home), name, str(count)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True)


def test_writers_at_once_lose_no_run(tmp_path):
    Session.new("ann").save(tmp_path)
    writers = [writer(tmp_path, f"w{number}", 25) for number in range(4)]
    for process in writers:
        assert process.communicate()[0].count("\n") == 26
    runs = Session.load(tmp_path).run_ids
    for number in range(4):
        assert [name for name in runs if name.startswith(f"w{number}-")] == [f"w{number}-{each}" for each in range(25)]
    assert len(runs) == 100


def test_fifty_kills_leave_a_session_that_loads_and_has_every_run_that_was_reported(tmp_path):
    """Each process is killed after a random number of reports, mostly in the middle of the next save."""
    Session.new("ann").save(tmp_path)
    chance = random.Random(7)
    reported: set[str] = set()
    for kill in range(50):
        process = writer(tmp_path, f"k{kill}", 1_000_000)
        assert process.stdout is not None
        for _ in range(chance.choice((1, 2, 4, 8))):
            reported.add(process.stdout.readline().strip())
        process.kill()
        reported.update(process.stdout.read().split("\n")[:-1])  # the last line may be half a one
        process.stdout.close()
        assert process.wait() < 0
        loaded = Session.load(tmp_path)
        assert loaded.user == "ann"
        assert reported - {"open"} <= set(loaded.run_ids)
        assert set(Session.load(tmp_path / "session.json.previous").run_ids) <= set(loaded.run_ids)
    assert len(reported) > 50
