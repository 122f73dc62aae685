"""Copilot CLI sessions whose history changes, with subagents, and real files against other counts."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from importer_checks import CORPUS, check, needs_corpus, tree
from test_importer_copilot_cli import abandons, answers, asks, done, event, load, load_all, request

from context_gc.importers import copilot_cli
from context_gc.importers.files.decode import decode

SAMPLE = Path(__file__).parents[2] / "sample_traces" / "copilot-rewind.jsonl"

# windows, rewinds, subagents


@pytest.mark.parametrize(
    ("facts", "opened_by"),
    [
        ({"trigger": "threshold"}, "auto"),
        ({"trigger": "manual"}, "manual"),
        ({"customInstructions": "keep the plan"}, "manual"),
        ({}, "unknown"),
    ],
)
def test_a_compaction_opens_a_window_with_the_system_message_and_the_summary(facts, opened_by):
    trace = load(
        event("system.message", "s", role="system", content="You are the CLI."),
        asks("Go"),
        event("session.compaction_complete", success=True, preCompactionTokens=900, summaryContent="So far.", **facts),
        answers("On.", key="a"),
    )
    assert [(w.start, w.opened_by, w.tokens_before) for w in trace.windows] == [(0, "start", None), (2, opened_by, 900)]
    assert [(e["content"], e.get("tags")) for e in trace.events[2:]] == [
        ("You are the CLI.", ["system"]),
        ("So far.", ["summary"]),
        ("On.", None),
    ]
    assert trace.events[2]["origin"] == {"line": 1}


def test_a_failed_compaction_changes_nothing_and_a_cleared_context_begins_anew():
    trace = load(
        asks("Go"),
        event("session.compaction_complete", success=False, error="x"),
        event("session.context_cleared", messagesCleared=1, initialMessage="Again"),
        event("session.context_cleared", messagesCleared=1),
        event("tool.execution_start", toolCallId="t1", toolName="bash"),
    )
    assert [(w.start, w.opened_by) for w in trace.windows] == [(0, "start"), (1, "manual"), (2, "manual")]
    assert [e.get("content") for e in trace.events] == ["Go", "Again", None]
    assert trace.ignored == {"failed compaction": 1}


def test_a_prompt_that_follows_an_earlier_turn_takes_back_those_between():
    trace = load(
        event("session.start", "s", sessionId="s"),
        asks("one", "u1", "s"),
        answers("1", key="a1", parent="u1"),
        asks("two", "u2", "a1"),
        answers("2", key="a2", parent="u2"),
        asks("three", "u3", "a1"),
        answers("3", key="a3", parent="u3"),
    )
    assert abandons(trace) == [(["u2"], "rewound by the user")]
    assert tree(trace)["u2:abandon"] == "a1"
    assert tree(trace)["u3"] == "u2:abandon"


def test_a_prompt_that_follows_the_first_event_takes_back_all():
    trace = load(
        event("session.start", "s", sessionId="s"),
        asks("one", "u1", "s"),
        event("system.message", "x", "s", content="You are the CLI."),
        asks("two", "u2", "x"),
    )
    assert abandons(trace) == [(["u1"], "rewound by the user")]


def test_events_that_follow_each_other_in_a_ring_take_nothing_back():
    trace = load(asks("one", "u1", "s"), event("x", "a", "b"), event("x", "b", "a"), asks("two", "u2", "b"))
    assert abandons(trace) == []


@pytest.mark.parametrize("parent", [None, "gone", "u2", "r"])
def test_a_chain_that_breaks_off_takes_nothing_back(parent):
    trace = load(
        event("session.start", "s", sessionId="s"),
        asks("one", "u1", "s"),
        event("session.resume", "r", None),
        asks("two", "u2", parent),
    )
    assert abandons(trace) == []


def test_a_rewind_that_is_told_takes_back_from_its_event_on():
    trace = load(
        asks("one", "u1"),
        asks("two", "u2", "u1"),
        answers("2", key="a2"),
        event("session.snapshot_rewind", upToEventId="u2", eventsRemoved=2),
        event("session.snapshot_rewind", upToEventId="gone"),
        asks("three", "u3"),
        event("session.snapshot_rewind", upToEventId="u4"),
    )
    assert abandons(trace) == [(["u2"], "rewound by the user")]
    assert tree(trace)["u3"] == "u2:abandon"
    assert trace.ignored == {"session.snapshot_rewind": 2}


def test_subagents_in_the_same_file_are_traces_of_their_own():
    main, first, second = load_all(
        asks("Go"),
        answers("", request("t1", "task")),
        event("assistant.message", agent="explore-1", content="Looking."),
        answers("Checking.", parentToolCallId="t9"),
        done("t1", "found"),
    )
    assert [e["type"] for e in main.events] == ["requirement", "tool_call", "tool_result"]
    assert [(t.title, t.extra["agent_id"]) for t in (first, second)] == [
        ("subagent explore-1: ", "explore-1"),
        ("subagent t9: ", "t9"),
    ]


# files from real runs


@needs_corpus
def test_the_real_session_holds_what_an_independent_count_finds():
    """Counted here from the raw lines, and by hand: 24 of 55 records speak, 11 starts repeat a message's request."""
    path = CORPUS / "copilot_cli" / "vct-copilot.jsonl"
    (trace,) = copilot_cli.read(decode(path.read_bytes(), path.name))
    check([trace])
    raw = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    asked = {r["toolCallId"] for line in raw for r in line["data"].get("toolRequests", ())}
    asked |= {line["data"]["toolCallId"] for line in raw if line["type"] == "tool.execution_start"}
    given = {
        x["data"]["toolCallId"]: x["data"]["result"]["content"]
        for x in raw
        if x["type"].endswith("complete") and "toolCallId" in x["data"]
    }
    assert {e["id"] for e in trace.events if e["type"] == "tool_call"} == asked
    assert {e["call_id"]: e["result"] for e in trace.events if e["type"] == "tool_result"} == given
    thoughts = [line["data"]["reasoningText"] for line in raw if "reasoningText" in line["data"]]
    assert [e["content"] for e in trace.events if "thinking" in e.get("tags", ())] == thoughts
    assert Counter(e["type"] for e in trace.events) == {
        "constraint": 2, "decision": 7, "requirement": 1, "tool_call": 13, "tool_result": 13,
    }  # fmt: skip
    assert trace.records_read == 24
    assert trace.records_read + sum(trace.ignored.values()) == len(raw) == 55
    assert (trace.ignored["tool.execution_start"], trace.ignored["repeated system.message"]) == (11, 1)
    assert (trace.problems, len(trace.windows), abandons(trace)) == ([], 1, [])
    assert trace.model == "claude-sonnet-4.6"


