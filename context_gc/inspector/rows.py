"""Rows: what the inspector shows of each event of one window, worked out once for every page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..compaction import Compaction
from ..decision import Decision
from ..events import Event
from ..eviction import EVICTION
from ..render import line, sendable
from ..semantics import arguments, path_of, semantics
from ..trace import Trace, Window
from ..turns import turn_numbers
from ..units import Units
from ..verdicts import WAITING
from .fate import passes_of, reason_of
from .palette import kind_of

SHORT = 60  #: characters of a label


@dataclass(frozen=True, slots=True)
class Row:
    """One event, what became of it and why. All text in it comes from the trace: never show it as Markdown."""

    seq: int  #: place in the window, from 0
    number: int  #: place in the whole trace, from 1: what people call it, as #12
    id: str
    turn: int  #: from 1; a turn is one model call with the results that follow it
    kind: str  #: one of palette.KINDS
    type: str
    tool: str  #: of a call and of its results; "" for other events
    path: str  #: the file that it is about, also for results; "" when there is none
    label: str  #: a few words on one line
    text: str  #: as rendered into the full history
    tokens: int  #: in the full history
    impact: int  #: tokens that its fate adds; negative when it saves
    status: str  #: one of palette.STATUSES
    stage: str
    reason: str
    passed: int  #: number of the pass that cut or clipped it; 0 without a budget, or when it never entered
    because: tuple[str, ...]  #: ids of the events that make cutting it safe
    would: str  #: for events that are kept: what was found all the same
    protected: str  #: what protects it, such as "type=requirement"
    receipt_id: str
    time_ms: int

    @property
    def is_cut(self) -> bool:
        """Whether it is out of the prompt."""
        return self.status == "pruned"

    @property
    def has_receipt(self) -> bool:
        """Whether it, or a part of it, is out of the prompt."""
        return self.status in ("pruned", "clipped")

    @property
    def is_evicted(self) -> bool:
        """Whether it made room although nothing found it dead."""
        return self.has_receipt and self.stage == EVICTION.name

    @property
    def gone(self) -> int:
        """Tokens of it that are out of the prompt, stubs aside."""
        return self.tokens if self.is_cut else max(0, -self.impact) if self.has_receipt else 0

    @property
    def why(self) -> str:
        """The reason for its fate; for events that are kept or wait, what was found or what protects them."""
        return self.reason if self.has_receipt else self.would or self.protected


def rows(trace: Trace, window: Window, result: Compaction) -> tuple[Row, ...]:
    """The rows of a window, whose events are the events of `result`, in trace order."""
    events, passed = result.events, passes_of(result)
    leads, turns = leaders(events), turn_numbers(events)
    return tuple(
        _row(event, seq, window.start + seq + 1, turns[seq], events[leads[seq]], result, trace.cwd, passed)
        for seq, event in enumerate(events)
    )


def leaders(events: Sequence[Event]) -> list[int]:
    """For each event the place of the event that stands for it: the call of a result, else itself."""
    units = Units.of(events)
    return [units.lead(seq) for seq in range(len(events))]


def _row(
    event: Event, seq: int, number: int, turn: int, lead: Event, result: Compaction, cwd: str,
    passed: Mapping[str, int],
) -> Row:  # fmt: skip
    name = event["id"]
    decision, protected = result.decision(name), result.protected(name) or ""
    status = _status(decision, protected)
    gone = decision is not None and decision.kept is None
    in_pass = passed.get(name, 0) if gone else 0
    return Row(
        seq=seq, number=number, id=name, turn=turn, kind=kind_of(event), type=event["type"],
        tool=sendable(str(lead.get("tool_name", ""))), path=(path := sendable(path_of(lead, cwd) or "")),
        label=label(event, lead, path), text=line(event), tokens=result.tokens(name), impact=result.impact(name),
        status=status, stage=decision.stage if decision else "",
        reason=sendable(reason_of(decision, in_pass)) if decision else "", passed=in_pass,
        because=decision.because if decision else (), would=sendable(decision.would) if decision and not gone else "",
        protected=sendable(protected or ((decision.kept or "") if decision else "")),
        receipt_id=decision.receipt_id if decision and gone else "", time_ms=event["timestamp"],
    )  # fmt: skip


def _status(decision: Decision | None, protected: str) -> str:
    if decision is None:
        return "protected" if protected else "live"
    if decision.kept is None:
        return "clipped" if decision.clipped else "pruned"
    return "waiting" if decision.kept == WAITING else "protected" if protected else "kept"


def label(event: Event, lead: Event, path: str) -> str:
    """A few words for an event: the tool and what it was about, or how its text begins."""
    kind = event["type"]
    if lead["type"] == "tool_call":
        fact = semantics(lead)
        about = path.rpartition("/")[2] or getattr(fact, "text", "") or getattr(fact, "query", "")
        arrow = "→ " if kind == "tool_result" else ""
        return short(f"{arrow}{lead['tool_name'].rpartition('__')[2]} {about or _first(arguments(lead))}")
    if kind in ("decision", "requirement", "constraint", "verification"):
        return short(event["content"]) or kind
    if kind in ("file_read", "file_edit", "artifact_created"):
        return short(f"{kind.rpartition('_')[2]} {path.rpartition('/')[2]}")
    return short(f"abandon {line(event)}" if kind == "abandon" else line(event))


def short(text: str, size: int = SHORT) -> str:
    """Text on one line, cut to `size` characters. Control and direction characters are left out."""
    flat = " ".join(text[: 8 * size].split())
    if not flat.isprintable():
        flat = " ".join("".join(c if c.isprintable() else " " for c in flat).split())
    return flat if len(flat) <= size else flat[: size - 1].rstrip() + "…"


def _first(given: dict[str, object]) -> str:
    return next((value for value in given.values() if isinstance(value, str)), "")
