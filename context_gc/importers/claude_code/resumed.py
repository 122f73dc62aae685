"""Resumed sessions: which lines several files hold, and in which order such files were written."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence

from ..files.document import Document, objects
from ..recording.names import milliseconds
from .log import key_of

_UUID = re.compile(rb'"(?:uuid|messageUuid)"\s*:\s*"([^"\\]{1,64})"')


def shared_keys(documents: Sequence[Document]) -> frozenset[str]:
    """The keys of lines that may stand in more than one of the files. Looks at bytes alone."""
    once: set[bytes] = set()
    more: set[bytes] = set()
    for document in documents:
        found = set(_UUID.findall(document.data)) if len(documents) > 1 else set()
        more |= found & once
        once |= found
    return frozenset(key.decode("utf-8", "replace") for key in more)


def in_order(documents: Sequence[Document], shared: Container[str]) -> list[Document]:
    """The files as they were begun: one that says it was forked, or began its own lines later, comes later.

    A file without lines of its own was copied whole, and comes first.
    """
    if not shared:
        return list(documents)
    return sorted(documents, key=lambda document: _begun(document, shared))


def _begun(document: Document, shared: Container[str]) -> tuple[bool, int]:
    forked, text = b'"forkedFrom"' in document.data, document.text
    for record in objects(text, text.count("\n") + 1):
        key, time = key_of(record), milliseconds(record.get("timestamp"))
        if key and key not in shared and time is not None:
            return forked, time
    return forked, -1
