"""OpenAI Chat Completions: a list of messages, {"messages": […]}, rows that hold one each, and logs of requests.

In a log each request repeats the conversation: the last one of it is read, with the response to it, and the
others are counted as repeated. Rows of a data set are traces of their own. A Harbor export has the messages
under `conversations`. Blind spot: text-only conversations of other providers look the same and are read as these.

For export `trace.extra` has `request` (what stood beside the messages, with null in their place), `layout` (list,
object or lines), `blank` (messages without text, which are no events, each with the number of events `before` it)
and of a log the number of `requests` and, where its history was written anew, `begins`: the first event of the
conversation as it stands.
See `envelope` for the messages themselves.
"""

from __future__ import annotations

from ..trace import Trace
from .files.document import Document
from .provider_messages.events import message_key, tell_message
from .provider_messages.shapes import CHAT, MESSAGE_FIELDS, claimed, is_message, is_summary
from .provider_messages.traces import Dialect, read_traces

name = CHAT

DIALECT = Dialect(CHAT, MESSAGE_FIELDS, is_message, tell_message, message_key, is_summary)


def sniff(head: bytes) -> bool:
    """Whether the file begins with messages, or rows of them, that no stricter format claims."""
    return claimed(head) == CHAT


def read(document: Document) -> list[Trace]:
    """One trace a conversation; see `read_traces` for how records are counted.

    Raises:
        TraceError: no message in it is whole.
    """
    return read_traces(document, DIALECT)
