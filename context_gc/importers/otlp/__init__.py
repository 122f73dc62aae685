"""OTLP JSON: spans of OpenTelemetry as collectors and SDKs write them to files, an object, an array or JSONL.

Records are spans. Each is read by the convention that it follows: gen_ai.*, OpenLLMetry, AI SDK or
OpenInference. Blind spots: messages that are logged as OTLP logs, apart from the spans; retrievers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ...errors import TraceError
from ...trace import Problem, Trace
from ..dialects.messages import Repeats, text_at
from ..files.document import Document, kind_of
from ..files.json_roots import Root, each_root, first_objects
from ..model_calls.conversations import conversations
from ..model_calls.spans import Span
from . import genai as otlp_genai
from . import openinference
from .attributes import attributes_of, hexadecimal, milliseconds_of

name = "otlp"

_SESSION = (
    "gen_ai.conversation.id", "session.id", "langfuse.session.id", "ai.telemetry.metadata.sessionId",
    "traceloop.association.properties.session_id",
)  # fmt: skip
_SPANS, _SCOPES = ("resourceSpans", "resource_spans"), ("scopeSpans", "instrumentationLibrarySpans", "scope_spans")


def sniff(head: bytes) -> bool:
    """Whether one of the first objects holds spans of a resource."""
    return any(_listed(value, _SPANS) is not None for value in first_objects(head))


def read(document: Document) -> list[Trace]:
    """One trace a conversation: calls whose prompts go on from one another, also across OpenTelemetry traces.

    `extra`: `trace_id` of the first call, `session_id` when a span tells one; see `conversations` for the rest.

    Raises:
        TraceError: no span tells of a message or a tool.
    """
    problems: list[Problem] = []
    damaged: list[Problem] = []
    sessions: dict[str, str] = {}
    repeats = Repeats()
    found = _spans(each_root(document, problems), damaged)
    spans = [_span(record, origin, sessions, repeats) for origin, record in found]
    for span in spans:
        span.session = sessions.get(span.trace, "")
    models = sum(span.kind == "model" for span in spans)  # before those around others are set apart
    traces = conversations(spans, name, document.name)
    if not traces:
        what = f"its {len(spans):,} spans, {models:,} of them model calls, hold no messages"
        raise TraceError(document.name, what, "turn on the capture of message content in the instrumentation")
    traces[0].problems += problems + damaged
    return traces


def _spans(found: Iterable[Root], problems: list[Problem]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Each span's place and record."""
    for origin, root in found:
        levels = [(str(origin.get("path", "")), root)]
        for keys in (_SPANS, _SCOPES, ("spans",)):
            levels = [
                (f"{path}/{key}/{index}".lstrip("/"), each)
                for path, holder in levels
                if (key := next((key for key in keys if type(holder.get(key)) is list), ""))
                for index, each in enumerate(holder[key])
                if _is_object(each, f"{path}/{key}/{index}".lstrip("/"), origin, problems)
            ]
        for path, record in levels:
            yield origin | {"path": path}, record


def _is_object(value: Any, path: str, origin: dict[str, Any], problems: list[Problem]) -> bool:
    if type(value) is not dict:
        text = f"{path}: {kind_of(value)} where an object was expected (skipped)"
        problems.append(Problem(origin.get("line"), text))
    return type(value) is dict


def _span(record: dict[str, Any], origin: dict[str, Any], sessions: dict[str, str], repeats: Repeats) -> Span:
    attributes = attributes_of(record.get("attributes"))
    title = text_at(record, "name")
    trace = hexadecimal(record.get("traceId", record.get("trace_id")))
    session = text_at(attributes, *_SESSION)
    if session:
        sessions.setdefault(trace, session)
    inference = openinference.kind_of_work(attributes)
    kind = inference or otlp_genai.kind_of_work(attributes, title) or "other span"
    span = Span(
        hexadecimal(record.get("spanId", record.get("span_id"))),
        kind,
        origin,
        hexadecimal(record.get("parentSpanId", record.get("parent_span_id"))),
        trace,
        start=milliseconds_of(record.get("startTimeUnixNano", record.get("start_time_unix_nano"))),
        end=milliseconds_of(record.get("endTimeUnixNano", record.get("end_time_unix_nano"))),
        name=title,
    )
    status = record.get("status")
    code = status.get("code") if type(status) is dict else None
    span.failed = code in (2, "2", "STATUS_CODE_ERROR") or bool(attributes.get("error.type"))
    listed = record.get("events")
    events = [
        (text_at(event, "name"), attributes_of(event.get("attributes")))
        for event in (listed if type(listed) is list else ())
        if type(event) is dict
    ]
    if kind in ("model", "tool"):
        if inference:
            openinference.fill(span, attributes, repeats)
        otlp_genai.fill(span, attributes, repeats, events)
    if span.failed and span.result is None and kind == "tool":
        told = text_at(status, "message") or next((text_at(each, "exception.message") for _, each in events), "")
        span.result = told or None
    return span


def _listed(value: dict[str, Any], keys: tuple[str, ...]) -> list[Any] | None:
    return next((value[key] for key in keys if type(value.get(key)) is list), None)
