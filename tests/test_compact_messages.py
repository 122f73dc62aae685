"""compact_messages and MessagesClient, case by case."""

from __future__ import annotations

import copy
import json
from dataclasses import replace

import pytest
from message_checks import POLICIES, faults

from context_gc import Budget, InvalidMessages, MessagesClient, Policy, ReceiptStore, compact_messages
from context_gc.policy import KNOWN_STAGES

OPENAI, ANTHROPIC, RESPONSES = "openai-chat", "anthropic-messages", "openai-responses"
TIGHT = Policy(stages=KNOWN_STAGES, budget=Budget(max_tokens=600, min_gain=0), protect_types=(), protect_tags=())


def chat(turns, same=True):
    found = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "go"}]
    for number in range(turns):
        given = {"name": "search", "arguments": json.dumps({"q": 0 if same else number})}
        call = {"id": f"c{number}", "type": "function", "function": given}
        found.append({"role": "assistant", "content": None, "tool_calls": [call]})
        found.append({"role": "tool", "tool_call_id": f"c{number}", "content": "found it " * 20})
    return found


def anthropic(turns, same=True):
    found = [{"role": "user", "content": "go"}]
    for number in range(turns):
        call = {"type": "tool_use", "id": f"t{number}", "name": "search", "input": {"q": 0 if same else number}}
        found.append({"role": "assistant", "content": [call]})
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": "found it " * 20}
        found.append({"role": "user", "content": [result]})
    return found


def items(turns, same=True):
    found = [{"role": "user", "content": "go"}]
    for number in range(turns):
        found.append({"type": "reasoning", "id": f"rs{number}", "summary": []})
        call = {"name": "search", "arguments": json.dumps({"q": 0 if same else number})}
        found.append({"type": "function_call", "id": f"fc{number}", "call_id": f"c{number}", **call})
        found.append({"type": "function_call_output", "call_id": f"c{number}", "output": "found it " * 20})
    return found


MADE = {OPENAI: chat, ANTHROPIC: anthropic, RESPONSES: items}
each_format = pytest.mark.parametrize("name", MADE)


@each_format
def test_what_is_cut_leaves_a_receipt_and_what_stays_is_the_object_that_came_in(name):
    messages = [*MADE[name](3), {"role": "assistant", "content": "Done."}, {"role": "user", "content": "Thanks."}]
    before = copy.deepcopy(messages)
    made = compact_messages(messages)
    assert made.format == name
    assert messages == before
    assert len(made.messages) < len(messages)
    assert made.tokens_after < made.tokens_before
    assert made.messages[0] is messages[0]
    assert made.messages[-1] is messages[-1]
    assert "[RECEIPT" in json.dumps(made.messages)
    assert [event["type"] for event in made.recover(made.receipts[0])] == ["tool_call", "tool_result"] * 2
    assert {each["stage"] for each in made.decisions} == {"duplicates"}


@each_format
def test_with_nothing_to_cut_the_list_itself_comes_back(name):
    messages = MADE[name](3, same=False)
    made = compact_messages(messages)
    assert made.messages is messages
    assert (made.receipts, made.decisions, made.tokens_before) == ((), (), made.tokens_after)


def test_an_empty_list_is_an_empty_list():
    assert compact_messages([]).messages == []


@pytest.mark.parametrize(
    ("message", "what"),
    [
        ("hello", "message 1: a str"),
        ({"content": "x"}, "message 1: it has no 'role'"),
        ({"role": "robot", "content": "x"}, "message 1: role 'robot'"),
        ({"role": "user", "content": 7}, "message 1: field 'content'"),
        ({"role": "user", "content": object()}, "message 1: a object, which is not JSON"),
        ({"role": "user", "content": [{"type": "text", "text": {1, 2}}]}, "message 1: a set"),
    ],
)
def test_a_bad_message_is_named_by_its_place_and_nothing_is_taken_in(message, what):
    client = MessagesClient()
    with pytest.raises(InvalidMessages, match=what):
        client.compact([{"role": "user", "content": "go"}, message])
    assert len(client.compact(chat(1)).messages) == 4


