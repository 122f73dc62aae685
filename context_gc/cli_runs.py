"""The commands about run directories: their session, their runs, and their receipts."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .canonical import readable
from .compactor import ContextGC
from .errors import SessionError, StoreError
from .receipt_store import ReceiptStore
from .run_log import read_log
from .saved import RECEIPTS
from .session import Session


def add_commands(commands: Any) -> None:
    """Add `session` and `receipts` to the command line."""
    told = "Tell what a run directory holds: its session, its runs, and how the window of each stands."
    sub = commands.add_parser("session", help="Tell what a run directory holds.", description=told)
    sub.add_argument("directory", metavar="DIR", help="what ContextGC.save wrote")
    sub.add_argument("--run", dest="run_id", metavar="ID", help="print the prompt of this run")
    sub.add_argument("--log", action="store_true", help="print what its bus carried, one JSON object a line")
    sub.set_defaults(run=_session)
    told = "Verify, search or export the receipts that a run directory holds."
    receipts = commands.add_parser("receipts", help=told, description=told)
    does = receipts.add_subparsers(dest="action", required=True, metavar="ACTION")
    for name, run, text in (
        ("verify", _verify, "Compare every original with its receipt; ends with 1 when one does not match."),
        ("search", _search, "Find originals by words in them."),
        ("export", _export, "Print every receipt with its originals, one JSON object a line."),
    ):
        sub = does.add_parser(name, help=text, description=text)
        sub.add_argument("directory", metavar="DIR", help="a run directory, or a receipts file")
        sub.add_argument("--run", dest="run_id", metavar="ID", help="only of this run")
        if name == "search":
            sub.add_argument("words", nargs="+", metavar="WORD")
            sub.add_argument("--limit", type=int, default=20, metavar="N", help="how many at most (20)")
        sub.set_defaults(run=run)


def _session(arguments: argparse.Namespace) -> int:
    root = Path(arguments.directory)
    if arguments.log:
        if not arguments.run_id:
            raise SessionError("--log", "which run is not said", "give --run ID as well")
        opened = Session.open(root)
        if arguments.run_id not in opened.runs:
            raise SessionError(
                arguments.directory, f"there is no run {arguments.run_id!r}", "without --run they are listed"
            )
        for told in read_log(root / "runs" / arguments.run_id):
            print(readable(told))
        return 0
    if arguments.run_id:
        print(ContextGC.load(root, arguments.run_id).look()["prompt"])
        return 0
    for line in _told(root):
        print(line)
    return 0


def _told(root: Path) -> Iterator[str]:
    opened = Session.open(root)
    session = opened.session
    yield f"session {session.session_id} | started {session.started_at}" + (
        f" | {session.user}" if session.user else ""
    )
    for run_id, trace in opened.runs.items():
        client = ContextGC.load(root, run_id)
        result, budget = client.look(), client.budget
        line = f"run {run_id}: {len(trace.events):,} events, {len(result['pruned_ids']):,} pruned"
        line += f", {result['tokens_before']:,} -> {result['tokens_after']:,} tokens"
        if budget is not None:
            line += f", {len(budget.passes)} passes, {budget.usage:.1%} of {budget.max_tokens:,}"
        yield line
    for problem in opened.problems:
        yield f"problem: {problem}"


# receipts


def _store(name: str) -> ReceiptStore:
    path = Path(name)
    path = path / RECEIPTS if path.is_dir() else path
    if not path.is_file():
        raise StoreError(str(path), "there is no such file", "ContextGC.save makes it")
    return ReceiptStore.open_read_only(path)


def _verify(arguments: argparse.Namespace) -> int:
    with _store(arguments.directory) as store:
        damaged = store.verify()
        for each in damaged:
            names = ", ".join(
                f"{run_id}/{receipt_id}" if run_id else receipt_id for run_id, receipt_id in each.receipts
            )
            print(_one_line(f"DAMAGED {each.sha256 or '-'} | {names or '-'} | {each.what}"))
        print(f"{len(store):,} receipts, {'all intact' if not damaged else f'{len(damaged):,} damaged'}")
    return 1 if damaged else 0


def _search(arguments: argparse.Namespace) -> int:
    with _store(arguments.directory) as store:
        for found in store.search(" ".join(arguments.words), limit=arguments.limit, run_id=arguments.run_id):
            print(_one_line(f"{found.run_id}/{found.receipt_id} | {found.snippet}"))
    return 0


def _export(arguments: argparse.Namespace) -> int:
    with _store(arguments.directory) as store:
        for line in store.export(arguments.run_id):
            print(line)
    return 0


def _one_line(text: str) -> str:
    return " ".join(text.split())
