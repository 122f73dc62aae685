"""LangSmith: runs as its SDK posts them and its API lists them, JSON, JSONL or {"post": […], "patch": […]}.

Records are runs; the create and the patch row of one run are two records of which it is made. Parents come
from `parent_run_id`, else from `dotted_order`. Blind spot: a tool's arguments that were logged as the text
of a Python value stay text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..errors import TraceError
from ..trace import Problem, Trace
from .dialects.messages import Repeats, message, text_at, visible
from .dialects.payloads import Tokens, answer_of, prompt_of, tokens_of
from .files.document import Document, kind_of
from .files.json_roots import Root, first_objects, roots
from .model_calls.conversations import conversations
from .model_calls.spans import Span
from .recording.names import milliseconds

name = "langsmith"

RUN_TYPES = frozenset("llm chain tool retriever embedding prompt parser agent".split())
_LISTS = ("post", "patch", "runs", "child_runs")
_SESSION = ("session_id", "thread_id", "conversation_id")
_STEERING = (
    "GraphInterrupt",
    "NodeInterrupt",
    "ParentCommand",
    "GraphBubbleUp",
)  #: how errors begin that steer a graph


def sniff(head: bytes) -> bool:
    """Whether one of the first objects is a run, or holds runs that were posted."""
    for value in first_objects(head):
        held = [each[0] for key in _LISTS if type(each := value.get(key)) is list and each and type(each[0]) is dict]
        if any(map(_is_run, [value, *held])):
            return True
    return False


def read(document: Document) -> list[Trace]:
    """One trace a conversation; runs of one thread (by their metadata) or of one trace belong together.

    `extra`: `trace_id` of the first call, `session_id`: its thread; see `conversations` for the rest.

    Raises:
        TraceError: no run holds a message.
    """
    found, problems = roots(document)
    runs: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {}
    merged = 0
    for origin, record in _records(found, problems):
        run = text_at(record, "id") or f"run {len(runs)}"
        if run in runs:
            merged += 1
            _merge(runs[run][1], record)
        else:
            runs[run] = origin, dict(record)
    repeats = Repeats()
    spans = [_span(run, origin, record, repeats) for run, (origin, record) in runs.items()]
    sessions = {text_at(record, "trace_id"): _session(record) for _, record in runs.values() if _session(record)}
    for span in spans:
        span.session = sessions.get(span.trace, "")
    traces = conversations(spans, name, document.name)
    if not traces:
        raise TraceError(
            document.name, f"its {len(spans):,} runs hold no messages", "export them with inputs and outputs"
        )
    traces[0].records_read += merged
    traces[0].problems += problems
    return traces


def _is_run(value: Mapping[str, Any]) -> bool:
    kind = value.get("run_type")
    named = type(kind) is str and kind in RUN_TYPES and ("inputs" in value or "outputs" in value or "trace_id" in value)
    return named or ("dotted_order" in value and "trace_id" in value)


def _records(found: Iterable[Root], problems: list[Problem]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Each run, also those that stand in others, with its place."""
    for origin, root in found:
        todo: list[tuple[str, Any]] = [(str(origin.get("path", "")), root)]
        while todo:
            path, value = todo.pop()
            if type(value) is not dict:
                text = f"{path}: {kind_of(value)} where an object was expected (skipped)"
                problems.append(Problem(origin.get("line"), text))
                continue
            if _is_run(value):
                yield origin | ({"path": path} if path else {}), value
            elif not any(type(value.get(key)) is list for key in _LISTS):
                problems.append(Problem(origin.get("line"), f"{path or 'the record'}: no run (skipped)"))
            for key in reversed(_LISTS):
                if type(value.get(key)) is list:
                    inner = [(f"{path}/{key}/{index}".lstrip("/"), each) for index, each in enumerate(value[key])]
                    todo += reversed(inner)


def _merge(run: dict[str, Any], patch: Mapping[str, Any]) -> None:
    """What a later row of a run says replaces what stood there, unless it says nothing."""
    for key, value in patch.items():
        if value not in (None, "", [], {}) or key not in run:
            run[key] = value


def _span(run: str, origin: dict[str, Any], record: Mapping[str, Any], repeats: Repeats) -> Span:
    kind = text_at(record, "run_type")
    order = text_at(record, "dotted_order").split(".")
    above = order[-2].partition("Z")[2] if len(order) > 1 else ""
    error = record.get("error")
    failed = type(error) is str and error != "" and not error.startswith(_STEERING)
    span = Span(
        run,
        {"llm": "model", "tool": "tool"}.get(kind, f"{kind or 'untyped'} run"),
        origin,
        text_at(record, "parent_run_id") or above,
        text_at(record, "trace_id") or order[0].partition("Z")[2],
        start=milliseconds(record.get("start_time")),
        end=milliseconds(record.get("end_time")),
        name=text_at(record, "name"),
        failed=failed,
    )
    inputs, outputs = record.get("inputs"), record.get("outputs")
    if span.kind == "tool":
        span.arguments = _arguments(inputs)
        _read_result(span, outputs)
        if span.result is None and failed:
            span.result = error
    elif span.kind == "model":
        span.prompt, span.answer = prompt_of(inputs, repeats), answer_of(outputs)
        span.model = text_at(_metadata(record), "ls_model_name") or text_at(inputs, "model")
        span.tokens = _tokens(record, span, outputs)
    return span


def _arguments(inputs: Any) -> Any:
    if type(inputs) is dict and list(inputs) == ["input"]:
        return inputs["input"]
    return inputs


def _read_result(span: Span, outputs: Any) -> None:
    held = outputs.get("output", outputs) if type(outputs) is dict else outputs
    said = message(held) if type(held) is dict else None
    result = next((part for part in said.parts if part.kind == "result"), None) if said is not None else None
    if result is not None:
        span.result, span.call, span.failed = result.value, result.call, span.failed or result.failed
        span.name = result.name or span.name
    elif held not in (None, {}):
        span.result = visible(held)


def _tokens(record: Mapping[str, Any], span: Span, outputs: Any) -> Tokens:
    """What the answer's own message reports, else the response, else the run."""
    reports = [each.facts.get("usage_metadata") for each in span.answer]
    outer = outputs if type(outputs) is dict else {}
    inner = outer.get("llm_output")
    reports += [
        outer.get("usage_metadata"),
        outer.get("usage"),
        inner.get("token_usage") if type(inner) is dict else None,
    ]
    return next((tokens for report in [*reports, record] if any(tokens := tokens_of(report))), Tokens())


def _metadata(record: Mapping[str, Any]) -> Any:
    extra = record.get("extra")
    return extra.get("metadata") if type(extra) is dict else None


def _session(record: Mapping[str, Any]) -> str:
    return text_at(_metadata(record), *_SESSION)
