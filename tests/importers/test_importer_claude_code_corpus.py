"""Claude Code sessions from real runs, against counts made by other means; damaged ones keep what is good."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import pytest
from claude_code_records import check, tree

from context_gc.errors import TraceError
from context_gc.load import load_trace, load_traces

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"
needs_corpus = pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus of real traces is not beside the checkout")

REAL = sorted((CORPUS / "claude_code").rglob("*.jsonl"))
DAMAGED = [path for name in ("derived/claude*", "malformed/cass-[!e]*") for path in sorted(CORPUS.glob(name))]


@needs_corpus
@pytest.mark.parametrize("path", [*REAL, *DAMAGED], ids=lambda path: path.name)
def test_every_corpus_file_keeps_the_promises(path):
    for trace in load_traces(path):
        check(trace)
        calls = {event["id"] for event in trace.events if event["type"] == "tool_call"}
        assert {event["call_id"] for event in trace.events if event["type"] == "tool_result"} <= calls


@needs_corpus
@pytest.mark.parametrize(
    "path", [*REAL, *(path for path in DAMAGED if path.suffix != ".gz")], ids=lambda path: path.name
)
def test_every_line_is_read_or_ignored_by_kind_or_a_problem(path):
    traces = load_traces(path)
    accounted = sum(trace.records_read + sum(trace.ignored.values()) for trace in traces)
    accounted += sum(problem.line is not None for trace in traces for problem in trace.problems)
    assert accounted == sum(bool(line.strip()) for line in path.read_bytes().split(b"\n"))


@needs_corpus
@pytest.mark.parametrize(
    ("name", "types", "windows", "calls", "tokens"),
    [
        (
            "spotter-8463c716.jsonl",
            {"requirement": 1, "decision": 100, "tool_call": 177, "tool_result": 177},
            [(0, 227, "start", None), (227, 455, "auto", 167731)],
            143,
            (2481, 40320, 15740561, 260451),
        ),
        (
            "spotter-4d5611e5.jsonl",
            {"requirement": 2, "decision": 101, "tool_call": 150, "tool_result": 150},
            [(0, 188, "start", None), (188, 403, "auto", 170251)],
            139,
            (177, 28755, 11618567, 479537),
        ),
    ],
)
def test_the_two_long_real_sessions_hold_what_was_counted_by_hand(name, types, windows, calls, tokens):
    trace = load_trace(CORPUS / "claude_code" / name)
    assert Counter(event["type"] for event in trace.events) == types
    assert [(w.start, w.stop, w.opened_by, w.tokens_before) for w in trace.windows] == windows
    assert trace.problems == []
    assert len(trace.usage) == calls
    fields = ("input_tokens", "output_tokens", "cache_read", "cache_write")
    assert tuple(sum(getattr(usage, field) for usage in trace.usage) for field in fields) == tokens
    answered = [event["call_id"] for event in trace.events if event["type"] == "tool_result"]
    assert sorted(answered) == sorted(event["id"] for event in trace.events if event["type"] == "tool_call")
    assert trace.model == "claude-opus-4-6"
    assert trace.title.startswith("Work on bead spotter-")


@needs_corpus
def test_a_result_is_the_recorded_content_verbatim():
    path = CORPUS / "claude_code" / "spotter-8463c716.jsonl"
    recorded = {}
    for record in map(json.loads, path.read_text("utf-8").splitlines()):
        content = record.get("message", {}).get("content")
        for block in content if isinstance(content, list) else ():
            if block["type"] == "tool_result":
                recorded[block["tool_use_id"]] = block["content"]
    events = load_trace(path).events
    assert {e["call_id"]: e["result"] for e in events if e["type"] == "tool_result"} == recorded


@needs_corpus
def test_the_rewound_session_before_a_compaction():
    trace = load_trace(CORPUS / "claude_code" / "ccl-dag_compact_after_rewind.jsonl")
    assert tree(trace) == {
        "u1": None,
        "a1": "u1",
        "b1u": "a1",
        "b1a": "b1u",
        "b1u:abandon": "a1",
        "b2u": "b1u:abandon",
        "b2a": "b2u",
        "b2u2": "b2a",
        "b2a2": "b2u2",
        "cs": None,
        "p1u": "cs",
        "p1a": "p1u",
    }
    assert [(w.start, w.stop, w.opened_by) for w in trace.windows] == [(0, 9, "start"), (9, 12, "auto")]


@needs_corpus
def test_the_edge_cases_file_reports_its_damaged_lines():
    trace = load_trace(CORPUS / "claude_code" / "ccl-edge_cases.jsonl")
    assert [problem.line for problem in trace.problems] == [10, 11, 13, 15, 16]
    assert trace.ignored == {"local command caveat": 1, "local command": 1, "untyped record": 1, "summary": 1}
    by_line = {event["origin"]["line"]: event for event in trace.events}
    assert by_line[12]["content"].startswith("Testing special characters")  # its uuid is that of damaged line 11
    assert by_line[18]["content"] == "wow error"
    assert by_line[5]["is_error"] is True


@needs_corpus
def test_a_changed_schema_keeps_its_calls():
    trace = load_trace(CORPUS / "claude_code" / "agentsessions-schema_drift.jsonl")
    kinds = [event["type"] for event in trace.events]
    assert kinds == ["requirement", "tool_call", "tool_result", "decision", "decision", "decision"]
    assert [event.get("tags") for event in trace.events[4:]] == [["notification"], ["attachment"]]
    assert trace.events[2]["call_id"] == trace.events[1]["id"]
    assert trace.events[2]["result"] == "# Title\n\nBody\n"
    assert sum(trace.ignored.values()) == 4


@needs_corpus
@pytest.mark.parametrize("name", ["claude-crlf-bom.jsonl", "claude-resume-duplicated.jsonl", "claude.jsonl.gz"])
def test_derived_files_hold_the_events_of_their_original(name):
    original = load_trace(CORPUS / "claude_code" / "spotter-tool_heavy.jsonl")
    derived = load_trace(CORPUS / "derived" / name)
    assert tree(derived) == tree(original)
    assert derived.problems == []
    assert derived.usage == original.usage
    if name != "claude.jsonl.gz":  # made before the user's name was replaced
        assert derived.events == original.events


@needs_corpus
def test_a_truncated_file_loses_only_its_last_line():
    original = load_trace(CORPUS / "claude_code" / "spotter-tool_heavy.jsonl")
    cut = load_trace(CORPUS / "derived" / "claude-truncated-tail.jsonl")
    assert cut.events == original.events[:-1]
    assert [problem.line for problem in cut.problems] == [39]


@needs_corpus
@pytest.mark.parametrize("name", ["empty.jsonl", "null.json", "empty-array.json", "whitespace.jsonl"])
def test_files_without_content_are_clear_errors(name):
    with pytest.raises(TraceError, match=r"the file is empty|the file holds only"):
        load_traces(CORPUS / "derived" / name)


@needs_corpus
@pytest.mark.parametrize(
    ("name", "kinds", "lines"),
    [
        ("cass-all_message_types.jsonl", ["constraint", "requirement", "decision", "decision", "decision"], []),
        ("cass-invalid_json.jsonl", ["requirement", "decision", "decision"], [2, 4]),
        ("cass-missing_fields.jsonl", ["requirement"] * 5, [5, 7]),
        ("cass-single_message.jsonl", ["requirement"], []),
        ("cass-unicode_heavy.jsonl", ["requirement", "decision"] * 4, []),
    ],
)
def test_malformed_files_keep_what_is_good(name, kinds, lines):
    trace = load_trace(CORPUS / "malformed" / name)
    assert [event["type"] for event in trace.events] == kinds
    assert [problem.line for problem in trace.problems] == lines


@needs_corpus
@pytest.mark.parametrize(
    ("name", "agent", "call", "title", "answer"),
    [
        (
            "spotter-8463c716",
            "a7be2f0",
            "toolu_017SvvKc8KLbhGMG3tXkf21Z",
            "Explore Tmux module and test setup",
            "Approved the plan: Plan: Enrich TranscriptRenderer with metadata (spotter-fum.1)",
        ),
        (
            "spotter-4d5611e5",
            "a2898e3",
            "toolu_017pLRuPHYTX5t99EnLyV53m",
            "Explore transcript rendering codebase",
            "Pre-commit hook blocks on pre-existing dialyzer/credo issues in waiting_summary.ex (not our code)."
            " How should we proceed? → main was clean; fix the issues",
        ),
    ],
)
def test_a_real_session_is_read_with_its_subagents(name, agent, call, title, answer):
    traces = [trace for trace in load_traces(CORPUS / "claude_code") if trace.source.startswith(name)]
    for trace in traces:
        check(trace)
    main, child, summariser = traces
    session = main.extra["session_id"]
    assert "subagents_elsewhere" not in main.extra
    assert child.extra["parent"] == {"session": session, "event": call}
    assert child.title == f"subagent {agent}: {title}"
    started = [event for event in main.events if event.get("agent_id") == agent]
    assert [event["call_id"] for event in started] == [call]
    assert summariser.extra["role"] == "summariser"
    assert summariser.extra["parent"] == {"session": session}
    decided = [e["content"] for e in main.events if {"answer", "plan"} & {*e.get("tags", ())}]
    assert decided == [answer]


@needs_corpus
def test_a_session_opened_alone_names_the_subagents_that_it_does_not_hold():
    main = load_trace(CORPUS / "claude_code" / "spotter-8463c716.jsonl")
    assert main.extra["subagents_elsewhere"] == ["a7be2f0"]
    assert main.problems == []


@needs_corpus
def test_a_subagents_own_file_is_one_trace_titled_so():
    trace = load_trace(CORPUS / "claude_code" / "spotter-8463c716" / "subagents" / "agent-a7be2f0.jsonl")
    assert trace.title.startswith("subagent a7be2f0: I need to understand")
    assert trace.extra["agent_id"] == "a7be2f0"
    assert len(trace.events) == 52


@needs_corpus
@pytest.mark.parametrize("path", REAL, ids=lambda path: path.name)
def test_a_damaged_real_session_gives_sound_traces_or_our_error(path):
    whole = path.read_bytes()
    chance = random.Random(len(whole))
    for _ in range(30 if len(whole) < 400_000 else 4):
        data = bytearray(whole[: chance.randrange(len(whole))])
        for _ in range(chance.choice((0, 1, 20, 400)) if data else 0):
            data[chance.randrange(len(data))] = chance.randrange(256)
        try:
            traces = load_traces(bytes(data))
        except TraceError:
            continue
        for trace in traces:
            check(trace)
