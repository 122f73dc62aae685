"""Rows: what the inspector shows of each event of one window, worked out once for every page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..compaction import Compaction
from ..events import Event
from ..render import line, sendable
from ..semantics import arguments, path_of, semantics
from ..trace import Trace, Window
from ..units import Units
from .palette import kind_of

SHORT = 60  #: characters of a label

_OUTPUT = frozenset(("decision", "verification", "tool_call", "set_var"))  # what a model writes
_INPUT = frozenset(("requirement", "constraint"))
_ASIDE = frozenset(("abandon",))  # neither begins nor ends a call


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
    status: str  #: live, pruned, protected or kept
    stage: str
    reason: str
    because: tuple[str, ...]  #: ids of the events that make cutting it safe
    would: str  #: for events that are kept: what was found all the same
    protected: str  #: what protects it, such as "type=requirement"
    receipt_id: str
    time_ms: int

    @property
    def is_dead(self) -> bool:
        """Whether it is cut from the prompt."""
        return self.status == "pruned"


def rows(
    trace: Trace, window: Window, result: Compaction, sizes: Sequence[tuple[int, int]] | None = None
) -> tuple[Row, ...]:
    """The rows of a window, whose events are the events of `result`, in trace order.

    `sizes` are tokens and impact of each event, where they are known already.
    """
    events = result.events
    leads, turns = leaders(events), turn_numbers(events)
    sizes = sizes or [(result.tokens(event["id"]), result.impact(event["id"])) for event in events]
    return tuple(
        _row(event, seq, window.start + seq + 1, turns[seq], events[leads[seq]], result, trace.cwd, sizes[seq])
        for seq, event in enumerate(events)
    )


def leaders(events: Sequence[Event]) -> list[int]:
    """For each event the place of the event that stands for it: the call of a result, else itself."""
    units = Units.of(events)
    return [units.lead(seq) for seq in range(len(events))]


def turn_numbers(events: Sequence[Event]) -> list[int]:
    """The turn of each event, from 1. What the user says belongs to the call that answers it.

    Events that share a `message_id` are one call. Without one, a call begins where the model writes
    after something else: a native coding event holds the act and its outcome, so it ends a call.
    """
    numbers: list[int] = []
    turn, message, begun, ended = 1, None, False, False
    for event in events:
        kind, own = event["type"], event.get("message_id")
        same = own is not None and own == message
        is_input = kind in _INPUT
        outcome = not is_input and kind not in _OUTPUT and kind not in _ASIDE
        writes = not is_input and kind not in ("tool_result", "error") and kind not in _ASIDE
        if begun and not same and ((writes and (ended or (own is not None and message is not None))) or is_input):
            turn, begun, ended, message = turn + 1, False, False, None
        begun = begun or writes
        ended = ended or outcome
        message = own if own is not None and writes else message
        numbers.append(turn)
    return numbers


def _row(
    event: Event, seq: int, number: int, turn: int, lead: Event, result: Compaction, cwd: str, size: tuple[int, int]
) -> Row:  # fmt: skip
    name = event["id"]
    decision, protected = result.decision(name), result.protected(name) or ""
    pruned = decision is not None and decision.kept is None
    status = "pruned" if pruned else "protected" if protected else "kept" if decision else "live"
    tool = sendable(str(lead.get("tool_name", "")))
    path = sendable(path_of(lead, cwd) or "")
    return Row(
        seq=seq, number=number, id=name, turn=turn, kind=kind_of(event), type=event["type"], tool=tool, path=path,
        label=label(event, lead, path), text=line(event), tokens=size[0], impact=size[1],
        status=status, stage=decision.stage if decision else "", reason=sendable(decision.reason) if decision else "",
        because=decision.because if decision else (), would=sendable(decision.would) if decision and not pruned else "",
        protected=sendable(protected or (decision.kept or "" if decision else "")),
        receipt_id=decision.receipt_id if decision and pruned else "", time_ms=event["timestamp"],
    )  # fmt: skip


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
