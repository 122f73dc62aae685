"""Model responses that OpenHands V0 keeps beside its events: thinking, arguments as written, usage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..dialects.messages import Part, message, text_at
from ..recording.recorder import Recorder
from ..recording.telling import tell
from ..recording.token_reports import Laid, RunningTotals, of_call


class Responses:
    """Follows the responses of one agent; several events may come of one."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._name = ""
        self._totals = RunningTotals()
        self._laid = Laid(recorder)

    def reason(self, event: Mapping[str, Any], origin: Mapping[str, Any]) -> dict[str, Any]:
        """The thinking of a response, once; gives the fields that all its events have."""
        response = within(event, "tool_call_metadata", "model_response")
        name = text_at(response, "id")
        facts = {"message_id": name} if name else {}
        trace = self._recorder.trace
        trace.model = trace.model or text_at(response, "model")
        if name and name == self._name:
            return facts
        self._name = name
        told = within(_first(response, "choices"), "message")
        blocks = within(told, "thinking_blocks")
        thoughts = message({"role": "assistant", "content": blocks}) if type(blocks) is list and blocks else None
        text = text_at(told, "reasoning_content") or text_at(within(told, "provider_specific_fields"), "reasoning")
        for part in thoughts.parts if thoughts else [Part("thinking", text)]:
            tell(self._recorder, "assistant", part, origin, **facts)
        return facts

    def used(self, event: Mapping[str, Any], place: int | None) -> None:
        """Lay what a response used on the last event of it."""
        response = within(event, "tool_call_metadata", "model_response")
        total = self._totals.take(within(event, "llm_metrics", "accumulated_token_usage"))
        if place is not None:
            report = of_call(within(response, "usage"))
            self._laid.lay(text_at(response, "id"), place, report if any(report) else total)

    def settle(self) -> None:
        """The last response is whole."""
        self._laid.settle()


def written(metadata: Any, provider_id: str) -> Any:
    """The arguments of a call as the model wrote them."""
    calls = within(_first(within(metadata, "model_response"), "choices"), "message", "tool_calls")
    for call in calls if type(calls) is list else ():
        if provider_id and text_at(call, "id") == provider_id:
            return within(call, "function", "arguments")
    return None


def within(value: Any, *keys: str) -> Any:
    """What stands under these keys, one below the other; None where there is nothing."""
    for key in keys:
        value = value.get(key) if type(value) is dict else None
    return value


def _first(holder: Any, key: str) -> Any:
    listed = within(holder, key)
    return listed[0] if type(listed) is list and listed else None
