"""Exporters: traces to text, one format a module. `EXPORTERS` is every format that can be written.

To add a format: one module with `name`, `holds_many` and `write`, and one line in `EXPORTERS`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ..policy import Policy
from ..trace import Trace
from . import anthropic_messages, atif, native, openai_chat
from .written import Written


class Exporter(Protocol):
    """What a format's module offers."""

    name: str
    holds_many: bool  #: whether a file that is no JSONL may hold several traces

    def write(self, traces: Sequence[Trace], as_lines: bool, policy: Policy | None = None) -> Written:
        """The text of a file with these traces, and what it cannot hold.

        `as_lines`: JSONL, one trace a line where the format allows that. `policy`: write what a compaction of
        the last context window leaves, in formats that are prompts. Raises TraceError for what cannot be written.
        """


EXPORTERS: tuple[Exporter, ...] = (native, atif, openai_chat, anthropic_messages)