@pytest.mark.parametrize("messages", ["hello", {"role": "user"}, None, 7])
def test_what_is_no_list_of_messages_is_refused(messages):
    with pytest.raises(InvalidMessages, match="give a list of messages"):
        compact_messages(messages)
    with pytest.raises(InvalidMessages, match="no format"):
        compact_messages([], format="chatml")


@each_format
def test_a_growing_list_is_only_added_to_between_two_passes(name):
    client = MessagesClient(TIGHT)
    whole = MADE[name](30, same=False)
    before, passes = [], 0
    for end in range(1, len(whole) + 1):
        made = client.compact(whole[:end])
        now = len(made.budget.passes)
        if now == passes:
            assert json.dumps(made.messages)[:-1].startswith(json.dumps(before)[:-1].removesuffix("]"))
        before, passes = list(made.messages), now
    assert passes > 1
    assert len(client.client.look().events) == len(whole) - (30 if name == RESPONSES else 0)  # blank reasoning


@each_format
def test_a_caller_that_keeps_what_it_got_goes_on_from_that(name):
    """Frameworks put the shorter list in place of the history."""
    whole = MADE[name](30, same=False)
    plain, fed = MessagesClient(TIGHT), MessagesClient(TIGHT)
    history = []
    for message in whole:
        history = list(fed.compact([*history, message]).messages)
    for end in range(1, len(whole) + 1):
        kept = plain.compact(whole[:end])
    assert json.dumps(history) == json.dumps(kept.messages)
    assert fed.recover(kept.receipts[0]) == plain.recover(kept.receipts[0])


@each_format
def test_a_list_that_was_rewritten_keeps_the_passes_over_what_is_shared(name):
    whole = MADE[name](30, same=False)
    client = MessagesClient(TIGHT)
    for end in range(1, len(whole) + 1):
        client.compact(whole[:end])
    fine = {"role": "assistant", "content": "Fine."}
    again = client.compact([*whole, fine, {"role": "user", "content": "no"}])
    rewritten = client.compact([*whole, fine, {"role": "user", "content": "yes"}])
    assert json.dumps(rewritten.messages) == json.dumps(again.messages).replace('"no"', '"yes"')
    assert len(rewritten.budget.passes) == len(again.budget.passes) > 1
    once_more = client.compact([*whole, fine, {"role": "user", "content": "why"}])
    assert len(once_more.budget.passes) == len(again.budget.passes)
    assert faults(rewritten.messages, name) == []


def test_another_conversation_begins_another_history():
    client = MessagesClient()
    client.compact(chat(3))
    other = [{"role": "user", "content": "something else"}]
    assert client.compact(other).messages is other
    assert client.compact(anthropic(2)).format == ANTHROPIC


def test_instructions_at_the_head_may_change_without_a_new_history():
    client = MessagesClient(replace(TIGHT, protect_types=("constraint",)))
    whole = chat(30, same=False)
    for end in range(2, len(whole) + 1):
        head = {"role": "system", "content": f"It is {end} o'clock."}
        made = client.compact([head, *whole[1:end]])
        assert made.messages[0] is head
    assert len(made.budget.passes) > 1
    assert len(client.client.look().events) == len(whole)


def test_cache_marks_may_move_and_stay_where_the_caller_put_them():
    client = MessagesClient()
    mark = {"cache_control": {"type": "ephemeral"}}
    for turns in range(1, 5):
        messages = anthropic(turns)
        messages[-1]["content"][-1] |= mark
        made = client.compact(messages).messages
        assert json.dumps(made).count("cache_control") == 1
        assert "cache_control" in made[-1]["content"][-1]  # also where the message that had it is gone
    assert len(client.client.look().events) == 9


def test_a_message_that_was_changed_in_place_is_noticed():
    client, messages = MessagesClient(), chat(1)
    client.compact(messages)
    messages[1]["content"] = "something else"
    assert client.compact(messages).messages[1]["content"] == "something else"


