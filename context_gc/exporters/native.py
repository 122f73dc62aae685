"""Native JSONL: one event a line, exactly as it was read. What a trace has beside events stands in a line before them.

That line is `{"trace": {"version": 1, …}}` with those of title, model, cwd, `converted_from` (a format),
`windows` (each with the id of its `first` event, null for an empty one), `usage` and `extra` that there are.
A file of one trace that has none of these has no such line. Reading gives equal events, windows and usage.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from ..errors import TraceError
from ..policy import Policy
from ..trace import Trace, Window
from .written import Written, line, origin_of

name = "native"
holds_many = True


def write(traces: Sequence[Trace], as_lines: bool, policy: Policy | None = None) -> Written:
    """Any traces. Raises TraceError when a compaction is wanted: what it leaves is a prompt, not a trace."""
    if policy is not None:
        raise TraceError("--to native", "what a compaction leaves is no trace", "use a format of messages")
    return Written("".join(part for trace in traces for part in _lines(trace, len(traces) > 1)))


def _lines(trace: Trace, is_marked: bool) -> Iterator[str]:
    about = _about(trace)
    if about or is_marked:
        yield line({"trace": {"version": 1, **about}})
    yield from map(line, trace.events)


def _about(trace: Trace) -> dict[str, Any]:
    origin = origin_of(trace)
    given = {"title": trace.title, "model": trace.model, "cwd": trace.cwd}
    given["converted_from"] = "" if origin == name else origin
    about: dict[str, Any] = {key: value for key, value in given.items() if value}
    windows = [
        {"first": trace.events[each.start]["id"] if each.start < each.stop else None, "opened_by": each.opened_by}
        | ({} if each.tokens_before is None else {"tokens_before": each.tokens_before})
        for each in trace.windows
    ]
    if trace.windows != [Window(0, len(trace.events))]:
        about["windows"] = windows
    if trace.usage:
        about["usage"] = [asdict(each) for each in trace.usage]
    extra = {key: value for key, value in trace.extra.items() if key != "converted_from"}
    return about | ({"extra": extra} if extra else {})
