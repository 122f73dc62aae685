"""The commands about whole files: `validate` tells what could be read of one, `convert` writes it in another format."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .atomic import write_atomically
from .canonical import readable
from .errors import TraceError
from .exporters import EXPORTERS, Exporter
from .exporters.atif import families
from .exporters.written import told
from .load import load_traces
from .policy import Policy
from .reading import report, summary
from .terminal import printable, printable_json

STDIN = STDOUT = "-"


def add_commands(commands: Any) -> None:
    """Add `validate` and `convert` to the command line."""
    text = (
        "Tell what was read of a trace, what was not and why, and what is odd; ends with 1 when something was not read."
    )
    sub = commands.add_parser("validate", help="Tell what can be read of a trace, and what cannot.", description=text)
    sub.add_argument("trace", metavar="TRACE", help="a file, folder or archive of traces; - reads standard input")
    sub.add_argument("--format", metavar="NAME", help="the format to read it as, whatever it looks like")
    sub.add_argument("--json", action="store_true", help="print one JSON object")
    sub.set_defaults(run=_validate)
    text = "Write a trace in another format. What that format cannot hold is told on stderr."
    sub = commands.add_parser("convert", help=text, description=text)
    sub.add_argument("trace", metavar="IN", help="a file, folder or archive of traces; - reads standard input")
    told = "a file, a folder, or a name with {n} in it for several files; - writes to standard output"
    sub.add_argument("out", metavar="OUT", help=told)
    names = [each.name for each in EXPORTERS]
    sub.add_argument("--to", choices=names, metavar="FORMAT", help=f"{', '.join(names)} (native for a .jsonl file)")
    sub.add_argument("--trace", type=int, dest="number", metavar="N", help="which trace of the file (default: all)")
    sub.add_argument("--format", metavar="NAME", help="the format to read it as, whatever it looks like")
    sub.add_argument("--compact", action="store_true", help="write what compaction leaves of it, as messages")
    sub.add_argument("--policy", metavar="FILE", help="a policy in TOML, to compact by")
    sub.add_argument("--force", action="store_true", help="replace files that are there")
    sub.set_defaults(run=_convert)


def source(name: str) -> tuple[str | bytes, str | None]:
    """What to load for a name on the command line, and what to call it."""
    return (sys.stdin.buffer.read(), "standard input") if name == STDIN else (name, None)


def _validate(arguments: argparse.Namespace) -> int:
    traces = load_traces(*source(arguments.trace), format=arguments.format)
    whole = summary(traces)
    if arguments.json:
        print(readable({"traces": [report(trace) for trace in traces], **whole}, ascii_only=True))
        return 1 if whole["problems"] else 0
    for number, trace in enumerate(traces, 1):
        for line in _lines(number, report(trace)):
            print(line)
    if len(traces) > 1:
        print(f"all traces: {_account(whole['records_read'], whole['ignored'], whole['records_reported'])}")
    odd = whole["problems"]
    print(_some(odd, "problem") if odd else "no problems")
    return 1 if odd else 0


def _account(read: int, ignored: dict[str, int], reported: int) -> str:
    """What became of the records, in words."""
    aside = sum(ignored.values())
    told = [f"{read:,} read"]
    if aside:
        kinds = ", ".join(f"{count:,} {printable(kind)}" for kind, count in ignored.items())
        told.append(f"{aside:,} left out on purpose ({kinds})")
    told += [f"{reported:,} reported"] if reported else []
    return f"{_some(read + aside + reported, 'record')}: {', '.join(told)}"


def _lines(number: int, told: dict[str, Any]) -> Sequence[str]:
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in told["types"].items())
    title = f" {printable(told['title'])!r}" if told["title"] else ""
    lines = [f"trace {number}: {told['format']}, {told['events']:,} events ({kinds or 'none'}){title}"]
    calls = _some(told["tool_calls"], "tool call")
    more = [f"{told['answered']:,} answered"] + [
        f"{told[key]:,} {name}" for key, name in (("open_calls", "without a result"),) if told[key]
    ]
    counts = [_some(len(told["windows"]), "context window"), _some(told["model_calls"], "model call")]
    counts.append(f"{calls} ({', '.join(more)})" if told["tool_calls"] else calls)
    if told["orphan_results"]:
        counts.append(_some(told["orphan_results"], "result") + " without a call")
    if told["usage_reports"]:
        counts.append(_some(told["usage_reports"], "usage report"))
    lines.append("  " + ", ".join(counts))
    reported = sum(problem["records"] for problem in told["problems"])
    lines.append("  " + _account(told["records_read"], told["ignored"], reported))
    for problem in told["problems"]:
        where = f"line {problem['line']:,}: " if problem["line"] else ""
        lines.append(f"  {where}{printable(problem['text'])}")
    return lines + [f"  warning: {printable(warning)}" for warning in told["warnings"]]


def _some(count: int, name: str) -> str:
    return f"{count:,} {name}{'' if count == 1 else 's'}"


# convert


def _convert(arguments: argparse.Namespace) -> int:
    exporter = _exporter(arguments.to, arguments.out)
    policy = Policy.load(arguments.policy) if arguments.policy else Policy() if arguments.compact else None
    traces = load_traces(*source(arguments.trace), format=arguments.format)
    odd = sum(len(trace.problems) for trace in traces)
    if arguments.number is not None:
        if not 1 <= arguments.number <= len(traces):
            raise TraceError(arguments.trace, f"there is no trace {arguments.number}", f"1 to {len(traces)}")
        traces = [traces[arguments.number - 1]]
    as_lines = arguments.out.endswith(".jsonl") or exporter.holds_many
    parts = [traces] if as_lines else families(traces) if exporter.name == "atif" else [[trace] for trace in traces]
    if arguments.out == STDOUT and len(parts) > 1:
        parts, as_lines = [traces], True
    paths = _paths(arguments, exporter, len(parts))
    written = [exporter.write(part, as_lines, policy) for part in parts]
    for path, each in zip(paths, written, strict=True):
        _put(path, each.text)
    lost: dict[str, int] = {}
    for each in written:
        for kind, count in each.lost.items():
            lost[kind] = lost.get(kind, 0) + count
    for line in told(lost):
        print(f"context-gc: not in {exporter.name}: {line}", file=sys.stderr)
    if odd:
        print(f"context-gc: {_some(odd, 'problem')} in reading (see `context-gc validate`)", file=sys.stderr)
    return 0


def _exporter(name: str | None, out: str) -> Exporter:
    if name is None and (out == STDOUT or out.endswith(".jsonl")):
        name = "native"
    for each in EXPORTERS:
        if each.name == name:
            return each
    names = ", ".join(each.name for each in EXPORTERS)
    raise TraceError(out, "its name does not tell the format", f"give --to, one of {names}")


def _paths(arguments: argparse.Namespace, exporter: Exporter, count: int) -> list[str]:
    """Where each file goes; nothing is replaced that is there, unless that is wanted."""
    out: str = arguments.out
    if out == STDOUT:
        return [out]
    stem = "trace" if arguments.trace == STDIN else Path(arguments.trace).name.split(".")[0] or "trace"
    if out.endswith(("/", os.sep)) or os.path.isdir(out):
        name = f"{stem}{'-{n}' if count > 1 else ''}{'.jsonl' if exporter.holds_many else '.json'}"
        out = os.path.join(out, name.replace("{n}", "\0"))
    else:
        out = out.replace("{n}", "\0")
    if count > 1 and "\0" not in out:
        todo = "name a folder or a .jsonl file, put {n} in the name, or choose one with --trace N"
        raise TraceError(arguments.out, f"one such file holds one trace, and there are {count:,}", todo)
    paths = [out.replace("\0", str(number)) for number in range(1, count + 1)]
    for path in paths:
        if os.path.lexists(path) and not arguments.force:
            raise TraceError(path, "it is there already", "give --force to replace it")
    return paths


def _put(path: str, text: str) -> None:
    if path == STDOUT:
        sys.stdout.write(printable_json(text) if sys.stdout.isatty() else text)
        return
    try:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        write_atomically(path, text.encode("utf-8", "backslashreplace"))  # a lone surrogate is its JSON escape
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise TraceError(path, f"it cannot be written: {reason}", "check the path") from error
