"""Claude Code: sessions as its command line logs them, ~/.claude/projects/PROJECT/SESSION.jsonl.

The main session is the first trace, each subagent one more. The files of a project folder are read together:
sessions, their subagents, and sessions that go on from one another, of which each line is read once. Record
types that never reach the model are counted in `ignored`. Blind spots: tool results that were too large and
stand in files of their own are not put back; a session that goes on from another begins where the other ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...errors import TraceError
from ...trace import Problem, Trace
from ..files.document import BLANK, Document, objects
from ..files.fields import text
from . import files
from .files import agent_of, is_description
from .links import arranged, link
from .log import Copied, Log, Told
from .resumed import in_order, shared_keys

name = "claude-code"

RECORD_TYPES = frozenset(
    ("user", "assistant", "system", "progress", "summary", "attachment", "file-history-snapshot", "queue-operation")
)  # many more exist; a session that matters has some of these early on

groups = files.groups


def sniff(head: bytes) -> bool:
    """Whether one of the first 50 lines is a record of a Claude Code session."""
    return any(map(_claims, objects(head.decode("utf-8", "replace").lstrip(BLANK), 50)))


def read(document: Document) -> list[Trace]:
    """The main session and its subagents, the main session first. Damaged lines are reported and skipped.

    `extra` of each trace holds, where known, `session_id`, `agent_id`, what links it to other traces (see
    `links`) and `resumes`: the session that it goes on from. Every event has `origin` {"line", and "block"
    when it is one of several}; assistant events have `message_id`; events away from the trace's directory
    have `cwd`.
    """
    found = Log(document).told(name)
    link(found, {})
    return [each.trace for each in found]


def read_group(documents: Sequence[Document]) -> list[Trace]:
    """The sessions of a project, each followed by its subagents; problems stand in the first trace of their file.

    `resumes` of a session also holds `event`, where the other session is among them. A file of another
    format is read as what it is.
    """
    logs = [document for document in documents if not is_description(document.name) and sniff(document.head)]
    mains = [document for document in logs if not agent_of(document.name)]
    copied = Copied(shared_keys(mains))
    told: dict[int, list[Told]] = {}
    resumed: list[tuple[Told, str]] = []
    for document in in_order(mains, copied.shared):
        log = Log(document, copied)
        told[id(document)] = log.told(name, copied.shared)
        if log.copied:
            resumed.append((told[id(document)][0], log.resumed))
    for document in logs:
        if agent_of(document.name):
            told[id(document)] = Log(document).told(name)
    for later, key in resumed:
        record, origin = copied.seen[key]
        earlier = told[id(origin)][0]
        event = earlier.ids.get(text(record.get("uuid")))
        later.trace.extra["resumes"] = {"session": earlier.trace.extra.get("session_id", "")} | (
            {"event": event} if event else {}
        )
    found = [each for document in logs for each in told[id(document)]]
    problems: list[Problem] = []
    link(found, _descriptions(documents, problems))
    traces = arranged(found)
    for document in documents:
        if id(document) not in told and not is_description(document.name):
            traces += _of_another_format(document, problems)
    if not traces:
        what = "; ".join(problem.text for problem in problems[:3]) or "no file could be read"
        raise TraceError(documents[0].name if documents else "the folder", what, "name a file that holds a session")
    traces[0].problems += problems
    return traces


def _claims(record: dict[str, Any]) -> bool:
    kind, message = record.get("type"), record.get("message")
    if type(kind) is not str or kind not in RECORD_TYPES:
        return False
    if type(record.get("sessionId")) is str and ("uuid" in record or "message" in record):
        return True
    if kind not in ("user", "assistant") or type(message) is not dict or "parent_tool_use_id" in record:
        return False
    return message.get("role") == kind and isinstance(message.get("content"), str | list)


def _descriptions(documents: Sequence[Document], problems: list[Problem]) -> dict[str, dict[str, Any]]:
    """What the files about subagents say, by agent."""
    found: dict[str, dict[str, Any]] = {}
    for document in documents:
        if is_description(document.name):
            about = next(objects(document.text.replace("\n", " "), 1), None)
            if about is None:
                problems.append(Problem(None, f"{document.name}: it describes no subagent (left out)", 0))
            else:
                found[agent_of(document.name)] = about
    return found


def _of_another_format(document: Document, problems: list[Problem]) -> list[Trace]:
    """The traces of a file that only its name made one of ours."""
    from .. import IMPORTERS  # it holds this module

    claims = [importer for importer in IMPORTERS if importer.name != name and importer.sniff(document.head)]
    if len(claims) == 1:
        try:
            return claims[0].read(document)
        except TraceError as error:
            problems.append(Problem(None, f"{error} (left out)", 0))
            return []
    problems.append(Problem(None, f"{document.name}: it is of no known format (left out)", 0))
    return []
