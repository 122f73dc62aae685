"""The command line: each command parses, calls the API and prints."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from . import cli_agents, cli_convert, cli_fleet, cli_replay, cli_runs
from .budget import Budget
from .canonical import readable
from .cli_convert import source
from .compaction import Compaction
from .compactor import compact_events
from .edits import edit_script
from .errors import ContextGCError, TraceError, UnknownReceipt
from .events import Event, is_label, label
from .explain import explain
from .load import load_traces
from .policy import Policy
from .receipts import expand_receipt, receipt_of
from .terminal import printable
from .trace import Trace

_BUDGET = ("max_tokens", "threshold_low", "threshold_high", "target")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; gives the exit code: 0 done, 1 `validate` found something, 2 bad usage or input."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    arguments = _parser().parse_args(argv)
    try:
        code: int = arguments.run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read the output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except ContextGCError as error:
        print(f"context-gc: {printable(str(error))}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return code


def _parser() -> argparse.ArgumentParser:
    about = "See what an agent's context is made of, cut what is dead, recover any of it."
    parser = argparse.ArgumentParser(prog="context-gc", description=about)
    parser.add_argument("--version", action="version", version=f"context-gc {_version()}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    reading = argparse.ArgumentParser(add_help=False)
    reading.add_argument("trace", metavar="TRACE", help="a trace file of any known format; - reads standard input")
    reading.add_argument("--trace", type=int, default=1, dest="number", metavar="N", help="which trace of the file (1)")
    reading.add_argument("--window", type=int, metavar="N", help="which context window, from 1 (default: the last)")
    reading.add_argument("--policy", metavar="FILE", help="a policy in TOML")
    reading.add_argument("--format", metavar="NAME", help="the format to read it as, whatever it looks like")

    def command(name: str, run: object, text: str) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, parents=[reading], help=text, description=text)
        sub.set_defaults(run=run)
        return sub

    sub = command("compact", _compact, "Print the compacted prompt.")
    sub.add_argument("--dry-run", action="store_true", help="print what would be pruned and what is protected")
    sub.add_argument("--json", action="store_true", help="print the whole result as JSON")
    sub.add_argument("--max-tokens", type=int, metavar="N", help="the context window: compact as far as it needs")
    sub.add_argument("--threshold-low", type=float, metavar="SHARE", help="what is dead goes from here on (0.75)")
    sub.add_argument("--threshold-high", type=float, metavar="SHARE", help="live events make room from here on (0.92)")
    sub.add_argument("--target", type=float, metavar="SHARE", help="down to here (0.4)")
    sub = command("explain", _explain, "Tell why an event is pruned, protected or kept.")
    sub.add_argument("id", metavar="ID")
    sub = command("restore", _restore, "Print the original of what was pruned, as JSON, one event a line.")
    sub.add_argument("id", metavar="ID", help="an event id or the id in a stub")
    command("diff", _diff, "Print what compaction changes in the prompt, as a unified diff by events.")
    cli_convert.add_commands(commands)
    sub = commands.add_parser("inspect", help="Open the inspector in the browser.")
    sub.add_argument("trace", metavar="TRACE|FOLDER", nargs="?", help="a trace, or a folder of traces")
    sub.add_argument("--port", type=int, default=8501, help="the port on this machine (8501)")
    sub.add_argument("--headless", action="store_true", help="do not open a browser")
    sub.add_argument("--follow", action="store_true", help="keep up with a trace that is still being written")
    sub.add_argument("--format", metavar="NAME", help="the format to read it as, whatever it looks like")
    sub.set_defaults(run=_inspect)
    cli_replay.add_commands(commands)
    cli_fleet.add_commands(commands)
    cli_runs.add_commands(commands)
    cli_agents.add_commands(commands)
    return parser


def _version() -> str:
    try:
        return version("context-gc")
    except PackageNotFoundError:
        return "(not installed)"


# commands


def _compact(arguments: argparse.Namespace) -> int:
    result = _compacted(arguments)
    if arguments.json:
        print(readable({key: result[key] for key in result if key != "graph"}))
    elif arguments.dry_run:
        for line in _dry_run(result):
            print(line)
    else:
        print(result["prompt"])
    return 0


def _dry_run(result: Compaction) -> Iterator[str]:
    graph = result["graph"]
    cut = set(result["pruned_ids"])
    for event in result.events:
        name = event["id"]
        if name in cut:
            decision = graph.decisions[name]
            intact = receipt_of(graph, name).verify([event])
            told = f"Prompt impact: {result.impact(name):+,} tokens | Recoverable: {'yes' if intact else 'no'}"
            yield f"PRUNE {_one_line(name)} | Reason: {_one_line(decision.reason)} | {told}"
        elif (reason := result.protected(name)) is not None:
            mark = f" | Prompt impact: {impact:+,} tokens (a mark)" if (impact := result.impact(name)) else ""
            yield f"PROTECT {_one_line(name)} | Reason: {_one_line(reason)}{mark}"
    before, after = result["tokens_before"], result["tokens_after"]
    if (budget := result["budget"]) is not None:
        yield from _budget(budget)
    yield f"TOTAL {len(cut):,} of {len(result.events):,} events | {before:,} -> {after:,} tokens ({after - before:+,})"


def _budget(told: dict[str, Any]) -> Iterator[str]:
    for each in told["passes"]:
        gain, evicted = each["gain"], each["evicted"]
        yield f"PASS {each['number']} | {each['moment']} | frees {gain:,} tokens | {evicted:,} live events made room"
    yield f"WINDOW {told['tokens']:,} of {told['max_tokens']:,} tokens ({told['usage']:.1%}) | level {told['level']}"
    for held in (told["unreachable"] or {}).get("holds", ()):
        yield f"HOLDS {held[1]:,} tokens | {held[0]}"


def _explain(arguments: argparse.Namespace) -> int:
    result = _holding(arguments, arguments.id)
    names = [event["id"] for event in result.events if arguments.id in (event["id"], label(event["id"]))]
    if not names:
        members = receipt_of(result["graph"], arguments.id).event_ids
        told = f"this receipt stands for {len(members)} events"
        raise UnknownReceipt(arguments.id, told, "explain one of them: " + ", ".join(map(label, members[:5])))
    print(explain(result, names[0]))
    return 0


def _restore(arguments: argparse.Namespace) -> int:
    for event in expand_receipt(_holding(arguments, arguments.id)["graph"], arguments.id):
        print(readable(event))
    return 0


def _diff(arguments: argparse.Namespace) -> int:
    result = _compacted(arguments)
    for edit in edit_script(result, context=2):
        for line in edit.text.split("\n"):
            print(edit.sign + line)
    return 0


def _inspect(arguments: argparse.Namespace) -> int:
    from .inspector.launch import launch

    return launch(arguments.trace, arguments.port, arguments.headless, arguments.follow, arguments.format)


# reading


def _policy(arguments: argparse.Namespace) -> Policy:
    policy = Policy.load(arguments.policy) if arguments.policy else Policy()
    asked = {name: value for name in _BUDGET if (value := getattr(arguments, name, None)) is not None}
    if not asked:
        return policy
    if policy.budget is not None:
        return replace(policy, budget=replace(policy.budget, **asked))
    return replace(policy, budget=Budget.from_mapping(asked))


def _chosen(arguments: argparse.Namespace) -> Trace:
    traces = load_traces(*source(arguments.trace), arguments.format)
    if not 1 <= arguments.number <= len(traces):
        raise TraceError(arguments.trace, f"there is no trace {arguments.number}", f"1 to {len(traces)}")
    if len(traces) > 1:
        print(f"context-gc: trace {arguments.number} of {len(traces)} (choose with --trace N)", file=sys.stderr)
    chosen: Trace = traces[arguments.number - 1]
    return chosen


def _windows(arguments: argparse.Namespace, trace: Trace) -> list[list[Event]]:
    windows = [trace.events[window.start : window.stop] for window in trace.windows]
    if arguments.window is None:
        return windows
    if not 1 <= arguments.window <= len(windows):
        raise TraceError(arguments.trace, f"there is no context window {arguments.window}", f"1 to {len(windows)}")
    return [windows[arguments.window - 1]]


def _compacted(arguments: argparse.Namespace) -> Compaction:
    windows = _windows(arguments, _chosen(arguments))
    if len(windows) > 1:
        print(f"context-gc: context window {len(windows)} of {len(windows)} (choose with --window N)", file=sys.stderr)
    return compact_events(windows[-1], _policy(arguments))


def _holding(arguments: argparse.Namespace, name: str) -> Compaction:
    """The compaction of the last window that has an event or a receipt of this id."""
    policy = _policy(arguments)
    for events in reversed(_windows(arguments, _chosen(arguments))):
        result = compact_events(events, policy)
        known = {*result["graph"], *result["receipts"]}
        if name in known or (is_label(name) and name in map(label, known)):
            return result
    raise UnknownReceipt(arguments.trace, f"no event or receipt {name!r}", "`context-gc compact --dry-run` lists them")


def _one_line(text: str) -> str:
    return " ".join(text.split())


if __name__ == "__main__":
    sys.exit(main())
