"""Every real trace and every sample as messages of both providers, in full and compacted: a provider takes them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from message_checks import POLICIES, faults

from context_gc import Budget, ContextGCError, Policy, compact_events, load_traces
from context_gc.exporters import anthropic_messages, openai_chat
from context_gc.messages import DIALECTS, compacted
from context_gc.policy import KNOWN_STAGES

ROOT = Path(__file__).parents[1]
CORPUS = ROOT.parent / "shared" / "corpus"
FILES = sorted(path for folder in (CORPUS, ROOT / "sample_traces") for path in folder.rglob("*") if path.is_file())
WRITERS = {"openai-chat": openai_chat, "anthropic-messages": anthropic_messages}
CHOSEN = {
    "in full": None,
    "default": Policy(),
    "all stages": Policy(stages=KNOWN_STAGES),
    "tight": Policy(stages=KNOWN_STAGES, budget=Budget(max_tokens=4_000, min_gain=0)),
    "nothing is safe": POLICIES["nothing is safe"],
}


def name_of(path):
    return path.relative_to(CORPUS if path.is_relative_to(CORPUS) else ROOT).as_posix()


def requests(written):
    for line in written.text.splitlines():
        value = json.loads(line)
        yield value["messages"], value.get("system")


@pytest.mark.parametrize("to", WRITERS)
@pytest.mark.parametrize("path", FILES, ids=map(name_of, FILES))
def test_a_provider_takes_the_messages_of_a_trace(path, to):
    try:
        traces = load_traces(path)
    except ContextGCError:
        pytest.skip("no trace can be read from it")
    for told, policy in CHOSEN.items():
        written = WRITERS[to].write(traces, True, policy)
        assert len(written.text.splitlines()) == len(traces)
        for messages, system in requests(written):
            assert faults(messages, to, system) == [], told


@pytest.mark.parametrize("path", FILES, ids=map(name_of, FILES))
def test_the_responses_api_takes_the_items_of_a_trace(path):
    try:
        traces = load_traces(path)
    except ContextGCError:
        pytest.skip("no trace can be read from it")
    dialect = DIALECTS["openai-responses"]
    for trace in traces:
        for told, policy in CHOSEN.items():
            events = trace.events[trace.windows[-1].start :]
            is_own = trace.format == dialect.name
            made = compacted(compact_events(events, policy or Policy(stages=())), dialect, is_own)
            assert is_own or faults(made.messages, dialect.name) == [], told


@pytest.mark.parametrize("path", FILES, ids=map(name_of, FILES))
def test_the_messages_of_a_trace_hold_every_call_and_result_of_its_last_window(path):
    try:
        traces = load_traces(path)
    except ContextGCError:
        pytest.skip("no trace can be read from it")
    for trace in traces:
        events = trace.events[trace.windows[-1].start :]
        gone = set(
            compact_events(events, Policy(stages=("dead-branches",), protect_types=(), protect_tags=()))["pruned_ids"]
        )
        asked = sum(event["type"] == "tool_call" and event["id"] not in gone for event in events)
        written = openai_chat.write([trace], True)
        ((messages, _),) = requests(written)
        calls = sum(len(message.get("tool_calls") or ()) for message in messages)
        if trace.format != "openai-chat" or trace.extra.get("layout") != "lines":
            assert calls == asked
