"""Saved: one run of a client in a run directory: its events, what was committed, and its receipts.

    policy.toml   receipts.db   session.json   runs/<run_id>/trace.jsonl   runs/<run_id>/state.json

The trace is only ever appended to; the state names how much of it belongs to it, and is replaced whole. So a
process that is killed at any moment leaves the run as it was before or after that `save`.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any
from uuid import uuid4

from .atomic import sync_folder, write_atomically
from .budgeted import Budgeted
from .canonical import readable
from .compaction import Live
from .errors import ContextGCError, SessionError
from .events import Event
from .graph import StateGraph
from .load import load_trace
from .passes import BudgetUnreachable, Pass
from .policy import Policy
from .receipt_store import ReceiptStore
from .session import RUNS, SESSION, TRACE, Session, run_name
from .verdicts import Verdict

VERSION = 1
RECEIPTS, POLICY = "receipts.db", "policy.toml"


class Saved:
    """A run on disk. `existing` reads what is there; else the first `write` makes it anew."""

    def __init__(self, directory: str | os.PathLike[str], run_id: str = "", existing: bool = False) -> None:
        self.directory = os.path.abspath(directory)
        root = Path(self.directory)
        if existing and not run_id:
            known = Session.load(root).run_ids
            if not known:
                raise SessionError(self.directory, "it holds no run", "save one first")
            run_id = known[-1]
        self.run_id = run_id or uuid4().hex[:12]
        self._folder = root / RUNS / run_name(self.run_id)
        self._trace, self._state_file = self._folder / TRACE, self._folder / "state.json"
        self._hash = hashlib.sha256()
        self._events = self._bytes = self._stored = 0
        self._state: dict[str, Any] = self._read() if existing else {}
        self.policy = Policy.from_toml(self._state["policy"], str(self._state_file)) if existing else Policy()

    # writing

    def write(self, live: Live) -> None:
        """Save what is new, in the order that keeps the run whole: events, receipts, state, session.

        Raises:
            SessionError, StoreError: it cannot be written, or what is there is another run.
        """
        root = Path(self.directory)
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._append(live)
            with ReceiptStore(root / RECEIPTS) as store:
                log = live.book.log
                store.put_many(live.receipts(sorted({seq for seq, _ in log[self._stored :]})), self.run_id)
                self._stored = len(log)
            policy = live.engine.policy.to_toml()
            state = {"version": VERSION, "events": self._events, "bytes": self._bytes, "sha256": self._hash.hexdigest()}
            told = readable(state | {"policy": policy} | _state_of(live), ascii_only=True)
            write_atomically(self._state_file, told.encode())
            write_atomically(root / POLICY, policy.encode())
            _add_run(root, self.run_id)
        except OSError as error:
            raise SessionError(
                self.directory, f"cannot be written: {error.strerror or error}", "check the folder"
            ) from error

    def _append(self, live: Live) -> None:
        events = live.engine.graph.events
        lines = _lines(events[self._events :])
        size = self._trace.stat().st_size if self._trace.is_file() else -1
        if size == self._bytes and self._events:
            with open(self._trace, "ab") as file:
                file.write(lines)
                file.flush()
                os.fsync(file.fileno())
        else:
            if self._events:  # someone else wrote there, or a write was cut short: all of it again
                lines = _lines(events)
                self._hash, self._bytes = hashlib.sha256(), 0
            write_atomically(self._trace, lines)
            sync_folder(self._folder)
        self._hash.update(lines)
        self._events, self._bytes = len(events), self._bytes + len(lines)

    # reading

    def _read(self) -> dict[str, Any]:
        where = str(self._state_file)
        try:
            for path in (self._state_file, self._trace):
                if path.exists() and not path.is_file():
                    raise SessionError(str(path), "this is no regular file", "a run is two files")
            state = json.loads(self._state_file.read_bytes())
            text = self._trace.read_bytes()
        except FileNotFoundError as error:
            raise SessionError(
                str(error.filename), "there is no such run", "context-gc session DIR lists them"
            ) from None
        except (OSError, ValueError, RecursionError) as error:
            raise SessionError(
                where, f"it cannot be read: {error}", "the events are in trace.jsonl beside it"
            ) from None
        numbers, texts = dict.fromkeys(("version", "events", "bytes"), int), dict.fromkeys(("sha256", "policy"), str)
        kinds = {**numbers, **texts, "ended": dict, "edges": list}
        if not isinstance(state, dict) or not all(type(state.get(key)) is kind for key, kind in kinds.items()):
            raise SessionError(where, "this is no saved state", "the events are in trace.jsonl beside it")
        if state["version"] > VERSION:
            raise SessionError(
                where, f"version {state['version']} is newer than this library reads", "update context-gc"
            )
        self._hash.update(text[: state["bytes"]])
        if self._hash.hexdigest() != state["sha256"]:
            raise SessionError(
                str(self._trace), "it is not the trace that the state was saved with", "restore the file"
            )
        self._bytes = state["bytes"]
        return state

    def graph(self) -> StateGraph:
        """The events, also those that were appended after the state was saved, in trace order."""
        graph = StateGraph()
        if self._trace.stat().st_size:
            graph.extend(load_trace(self._trace).events)
        try:
            for source, target, kind in self._state["edges"]:
                graph.add_edge(source, target, kind)
        except (TypeError, ValueError) as error:
            raise SessionError(
                str(self._state_file), f"its edges are damaged: {error}", "load the trace anew"
            ) from error
        self._events = self._state["events"]
        return graph

    def revive(self, live: Live) -> None:
        """Bring a client that has the events to where it was. Raises SessionError when the state is damaged."""
        state, graph = self._state, live.engine.graph
        try:
            live.engine.guard.ended.update(state["ended"])
            for name in state["pinned"]:
                live.engine.pin(_place(graph, name))
            if isinstance(live, Budgeted) and state.get("budget") is not None:
                _revive(live, state["budget"])
        except (KeyError, TypeError, ValueError, ContextGCError) as error:
            raise SessionError(str(self._state_file), f"it is damaged: {error!r}", "load the trace anew") from error


def _lines(events: Sequence[Event]) -> bytes:
    return "".join(readable(event, ascii_only=True) + "\n" for event in events).encode()


def _add_run(root: Path, run_id: str) -> None:
    for _ in range(2):  # another process may make the session in between
        session = Session.load(root) if (root / SESSION).exists() else Session.new()
        session.add_run(run_id)
        try:
            session.save(root)
        except SessionError:
            if run_id in Session.load(root).run_ids:
                return
            continue
        return


def _state_of(live: Live) -> dict[str, Any]:
    engine = live.engine
    events = engine.graph.events
    told: dict[str, Any] = {
        "ended": dict(engine.guard.ended),
        "pinned": [events[seq]["id"] for seq in sorted(engine.guard.pinned)],
        "edges": engine.graph.added_edges,
    }
    if isinstance(live, Budgeted):
        names = live.stage_names
        book = [[events[seq]["id"], *_told(each, names, events)] for seq, each in sorted(live.book.items())]
        evicted = [[events[seq]["id"], *_told(each, names, events)] for seq, each in sorted(live.evicted.items())]
        told["budget"] = {
            "book": book,
            "evicted": evicted,
            "shown": sorted(live.prompt.shown),
            "passes": [each.to_dict() for each in live.passes],
            "correction": live.correction,
            "reported": live.reported,
            "sent": live.sent,
            "sent_tokens": live.sent_tokens,
            "failed": live.failed,
            "deferred": live.deferred,
            "unreachable": None if live.unreachable is None else asdict(live.unreachable),
        }
    return told


def _told(verdict: Verdict, names: Sequence[str], events: Sequence[Event]) -> list[Any]:
    return [names[verdict.stage], events[verdict.witness]["id"], *verdict[2:]]


def _revive(live: Budgeted, told: dict[str, Any]) -> None:
    graph, names = live.engine.graph, live.stage_names

    def verdicts(rows: list[list[Any]]) -> dict[int, Verdict]:
        return {
            _place(graph, name): Verdict(names.index(stage), _place(graph, witness), *rest)
            for name, stage, witness, *rest in rows
        }

    lost = told["unreachable"]
    live.resume(
        verdicts(told["book"]),
        verdicts(told["evicted"]),
        shown=told["shown"],
        passes=[Pass.from_dict(each) for each in told["passes"]],
        correction=told["correction"],
        reported=told["reported"],
        sent=told["sent"],
        sent_tokens=told["sent_tokens"],
        failed=None if told["failed"] is None else tuple(told["failed"]),
        deferred=told["deferred"],
        unreachable=lost and BudgetUnreachable.from_dict(lost),
    )


def _place(graph: StateGraph, name: str) -> int:
    seq = graph.seq(name)
    if seq is None:
        raise KeyError(name)
    return seq
