"""A sample of an Inspect AI log -> its conversations: references resolved, scorers left out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ...canonical import own
from ...trace import Problem, Trace, Window
from ..dialects.messages import Message, is_same, message, text_at, visible
from ..dialects.payloads import count_at, prompt_of, tokens_of
from ..files.document import kind_of
from ..model_calls.conversations import conversations, unread
from ..model_calls.spans import Span
from ..recording.names import milliseconds

_REFERENCE = re.compile(r"(?:attachment|tc)://(.+)")
_DEEPEST = 50  #: levels of events within events


class Sample:
    """One sample in one epoch: its messages and events, as spans."""

    def __init__(self, record: Mapping[str, Any], origin: Mapping[str, Any], problems: list[Problem]) -> None:
        self._record, self._origin, self._problems = record, origin, problems
        old = _object(record.get("transcript"))  # before attachments had their name
        self._store = _object(old.get("content")) | _object(record.get("attachments"))
        listed = record.get("events") or old.get("events")
        self._events = listed if type(listed) is list else []
        self._known: dict[str, tuple[Any, Message | None]] = {}  # by id: a message as it stood, and as it is read
        pool = record.get("message_pool") or _object(record.get("events_data")).get("messages")
        self._pool = self._listed(pool, "the message pool")
        self._scorers: set[str] = set()
        self._steps: list[bool] = []  # of each open step whether it scores
        self._tools: list[tuple[str, str]] = []  # spans of tools whose event has not come: tool, span
        self._compaction: Mapping[str, Any] | None = None

    def traces(self, format_name: str, source: str, about: Mapping[str, Any]) -> list[Trace]:
        """The main conversation, then those of agents that worked as tools. Without messages: one without events."""
        spans = list(self._spans())
        spans += self._end(any(span.kind == "model" and span.prompt for span in spans))
        traces = conversations(spans, format_name, source)
        if not traces:
            traces = [Trace([], format_name, source, windows=[Window(0, 0)])]
            traces[0].ignored = unread(spans)
        retries = self._record.get("error_retries")
        if type(retries) is list and retries:
            traces[0].ignored["failed attempt"] = len(retries)
        told = {key: self._record[key] for key in ("epoch", "error", "limit") if self._record.get(key)}
        scores = _object(self._record.get("scores"))
        told["scores"] = {key: score.get("value") for key, score in scores.items() if type(score) is dict}
        told |= {"sample_id": self._record.get("id"), "task": about.get("task")}
        for trace in traces:
            trace.extra |= {key: value for key, value in told.items() if value not in (None, {}, "")}
            trace.model = trace.model or text_at(about, "model")
        name = [text_at(about, "task"), self._record.get("id"), f"epoch {self._record.get('epoch', 1)}"]
        traces[0].title = " ".join(str(each)[:80] for each in name if each not in (None, ""))
        return traces

    def _spans(self) -> Iterator[Span]:
        todo: list[tuple[str, Any, str, int]] = [
            (f"events/{number}", event, "", 0) for number, event in reversed(list(enumerate(self._events)))
        ]
        while todo:
            path, event, above, depth = todo.pop()
            if type(event) is not dict:
                self._report(path, f"{kind_of(event)} where an object was expected")
                continue
            span = self._span(event, path, above)
            yield span
            inner = event.get("events")
            if type(inner) is list and depth < _DEEPEST:
                numbered = [(f"{path}/events/{at}", each, span.id, depth + 1) for at, each in enumerate(inner)]
                todo += reversed(numbered)

    def _span(self, event: dict[str, Any], path: str, above: str) -> Span:
        kind = text_at(event, "event") or "untyped"
        parent = text_at(event, "span_id") or above
        span = Span(
            text_at(event, "uuid") or path, f"{kind} event", self._at(path), parent, trace=text_at(self._record, "uuid")
        )
        span.start = milliseconds(event.get("timestamp"))
        span.end = milliseconds(event.get("completed"))
        if kind == "model":
            self._read_model(span, event, path)
        elif kind == "tool":
            self._read_tool(span, event)
        elif kind == "span_begin":
            span.id, span.parent = text_at(event, "id"), text_at(event, "parent_id") or above
            if text_at(event, "type") in ("scorer", "scorers") or span.parent in self._scorers:
                self._scorers.add(span.id)
            if event.get("type") == "tool":
                self._tools.append((text_at(event, "name"), span.id))
        elif kind == "step":
            if event.get("action") == "begin":
                self._steps.append(event.get("type") == "scorer" or any(self._steps[-1:]))
            elif self._steps:
                self._steps.pop()
        elif kind == "compaction":
            self._compaction = event
        return span

    def _read_model(self, span: Span, event: dict[str, Any], path: str) -> None:
        if span.parent in self._scorers or any(self._steps[-1:]) or event.get("role") == "grader":
            span.kind = "model call of a scorer"
            return
        span.kind, span.model = "model", text_at(event, "model")
        references = event.get("input_refs")
        if type(references) is list and references:
            span.prompt = [each for pair in references for each in self._pooled(pair)]
        elif event.get("input"):
            span.prompt = self._listed(event["input"], f"{path}/input")
        output = _object(event.get("output"))
        choices = output.get("choices")
        first = choices[0] if type(choices) is list and choices else None
        answer = self._message(first.get("message")) if type(first) is dict else None
        span.answer = [] if answer is None else [answer]
        span.tokens = tokens_of(output.get("usage"))
        if self._compaction is not None:
            span.compacted, span.tokens_before = "auto", count_at(self._compaction, "tokens_before")
            span.summed_up = self._compaction.get("type", "summary") == "summary"  # not when it trims or edits
            self._compaction = None

    def _read_tool(self, span: Span, event: dict[str, Any]) -> None:
        span.kind, span.name, span.call = "tool", text_at(event, "function"), text_at(event, "id")
        mine = next((each for each in self._tools if each[0] == span.name), None)
        if mine is not None:
            self._tools.remove(mine)
            span.id = mine[1]
        span.arguments = self._resolved(event.get("arguments"))
        error = event.get("error")
        span.failed = error is not None
        result = self._resolved(event.get("result"))
        told = text_at(error, "message") if result in (None, "") else ""
        span.result = told or visible(result)

    def _end(self, began: bool) -> Iterator[Span]:
        """The final messages; of a sample that has none and never began what it was given."""
        record = self._record
        listed = record.get("messages")
        if began and not listed:
            return
        final = self._listed(listed, "messages") if listed else prompt_of(self._resolved(record.get("input")))
        if final:
            place = self._at("messages" if listed else "input")
            yield Span("", "state", place, trace=text_at(record, "uuid"), prompt=final)

    def _pooled(self, pair: Any) -> list[Message]:
        match pair:
            case [int(start), int(stop)] if 0 <= start <= stop:
                return self._pool[start:stop]
        return []

    def _listed(self, values: Any, path: str) -> list[Message]:
        found = []
        for number, value in enumerate(values if type(values) is list else [values] if values else []):
            read = self._message(value)
            if read is None:
                self._report(f"{path}/{number}", "no message", 0)
            else:
                found.append(read)
        return found

    def _message(self, value: Any) -> Message | None:
        known = self._known.get(text_at(value, "id"))
        if known is not None and is_same(known[0], value):
            return known[1]
        read = message(self._resolved(value))
        if text_at(value, "id"):
            self._known[text_at(value, "id")] = value, read
        return read

    def _resolved(self, value: Any) -> Any:
        """A copy with the texts that the sample keeps apart in their places."""
        if not self._store:
            return value
        root = [own(value)]
        todo: list[Any] = [root]
        while todo:
            holder = todo.pop()
            for key, item in enumerate(holder) if type(holder) is list else holder.items():
                if type(item) is str and (found := _REFERENCE.fullmatch(item)):
                    holder[key] = self._store.get(found[1], item)
                elif type(item) in (dict, list):
                    todo.append(item)
        return root[0]

    def _at(self, path: str) -> dict[str, Any]:
        above = self._origin.get("path")
        return {**self._origin, "path": f"{above}/{path}" if above else path}

    def _report(self, path: str, what: str, records: int = 1) -> None:
        where = " ".join(str(each) for each in (self._origin.get("member"), self._at(path)["path"]) if each)
        self._problems.append(Problem(self._origin.get("line"), f"{where}: {what} (skipped)", records))


def _object(value: Any) -> dict[str, Any]:
    return value if type(value) is dict else {}
