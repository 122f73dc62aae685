"""The commands about an agent's sessions: `mcp` serves their receipts, `hook` archives them, `report` tells of one."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .canonical import readable
from .cli_convert import source
from .errors import ContextGCError, TraceError
from .hook.archive import LARGEST_INPUT, archive, read_call
from .hook.settings import command, install, settings
from .load import load_traces
from .mcp_server.server import serve
from .policy import Policy
from .session import SESSION, Session
from .terminal import printable
from .terminal_report import NARROWEST, Line, report
from .trace import Trace

STORE = "~/.context-gc/claude-code"  #: where the hook archives sessions
SETTINGS = "~/.claude/settings.json"
PROJECTS = "~/.claude/projects"  #: where Claude Code has its logs


def add_commands(commands: Any) -> None:
    """Add `mcp`, `hook` and `report` to the command line."""
    text = "Serve the receipts in a directory to an agent, as tools over the Model Context Protocol."
    sub = commands.add_parser("mcp", help="Serve receipts to an agent (MCP).", description=text)
    told = "a run directory, a receipts file, or a directory of run directories; nothing outside of it is read"
    sub.add_argument("--store", required=True, metavar="DIR", help=told)
    sub.add_argument("--http", type=int, metavar="PORT", help="serve on this port of 127.0.0.1, not on stdio; 0: any")
    sub.set_defaults(run=_mcp)
    text = (
        "Print what Claude Code needs in its settings.json so that its sessions are archived; --install puts it there."
    )
    sub = commands.add_parser("hook", help="Archive sessions of Claude Code as it compacts.", description=text)
    sub.add_argument("--install", action="store_true", help="add it to the settings file; what is there stays")
    sub.add_argument("--settings", default=SETTINGS, metavar="FILE", help=f"the settings file ({SETTINGS})")
    told = f"where sessions are archived ({STORE})"
    sub.add_argument("--store", metavar="DIR", help=told)
    sub.set_defaults(run=_hook)
    does = sub.add_subparsers(dest="action", metavar="run")
    text = "Archive the session that Claude Code names on standard input. Ends with 0 whatever happens."
    sub = does.add_parser("run", help=text, description=text)
    sub.add_argument("--store", metavar="DIR", default=argparse.SUPPRESS, help=told)
    sub.set_defaults(run=_hook_run)
    text = "Tell on the terminal where the tokens of a session go, what of it is dead and why."
    sub = commands.add_parser("report", help="Tell where a session's tokens go.", description=text)
    told = "a trace of any known format, a run directory, or the id of a session of Claude Code; - reads standard input"
    sub.add_argument("session", metavar="SESSION", help=told)
    sub.add_argument("--trace", type=int, dest="number", default=1, metavar="N", help="which trace of the file (1)")
    sub.add_argument("--window", type=int, metavar="N", help="which context window, from 1 (default: the last)")
    sub.add_argument("--policy", metavar="FILE", help="a policy in TOML")
    sub.add_argument("--format", metavar="NAME", help="the format to read it as, whatever it looks like")
    sub.add_argument("--width", type=int, metavar="N", help="columns of the report (default: the terminal's)")
    sub.set_defaults(run=_report)


def _mcp(arguments: argparse.Namespace) -> int:
    serve(os.path.expanduser(arguments.store), arguments.http)
    return 0


# hook


def _hook(arguments: argparse.Namespace) -> int:
    line = command(arguments.store)
    if not arguments.install:
        print(readable(settings(line)))
        return 0
    file = Path(arguments.settings).expanduser()
    done = "the hooks are in" if install(file, line) else "the hooks are in already:"
    print(f"{done} {printable(str(file))}")
    return 0


def _hook_run(arguments: argparse.Namespace) -> int:
    """Claude Code takes 2 as a veto and what is printed as an instruction: nothing but a message on stderr."""
    try:
        call = read_call(sys.stdin.buffer.read(LARGEST_INPUT + 1))
        done = archive(call, os.path.expanduser(arguments.store or STORE))
        told = f"{done.receipts:,} new receipts in {done.directory}"
        told += f", {done.problems:,} problems in reading" if done.problems else ""
    except ContextGCError as error:
        told = str(error)
    except Exception as error:  # a fault of ours is no reason to stop an agent
        told = f"hook: the session was not archived: {type(error).__name__}: {error} (report it)"
    print(f"context-gc: {printable(told)}", file=sys.stderr)
    return 0


# report


def _report(arguments: argparse.Namespace) -> int:
    policy = Policy.load(arguments.policy) if arguments.policy else Policy()
    traces = _traces(arguments)
    number, name = arguments.number, arguments.session
    if not 1 <= number <= len(traces):
        raise TraceError(name, f"there is no trace {number}", f"1 to {len(traces)}")
    trace = traces[number - 1]
    if arguments.window is not None and not 1 <= arguments.window <= len(trace.windows):
        raise TraceError(name, f"there is no context window {arguments.window}", f"1 to {len(trace.windows)}")
    if arguments.width is not None and arguments.width < NARROWEST:
        raise TraceError("--width", f"{arguments.width} columns are too few", f"give {NARROWEST} or more")
    if len(traces) > 1:
        print(f"context-gc: trace {number} of {len(traces)} (choose with --trace N)", file=sys.stderr)
    width = arguments.width or shutil.get_terminal_size().columns
    _print(report(trace, policy, width, arguments.window), max(width, NARROWEST))
    return 0


def _traces(arguments: argparse.Namespace) -> list[Trace]:
    path = Path(arguments.session)
    if (path / SESSION).is_file():
        opened = Session.open(path)
        if not opened.runs:
            raise TraceError(arguments.session, "it holds no run that can be read", "; ".join(opened.problems[:3]))
        return list(opened.runs.values())
    if not os.path.lexists(path) and path.name == arguments.session and path.suffix == "":
        found = [each for each in Path(PROJECTS).expanduser().glob("*/*.jsonl") if each.stem == arguments.session]
        if found:
            return load_traces(found[0], format=arguments.format)
    return load_traces(*source(arguments.session), arguments.format)


def _print(lines: Iterable[Line], width: int) -> None:
    """With colours where rich is installed and they are wanted, else as plain text."""
    try:
        from rich.console import Console
        from rich.text import Text
    except ImportError:
        for line in lines:
            print("".join(text for text, _ in line).rstrip())
        return
    console = Console(width=width, soft_wrap=True)
    for line in lines:
        parts = [*line[:-1], *((text.rstrip(), style) for text, style in line[-1:])]
        console.print(Text.assemble(*parts), soft_wrap=True)