def test_objects_of_the_sdks_are_taken_as_they_are():
    openai = pytest.importorskip("openai", reason="the extra openai is not installed")
    message = openai.types.chat.ChatCompletionMessage(role="assistant", content="Fine.")
    messages = [{"role": "user", "content": "go"}, message]
    assert compact_messages(messages).messages is messages
    types = pytest.importorskip("anthropic", reason="the extra anthropic is not installed").types
    block = types.TextBlock(type="text", text="Fine.")
    messages = [{"role": "user", "content": "go"}, {"role": "assistant", "content": [block]}]
    assert compact_messages(messages, format=ANTHROPIC).messages is messages


def test_an_item_behind_reasoning_that_went_loses_the_id_that_asks_for_it():
    """The outputs of parallel calls may stand between them."""
    listed = items(1)
    reasoning, call, output = listed[1:]
    other = {**call, "id": "fcB", "call_id": "cB", "arguments": '{"q": "other"}'}
    again = [reasoning | {"id": "rs1"}, call | {"id": "fc1", "call_id": "c1"}, output | {"call_id": "c1"}]
    told = [*listed, *again, other, output | {"call_id": "cB", "output": "else"}, {"role": "user", "content": "on"}]
    made = compact_messages([*listed, {"role": "assistant", "content": "Fine."}, listed[0], *told[4:]]).messages
    (kept,) = [each for each in made if each.get("call_id") == "cB" and "name" in each]
    assert {"rs1", "fc1"}.isdisjoint(each.get("id") for each in made)
    assert kept == {key: value for key, value in other.items() if key != "id"}
    assert compact_messages([listed[0], reasoning, call, output, other, told[-2]]).messages[4] is other


def test_a_tool_loop_with_ids_that_repeat_pairs_each_result_with_its_call():
    messages = chat(4, same=False)
    for each in messages[2:]:
        if "tool_calls" in each:
            each["tool_calls"][0]["id"] = "call_0"
        else:
            each["tool_call_id"] = "call_0"
    made = compact_messages(messages, POLICIES["nothing is safe"])
    assert faults(made.messages, OPENAI) == []
    assert made.compaction["graph"].events[-1]["call_id"] == "call_0:4"


def test_usage_of_the_provider_decides_when_a_pass_is_made():
    client = MessagesClient(Policy(stages=KNOWN_STAGES, budget=Budget(max_tokens=100_000, min_gain=0)))
    client.compact(chat(9))
    client.record_usage(input_tokens=80_000)
    made = client.compact([*chat(9), {"role": "user", "content": "on"}])
    assert len(made.budget.passes) == 1
    assert made.budget.reported


def test_receipts_go_to_a_store_and_a_rewritten_history_is_another_run(tmp_path):
    store = ReceiptStore(tmp_path / "receipts.db")
    client = MessagesClient(store=store, run_id="r")
    client.compact(chat(2))
    client.compact(chat(3, same=False)[:4] + chat(2)[2:])
    assert client.client.run_id == "r.2"
    assert (store.run_ids(), store.recover("c1", "r")[0]["id"]) == (["r", "r.2"], "c1")


@each_format
def test_a_cut_image_is_not_sent_again(name):
    """A run of cut results has one stub, and its further results are no longer than a placeholder."""
    data = "A" * 5000
    block = {
        OPENAI: {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}},
        ANTHROPIC: {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}},
        RESPONSES: {"type": "input_image", "image_url": f"data:image/png;base64,{data}"},
    }[name]
    messages = MADE[name](9, same=False)
    for each in messages:
        holder = each["content"][0] if name == ANTHROPIC and isinstance(each["content"], list) else each
        field = "output" if name == RESPONSES else "content"
        if "tool_use_id" in holder or "tool_call_id" in holder or "output" in holder:
            holder[field] = [block]
    policy = Policy(budget=Budget(max_tokens=12_000, min_gain=0))
    made = compact_messages(messages, policy, name)
    assert json.dumps(made.messages).count(data) <= 4
    assert faults(made.messages, name) == []
