"""Rows of request logs, of data sets and of single requests -> exchanges: what was sent, and what came back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..files.document import parse_at
from ..recording.names import milliseconds
from .stream import streamed_messages

#: where loggers put the request and the response in a row; each may hold it under `body` once more, as JSON text too
_REQUESTS = ("request", "request_body", "requestBody", "body", "kwargs", "params", "payload", "data")
_RESPONSES = ("response", "response_body", "responseBody", "completion", "result", "output", "body")
_INNER = ("body", "message", "data")
_TIMES = ("timestamp", "created_at", "created", "logged_at", "start_time", "time", "date")


@dataclass(slots=True)
class Exchange:
    """One request with its response. `own` are the entries that it sent, beyond those of the one it goes on from."""

    row: int  #: line or place of its row
    request: dict[str, Any]  #: what it sent, with null (for text "") in place of the entries
    own: Sequence[Any]
    response: dict[str, Any] = field(default_factory=dict)
    answers: Sequence[Any] = ()  #: entries that came back
    spare: Sequence[Any] = ()  #: alternatives to them that the model wrote as well
    time: Any = None  #: when it was made, as it stands in the row
    earlier: Exchange | None = None  #: the one that it names as the one before (`previous_response_id`)

    @property
    def entries(self) -> list[Any]:
        """All entries that the model saw."""
        chain: list[Exchange] = []
        before = self.earlier
        while before is not None:
            chain.append(before)
            before = before.earlier
        return [entry for each in reversed(chain) for entry in (*each.own, *each.answers)] + list(self.own)

    def origins(self) -> list[tuple[int, str, int]]:
        """For each entry and then each answer: the row, "index" or "answer", and its place there."""
        found: list[tuple[int, str, int]] = []
        each: Exchange | None = self
        while each is not None:
            own = [(each.row, "index", place) for place in range(len(each.own))]
            found[:0] = own + [(each.row, "answer", place) for place in range(len(each.answers))]
            each = each.earlier
        return found

    @property
    def model(self) -> str:
        """The model that answered, else the one that was asked."""
        models = (self.response.get("model"), self.request.get("model"))
        return next((model for model in models if type(model) is str), "")


def exchange(row: int, record: dict[str, Any], fields: Sequence[str]) -> Exchange | None:
    """What a row holds: a request whose entries stand under one of `fields`, or a response alone; None for neither."""
    request, key = _request(record, fields)
    response = _response(record)
    answers, spare = _answers(response)
    if request is None and not answers:
        return None
    own: Sequence[Any] = ()
    if request is not None:
        given = request[key]
        own = given if type(given) is list else [{"role": "user", "content": given}]
    nested = record.get("request")
    dated = (record, request or {}, response, nested if type(nested) is dict else {})
    times = (holder[field] for holder in dated for field in _TIMES if field in holder)
    time = next((time for time in times if milliseconds(time) is not None), None)
    aside = _RESPONSES if request is record and answers else ()
    kept = {name: value for name, value in (request or {}).items() if name not in aside}
    if request is not None:
        kept[key] = "" if type(request[key]) is str else None
    if request is not None and "usage" in record and "usage" not in response:
        response = {**response, "usage": record["usage"]}
    return Exchange(row, kept, own, response, answers, spare, time)


def tokens(report: Any) -> tuple[int, int, int, int]:
    """Input, output, cache reads and cache writes in a usage as OpenAI or Anthropic write it; zeros for none."""
    if type(report) is not dict:
        return 0, 0, 0, 0
    details = report.get("prompt_tokens_details") or report.get("input_tokens_details")
    cached = _count(details, "cached_tokens")
    sent = _count(report, "input_tokens") or _count(report, "prompt_tokens")
    told = _count(report, "output_tokens") or _count(report, "completion_tokens")
    read, written = _count(report, "cache_read_input_tokens"), _count(report, "cache_creation_input_tokens")
    return max(sent - cached, 0), told, cached or read, written


def _count(holder: Any, name: str) -> int:
    value = holder.get(name) if type(holder) is dict else None
    return value if type(value) is int and value >= 0 else 0


def _request(record: dict[str, Any], fields: Sequence[str]) -> tuple[dict[str, Any] | None, str]:
    for holder in (record, *_held(record, _REQUESTS)):
        for name in fields:
            if type(holder.get(name)) is list or (name == "input" and type(holder.get(name)) is str):
                return holder, name
    return None, ""


def _response(record: dict[str, Any]) -> dict[str, Any]:
    """The first part of a row that looks like a model's answer. A stream that was kept as text is put together."""
    bare = "choices" in record or "output" in record or record.get("type") == "message"
    if bare and any(_answers(record)):
        return record
    for holder in _held(record, _RESPONSES):
        raw = holder.get("body_raw")
        if type(raw) is str and (streamed := streamed_messages(raw)):
            return streamed[-1]
        if any(_answers(holder)):
            return holder
    for name in ("response", "completion"):
        if type(record.get(name)) is str:
            return {"role": "assistant", "content": record[name]}
    return {}


def _answers(response: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    """The entries of a response, and its further choices."""
    choices, output = response.get("choices"), response.get("output")
    if type(choices) is list:
        messages = [each["message"] for each in choices if type(each) is dict and type(each.get("message")) is dict]
        return messages[:1], messages[1:]
    if type(output) is list and any(type(each) is dict and "type" in each for each in output):
        return output, []
    if response.get("role") == "assistant" and isinstance(response.get("content"), str | list):
        return [response], []
    return [], []


def _held(record: dict[str, Any], names: Sequence[str]) -> Iterator[dict[str, Any]]:
    for name in names:
        outer = _opened(record.get(name))
        if outer is not None:
            yield outer
            yield from (inner for each in _INNER if (inner := _opened(outer.get(each))) is not None)


def _opened(value: Any) -> dict[str, Any] | None:
    if type(value) is str and value[:1] == "{":
        try:
            value = parse_at(value)[0]
        except ValueError:
            return None
    return value if type(value) is dict else None
