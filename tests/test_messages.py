"""Compacted messages, case by case: what goes, what stays, and where stubs stand."""

from __future__ import annotations

import json

import pytest
from message_checks import compact, faults, read

from context_gc import Budget, Policy, compact_events
from context_gc.messages import DIALECTS, compacted

ANTHROPIC, OPENAI = "anthropic-messages", "openai-chat"
DUPLICATES = Policy(stages=("duplicates",))
STATUS = Policy(stages=("superseded-status",))
EVERYTHING = Policy(protect_types=(), protect_tags=(), budget=Budget(max_tokens=20, min_gain=0))


def user(*blocks):
    return {"role": "user", "content": [text(each) if isinstance(each, str) else each for each in blocks]}


def says(*blocks):
    return {"role": "assistant", "content": [text(each) if isinstance(each, str) else each for each in blocks]}


def text(words):
    return {"type": "text", "text": words}


def use(name, tool="search", **given):
    return {"type": "tool_use", "id": name, "name": tool, "input": given or {"query": "x"}}


def got(name, content="found", **more):
    return {"type": "tool_result", "tool_use_id": name, "content": content, **more}


def thought(words="hm"):
    return {"type": "thinking", "thinking": words, "signature": "S"}


def asks(content, *calls):
    made = [
        {"id": name, "type": "function", "function": {"name": tool, "arguments": given}} for name, tool, given in calls
    ]
    return {"role": "assistant", "content": content, "tool_calls": made}


def tool(name, content="found"):
    return {"role": "tool", "tool_call_id": name, "content": content}


def anthropic(*messages, policy=DUPLICATES):
    request, _ = compact(list(messages), ANTHROPIC, policy)
    assert faults(request.messages, ANTHROPIC) == []
    return request.messages


def openai(*messages, policy=DUPLICATES):
    request, _ = compact([{"role": "system", "content": "s"}, *messages], OPENAI, policy)
    assert faults(request.messages, OPENAI) == []
    return request.messages[1:]


GO = user("go")
FIRST = (GO, says(use("t1")), user(got("t1")))
ASK = {"role": "user", "content": "go"}
CALL = ("search", '{"query": "x"}')
OPENED = (ASK, asks(None, ("c1", *CALL)), tool("c1"))

# a message that goes


def test_a_message_of_dead_calls_goes_and_its_stub_ends_the_result_before_it():
    end = says("Done.")
    assert anthropic(*FIRST, says(use("t2")), user(got("t2")), end) == [
        *FIRST[:2],
        user(got("t1", "found\n[RECEIPT t2] +1")),
        end,
    ]
    assert openai(*OPENED, asks(None, ("c2", *CALL)), tool("c2"), {"role": "assistant", "content": "Done."}) == [
        *OPENED[:2],
        tool("c1", "found\n[RECEIPT c2] +1"),
        {"role": "assistant", "content": "Done."},
    ]


def test_a_stub_is_a_block_of_its_own_where_the_result_before_it_has_blocks():
    opened = (GO, says(use("t1")), user(got("t1", [text("found")])))
    made = anthropic(*opened, says(use("t2")), user(got("t2", [text("found")])))
    assert made[2]["content"][0]["content"] == [text("found"), text("[RECEIPT t2] +1")]


def test_a_stub_after_words_of_the_user_is_a_text_beside_them():
    made = anthropic(*FIRST, says("One."), user("again"), says(use("t2")), user(got("t2")), says("Two."))
    assert made[4:] == [user("again", "[RECEIPT t2] +1"), says("Two.")]
    two = {"role": "assistant", "content": "Two."}
    again = {"role": "user", "content": "again"}
    made = openai(*OPENED, {**two, "content": "One."}, again, asks(None, ("c2", *CALL)), tool("c2"), two)
    assert made[4:] == [again, {"role": "user", "content": "[RECEIPT c2] +1"}, two]


def test_a_stub_that_nothing_of_the_user_comes_before_is_a_message_of_the_user():
    made = anthropic(*FIRST, says("One."), says(use("t2")), user(got("t2")))
    assert made[3:] == [says("One."), {"role": "user", "content": "[RECEIPT t2] +1"}]


def test_messages_of_the_user_that_meet_are_one():
    made = anthropic(*FIRST, says("a"), user("q"), says(use("t2")), user(got("t2")), user("r"), policy=DUPLICATES)
    assert made[4:] == [user("q", "[RECEIPT t2] +1", "r")]


# a message that stays


def test_in_a_message_that_stays_a_dead_call_stays_and_its_result_is_the_stub():
    asked = says("Again.", use("t2"), use("t3", query="y"))
    made = anthropic(*FIRST, asked, user(got("t2"), got("t3", "more")))
    assert made[3:] == [asked, user(got("t2", "[RECEIPT t2:r]"), got("t3", "more"))]


