"""Importers: one trace format a module. `IMPORTERS` is every format that `load_traces` knows.

To add a format: one module with `name`, `sniff` and `read`, one line in `IMPORTERS`, one sample trace.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from ..trace import Trace
from . import (
    aider,
    anthropic_messages,
    anthropic_sessions,
    atif,
    claude_code,
    cline,
    codex,
    codex_exec,
    copilot_cli,
    gemini_cli,
    gemini_contents,
    inspect_ai,
    kimi,
    langchain,
    langfuse,
    langsmith,
    mini_swe_agent,
    native,
    openai_chat,
    openai_responses,
    opencode,
    openhands,
    openhands_v1,
    otlp,
    pi,
    role_content,
    swe_agent,
    tau_bench,
)
from .files.document import Document


class Importer(Protocol):
    """What a format's module offers. Opens no paths: a document in, traces out."""

    name: str

    def sniff(self, head: bytes) -> bool:
        """Whether a file that begins so is of this format: cheap, and False rather than an error.

        `head` is the first 64 KiB and more (see `Document.head`): for text, UTF-8 without a byte order mark.
        """

    def read(self, document: Document) -> list[Trace]:
        """Every trace in the document. Damaged records become problems of the first trace.

        Each record is counted once: in `Trace.records_read`, by kind in `Trace.ignored`, or in the `records` of a
        problem. What a record is says the module: a line, a message, a step, a span.

        Raises:
            TraceError: nothing in it is whole.
        """


@runtime_checkable
class Grouping(Importer, Protocol):
    """A format that spreads one trace, or traces that belong together, over several files."""

    def groups(self, paths: Sequence[str]) -> list[tuple[str, ...]]:
        """Which of these relative paths of a folder are read together, judged by their names alone."""

    def read_group(self, documents: Sequence[Document]) -> list[Trace]:
        """The traces of one group, whose documents come in its order. Raises TraceError as `read` does."""


#: in the order that messages name them; at most one claims a file
IMPORTERS: tuple[Importer, ...] = (
    native,
    claude_code,
    codex,
    codex_exec,
    copilot_cli,
    pi,
    opencode,
    kimi,
    gemini_cli,
    gemini_contents,
    cline,
    aider,
    openhands,
    openhands_v1,
    swe_agent,
    mini_swe_agent,
    inspect_ai,
    tau_bench,
    otlp,
    langsmith,
    langfuse,
    atif,
    langchain,
    openai_chat,
    openai_responses,
    anthropic_messages,
    anthropic_sessions,
    role_content,
)

#: those whose files may be zip archives: what an archive holds unpacked may look like any format
ARCHIVED: tuple[Importer, ...] = (inspect_ai,)
