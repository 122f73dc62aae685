"""Reports of tokens in a Codex session -> what the provider said about each model call."""

from __future__ import annotations

from typing import Any

from ...canonical import canonical
from ..files.fields import count
from ..recording.recorder import Recorder

LEFT_OUT = "event_msg/token_count"  #: what reports are counted as that are repeated or about nothing in the trace


class Reports:
    """Lays reports on the last event of their model call.

    Today's sessions report after the output of a call, those of 2025 before it. A report that finds no output
    waits for the next one, unless another report comes first: then it was about none, such as the estimate
    that follows a compaction.
    """

    def __init__(self, recorder: Recorder) -> None:
        self.tokens = 0  #: prompt and answer of the last model call
        self._recorder = recorder
        self._total = ""  # what was used so far, to see repeated reports
        self._waiting: tuple[int, int, int, int] | None = None

    def take(self, info: Any, place: int) -> bool:
        """Read a report when the model's last output since any input ended at a place, or -1; False when it is none."""
        last = info.get("last_token_usage") if type(info) is dict else None
        if type(last) is not dict:
            return False
        total = canonical(info.get("total_token_usage", last))
        if total == self._total:
            return False
        self._total = total
        self.drop()
        cached, written = count(last.get("cached_input_tokens")), count(last.get("cache_write_input_tokens"))
        prompt, output = count(last.get("input_tokens")), count(last.get("output_tokens"))
        if not prompt + output:
            return False
        self.tokens = prompt + output
        self._waiting = (max(prompt - cached - written, 0), output, cached, written)
        self.settle(place)
        return True

    def settle(self, place: int) -> None:
        """The output that ended at a place is whole: lay the report that waits for it."""
        usage = self._recorder.trace.usage
        if self._waiting is None or place < 0:
            return
        if usage and usage[-1].event_id == self._recorder.events[place]["id"]:
            self.drop()
        else:
            self._recorder.used(place, *self._waiting)
            self._waiting = None

    def drop(self) -> None:
        """No output will come that the waiting report is about."""
        if self._waiting is not None:
            self._recorder.ignore(LEFT_OUT)
            self._waiting = None