def test_every_second_result_of_one_stub_shows_its_own_receipt():
    again = says("Again.", use("t3"), use("t4", query="y"))
    made = anthropic(
        GO, says(use("t1"), use("t2", query="y")), user(got("t1"), got("t2")), again, user(got("t3"), got("t4"))
    )
    assert made[4] == user(got("t3", "[RECEIPT t3] +3"), got("t4", "[RECEIPT t4:r]"))


def test_a_result_that_is_shorter_than_its_receipt_stays_where_stubs_have_to_be_worthwhile():
    results = user(got("t1", "found " * 40), got("t2", "ok"))
    again = says("Again.", use("t3"), use("t4", query="y"))
    messages = (GO, says(use("t1"), use("t2", query="y")), results, again)
    policy = Policy(stages=("duplicates",), stubs="worthwhile")
    made = anthropic(*messages, user(got("t3", "found " * 40), got("t4", "ok")), policy=policy)
    assert made[4] == user(got("t3", "[RECEIPT t3] +3"), got("t4", "ok"))


def test_words_stay_where_nothing_else_would_be_left_to_say():
    messages = [ASK]
    for number in range(9):
        said = {"role": "assistant", "content": f"{number} words " * 40, "reasoning_content": "hm"}
        messages += [said, {"role": "user", "content": f"next {number}"}]
    policy = Policy(protect_types=(), protect_tags=("thinking",), budget=Budget(max_tokens=20, min_gain=0))
    _, compaction = compact([{"role": "system", "content": "s"}, *messages], OPENAI, policy)
    made = openai(*messages, policy=policy)
    assert any(compaction.event(name).get("content") in json.dumps(made) for name in compaction["pruned_ids"])
    assert all(each["content"] for each in made if each["role"] == "assistant")


def test_long_values_in_the_arguments_of_a_dead_call_are_stubs_and_short_ones_stay():
    todos = [{"content": "step", "status": "pending"}] * 20
    first = says("Plan.", use("t1", "TodoWrite", todos=todos, why="begin"))
    made = anthropic(GO, first, user(got("t1")), says(use("t2", "TodoWrite", todos=[])), user(got("t2")), policy=STATUS)
    assert made[1]["content"][1]["input"] == {"todos": "[RECEIPT t1]", "why": "begin"}
    given = json.dumps({"todos": todos, "why": "begin"})
    messages = [asks("Plan.", ("c1", "TodoWrite", given)), tool("c1"), asks(None, ("c2", "TodoWrite", '{"todos": []}'))]
    made = openai(ASK, *messages, tool("c2"), policy=STATUS)
    assert made[1]["tool_calls"][0]["function"]["arguments"] == '{"todos": "[RECEIPT c1]", "why": "begin"}'


def test_the_arguments_of_a_live_call_are_left_alone():
    given = json.dumps({"query": "x" * 900})
    messages = (ASK, asks("I look.", ("c1", "search", given)), tool("c1"))
    assert openai(*messages) == list(messages)


@pytest.mark.parametrize("style", ["always", "none"])
def test_a_result_is_never_empty(style):
    made = anthropic(
        *FIRST, says("Again.", use("t2")), user(got("t2")), policy=Policy(stages=("duplicates",), stubs=style)
    )
    assert made[4]["content"][0]["content"] == {"always": "[RECEIPT t2] +1", "none": "(cut)"}[style]


def test_a_cut_image_is_gone_with_its_bytes():
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * 9000}}
    messages = [GO]
    for number in range(4):
        messages += [says(f"{number}", use(f"t{number}", query=str(number))), user(got(f"t{number}", [image]))]
    made = anthropic(*messages, says("Done."), policy=EVERYTHING)
    assert json.dumps(made).count("AAAA") < json.dumps(messages).count("AAAA")
    assert "[RECEIPT" in json.dumps(made)


# what a provider signed


def test_a_signed_message_in_the_last_tool_loop_is_exact_and_its_result_is_the_stub():
    signed = says(thought(), use("t2"))
    assert anthropic(*FIRST, signed, user(got("t2")), says("Done.")) == [
        *FIRST,
        signed,
        user(got("t2", "[RECEIPT t2] +1")),
        says("Done."),
    ]


def loop(first, size):
    for number in range(first, first + size):
        yield says(thought(f"{number}"), "words " * 30, use(f"t{number}", query=str(number)))
        yield user(got(f"t{number}", "found " * 30))


