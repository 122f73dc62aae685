"""Explain: what became of one event, and why."""

from __future__ import annotations

from dataclasses import dataclass

from .compaction import Compaction
from .events import Event, label
from .render import line


@dataclass(frozen=True, slots=True)
class Explanation:
    """`status` is pruned, clipped, protected or kept. `str()` gives the lines that the command line prints."""

    event: Event
    status: str
    reason: str
    detail: str = ""  #: for kept events: what a stage found all the same
    because: tuple[str, ...] = ()  #: ids of the events that stand behind it
    relates: str = ""  #: for errors: what they relate to
    tokens: int = 0  #: of the event in the full history

    def __str__(self) -> str:
        lines = [f"Event: {label(self.event['id'])} ({self.event['type']})", line(self.event) or "(prints nothing)"]
        lines += [f"Status: {self.status}", f"Reason: {_one_line(self.reason)}"]
        lines += [f"Detection detail: {_one_line(self.detail)}"] if self.detail else []
        lines += [f"Relates to: {_one_line(self.relates)}"] if self.relates else []
        return "\n".join(lines)


def explain(result: Compaction, event_id: str) -> Explanation:
    """What a compaction did with an event. Raises KeyError for an unknown id."""
    event = result.event(event_id)
    decision, protected = result.decision(event_id), result.protected(event_id)
    detail, because = "", () if decision is None else decision.because
    if decision is not None and decision.kept is None:
        status, reason = "clipped" if decision.clipped else "pruned", decision.reason
    else:
        detail = decision.would if decision is not None else ""
        status, reason = ("protected", protected) if protected else ("kept", "no stage found it dead")
        if decision is not None and not protected:
            reason = decision.kept or reason
    return Explanation(event, status, reason, detail, because, _relation(event), result.tokens(event_id))


def _relation(event: Event) -> str:
    related = event.get("related_to")
    if event["type"] != "error":
        return ""
    return str(related) if related is not None else "nothing that the trace names"


def _one_line(text: str) -> str:
    return " ".join(text.split())
