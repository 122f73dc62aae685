"""The pruning rules, one a file, and their order.

A stage decides and never edits. A group stage sorts events into groups and judges a group; the engine
re-judges only groups that gained or lost a member. A sweep stage looks at one event and walks from it.
A clip stage looks at one event alone, when it arrives.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import ClassVar, Protocol, runtime_checkable

from ..events import Event
from .clip import Clip
from .cycles import Cycles
from .dead_branches import DeadBranches
from .duplicates import Duplicates
from .overrides import Overrides
from .repeated_failures import RepeatedFailures
from .stale_reads import StaleReads
from .superseded_status import SupersededStatus
from .view import View


class Stage(Protocol):
    """What every stage tells of itself; shown in receipts, the command line and the inspector."""

    name: ClassVar[str]
    rationale: ClassVar[str]

    def reason(self, event: Event, witness: Event) -> str:
        """Why the event is dead, given the event that makes cutting it safe."""
        ...


@runtime_checkable
class SweepStage(Stage, Protocol):
    """Finds events by walking from an abandon, when that arrives."""

    def sweep(self, seq: int, view: View) -> Iterable[int]:
        """The places of the events that are dead because of the one at `seq`."""
        ...


@runtime_checkable
class GroupStage(Stage, Protocol):
    """Finds events by comparing the members of a group."""

    def types(self, view: View) -> Sequence[str]:
        """The event types that it groups."""
        ...

    def key(self, event: Event, seq: int, view: View) -> Hashable | None:
        """The group that an event belongs to; None for none."""
        ...

    def judge(self, group: Sequence[int], fresh: int, view: View) -> Iterator[tuple[int, int]]:
        """(dead, witness) by place, among the members that are alive, in trace order.

        The last `fresh` members are new; the others have been judged against each other and stand.
        """
        ...


@runtime_checkable
class ClipStage(Stage, Protocol):
    """Finds events that stand in the prompt as their first and last lines."""

    def finds(self, event: Event, seq: int, view: View) -> bool:
        """Whether the event is to be clipped. Asked once, when it has arrived."""
        ...


STAGES: tuple[SweepStage | GroupStage | ClipStage, ...] = (
    DeadBranches(),
    Overrides(),
    Duplicates(),
    Cycles(),
    StaleReads(),
    SupersededStatus(),
    RepeatedFailures(),
    Clip(),
)

__all__ = [
    "STAGES",
    "Clip",
    "ClipStage",
    "Cycles",
    "DeadBranches",
    "Duplicates",
    "GroupStage",
    "Overrides",
    "RepeatedFailures",
    "Stage",
    "StaleReads",
    "SupersededStatus",
    "SweepStage",
    "View",
]
