"""Langfuse: traces and observations as its UI, its API and its batch exports give them, JSON or JSONL.

Records are observations, and traces that hold no generation: those count as one model call of their own.
Inputs and outputs are JSON in strings, at times twice; where they are absent the OpenTelemetry attributes
in the observation's metadata stand in. Blind spot: tools that were logged as plain spans are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..errors import TraceError
from ..trace import Problem, Trace
from .dialects.messages import Message, Part, Repeats, text_at, visible
from .dialects.payloads import Tokens, answer_of, count_at, prompt_of, tokens_of
from .files.document import Document, kind_of
from .files.json_roots import Root, decoded, first_objects, roots
from .model_calls.conversations import conversations
from .model_calls.spans import Span
from .otlp import genai as otlp_genai
from .otlp.attributes import attributes_of
from .recording.names import milliseconds

name = "langfuse"

TYPES = frozenset("GENERATION SPAN EVENT TOOL AGENT CHAIN RETRIEVER EVALUATOR EMBEDDING GUARDRAIL".split())
_ABOUT_TRACE = frozenset(("sessionId", "userId", "htmlPath", "session_id", "project_id", "user_id"))


def sniff(head: bytes) -> bool:
    """Whether one of the first objects is a trace or an observation of Langfuse, or holds them."""
    for value in first_objects(head):
        inner = value.get("data")
        each = inner[0] if type(inner) is list and inner and type(inner[0]) is dict else value
        held = each.get("trace")
        if _is_observation(each) or _is_trace(each) or (type(held) is dict and _is_trace(held)):
            return True
    return False


def read(document: Document) -> list[Trace]:
    """One trace a conversation; those of one session or one Langfuse trace belong together.

    `extra`: `trace_id` of the first call, `session_id` where a trace tells one; see `conversations` for the rest.

    Raises:
        TraceError: no observation holds a message.
    """
    found, problems = roots(document)
    sessions: dict[str, str] = {}
    spans: list[Span] = []
    known: dict[str, Span] = {}
    repeats = Repeats()
    for origin, record in _records(found, problems):
        if _is_observation(record):
            span = _span(record, origin, repeats)
            if known.setdefault(span.id, span) is not span:
                span.id, span.kind = "", "repeated observation"
            spans.append(span)
        else:
            session = _at(record, "sessionId", "session_id")
            if type(session) is str and session:
                sessions[text_at(record, "id")] = session
            spans.append(_of_trace(record, origin, repeats))
    generated = {span.trace for span in spans if span.kind == "model"}
    for span in [span for span in spans if span.kind == "trace"]:
        if span.trace in generated:
            spans.remove(span)
        span.kind = "model"
    for span in spans:
        span.session = sessions.get(span.trace, "")
    traces = conversations(spans, name, document.name)
    if not traces:
        raise TraceError(document.name, f"its {len(spans):,} observations hold no messages", "export them with inputs")
    traces[0].problems += problems
    return traces


def _is_observation(value: Mapping[str, Any]) -> bool:
    kind = value.get("type")
    if type(kind) is not str or kind not in TYPES or "id" not in value:
        return False
    return ("startTime" in value or "start_time" in value) and ("traceId" in value or "trace_id" in value)


def _is_trace(value: Mapping[str, Any]) -> bool:
    if type(value.get("observations")) is list and ("timestamp" in value or "projectId" in value):
        return True
    if "timestamp" not in value or "id" not in value or "type" in value:
        return False
    return "projectId" in value or ("input" in value and not _ABOUT_TRACE.isdisjoint(value))


def _records(found: Iterable[Root], problems: list[Problem]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Each trace and each observation, with its place."""
    for origin, root in found:
        todo: list[tuple[str, Any]] = [(str(origin.get("path", "")), root)]
        while todo:
            path, value = todo.pop()
            if type(value) is not dict:
                text = f"{path}: {kind_of(value)} where an object was expected (skipped)"
                problems.append(Problem(origin.get("line"), text))
                continue
            if _is_observation(value) or _is_trace(value) or path.rpartition("/")[2] == "trace":
                yield origin | ({"path": path} if path else {}), value
            elif not any(key in value for key in ("trace", "observations", "data")):
                told = f"{path or 'the record'}: neither a trace nor an observation (skipped)"
                problems.append(Problem(origin.get("line"), told))
            for key in ("data", "observations"):
                if type(value.get(key)) is list:
                    inner = [(f"{path}/{key}/{index}".lstrip("/"), each) for index, each in enumerate(value[key])]
                    todo += reversed(inner)
            if type(value.get("trace")) is dict:
                todo.append((f"{path}/trace".lstrip("/"), value["trace"]))


def _span(record: dict[str, Any], origin: dict[str, Any], repeats: Repeats) -> Span:
    kind = {"GENERATION": "model", "TOOL": "tool"}.get(record["type"], f"{record['type']} observation")
    span = Span(
        text_at(record, "id"),
        kind,
        origin,
        text_at(record, "parentObservationId", "parent_observation_id"),
        text_at(record, "traceId", "trace_id"),
        start=milliseconds(_at(record, "startTime", "start_time")),
        end=milliseconds(_at(record, "endTime", "end_time")),
        name=text_at(record, "name"),
        model=text_at(record, "model", "providedModelName", "internalModel"),
        failed=record.get("level") == "ERROR",
    )
    if kind in ("model", "tool"):
        metadata = decoded(record.get("metadata"))
        attributes = attributes_of(decoded(metadata.get("attributes"))) if type(metadata) is dict else {}
        _fill(span, record, repeats)
        otlp_genai.fill(span, attributes, repeats)
    return span


def _of_trace(record: dict[str, Any], origin: dict[str, Any], repeats: Repeats) -> Span:
    trace = text_at(record, "id")
    start = milliseconds(record.get("timestamp"))
    span = Span(trace, "trace", origin, trace=trace, start=start, name=text_at(record, "name"))
    _fill(span, record, repeats)
    return span


def _fill(span: Span, record: Mapping[str, Any], repeats: Repeats) -> None:
    given, back = record.get("input"), record.get("output")
    if span.kind == "tool":
        span.arguments = decoded(given) if given is not None else None
        back = decoded(back, 1) if type(back) is str and back.startswith('"') else back
        told = text_at(record, "statusMessage", "status_message") if span.failed else ""
        span.result = visible(back) if back is not None else told or None
        return
    span.prompt = prompt_of(decoded(given), repeats)
    span.answer = answer_of(decoded(back))
    if type(back) is str and [part.kind for each in span.answer for part in each.parts] == ["opaque"]:
        span.answer = [Message("assistant", [Part("text", back)])]  # JSON that the model wrote
    report = _at(record, "usageDetails", "usage_details", "usage")
    tokens = tokens_of(decoded(report))
    if not any(tokens):
        input_, output = (
            count_at(record, "promptTokens", "inputUsage"),
            count_at(record, "completionTokens", "outputUsage"),
        )
        tokens = Tokens(input_, output)
    span.tokens = tokens


def _at(record: Mapping[str, Any], *keys: str) -> Any:
    return next((record[key] for key in keys if record.get(key) is not None), None)