@needs_corpus
def test_the_log_that_hooks_kept_loses_only_its_damaged_line():
    """Counted by hand: three lines, the second is cut."""
    path = CORPUS / "copilot_cli" / "cass-cli_truncated_resume.events.jsonl"
    (trace,) = copilot_cli.read(decode(path.read_bytes(), path.name))
    assert [(e["type"], e["content"]) for e in trace.events] == [
        ("requirement", "Recover after truncated line"),
        ("decision", "Recovered after truncation."),
    ]
    assert [problem.line for problem in trace.problems] == [2]
    assert (trace.records_read, trace.ignored) == (2, {})
    assert (trace.cwd, trace.extra["session_id"]) == ("/workspaces/recovery", "cli-session-truncated")


def test_the_sample_shows_what_it_was_written_for():
    (trace,) = copilot_cli.read(decode(SAMPLE.read_bytes(), SAMPLE.name))
    check([trace])
    assert trace.problems == []
    assert (trace.title, trace.cwd) == ("Which posts in posts/ have no date? Only list them.", "/home/dev/blog")
    reasons = [reason for _, reason in abandons(trace)]
    assert reasons == ["rewound by the user", "The user rejected this tool call."]
    assert [e["arguments"]["path"] for e in trace.events if e.get("tool_name") == "view"] == [
        "/home/dev/blog/posts/rain.md"
    ] * 3
    assert trace.ignored["repeated system.message"] == 2
