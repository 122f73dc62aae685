"""Decision: that a stage found an event dead, why, and which event makes cutting it safe."""

from __future__ import annotations

from dataclasses import dataclass

from .events import label


@dataclass(frozen=True, slots=True)
class Decision:
    """One stage's finding about one event. The event is cut unless something keeps it."""

    event_id: str
    stage: str
    reason: str  #: as receipts and the command line print it, such as "superseded by e003"
    because: tuple[str, ...] = ()  #: ids of the events that make it safe: survivors, or the abandon
    cluster: str | None = None  #: id of the receipt that stands for several events at once
    kept: str | None = None  #: what kept the event in spite of this, such as "importance=critical"
    clipped: bool = False  #: the event stands in the prompt as its first and last lines
    seam: bool = False  #: its stub does not join the one before it, which had been sent

    @property
    def cut(self) -> bool:
        """Whether the event is out of the prompt."""
        return self.kept is None and not self.clipped

    @property
    def receipt_id(self) -> str:
        """The id by which the event is recovered: its own, or its cluster's."""
        return self.cluster or self.event_id

    @property
    def label(self) -> str:
        """The receipt's id as a stub shows it."""
        return self.cluster or label(self.event_id)

    @property
    def would(self) -> str:
        """The finding about an event that is kept, such as "Would be superseded by e2"."""
        return "Would be " + self.reason.removeprefix("abandon event ")

    def to_dict(self) -> dict[str, object]:
        """The decision as JSON values."""
        return {
            "event_id": self.event_id,
            "stage": self.stage,
            "reason": self.reason,
            "because": list(self.because),
            "cluster": self.cluster,
            "kept": self.kept,
            "clipped": self.clipped,
        }
