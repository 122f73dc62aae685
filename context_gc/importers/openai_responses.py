"""OpenAI Responses API: lists of items, requests with their output, one a file or one a row, and logs of them.

A request that names `previous_response_id` goes on from that response's row; others are joined by what they
repeat (see `messages_threads`). Codex files hold the same items in an envelope of their own and are not these.

For export: see `openai_chat`; the same fields hold items instead of messages.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..trace import Trace
from .files.document import Document
from .provider_messages.items import is_item, item_key, tell_item
from .provider_messages.shapes import ITEM_FIELDS, RESPONSES, claimed, is_message, is_summary
from .provider_messages.traces import Dialect, read_traces

name = RESPONSES


def _is_entry(record: Mapping[str, Any]) -> bool:
    return is_item(record) or (is_message(record) and "input" not in record)


DIALECT = Dialect(RESPONSES, ITEM_FIELDS, _is_entry, tell_item, item_key, is_summary, ("instructions",))


def sniff(head: bytes) -> bool:
    """Whether the file begins with items, or requests and responses, of the Responses API."""
    return claimed(head) == RESPONSES


def read(document: Document) -> list[Trace]:
    """One trace a conversation; see `read_traces` for how records are counted.

    Raises:
        TraceError: no item in it is whole.
    """
    return read_traces(document, DIALECT)
