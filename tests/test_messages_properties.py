"""Compacted messages of any conversation: a provider takes them, and nothing that stays is another."""

from __future__ import annotations

import copy
import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_up_messages import CONVERSATIONS
from message_checks import POLICIES, call_ids, compact, faults, read

from context_gc import Budget, ContextGC, ContextGCError, Policy, compact_events, expand_receipt
from context_gc.messages import DIALECTS, compacted
from context_gc.policy import KNOWN_STAGES

each_provider = pytest.mark.parametrize("name", CONVERSATIONS)


@each_provider
@given(data=st.data(), policy=st.sampled_from(sorted(POLICIES)))
@settings(max_examples=150, deadline=None)
def test_a_valid_conversation_stays_valid(name, data, policy):
    messages = data.draw(CONVERSATIONS[name])
    assert faults(messages, name) == []
    request, _ = compact(messages, name, POLICIES[policy])
    assert faults(request.messages, name, request.system) == []


@each_provider
@given(data=st.data(), policy=st.sampled_from(sorted(set(POLICIES) - {"no stubs"})))
@settings(max_examples=150, deadline=None)
def test_what_is_not_in_the_messages_is_reached_from_a_stub_in_them(name, data, policy):
    messages = data.draw(CONVERSATIONS[name])
    request, compaction = compact(messages, name, POLICIES[policy])
    shown = set(re.findall(r"(?<!\\)\[RECEIPT ([^\]]+)\]", json.dumps(request.messages)))
    held = {event["id"] for label in shown if label not in ("x", "c1") for event in opened(compaction, label)}
    stays = {"tool_call": calls_of(request.messages), "decision": texts_of(request.messages)}
    for event_id in compaction["pruned_ids"]:
        event = compaction.event(event_id)
        text = event.get("content", event_id)
        assert event_id in held or text in stays.get(event["type"], ()), event


def opened(compaction, label):
    try:
        return expand_receipt(compaction["graph"], label)
    except ContextGCError:
        return []


def calls_of(messages):
    return {call for message in messages for call in call_ids(message)}


def texts_of(messages):
    for message in messages:
        content = message.get("content")
        for block in [content] if isinstance(content, str) else content or ():
            yield block if isinstance(block, str) else block.get("text") or block.get("thinking")


@each_provider
@given(data=st.data(), policy=st.sampled_from(sorted(POLICIES)))
@settings(max_examples=150, deadline=None)
def test_calls_keep_their_ids_and_order_and_signed_messages_every_byte(name, data, policy):
    messages = data.draw(CONVERSATIONS[name])
    request, _ = compact(messages, name, POLICIES[policy])
    before = [call for message in messages for call in call_ids(message)]
    after = [call for message in request.messages for call in call_ids(message)]
    assert after == [call for call in before if call in set(after)]
    was = [json.dumps(message) for message in messages if "signature" in json.dumps(message)]
    for message in request.messages:
        if "signature" in json.dumps(message):
            assert json.dumps(message) in was


@each_provider
@given(data=st.data())
@settings(max_examples=100, deadline=None)
def test_without_a_finding_every_message_is_left_alone(name, data):
    messages = data.draw(CONVERSATIONS[name])
    before = copy.deepcopy(messages)
    trace = read(messages, name)
    request = compacted(compact_events(trace.events, Policy(stages=())), DIALECTS[name], True)
    assert json.dumps(request.messages).replace("\\\\[RECEIPT", "[RECEIPT") == json.dumps(messages)
    assert messages == before


@each_provider
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_the_same_messages_give_the_same_bytes_and_the_events_are_not_changed(name, data):
    trace = read(data.draw(CONVERSATIONS[name]), name)
    before = copy.deepcopy(trace.events)
    compaction = compact_events(trace.events, POLICIES["tight"])
    first, second = (compacted(compaction, DIALECTS[name], True) for _ in range(2))
    assert json.dumps(first.messages) == json.dumps(second.messages)
    for message in first.messages:
        message.clear()
    assert trace.events == before


@each_provider
@given(data=st.data())
@settings(max_examples=80, deadline=None)
def test_between_two_passes_messages_are_only_added(name, data):
    messages = data.draw(CONVERSATIONS[name])
    trace = read(messages, name)
    budget = Budget(max_tokens=400, min_gain=20)
    client = ContextGC(Policy(stages=KNOWN_STAGES, budget=budget, protect_types=(), protect_tags=()))
    before, passes, done = [], 0, 0
    for event in [*trace.events, None]:
        if event is None or ("envelope" in event and event["envelope"]["role"] == "assistant"):
            compaction = client.compact()
            sent = compacted(compaction, DIALECTS[name], True).messages
            if len(compaction["budget"]["passes"]) == passes:
                assert json.dumps(sent[: len(before)]) == json.dumps(before)
            before, passes, done = sent, len(compaction["budget"]["passes"]), done + 1
        if event is not None:
            client.add_event(event)
    assert done