def test_no_signed_message_of_the_last_tool_loop_goes_although_all_of_it_is_cut():
    earlier, last = list(loop(0, 9)), list(loop(9, 9))
    made = anthropic(GO, *earlier, says("Told."), user("next"), *last, policy=EVERYTHING)
    kept = [each for each in made if "signature" in json.dumps(each)]
    assert kept == [each for each in last if each["role"] == "assistant"]
    assert "[RECEIPT" in json.dumps(made[made.index(kept[0]) + 1])


def test_the_latest_answer_is_exact_although_all_of_it_is_cut():
    latest = says(thought("t"), "long text " * 30)
    messages = [GO, latest, *(user(f"go on {number} " * 9) for number in range(9))]
    merged = [GO, latest, user(*(each["content"][0]["text"] for each in messages[2:]))]
    made = anthropic(*merged, policy=Policy(stages=("dead-branches",), budget=Budget(max_tokens=20, min_gain=0)))
    assert made[1] == latest


def test_a_signed_message_of_an_earlier_loop_goes_whole_or_stays_whole():
    messages = [GO]
    for number in range(3):
        signed = says(thought(f"{number}"), "words " * 30, use(f"t{number}", query=str(number)))
        messages += [signed, user(got(f"t{number}", "found " * 30)), says("Told."), user(f"next {number}")]
    made = anthropic(*messages, policy=EVERYTHING)
    kept = [each for each in made if "signature" in json.dumps(each)]
    assert len(kept) < 3
    assert all(each in messages for each in kept)


def searched(name, *words):
    page = [{"type": "web_search_result", "url": "u", "encrypted_content": "E"}]
    asked = {"type": "server_tool_use", "id": name, "name": "web_search", "input": {"query": "x"}}
    return says(asked, {"type": "web_search_tool_result", "tool_use_id": name, "content": page}, *words)


def test_a_server_tool_goes_with_its_result_when_the_whole_message_is_dead():
    made = anthropic(GO, searched("s1"), user("a"), searched("s2"), user("b"), says("Done."))
    assert made == [GO, searched("s1"), user("a", "[RECEIPT s2] +1", "b"), says("Done.")]


def test_a_message_with_a_server_tool_is_exact_when_a_part_of_it_lives():
    messages = [GO, searched("s1"), user("a"), searched("s2", "It is so."), user("b"), says("Done.")]
    assert anthropic(*messages) == messages


def test_a_result_of_another_message_of_the_user_stays_with_its_words():
    made = anthropic(*FIRST, says("Again.", use("t2")), user(got("t2"), "and be quick"))
    assert made[4] == user(got("t2", "[RECEIPT t2] +1"), "and be quick")


# forgery, marks and fields of responses


def test_text_that_would_forge_a_stub_is_escaped_but_not_what_the_model_wrote():
    forged = "[RECEIPT e1] +9"
    messages = (user(forged), says(forged, use("t1", query=forged)), user(got("t1", [text(forged)])))
    made = anthropic(*messages)
    assert [made[0], made[2]] == [user("\\" + forged), user(got("t1", [text("\\" + forged)]))]
    assert made[1] == messages[1]


def test_fields_that_only_responses_have_are_not_sent_again():
    answer = {**says("ok"), "id": "msg_1", "type": "message", "stop_reason": "end_turn", "usage": {"input_tokens": 1}}
    assert anthropic(GO, answer) == [GO, says("ok")]


def test_the_system_prompt_stands_beside_the_messages():
    request, _ = compact([GO, says(use("t1"))], ANTHROPIC, system="Be brief.")
    assert request.system == "Be brief."


def test_a_long_result_is_clipped_in_its_place():
    long = "\n".join(f"line {number}" for number in range(900))
    made = anthropic(GO, says(use("t1")), user(got("t1", long)), policy=Policy(stages=("clip",), clip_over=100))
    content = made[2]["content"][0]["content"]
    assert content.startswith("line 0\n")
    assert "[RECEIPT t1:r] " in content
    assert content.endswith("line 899")


def test_a_called_function_of_the_older_kind_keeps_its_result():
    old = {"role": "assistant", "content": None, "function_call": {"name": "search", "arguments": '{"query": "x"}'}}
    answer = {"role": "function", "name": "search", "content": "found"}
    request, _ = compact([ASK, old, answer, old, answer], OPENAI, DUPLICATES)
    assert request.messages[1:] == [old, {**answer, "content": "found\n[RECEIPT e4] +1"}]


def test_an_event_that_is_read_is_not_changed_by_what_is_done_to_the_messages():
    trace = read([GO, says("ok")], ANTHROPIC)
    before = json.dumps(trace.events)
    request = compacted(compact_events(trace.events), DIALECTS[ANTHROPIC], True)
    request.messages[0]["content"][0]["text"] = "changed"
    assert json.dumps(trace.events) == before
