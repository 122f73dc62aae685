"""Aider: chat histories in Markdown (`.aider.chat.history.md`), one trace for each session in the file.

`#### ` begins what the user typed, `> ` what aider told, and the rest is the model's. Records are the runs
of lines of one of the three, and lines that begin a session. A file that is added is read, an applied
edit and a commit are what they say, `/undo` and `/drop` give up what they take back, `/clear` opens a
window. Blind spots: an answer that quotes or has such headings outside of a code block; the contents of
added files and the output of commands, which are not in the file. Token counts are as rounded there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ...errors import TraceError
from ...trace import Trace
from ..files.document import Document
from ..recording.history import one_line
from .told import Teller

name = "aider"

SESSION = "# aider chat started at "

_SIGNS = re.compile(
    rf"^(?:{SESSION}\d"
    r"|#### /(?:add|drop|ask|code|architect|undo|clear|reset|run|test|commit|diff|model|tokens|read-only|lint)\b"
    r"|> (?:Applied edit to |Added .+ to the chat|Commit [0-9a-f]{7,40} |Tokens: \S+ sent, |Aider v\d))",
    re.MULTILINE,
)
_FENCE = re.compile(r"(`{3,}|~{3,})")


class Run(NamedTuple):
    """Lines of one speaker that stand together."""

    speaker: str  #: user, told, assistant, session
    line: int  #: of the file, from 1
    lines: list[str]


def sniff(head: bytes) -> bool:
    """Whether a line of the text is one that aider writes, and the text is no JSON."""
    text = head.decode("utf-8", "replace").lstrip()
    return text[:1] not in ("{", "[") and _SIGNS.search(text) is not None


def read(document: Document) -> list[Trace]:
    """A trace for each session in which someone said something; the others are counted in `ignored`.

    Raises:
        TraceError: nobody said anything.
    """
    traces: list[Trace] = []
    left = 0
    for session in _sessions(_runs(document.text)):
        begun = session[0] if session[0].speaker == "session" else None
        if not any(run.speaker in ("user", "assistant") and _said(run) for run in session):
            left += len(session)
            continue
        teller = Teller(name, document.name, begun.lines[0].removeprefix(SESSION).strip() if begun else "")
        for run in session:
            teller.take(run.speaker, run.lines, run.line)
        trace = teller.done()
        said = next((event["content"] for event in trace.events if event["type"] == "requirement"), "")
        trace.title = one_line(said) or teller.begun
        trace.records_read = len(session) - sum(trace.ignored.values())
        traces.append(trace)
    if not traces:
        raise TraceError(document.name, "nobody says anything in it", "name a file that holds a chat")
    if left:
        traces[0].ignored["session without messages"] = left
    return traces


def _said(run: Run) -> bool:
    return any(line.strip() for line in run.lines)


def _sessions(runs: Iterator[Run]) -> Iterator[Sequence[Run]]:
    session: list[Run] = []
    for run in runs:
        if run.speaker == "session" and session:
            yield session
            session = []
        session.append(run)
    if session:
        yield session


def _runs(text: str) -> Iterator[Run]:
    """The lines, by speaker. In a code block of an answer only lines that end as aider ends its own are another's."""
    run, fence = Run("", 1, []), ""
    for number, line in enumerate(text.split("\n"), 1):
        line = line.rstrip("\r")
        speaker = _speaker(line)
        if fence and speaker in ("user", "told") and not line.endswith("  "):
            speaker = "assistant"
        if speaker == "assistant":
            if not line.strip() and run.speaker != "assistant":
                if run.lines:
                    yield run
                run = Run("", number, [])
                continue
            mark = _FENCE.match(line)
            if mark and not fence:
                fence = mark[1]
            elif mark and line.strip() == fence:
                fence = ""
        else:
            fence = ""
        if speaker != run.speaker or speaker == "session":
            if run.lines:
                yield run
            run = Run(speaker, number, [])
        run.lines.append(line)
    if run.lines:
        yield run


def _speaker(line: str) -> str:
    if line.startswith(SESSION):
        return "session"
    if line.startswith("#### "):
        return "user"
    return "told" if line.startswith("> ") or line.rstrip() == ">" else "assistant"
