"""Conversations, and threads of a request log -> traces."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...errors import TraceError
from ...trace import Problem, Trace
from ..files.document import Document, Record
from ..recording.history import one_line
from ..recording.recorder import Recorder
from .events import tell_system
from .exchanges import Exchange, exchange, tokens
from .layout import Contents, contents
from .threads import Key, Step, keys, threads

REPEATED = "request that a later one repeats"  #: what such a row is counted as
BLANK_MESSAGE = "blank message"

Origin = Callable[[int, str, int], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one provider's entries (messages or items) are found, compared and told."""

    name: str
    fields: tuple[str, ...]  #: of a request, that may hold its entries
    is_entry: Callable[[Mapping[str, Any]], bool]
    tell: Callable[[Recorder, Any, Mapping[str, Any], bool], str]  #: returns what is wrong with an entry, or ""
    key: Callable[[Any], Key]
    is_summary: Callable[[Any], bool]
    systems: tuple[str, ...] = ("system",)  #: fields of a request that hold a system prompt


def read_traces(document: Document, dialect: Dialect) -> list[Trace]:
    """The traces of a file: a list of entries, one request, or rows that each hold a conversation or a request.

    Records are the entries of a single conversation, else the rows.
    """
    found, problems = contents(document)
    if any(dialect.is_entry(row.value) for row in found.rows[:50]) and found.layout != "object":
        return [conversation(document.name, dialect, found, problems)]
    return _log(document.name, dialect, found, problems)


def conversation(source: str, dialect: Dialect, found: Contents, problems: list[Problem]) -> Trace:
    """The trace of rows that are entries themselves. Origins are {"line"} or {"index"}."""
    rows = found.rows
    field = "line" if found.layout == "lines" else "index"
    telling = _Thread(dialect, source, lambda row, kind, place: {field: rows[place].line}, True)
    telling.add(Step(Exchange(0, {}, [row.value for row in rows])))
    return _finished(source, [telling], problems, found.layout)[0]


def _log(source: str, dialect: Dialect, found: Contents, problems: list[Problem]) -> list[Trace]:
    exchanges: list[Exchange] = []
    others: list[Record] = []
    for row in found.rows:
        made = exchange(row.line, row.value, dialect.fields)
        if made is None or not (made.own or made.answers):
            others.append(row)
        else:
            exchanges.append(made)
    _chain(exchanges)
    single = found.layout == "object"
    field = {"lines": "line", "list": "row"}.get(found.layout, "")
    tellings: list[_Thread] = []
    for steps in threads(exchanges, dialect.key, dialect.is_summary):
        telling = _Thread(dialect, source, _origin(field), single)
        for step in steps:
            telling.add(step)
        tellings.append(telling)
    traces = _finished(source, tellings, problems, found.layout)
    if others:
        traces[0].ignored["row without a conversation"] = len(others)
    return traces


def _origin(field: str) -> Origin:
    def origin(row: int, kind: str, place: int) -> dict[str, Any]:
        found = {field: row} if field else {}
        if kind:
            found[kind] = place
        return found

    return origin


def _chain(exchanges: Sequence[Exchange]) -> None:
    """Join requests that name the response that they go on from and do not repeat it."""
    by_response: dict[str, Exchange] = {}
    for each in exchanges:
        named, answered = each.request.get("previous_response_id"), each.response.get("id")
        if type(named) is not str:
            named = each.response.get("previous_response_id")
        if type(named) is str:
            each.earlier = by_response.get(named)
        if type(answered) is str:
            by_response[answered] = each


def _finished(source: str, tellings: Sequence[_Thread], problems: list[Problem], layout: str) -> list[Trace]:
    """The traces that have events, with what concerns the file in the first of them."""
    all_traces = [telling.done(layout) for telling in tellings]
    problems += [problem for telling in tellings for problem in telling.problems]
    problems.sort(key=lambda problem: problem.line or 0)
    traces = [trace for trace in all_traces if trace.events]
    if not traces:
        told = "; ".join(problem.text for problem in problems[:3]) or "all of it is blank"
        raise TraceError(source, f"no message in it is whole: {told}", "name a file that holds a conversation")
    for trace in all_traces:
        if not trace.events:
            blank = {BLANK_MESSAGE: trace.records_read} if trace.records_read else {}
            for kind, count in (*trace.ignored.items(), *blank.items()):
                traces[0].ignored[kind] = traces[0].ignored.get(kind, 0) + count
    traces[0].problems = problems
    return traces


