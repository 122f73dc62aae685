"""Plain role/content lines: what they become, what is left to other formats, and damage."""

from __future__ import annotations

import json

import pytest
from importer_checks import (
    CORPUS,
    accounted,
    check,
    claimants,
    cut_and_flipped,
    needs_corpus,
    survive,
    told,
    tree,
    types,
    with_other_types,
)

from context_gc.errors import TraceError
from context_gc.importers import role_content
from context_gc.importers.files.decode import decode
from context_gc.importers.provider_messages.envelope import assembled

LINES = [
    {"role": "system", "content": "Be brief.", "timestamp": "1970-01-01T00:00:01Z"},
    {"role": "user", "content": "go", "timestamp": 2},
    {
        "role": "assistant",
        "content": [{"type": "thinking", "thinking": "hm", "signature": "S"}, {"type": "text", "text": "I look."}],
    },
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "function": {"name": "read", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "x = 1"},
]


def lines(*values):
    return "\n".join(map(json.dumps, values)).encode()


def load(data):
    document = decode(data, "x.jsonl")
    assert claimants(document.head) == {"role-content"}
    (trace,) = role_content.read(document)
    check([trace])
    return trace


def test_each_line_is_a_message_in_the_words_of_either_provider():
    trace = load(lines(*LINES))
    assert told(trace) == [
        ("constraint", "Be brief.", ["system"]),
        ("requirement", "go", ["user"]),
        ("decision", "hm", ["thinking"]),
        ("decision", "I look.", []),
        ("tool_call", "read", []),
        ("tool_result", "x = 1", []),
    ]
    assert [event["timestamp"] for event in trace.events] == [1000, 2000, 2000, 2000, 2000, 2000]
    assert trace.events[3]["origin"] == {"line": 3, "at": ["content", 1, "text"]}
    assert tree(trace)["c1:r"] == "c1"
    assert [assembled([event]) for event in trace.events if event["origin"]["line"] == 4] == [LINES[3]]
    assert (trace.title, trace.records_read) == ("go", 5)


def test_lines_without_a_role_are_opaque_blank_ones_are_counted_and_broken_ones_are_problems():
    trace = load(
        lines(*LINES[:2], {"type": "note", "text": "x"}, {"role": "assistant", "content": ""}) + b'\n{"role": 5}\n{"ro'
    )
    assert types(trace) == {"constraint": 1, "requirement": 1, "decision": 1}
    assert told(trace)[2] == ("decision", '{"type": "note", "text": "x"}', ["opaque"])
    assert trace.ignored == {"blank message": 1}
    assert [problem.line for problem in trace.problems] == [5, 6]
    assert accounted([trace]) == 6


@pytest.mark.parametrize(
    "data",
    [
        lines({"timestamp": "t", "type": "response_item", "payload": {"role": "user"}}, *LINES),
        lines(*LINES[1:3], {"type": "tool_call", "function": {"name": "f"}, "arguments": "", "timestamp": "t"}),
        lines({"messages": LINES}, {"messages": LINES}),
        json.dumps(LINES).encode(),
        json.dumps(LINES[1]).encode(),
        lines({"role": "user", "parts": []}, {"role": "model", "parts": []}),
        lines({"type": "user", "sessionId": "s", "uuid": "u", "message": LINES[1]}, {"type": "x"}),
        b"plain text",
        b"",
    ],
    ids=lambda data: data[:24].decode(),
)
def test_what_is_no_plain_line_a_message_is_left_alone(data):
    assert not role_content.sniff(data)


def test_a_file_without_a_whole_message_is_a_clear_error():
    with pytest.raises(TraceError, match="no message in it is whole"):
        role_content.read(decode(b'{"role": 1}\n{"role": 2}', "x"))


@needs_corpus
def test_the_plain_session_among_the_codex_files_holds_what_was_counted_by_hand():
    trace = load((CORPUS / "codex" / "agentsessions-session_simple.jsonl").read_bytes())
    assert told(trace) == [
        ("requirement", "What's the weather like in SF today?", ["user"]),
        ("decision", "It looks sunny with a high of 72°F.", []),
    ]
    assert [event["timestamp"] for event in trace.events] == [1757498400000, 1757498405000]
    assert (len(trace.windows), trace.problems, trace.ignored, accounted([trace])) == (1, [], {}, 2)


@needs_corpus
@pytest.mark.parametrize("name", ["aider_bugfix", "claude_code_auth_fix", "opencode_rust_cli"])
def test_the_corpus_files_named_so_bear_the_envelope_of_claude_code_and_are_left_to_it(name):
    data = (CORPUS / "role_content_jsonl" / f"cass-{name}.jsonl").read_bytes()
    assert claimants(decode(data, name).head) == {"claude-code"}


def test_damage_gives_sound_traces_or_our_error():
    def read(data):
        document = decode(data, "x")
        role_content.sniff(document.head)
        return role_content.read(document)

    for damaged in cut_and_flipped(lines(*LINES), 60):
        survive(read, damaged)
    for changed in with_other_types(LINES, 200):
        survive(read, lines(*changed) if isinstance(changed, list) else b"1")
