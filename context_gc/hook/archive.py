"""Archive: keep a Claude Code session in a run directory, as its PreCompact and Stop hooks ask for it.

    STORE/<session id>/   a run directory; each context window of the session is one of its runs: w1, w2, …

Everything in a window that Claude Code has compacted gets a receipt, and what the stages find dead in the window
that is still open. Blind spot: subagents that have logs of their own.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..atomic import locked, write_atomically
from ..canonical import digest, readable
from ..compaction import Compaction
from ..compactor import ContextGC
from ..decision import Decision
from ..errors import SessionError, TraceError
from ..events import Event
from ..load import load_traces
from ..receipt_store import ReceiptStore
from ..receipts import Receipt, receipt_for
from ..saved import RECEIPTS
from ..session import run_name
from ..tokens import COUNTERS
from ..trace import Trace

STAGE = "agent-compaction"  #: of receipts for what stood in a window until Claude Code compacted it
LARGEST_INPUT = 1_000_000  #: bytes of a hook's input

_NOTED = "archived.json"  # what of the session is archived already


@dataclass(frozen=True, slots=True)
class Call:
    """What Claude Code tells a hook."""

    session_id: str
    transcript: Path
    event: str  #: PreCompact, Stop, …
    trigger: str  #: of a compaction: manual or auto


@dataclass(frozen=True, slots=True)
class Archived:
    """What one call of the hook has done."""

    directory: Path
    windows: int  #: whose events were written
    receipts: int  #: that are new
    problems: int  #: lines of the log that could not be read


def read_call(text: bytes) -> Call:
    """The input of a hook, the JSON that Claude Code writes to its standard input.

    Raises:
        SessionError: it is none, or names no transcript.
    """
    if len(text) > LARGEST_INPUT:
        raise SessionError("hook input", f"it is larger than {LARGEST_INPUT:,} bytes", "give what Claude Code gives")
    try:
        told = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SessionError("hook input", f"it is no JSON: {error}", "give what Claude Code gives") from None
    path = told.get("transcript_path") if type(told) is dict else None
    if type(path) is not str or not path.strip() or "\0" in path:
        raise SessionError("hook input", "it has no transcript_path", "give what Claude Code gives to its hooks")
    transcript = Path(os.path.expanduser(path))
    name = told.get("session_id")
    trigger = told.get("trigger")
    return Call(
        run_name(transcript.stem if name is None else name, "session_id"),
        transcript,
        str(told.get("hook_event_name")),
        trigger if trigger in ("manual", "auto") else "auto",
    )


def archive(call: Call, store: str | os.PathLike[str]) -> Archived:
    """Write what is new of a session into its run directory below `store`; nothing is written elsewhere.

    Raises:
        TraceError: the transcript is missing, or is no session of a known format.
        SessionError, StoreError: the run directory cannot be written, or what is there is damaged.
    """
    stamp = _stamp(call)
    root = Path(store)
    folder = root / run_name(call.session_id, "session_id")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if folder.is_symlink():
            raise SessionError(str(folder), "this is a link (not followed)", "remove it")
        with locked(folder / _NOTED):
            noted = _noted(folder / _NOTED)
            if noted.get("stamp") == stamp:
                return Archived(folder, 0, 0, 0)
            trace = load_traces(call.transcript)[0]
            windows: dict[str, Any] = {}
            written = added = 0
            for number, (events, reason) in enumerate(_windows(trace, call), 1):
                name = f"w{number}"
                windows[name] = _digest(events, reason)
                if noted.get("windows", {}).get(name) != windows[name]:
                    added += _keep(folder, name, events, reason)
                    written += 1
            told = {"stamp": stamp, "windows": windows}
            write_atomically(folder / _NOTED, readable(told, ascii_only=True).encode())
            return Archived(folder, written, added, len(trace.problems))
    except OSError as error:
        raise SessionError(str(folder), f"cannot be written: {error.strerror or error}", "check the folder") from None


def _stamp(call: Call) -> list[Any]:
    try:
        facts = os.stat(call.transcript)
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise TraceError(str(call.transcript), f"the transcript cannot be read: {reason}", "check the path") from None
    if not stat.S_ISREG(facts.st_mode):
        raise TraceError(str(call.transcript), "the transcript is no regular file", "check the path")
    return [facts.st_size, facts.st_mtime_ns, call.trigger if call.event == "PreCompact" else ""]


def _noted(file: Path) -> dict[str, Any]:
    """What was archived before; nothing when the note is not there or damaged: all of it is looked at again."""
    try:
        told = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return told if type(told) is dict and type(told.get("windows")) is dict else {}


def _windows(trace: Trace, call: Call) -> Iterator[tuple[list[Event], str]]:
    """The events of each window, and why they left the context; "" for the one that is open."""
    opened = [window.opened_by for window in trace.windows[1:]]
    about = [*opened, call.trigger if call.event == "PreCompact" else ""]
    for window, how in zip(trace.windows, about, strict=True):
        if window.stop > window.start:
            yield trace.events[window.start : window.stop], f"Claude Code closed this window ({how})" if how else ""


def _digest(events: list[Event], reason: str) -> str:
    told = hashlib.sha256(reason.encode())
    for event in events:
        told.update(readable(event, ascii_only=True).encode())
    return told.hexdigest()


def _keep(folder: Path, name: str, events: list[Event], reason: str) -> int:
    """Save one window as a run, with its receipts; gives how many of them are new."""
    client = ContextGC()
    client.extend(events)
    result = client.compact()
    pairs = list(_receipts(result, reason))
    with ReceiptStore(folder / RECEIPTS) as store:
        run_id, known = _free(store, name, pairs)
        new = [pair for pair in pairs if pair[0].id not in known or pair[0] != known[pair[0].id]]
        store.put_many(new, run_id)
    client.run_id = run_id
    client.save(folder)
    return sum(pair[0].id not in known for pair in new)


def _free(store: ReceiptStore, name: str, pairs: list[tuple[Receipt, list[Event]]]) -> tuple[str, dict[str, Receipt]]:
    """The run id for a window and the receipts it has: another one where an event is not what it was before."""
    number = 1
    while True:
        run_id = name if number == 1 else f"{name}.{number}"
        known = {receipt.id: receipt for receipt in store.receipts(run_id)}
        if all(each.id not in known or known[each.id].sha256 == each.sha256 for each, _ in pairs):
            return run_id, known
        number += 1


def _receipts(result: Compaction, reason: str) -> Iterator[tuple[Receipt, list[Event]]]:
    """Those of what is dead, and with a `reason` one for every other event as well."""
    counter = COUNTERS[result.policy.counter]
    clusters: dict[str, list[tuple[Decision, Event]]] = {}
    for event in result.events:
        decision = result.decision(event["id"])
        if decision is not None and decision.kept is None:
            if decision.cluster is not None:
                clusters.setdefault(decision.cluster, []).append((decision, event))
            else:
                yield receipt_for([decision], [event], counter), [event]
        elif reason:
            tokens = result.tokens(event["id"])
            yield Receipt(event["id"], STAGE, reason, (), (event["id"],), tokens, (digest(event),)), [event]
    for members in clusters.values():
        found = [event for _, event in members]
        yield receipt_for([decision for decision, _ in members], found, counter), found