class _Thread:
    """Records one conversation. `single`: its entries are the file's records, otherwise its rows are."""

    def __init__(self, dialect: Dialect, source: str, origin: Origin, single: bool) -> None:
        self.recorder = Recorder(dialect.name, source)
        self.problems: list[Problem] = []
        self._dialect, self._origin, self._single = dialect, origin, single
        self._spans: list[tuple[int, int]] = []  # the events of each entry of the branch
        self._told: set[int] = set()  # rows, or entries of a single conversation, that gave events
        self._faults: dict[int, list[str]] = {}
        self._passed: set[int] = set()
        self._blank: list[dict[str, Any]] = []
        self._begins = 0  # where the conversation begins that the last request holds
        self._request: dict[str, Any] = {}
        self._systems: set[str] = set()  # fields whose events hold what the last request has
        self._tokens: int | None = None  # that the last model call with a report took

    def add(self, step: Step) -> None:
        """Tell what a step has beyond the one before it."""
        last, recorder = step.last, self.recorder
        recorder.trace.model = recorder.trace.model or last.model
        self._passed.update(each.row for _, each in step.passed)
        origins, entries = last.origins(), [*last.entries, *last.answers]
        if step.window:
            recorder.open_window(tokens_before=self._tokens)
            self._spans.clear()
            self._blank.clear()
            self._begins = len(recorder.events)
        elif step.kept < len(self._spans):
            self._take_back(step.kept, self._origin(last.row, "", 0))
        told = self._request if self._spans else {}
        for field in self._dialect.systems:
            value = last.request.get(field)
            if self._spans and value != told.get(field):
                self._systems.discard(field)
            elif not self._spans and value is not None:
                count = len(recorder.events)
                tell_system(recorder, field, value, self._origin(last.row, "", 0))
                self._systems.update((field,) if len(recorder.events) > count else ())
        self._request = last.request
        count = 0
        ends: dict[int, int] = {}  # how many entries with a key there are so far -> the last event of the last of them
        simple = len(step.passed) < 2 and not step.start
        when = step.passed[0][1].time if step.passed else None
        known = [()] * len(entries) if simple else keys(entries, self._dialect.key)
        for place, key in enumerate(known):
            count += bool(key)
            if step.start and count <= step.start:
                continue
            if not simple:
                when = next((each.time for answered, each in step.passed if count <= answered), None)
            if when is not None:
                recorder.at(when)
            if place == len(entries) - len(last.answers):
                self._tell_spare(last)
            start = len(recorder.events)
            self._tell(entries[place], origins[place], step.window and place < 3)
            self._spans.append((start, len(recorder.events)))
            ends[count] = len(recorder.events) - 1
        for answered, each in step.passed:
            report = tokens(each.response.get("usage"))
            recorder.used(ends.get(0 if simple else answered, -1), *report)
            self._tokens = sum(report) or self._tokens

    def done(self, layout: str) -> Trace:
        """The trace, with its records accounted for."""
        trace = self.recorder.done()
        prompt = next((event["content"] for event in trace.events if event["type"] == "requirement"), "")
        trace.title = one_line(prompt)
        trace.records_read = len(self._told - self._faults.keys())
        trace.extra["layout"] = layout
        if self._request:
            trace.extra["request"] = {k: None if k in self._systems else v for k, v in self._request.items()}
        if len(self._passed) > 1:
            trace.extra["requests"] = len(self._passed)
        if self._begins:
            trace.extra["begins"] = self._begins
        if self._blank:
            trace.extra["blank"] = [{k: each[k] for k in ("origin", "record", "before")} for each in self._blank]
            if self._single:
                trace.ignored[BLANK_MESSAGE] = len(self._blank)
        repeated = len(self._passed - self._told - self._faults.keys())
        if repeated and not self._single:
            trace.ignored[REPEATED] = repeated
        for row, faults in self._faults.items():
            more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
            self.problems.append(Problem(row if layout == "lines" else None, f"{faults[0]} (skipped){more}"))
        return trace

    def _tell(self, entry: Any, place: tuple[int, str, int], fresh: bool) -> None:
        origin = self._origin(*place)
        number = (origin["line"] if "line" in origin else len(self._spans)) if self._single else place[0]
        before = len(self.recorder.events)
        fault = self._dialect.tell(self.recorder, entry, origin, fresh)
        if fault:
            where = "" if self._single or "line" in origin else f"row {place[0]}, "
            where += f"{'message' if place[1] == 'index' else place[1]} {place[2]}: "
            self._faults.setdefault(number, []).append(where + fault)
        elif len(self.recorder.events) > before:
            self._told.add(number)
        else:
            self._blank.append({"origin": origin, "record": entry, "before": before, "entry": len(self._spans)})
            if not self._single:
                self._told.add(number)

    def _tell_spare(self, last: Exchange) -> None:
        for place, spare in enumerate(last.spare, 1):
            start = len(self.recorder.events)
            self._tell(spare, (last.row, "choice", place), False)
            taken = range(start, len(self.recorder.events))
            self.recorder.abandon(taken, "another choice was used", self._origin(last.row, "choice", place))

    def _take_back(self, kept: int, origin: Mapping[str, Any]) -> None:
        places = [place for start, stop in self._spans[kept:] for place in range(start, stop)]
        tip = max((stop - 1 for start, stop in self._spans[:kept] if stop > start), default=-1)
        self.recorder.abandon(places, "taken back by a later request", origin, tip)
        del self._spans[kept:]
        self._blank = [each for each in self._blank if each["entry"] < kept]
