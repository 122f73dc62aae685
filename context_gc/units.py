"""Units: a tool call with all its results. They are cut together or kept together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .events import Event


class Units:
    """Pairs results with calls as events arrive, by place in the trace.

    A result names its call's event id, else the call id that the provider gave (`call_id` on the call):
    then the nearest call before it with that id is meant. A result whose call comes later waits for it.
    """

    def __init__(self) -> None:
        self._call: dict[int, int] = {}
        self._results: dict[int, list[int]] = {}
        self._by_event_id: dict[str, int] = {}
        self._by_provider_id: dict[str, int] = {}
        self._waiting: dict[str, list[int]] = {}

    @classmethod
    def of(cls, events: Iterable[Event]) -> Units:
        """The units of a whole trace."""
        units = cls()
        for seq, event in enumerate(events):
            if event["type"] == "tool_call":
                units.add_call(seq, event)
            elif event["type"] == "tool_result":
                units.add_result(seq, event)
        return units

    def add_call(self, seq: int, event: Event) -> Sequence[int]:
        """Take in a call; gives the results that waited for it."""
        name, provided = event["id"], event.get("call_id")
        self._by_event_id[name] = seq
        if type(provided) is str:
            self._by_provider_id[provided] = seq
        waiting = self._waiting.pop(name, ()) if self._waiting else ()
        for result in waiting:
            self._pair(seq, result)
        return waiting

    def add_result(self, seq: int, event: Event) -> int | None:
        """Take in a result; gives its call's place, or None while there is none."""
        name = event["call_id"]
        call = self._by_event_id.get(name)
        if call is None and self._by_provider_id:
            call = self._by_provider_id.get(name)
        if call is None:
            self._waiting.setdefault(name, []).append(seq)
        else:
            self._pair(call, seq)
        return call

    def _pair(self, call: int, result: int) -> None:
        self._call[result] = call
        self._results.setdefault(call, []).append(result)

    def lead(self, seq: int) -> int:
        """The event that stands for the unit: the call of a result, else the event itself."""
        return self._call.get(seq, seq)

    def results(self, call: int) -> Sequence[int]:
        """The results of a call in trace order."""
        return self._results.get(call, ())

    def members(self, lead: int) -> Sequence[int]:
        """The events of the unit that `lead` stands for, itself first."""
        results = self._results.get(lead)
        return (lead, *results) if results else (lead,)

    @property
    def orphans(self) -> list[int]:
        """Results without a call."""
        return sorted(seq for waiting in self._waiting.values() for seq in waiting)

    @property
    def open_count(self) -> int:
        """How many calls have no result."""
        return len(self._by_event_id) - len(self._results)

    @property
    def open_calls(self) -> list[int]:
        """Calls without a result."""
        return [seq for seq in self._by_event_id.values() if seq not in self._results]
