"""Dead branches: what was abandoned goes, with the event that abandoned it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from ..events import Event
from ..walks import below
from .view import View


class DeadBranches:
    """From each event that an `abandon` names, everything below it that stood before the abandon.

    What came after the abandon lives, also where it hangs below the abandoned branch or the abandon.
    An event that an abandon names is dead wherever it stands. Blind spot: many abandons of one ever
    growing branch walk it again each time.
    """

    name: ClassVar[str] = "dead-branches"
    rationale: ClassVar[str] = "The agent gave this branch up; what it did there no longer holds."

    def sweep(self, seq: int, view: View) -> Iterator[int]:
        for name in view.events[seq]["ref_to"]:
            target = view.graph.seq(name)
            if target is not None and target != seq:
                yield from below(view.graph, target, seq)

    def reason(self, event: Event, witness: Event) -> str:
        if event["id"] == witness["id"]:
            return "abandon event pruned alongside its own target branch"
        return f"abandoned by {witness['id']}"
