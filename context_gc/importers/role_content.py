"""Plain messages, one on each line: {"role": …, "content": …}, in OpenAI's or Anthropic's words, calls included.

Lines without a role become opaque events.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..trace import Trace
from .files.document import Document
from .provider_messages.envelope import Telling
from .provider_messages.events import message_key, tell_message
from .provider_messages.layout import Contents
from .provider_messages.shapes import MESSAGE_FIELDS, PLAIN, claimed, is_message, is_summary
from .provider_messages.traces import Dialect, conversation
from .recording.recorder import Recorder

name = PLAIN


def sniff(head: bytes) -> bool:
    """Whether most of the first lines are messages of a conversation."""
    return claimed(head) == PLAIN


def read(document: Document) -> list[Trace]:
    """The one conversation of the file; its records are its lines.

    Raises:
        TraceError: no line is a whole message.
    """
    rows, problems = document.records()
    return [conversation(document.name, DIALECT, Contents("lines", rows), problems)]


def _tell(recorder: Recorder, record: Any, origin: Mapping[str, Any], fresh: bool) -> str:
    if "role" in record:
        return tell_message(recorder, record, origin, fresh)
    telling = Telling(recorder, record, origin)
    telling.opaque(record, ())
    telling.done()
    return ""


DIALECT = Dialect(PLAIN, MESSAGE_FIELDS, is_message, _tell, message_key, is_summary)
