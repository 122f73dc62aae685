"""Rules: what each stage but `clip` saves on recorded sessions, in tokens that a model saw, window by window.

Counted with the model's family, stubs included, as of the end of each window. What a window repeats from an
earlier one is compacted with the rest and left out of the figures; what was never sent is left out wholly.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from ..compactor import compact_events
from ..errors import TraceError
from ..events import Event
from ..load import load_traces
from ..policy import KNOWN_STAGES, Policy
from ..tokens import COUNTERS, family_of
from ..trace import Trace

STAGES = tuple(name for name in KNOWN_STAGES if name != "clip")
#: format -> the ratio that the median session is meant to save
GOALS: Mapping[str, float] = {
    "claude-code": 0.10,
    "pi": 0.10,
    "swe-agent": 0.20,
    "mini-swe-agent": 0.03,
    "openhands": 0.15,
    "openhands-v1": 0.15,
}


@dataclass(slots=True)
class Saved:
    """Tokens of a stretch of a session, and how many of them each stage takes away."""

    before: int = 0
    by_stage: dict[str, int] = field(default_factory=dict)

    @property
    def saved(self) -> int:
        """All stages together."""
        return sum(self.by_stage.values())

    @property
    def ratio(self) -> float:
        """What is saved, in 0..1 of what was there."""
        return self.saved / self.before if self.before else 0.0

    def add(self, other: Saved) -> None:
        """Add up, stage by stage."""
        self.before += other.before
        for stage, tokens in other.by_stage.items():
            self.by_stage[stage] = self.by_stage.get(stage, 0) + tokens


@dataclass(slots=True)
class Session:
    """One file, or one folder of a session: its windows, of all its traces in order."""

    name: str
    format: str
    windows: list[Saved] = field(default_factory=list)

    @property
    def total(self) -> Saved:
        """The windows summed."""
        whole = Saved()
        for window in self.windows:
            whole.add(window)
        return whole


def sessions(paths: Iterable[str | os.PathLike[str]]) -> list[Session]:
    """The sessions in these files and folders. Raises what `load_traces` raises."""
    found: dict[tuple[str, str], Session] = {}
    for path in paths:
        for trace in load_traces(path):
            session = found.setdefault((trace.source, trace.format), Session(trace.source, trace.format))
            session.windows += windows(trace)
    return list(found.values())


def windows(trace: Trace) -> Iterator[Saved]:
    """What is saved in each window of a trace."""
    for window in trace.windows:
        events = [event for event in trace.events[window.start : window.stop] if not event.get("unsent")]
        yield saved(events, family_of(trace.model))


def saved(events: Sequence[Event], counter: str) -> Saved:
    """What is saved in the events of one window; those that it repeats are not counted."""
    result = compact_events(events, Policy(stages=STAGES, stubs="worthwhile", counter=counter), COUNTERS[counter])
    told = Saved()
    for event in events:
        if "repeats" in event:
            continue
        name = event["id"]
        told.before += result.tokens(name)
        gain, decision = -result.impact(name), result.decision(name)
        if gain and decision is not None:
            told.by_stage[decision.stage] = told.by_stage.get(decision.stage, 0) + gain
    return told


def report(found: Sequence[Session]) -> str:
    """Markdown: a row a window and their sum for each session, then the medians against the goals."""
    heads = ["session", "window", "tokens", *STAGES, "saved", "%"]
    rows = [f"| {' | '.join(heads)} |", "|---|---|" + "---:|" * (len(heads) - 2)]
    for session in found:
        name = session.name.replace("|", "\\|")
        if len(session.windows) > 1:
            rows += [_row(name, f"{place}", each) for place, each in enumerate(session.windows, 1)]
        rows.append(_row(name, "all", session.total))
    return "\n".join([*rows, "", *_medians(found)])


def _row(name: str, window: str, each: Saved) -> str:
    cells = [f"{each.by_stage[stage]:,}" if stage in each.by_stage else "" for stage in STAGES]
    return f"| {name} | {window} | {each.before:,} | {' | '.join(cells)} | {each.saved:,} | {100 * each.ratio:.1f} |"


def _medians(found: Sequence[Session]) -> Iterator[str]:
    yield "| format | sessions | median % | goal % | reached | all tokens | all saved % |"
    yield "|---|---:|---:|---:|---|---:|---:|"
    for name in sorted({session.format for session in found}):
        totals = [session.total for session in found if session.format == name and session.total.before]
        if not totals:
            continue
        middle, goal, whole = median(each.ratio for each in totals), GOALS.get(name), Saved()
        for each in totals:
            whole.add(each)
        aim, met = ("", "") if goal is None else (f"{100 * goal:.0f}", "yes" if middle >= goal else "no")
        yield (
            f"| {name} | {len(totals)} | {100 * middle:.1f} | {aim} | {met} | {whole.before:,}"
            f" | {100 * whole.ratio:.1f} |"
        )


def listed(path: str) -> list[str]:
    """The paths that a file lists, one a line; blank lines and those that begin with `#` are none.

    Relative ones are meant from where the list stands. Raises TraceError for a list that cannot be read.
    """
    try:
        with open(path, encoding="utf-8-sig") as file:
            lines = [line.strip() for line in file]
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8 text"
        raise TraceError(path, f"the list cannot be read: {reason.lower()}", "check the path") from None
    folder = os.path.dirname(path)
    return [os.path.join(folder, line) for line in lines if line and not line.startswith("#")]
