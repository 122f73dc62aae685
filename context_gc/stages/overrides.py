"""Overrides: of several values of one key only the newest stays."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import ClassVar

from ..events import Event
from ..walks import above
from .view import View


class Overrides:
    """Per key the newest write by timestamp stays; of equal ones the later in the trace.

    Keys are equal when type and value are: 1, 1.0 and true are three keys. With `override_scope="path"`
    a write replaces only those before it on its own paths, so that parallel branches keep their values;
    blind spot: the first write of a key costs the way to the root.
    """

    name: ClassVar[str] = "overrides"
    rationale: ClassVar[str] = "A newer value of the same key is in the prompt."

    def types(self, view: View) -> Sequence[str]:
        return ("set_var",)

    def key(self, event: Event, seq: int, view: View) -> Hashable:
        key = event["key"]
        return key if type(key) is str else (type(key).__name__, repr(key))

    def judge(self, group: Sequence[int], fresh: int, view: View) -> Iterator[tuple[int, int]]:
        if view.policy.override_scope == "path":
            yield from self._judge_by_path(group, fresh, view)
            return
        events = view.events
        newest = max(group, key=lambda seq: (events[seq]["timestamp"], seq))
        for seq in group:
            if seq != newest:
                yield seq, newest

    def _judge_by_path(self, group: Sequence[int], fresh: int, view: View) -> Iterator[tuple[int, int]]:
        alive = set(group)
        for seq in group[len(group) - fresh :]:
            replaced = [older for older in above(view.graph, seq, alive) if older in alive and older < seq]
            alive.difference_update(replaced)
            for older in replaced:
                yield older, seq

    def reason(self, event: Event, witness: Event) -> str:
        return f"superseded by {witness['id']}"
