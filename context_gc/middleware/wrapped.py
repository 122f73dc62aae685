"""ContextGCMiddleware: compaction between an agent and a function that asks a model."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from ..compaction import Compaction
from ..compactor import ContextGC
from ..events import Event
from ..policy import Policy

Answer = TypeVar("Answer")


class ContextGCMiddleware(Generic[Answer]):
    """Wraps a function that takes a prompt and asks a model. The model gets the prompt with its stubs.

    Each call passes the events that are new since the last one. `last` is the compaction that the model
    saw last; `recover` gives back what a stub stands for.
    """

    def __init__(self, llm_fn: Callable[[str], Answer], policy: Policy | None = None) -> None:
        self.client = ContextGC(policy)
        self.last: Compaction | None = None
        self._llm_fn = llm_fn

    def __call__(self, new_events: Iterable[Event] = ()) -> Answer:
        """Add events, compact, and ask. Raises as `ContextGC.extend` does: then the model is not asked."""
        self.client.extend(new_events)
        self.last = self.client.compact()
        return self._llm_fn(self.last["prompt"])

    def recover(self, receipt_id: str) -> list[Event]:
        """The events that a stub in the prompt stands for. Raises UnknownReceipt or NotPruned."""
        return self.client.expand_receipt(receipt_id)
