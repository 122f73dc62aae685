"""Claude Code: a session as its command line logs it, ~/.claude/projects/<project>/<session>.jsonl.

The main session is the first trace, each subagent in the same file one more. Record types that never
reach the model are counted in `ignored`. Blind spots: files of a session's other subagents are not
opened; a branch that was rewound to from behind a compaction starts a window of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...trace import Problem, Trace
from ..files.document import BLANK, Document, Record, objects
from .blocks import why_none
from .events import Builder
from .lines import Line, classify, damage, same_record
from .tree import Tree

name = "claude-code"

RECORD_TYPES = frozenset(
    ("user", "assistant", "system", "progress", "summary", "attachment", "file-history-snapshot", "queue-operation")
)  # many more exist; a session that matters has some of these early on
TITLE_FIELDS = ("customTitle", "aiTitle", "summary")  #: of records that name the session, best first
LONGEST_TITLE = 80  #: characters


def sniff(head: bytes) -> bool:
    """Whether one of the first 50 lines is a record of a Claude Code session."""
    return any(map(_claims, objects(head.decode("utf-8", "replace").lstrip(BLANK), 50)))


def read(document: Document) -> list[Trace]:
    """The main session and its subagents, the main session first. Damaged lines are reported and skipped.

    `extra` of each trace holds `records_read` (how many are in it) and, where known, `session_id`,
    `agent_id`. Every event has `origin` {"line", and "block" when it is one of several}; assistant
    events have `message_id`; events away from the trace's directory have `cwd`.
    """
    records, problems = document.records()
    lines, repeated = _lines(records, problems)
    groups = _groups(lines)
    main = groups.pop("", [])
    if groups and not any(line.role for line in main):
        first, *rest = groups
        traces = [_trace(document.name, first, groups.pop(first), main)]
    else:
        rest = list(groups)
        traces = [_trace(document.name, "", main, ())]
        _entitle(traces[0], records)
    traces += [_trace(document.name, key, groups[key], ()) for key in rest]
    if repeated:
        traces[0].ignored["repeated line"] = repeated
    traces[0].problems = sorted(problems, key=lambda problem: problem.line or 0)
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


def _lines(records: Sequence[Record], problems: list[Problem]) -> tuple[list[Line], int]:
    """The records as lines, without damaged ones and without those that a resumed session copied."""
    lines: list[Line] = []
    first: dict[str, dict[str, Any]] = {}
    repeated = 0
    for number, record in records:
        uuid = record.get("uuid")
        if type(uuid) is str and uuid:
            earlier = first.setdefault(uuid, record)
            if earlier is not record and same_record(earlier, record):
                repeated += 1
                continue
        fault = damage(record)
        if fault:
            problems.append(Problem(number, f"{fault} (skipped)"))
        else:
            lines.append(classify(number, record))
    return lines, repeated


def _groups(lines: Sequence[Line]) -> dict[str, list[Line]]:
    """Lines by the agent that they belong to; "" is the main session."""
    groups: dict[str, list[Line]] = {}
    root: dict[str, str] = {}  # uuid -> the agent of a subagent's line
    for line in lines:
        key = ""
        if line.record.get("isSidechain") is True:
            agent = line.record.get("agentId")
            key = (type(agent) is str and agent) or root.get(line.parent) or line.uuid or "subagent"
            if line.uuid:
                root.setdefault(line.uuid, key)
        groups.setdefault(key, []).append(line)
    return groups


def _trace(source: str, agent: str, lines: Sequence[Line], aside: Sequence[Line]) -> Trace:
    """The trace of one agent; `aside` are lines of the file that no trace shows, counted here."""
    tree = Tree(lines)
    builder = Builder(next((line.cwd for line in lines if line.cwd), ""))
    spans: list[tuple[int, int, int]] = [(0, 0, 0)] * len(lines)  # from, from without its abandon, up to
    ignored: dict[str, int] = {}
    tips: list[int] = [-1] * len(lines)
    for place in tree.order:
        line = lines[place]
        parent = tree.parent[place]
        tip = tips[parent] if parent >= 0 else -1
        start = len(builder.events)
        if place in tree.rival:
            rival = tree.rival[place]
            losing = [(spans[member][member == rival], spans[member][2]) for member in tree.branch(rival)]
            tip = builder.rewind(tip, losing, line)
        own = len(builder.events)
        tips[place] = builder.add(line, tip)
        spans[place] = (start, own, len(builder.events))
        if own == len(builder.events) and line.role != "boundary":
            kind = why_none(line) if line.role else line.kind
            ignored[kind] = ignored.get(kind, 0) + 1
    for line in aside:
        ignored[line.kind] = ignored.get(line.kind, 0) + 1
    trace = builder.trace(name, source)
    trace.ignored = ignored
    trace.extra = {"records_read": len(lines) + len(aside) - sum(ignored.values())}
    session = next((line.record["sessionId"] for line in lines if type(line.record.get("sessionId")) is str), "")
    if session:
        trace.extra["session_id"] = session
    prompt = next((event["content"] for event in trace.events if event["type"] == "requirement"), "")
    trace.title = _one_line(prompt) or session
    if agent:
        trace.extra["agent_id"] = agent
        trace.title = f"subagent {agent}: {trace.title}"
    return trace


def _entitle(trace: Trace, records: Sequence[Record]) -> None:
    """Name the main trace as the session's own records do; old summaries may be those of other sessions."""
    uuids = {record.get("uuid") for _, record in records if type(record.get("uuid")) is str}
    for field in TITLE_FIELDS:
        for _, record in reversed(records):
            title = record.get(field)
            leaf = record.get("leafUuid") or None
            ours = leaf is None or (type(leaf) is str and leaf in uuids)
            if type(title) is str and title.strip() and "uuid" not in record and ours:
                trace.title = _one_line(title)
                return


def _one_line(text: str) -> str:
    return " ".join(text[: 10 * LONGEST_TITLE].split())[:LONGEST_TITLE]
