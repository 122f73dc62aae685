"""compact_messages on any conversation of any provider: valid in, valid out, never changed, stable."""

from __future__ import annotations

import copy
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_up_messages import ALL
from message_checks import POLICIES, call_ids, faults

from context_gc import MessagesClient, Policy, compact_messages

each_format = pytest.mark.parametrize("name", ALL)
any_policy = st.sampled_from(sorted(POLICIES))


@each_format
@given(data=st.data(), policy=any_policy)
@settings(max_examples=120, deadline=None)
def test_a_valid_list_stays_valid_and_the_input_is_not_changed(name, data, policy):
    messages = data.draw(ALL[name])
    assert faults(messages, name) == []
    before = copy.deepcopy(messages)
    made = compact_messages(messages, POLICIES[policy], name)
    assert faults(made.messages, name) == []
    assert messages == before
    assert "\0" not in str(made.messages)


@each_format
@given(data=st.data())
@settings(max_examples=80, deadline=None)
def test_without_a_finding_every_message_is_the_object_that_came_in(name, data):
    messages = data.draw(ALL[name])
    made = compact_messages(messages, Policy(stages=()), name)
    assert len(made.messages) == len(messages)
    for was, now in zip(messages, made.messages, strict=True):
        assert now is was or "\\[RECEIPT" in str(now)


@each_format
@given(data=st.data(), policy=any_policy)
@settings(max_examples=80, deadline=None)
def test_calls_keep_their_ids_and_order(name, data, policy):
    messages = data.draw(ALL[name])
    made = compact_messages(messages, POLICIES[policy], name)
    before, after = ([call for each in given for call in call_ids(each)] for given in (messages, made.messages))
    assert after == [call for call in before if call in set(after)]


@given(data=st.data(), policy=any_policy)
@settings(max_examples=120, deadline=None)
def test_reasoning_is_exact_and_with_its_item_or_gone_with_it(data, policy):
    items = data.draw(ALL["openai-responses"])
    made = compact_messages(items, POLICIES[policy], "openai-responses").messages
    follows = {items[place]["id"]: items[place + 1] for place in range(len(items)) if "summary" in items[place]}
    for place, each in enumerate(made):
        if "summary" in each:
            assert each in items
            assert made[place + 1] == follows.pop(each["id"])
    ids = {each.get("id") for each in made}
    assert not ids & {each["id"] for each in follows.values()}


@each_format
@given(data=st.data(), policy=st.sampled_from(["tight", "nothing is safe"]))
@settings(max_examples=60, deadline=None)
def test_between_two_passes_a_growing_list_is_only_added_to(name, data, policy):
    messages = data.draw(ALL[name])
    client, before, passes = MessagesClient(POLICIES[policy], name), [], 0
    for end in range(1, len(messages) + 1):
        if messages[end - 1].get("role") == "assistant" or "call_id" in messages[end - 1]:
            continue
        made = client.compact(messages[:end])
        if len(made.budget.passes) == passes:
            assert json.dumps(made.messages[: len(before)]) == json.dumps(before)
        before, passes = list(made.messages), len(made.budget.passes)


@each_format
@given(data=st.data(), policy=any_policy)
@settings(max_examples=40, deadline=None)
def test_a_list_read_twice_gives_the_same_bytes(name, data, policy):
    messages = data.draw(ALL[name])
    client = MessagesClient(POLICIES[policy], name)
    first, second = (client.compact(messages) for _ in range(2))
    anew = compact_messages(messages, POLICIES[policy], name)
    assert json.dumps(first.messages) == json.dumps(second.messages) == json.dumps(anew.messages)
