"""opencode files of the corpus, against counts made from the raw JSON: two dumps of real runs, three storage folders.

The dumps were counted by hand from the raw rows and by `counted` below, the folders (synthetic) by hand.
"""

from __future__ import annotations

import json
from collections import Counter

import pytest
from importer_checks import (
    CORPUS,
    accounted,
    check,
    claimants,
    needs_corpus,
    paired,
    types,
)

from context_gc.importers import opencode
from context_gc.importers.files.decode import decode

DUMPS = sorted((CORPUS / "opencode_bus").glob("*"))
STORAGE = CORPUS / "opencode_storage"
every_dump = pytest.mark.parametrize("path", DUMPS, ids=lambda path: path.name)


def load(path):
    return opencode.read(decode(path.read_bytes(), path.name))


def counted(path):
    """Parts by type, in their last versions, with their text; and sessions."""
    last, sessions = {}, set()
    for row in map(json.loads, path.read_text("utf-8").splitlines()):
        told = row[1].get("event", {})
        if told.get("type") == "message.part.updated":
            last[told["properties"]["part"]["id"]] = told["properties"]["part"]
        if told.get("type") == "session.created":
            sessions.add(told["properties"]["info"]["id"])
    return Counter(part["type"] for part in last.values() if part.get("text", "x").strip()), len(sessions)


@needs_corpus
@every_dump
def test_every_dump_is_claimed_by_this_format_alone_and_keeps_the_promises(path):
    assert claimants(decode(path.read_bytes(), path.name).head) == {"opencode"}
    traces = load(path)
    check(traces)
    assert accounted(traces) == len(path.read_text("utf-8").splitlines())
    assert not any(trace.problems for trace in traces)


@needs_corpus
@every_dump
def test_every_dump_holds_what_an_independent_count_finds(path):
    traces, (parts, sessions) = load(path), counted(path)
    kinds = sum((Counter(types(trace)) for trace in traces), Counter())
    assert len(traces) == sessions
    assert kinds["tool_call"] == kinds["tool_result"] == sum(map(paired, traces)) == parts["tool"]
    assert kinds["decision"] + kinds["requirement"] == parts["text"] + parts["reasoning"]
    assert sum(len(trace.usage) for trace in traces) == parts["step-finish"]
    assert kinds["constraint"] == sessions  # one system prompt each
    assert kinds["abandon"] == 0
    assert all(len(trace.windows) == 1 for trace in traces)


@needs_corpus
def test_the_dumps_hold_what_was_counted_by_hand():
    (basic,) = load(CORPUS / "opencode_bus" / "ses_basic.jsonl")
    assert types(basic) == {"constraint": 1, "requirement": 1, "decision": 5, "tool_call": 9, "tool_result": 9}
    assert [event["tool_name"] for event in basic.events if event["type"] == "tool_call"] == [
        *("read", "read", "glob"), *("read", "read", "glob", "glob"), *("read", "read"),
    ]  # fmt: skip
    assert sum(event.get("is_error", False) for event in basic.events) == 2
    assert [(u.input_tokens, u.output_tokens, u.cache_read) for u in basic.usage] == [
        (10769, 127, 1840),
        (415, 136, 12592),
        (444, 92, 12992),
        (260, 344, 13424),
    ]
    assert basic.records_read == 21  # prompt, 15 parts and their 5 messages
    assert basic.ignored["tool.definition"] == 56


@needs_corpus
def test_the_subagent_of_a_dump_is_linked():
    main, sub = load(CORPUS / "opencode_bus" / "ses_subagents.jsonl")
    for trace in (main, sub):
        assert types(trace) == {"constraint": 1, "requirement": 1, "decision": 3, "tool_call": 1, "tool_result": 1}
    (result,) = (event for event in main.events if event["type"] == "tool_result")
    assert result["agent_id"] == sub.extra["session_id"]
    assert sub.extra["parent_session"] == main.extra["session_id"]
    assert sub.title == "Get time and tell joke (@general subagent)"


def groups():
    paths = sorted(path.relative_to(STORAGE).as_posix() for path in STORAGE.rglob("*.json"))
    return opencode.groups(paths), paths


def read(group):
    return opencode.read_group([decode((STORAGE / path).read_bytes(), path) for path in group])


@needs_corpus
def test_every_storage_file_is_in_one_group_and_claimed_by_no_format_alone():
    found, paths = groups()
    assert sorted(path for group in found for path in group) == paths
    assert [len(group) for group in found] == [5, 22, 5]
    assert not any(claimants(decode((STORAGE / path).read_bytes(), path).head) for path in paths)


@needs_corpus
def test_the_storage_folders_hold_what_was_counted_by_hand():
    legacy, current, cass = (read(group) for group in groups()[0])
    for traces in (legacy, current, cass):
        check(traces)
        assert not any(trace.problems for trace in traces)
    assert [accounted(traces) for traces in (legacy, current, cass)] == [5, 22, 5]
    assert [types(trace) for trace in (*legacy, *current, *cass)] == [
        {"tool_call": 1, "tool_result": 1, "decision": 1},
        {"requirement": 2, "tool_call": 1, "tool_result": 1, "decision": 3},
        {"requirement": 1, "tool_call": 1, "tool_result": 1, "decision": 1},
        {"requirement": 1, "decision": 1},
    ]
    assert [paired(trace) for trace in (*legacy, *current, *cass)] == [1, 1, 1, 0]
    large, small = current
    unseen = {"file": 1, "step-start": 1, "step-finish": 1, "compaction": 1, "patch": 1}
    assert (large.ignored, small.ignored) == ({"session": 2, **unseen}, {})
    assert [event["exit_code"] for event in large.events if event["type"] == "tool_result"] == [1]
    assert len(large.windows) == 1  # its compaction has no summary
