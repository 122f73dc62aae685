"""Anthropic Messages API: a list of messages, a request with its `system`, rows of either, and logs of requests.

Also its event streams, as SSE text or one event a line: each message in one is an answer. Thinking with
signatures, redacted thinking, images, server tools and compaction blocks are told, and kept as they were.
Logs are read as those of OpenAI Chat are.

For export: see `openai_chat`; the system prompt's events have an envelope of their own, {"system": …}.
"""

from __future__ import annotations

from ..trace import Problem, Trace
from .files.document import Document, Record
from .provider_messages.events import message_key, tell_message
from .provider_messages.layout import Contents, opening
from .provider_messages.shapes import ANTHROPIC, MESSAGE_FIELDS, claimed, is_message, is_summary
from .provider_messages.stream import is_stream_event, joined, sse_events
from .provider_messages.traces import Dialect, conversation, read_traces

name = ANTHROPIC

DIALECT = Dialect(ANTHROPIC, MESSAGE_FIELDS, is_message, tell_message, message_key, is_summary)


def sniff(head: bytes) -> bool:
    """Whether the file begins with messages, requests or stream events that only Anthropic's API has."""
    return claimed(head) == ANTHROPIC


def read(document: Document) -> list[Trace]:
    """One trace a conversation; see `read_traces` for how records are counted, of a stream its events are.

    Raises:
        TraceError: no message in it is whole.
    """
    head = opening(document.head)
    if head.layout == "none":
        return [_stream(document, sse_events(document.text), [])]
    if head.layout == "lines" and any(is_stream_event(row.value) for row in head.rows):
        return [_stream(document, *document.records())]
    return read_traces(document, DIALECT)


def _stream(document: Document, events: list[Record], problems: list[Problem]) -> Trace:
    messages = [Record(line, message) for message, line in joined(events)]
    trace = conversation(document.name, DIALECT, Contents("lines", messages), problems)
    others = [event.value.get("type") for event in events if not is_stream_event(event.value)]
    kinds = [kind[:40] if type(kind) is str else "untyped event" for kind in others]
    trace.ignored = {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)}
    trace.records_read = len(events) - len(others)
    return trace
