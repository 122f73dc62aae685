"""Verdicts: what holds for each event, by place, and every change of it in order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

WAITING = "it waits for the next pass"


class Verdict(NamedTuple):
    """What was found about an event. It is cut unless something keeps it, it is only clipped, or it waits."""

    stage: int  #: index into the stages of the engine; one beyond them is eviction
    witness: int  #: place of the event that makes it safe; its own place where there is none
    kept: str | None = None  #: what keeps it
    clipped: bool = False  #: it stands as its first and last lines
    waiting: bool = False  #: found dead, and not committed yet
    seam: bool = False  #: the stub before it has been sent: it begins a run of its own

    @property
    def cut(self) -> bool:
        """Whether the event is out of the prompt."""
        return self.kept is None and not self.clipped and not self.waiting

    @property
    def held(self) -> str | None:
        """What keeps it in the prompt, for people."""
        return self.kept if self.kept is not None else WAITING if self.waiting else None


class Verdicts(dict[int, Verdict]):
    """Place -> verdict. Changed by `record` alone."""

    def __init__(self) -> None:
        super().__init__()
        self.log: list[tuple[int, Verdict | None]] = []

    def record(self, seq: int, verdict: Verdict | None) -> None:
        """Set what holds for an event; None when nothing does any more."""
        if verdict is None:
            del self[seq]
        else:
            self[seq] = verdict
        self.log.append((seq, verdict))

    def become(self, others: Mapping[int, Verdict]) -> None:
        """Change to what another mapping says, in trace order."""
        for seq in sorted({*self, *others}):
            if self.get(seq) != others.get(seq):
                self.record(seq, others.get(seq))

    def at(self, version: int) -> Mapping[int, Verdict]:
        """What held after the first `version` changes; it stays as it is."""
        past: dict[int, Verdict] = {}
        for seq, verdict in self.log[:version]:
            if verdict is None:
                past.pop(seq, None)
            else:
                past[seq] = verdict
        return past
