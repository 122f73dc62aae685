"""pi sessions from real runs, against counts made by other means; damaged ones keep what is good.

The numbers of the two large sessions (real runs) and of `cass-pi` were counted from the raw lines, by hand and by
`counted` below, which shares nothing with the importer.
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
    own,
    paired,
    types,
)

from context_gc.importers import pi
from context_gc.importers.files.decode import decode
from context_gc.turns import turn_numbers

FILES = sorted((CORPUS / "pi").glob("*"))
every_file = pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)


def load(path):
    (trace,) = pi.read(decode(path.read_bytes(), path.name))
    return trace


def raw(path):
    """The records of a file: one line of `pi-session` holds two."""
    decoder, found = json.JSONDecoder(), []
    for line in path.read_text("utf-8").split("\n"):
        at = 0
        while line[at:].strip():
            value, at = decoder.raw_decode(line, at)
            found.append(value)
    return found


def counted(path):
    """Messages by role, blocks of answers by type, and tokens, as the raw records have them."""
    counts = Counter()
    for record in raw(path):
        message = record.get("message", {})
        counts[message.get("role", record["type"])] += 1
        for block in message["content"] if message.get("role") == "assistant" else ():
            counts[block["type"]] += 1
        for field in ("input", "output", "cacheRead", "cacheWrite"):
            counts[field] += message.get("usage", {}).get(field, 0)
    return counts


@needs_corpus
@every_file
def test_every_file_is_claimed_by_this_format_alone_and_keeps_the_promises(path):
    document = decode(path.read_bytes(), path.name)
    assert claimants(document.head) == {"pi"}
    traces = pi.read(document)
    check(traces)
    assert accounted(traces) == len(raw(path))
    assert traces[0].problems == []


@needs_corpus
@every_file
def test_every_file_holds_what_an_independent_count_finds(path):
    trace, counts = load(path), counted(path)
    kinds = types(trace)
    assert kinds.get("tool_call", 0) == counts["toolCall"]
    assert kinds.get("tool_result", 0) == paired(trace) == counts["toolResult"]
    assert kinds["requirement"] == counts["user"]
    assert kinds["decision"] == counts["text"] + counts["thinking"] + counts["compaction"]
    assert len(trace.windows) == 1 + counts["compaction"]
    fields = {
        "input_tokens": "input",
        "output_tokens": "output",
        "cache_read": "cacheRead",
        "cache_write": "cacheWrite",
    }
    for field, name in fields.items():
        assert sum(getattr(usage, field) for usage in trace.usage) == counts[name]


@needs_corpus
@pytest.mark.parametrize(
    ("name", "kinds", "windows", "ignored", "model_calls"),
    [
        (
            "pi-large-session.jsonl",
            {"requirement": 88, "decision": 245, "tool_call": 391, "tool_result": 373, "abandon": 3},
            [(0, 1100, "start", None)],
            {"session": 1, "model_change": 1, "thinking_level_change": 103, "empty message": 14},
            439,  # 453 answers, 14 of which were cut off before they began
        ),
        (
            "pi-session.jsonl",
            {"requirement": 44, "decision": 259, "tool_call": 189, "tool_result": 189, "command_run": 1},
            [(0, 681, "start", None), (681, 841, "unknown", 186045)],
            {"session": 1, "thinking_level_change": 8, "empty message": 6},
            214,  # 220 answers, 6 of which were cut off before they began
        ),
        (
            "cass-pi.jsonl",
            {"requirement": 2, "decision": 3, "tool_call": 1, "tool_result": 1},
            [(0, 7, "start", None)],
            {"session": 1, "model_change": 1, "thinking_level_change": 1},
            2,
        ),
        (
            "agentsessions-pi-small.jsonl",
            {"requirement": 2, "decision": 4},
            [(0, 2, "start", None), (2, 7, "unknown", 19), (7, 12, "unknown", 19)],
            {"session": 1, "model_change": 1, "thinking_level_change": 1},
            2,
        ),
    ],
)
def test_the_files_hold_what_was_counted_by_hand(name, kinds, windows, ignored, model_calls):
    trace = load(CORPUS / "pi" / name)
    assert types(trace) == kinds
    assert [(w.start, w.stop, w.opened_by, w.tokens_before) for w in trace.windows] == windows
    assert trace.ignored == ignored
    assert len(trace.usage) == model_calls


@needs_corpus
def test_the_answers_that_were_cut_off_lose_their_calls():
    trace = load(CORPUS / "pi" / "pi-large-session.jsonl")
    undone = [event for event in trace.events if event["type"] == "abandon"]
    assert [(event["origin"], len(event["ref_to"]), event["content"]) for event in undone] == [
        ({"line": 33}, 16, "terminated"),
        ({"line": 234}, 1, "Request was aborted."),
        ({"line": 843}, 1, "Request was aborted."),
    ]
    answered = {event["call_id"] for event in trace.events if event["type"] == "tool_result"}
    calls = {event["id"] for event in trace.events if event["type"] == "tool_call"}
    assert calls - answered == {name for event in undone for name in event["ref_to"]}
    assert {event["id"] for event in trace.events if event.get("unsent")} == calls - answered


@needs_corpus
def test_what_was_cut_off_was_not_sent_again_as_the_provider_counted():
    # line 33: 16 calls of some 6,000 tokens and one line of text; line 34: one question; line 35: the next request
    trace = load(CORPUS / "pi" / "pi-large-session.jsonl")
    by_line = {event["id"]: event["origin"]["line"] for event in trace.events}
    prompts = {
        by_line[usage.event_id]: usage.input_tokens + usage.cache_read + usage.cache_write for usage in trace.usage
    }
    assert prompts[35] - prompts[33] == 59


@needs_corpus
def test_the_window_behind_the_compaction_begins_with_the_summary_and_the_records_that_pi_kept():
    path = CORPUS / "pi" / "pi-session.jsonl"
    trace, records = load(path), raw(path)
    place = next(index for index, record in enumerate(records) if record["type"] == "compaction")
    kept = records[records[place]["firstKeptEntryIndex"] : place]
    first, *rest = trace.events[681:]
    assert (first["tags"], first["content"]) == (["summary"], records[place]["summary"])
    assert all("repeats" in event for event in rest)
    blocks = [block for record in kept for block in record.get("message", {}).get("content", ())]
    assert len(rest) == len(blocks)
    assert {event["origin"]["line"] for event in rest} <= set(range(356, 464))
    calls = {event["id"] for event in rest if event["type"] == "tool_call"}
    assert {event["call_id"] for event in rest if event["type"] == "tool_result"} == calls


@needs_corpus
@pytest.mark.parametrize(("name", "turns"), [("pi-large-session.jsonl", 439), ("pi-session.jsonl", 215)])
def test_a_turn_is_a_model_call_and_a_compaction_is_one_with_all_that_it_kept(name, turns):
    assert turn_numbers(load(CORPUS / "pi" / name).events)[-1] == turns


@needs_corpus
def test_a_result_is_the_recorded_content_verbatim():
    path = CORPUS / "pi" / "pi-session.jsonl"
    messages = [record.get("message", {}) for record in raw(path)]
    recorded = {each["toolCallId"]: each["content"] for each in messages if each.get("role") == "toolResult"}
    assert {e["call_id"]: e["result"] for e in own(load(path)) if e["type"] == "tool_result"} == recorded
