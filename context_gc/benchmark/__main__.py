"""`python -m context_gc.benchmark speed [--quick]` prints the tables."""

from __future__ import annotations

import argparse
import json

from . import speed
from .fixtures import FIXTURES


def main() -> None:
    """Run one benchmark and print what it found."""
    parser = argparse.ArgumentParser(prog="python -m context_gc.benchmark")
    commands = parser.add_subparsers(dest="command", required=True)
    table = commands.add_parser("speed", help="compaction against json.loads, and the agent's loop")
    table.add_argument("--quick", action="store_true", help="leave out the million")
    one = commands.add_parser("one", help="one row, as JSON")
    one.add_argument("what", choices=["batch", "loop"])
    one.add_argument("fixture", choices=list(FIXTURES))
    one.add_argument("size", type=int)
    arguments = parser.parse_args()
    if arguments.command == "one":
        print(json.dumps(getattr(speed, arguments.what)(arguments.fixture, arguments.size)))
    else:
        print(speed.report(speed.SIZES[:-1] if arguments.quick else speed.SIZES))


if __name__ == "__main__":
    main()
