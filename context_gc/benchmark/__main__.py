"""`python -m context_gc.benchmark`: `speed`, `read` and `rules` print tables, `report` writes a file."""

from __future__ import annotations

import argparse
import json

from ..errors import ContextGCError
from . import fleet, read, report, rules, speed
from .fixtures import FIXTURES


def main() -> None:
    """Run one benchmark and print what it found."""
    parser = argparse.ArgumentParser(prog="python -m context_gc.benchmark")
    commands = parser.add_subparsers(dest="command", required=True)
    table = commands.add_parser("speed", help="compaction against json.loads, and the agent's loop")
    table.add_argument("--quick", action="store_true", help="leave out the million")
    savings = commands.add_parser("rules", help="what each stage saves on recorded sessions")
    savings.add_argument("paths", nargs="*", metavar="PATH", help="a file or folder of traces")
    savings.add_argument("--list", metavar="FILE", help="a file that names one path a line, relative to itself")
    reading = commands.add_parser("read", help="reading a file against json.loads of its lines, and its peak memory")
    reading.add_argument("--size", type=int, default=100, metavar="MB", help="of each file (100)")
    whole = commands.add_parser("report", help="write benchmark_report.md: fixtures, recorded sessions, speed")
    whole.add_argument("paths", nargs="*", metavar="SESSION", help="a file of recorded runs of any known format")
    whole.add_argument("--out", metavar="FILE", default=str(report.PATH), help="where to (beside this module)")
    many = commands.add_parser("fleet", help="traces a second that one worker process sweeps, and two")
    many.add_argument("--traces", type=int, default=1_000, metavar="N", help="how many are made up (1,000)")
    one = commands.add_parser("one", help="one row, as JSON")
    one.add_argument("what", choices=["batch", "loop"])
    one.add_argument("fixture", choices=list(FIXTURES))
    one.add_argument("size", type=int)
    arguments = parser.parse_args()
    if arguments.command == "one":
        print(json.dumps(getattr(speed, arguments.what)(arguments.fixture, arguments.size)))
    elif arguments.command == "speed":
        print(speed.report(speed.SIZES[:-1] if arguments.quick else speed.SIZES))
    elif arguments.command == "report":
        report.write(arguments.out, arguments.paths)
    elif arguments.command == "fleet":
        print(fleet.report(arguments.traces))
    elif arguments.command == "read":
        print(read.report(arguments.size))
    else:
        try:
            paths = [*arguments.paths, *(rules.listed(arguments.list) if arguments.list else ())]
            if not paths:
                savings.error("no session is named (name a file or a folder of traces, or a list of them)")
            print(rules.report(rules.sessions(paths)))
        except ContextGCError as error:
            parser.exit(2, f"error: {error}\n")


if __name__ == "__main__":
    main()
