"""Events that were no messages of the provider: what they become, and that it would be taken."""

from __future__ import annotations

from message_checks import faults

from context_gc import compact_events
from context_gc.messages import DIALECTS, compacted, whole

ANTHROPIC, OPENAI = "anthropic-messages", "openai-chat"


def user(*blocks):
    return {"role": "user", "content": [text(each) if isinstance(each, str) else each for each in blocks]}


def says(*blocks):
    return {"role": "assistant", "content": [text(each) if isinstance(each, str) else each for each in blocks]}


def text(words):
    return {"type": "text", "text": words}


def got(name, content):
    return {"type": "tool_result", "tool_use_id": name, "content": content}


def tool(name, content):
    return {"role": "tool", "tool_call_id": name, "content": content}


def event(name, kind="decision", **more):
    fields = {"content": name} if kind in ("decision", "requirement", "constraint") else {}
    return {"id": name, "type": kind, "timestamp": 1, "parent_id": None, **fields, **more}


def called(name, **more):
    return event(name, "tool_call", tool_name="bash", arguments={"command": name}, **more)


def answered(name, of, value="ok", **more):
    return event(name, "tool_result", call_id=of, result=value, **more)


def told(*events, to=ANTHROPIC, is_signed=False):
    request = whole(list(events), DIALECTS[to], is_signed)
    assert faults(request.messages, to, request.system) == []
    return request


def test_a_marker_that_came_while_a_call_waited_does_not_part_it_from_its_result():
    marker = event("older work", tags=["summary"])
    events = [event("go", "requirement"), called("c1"), marker, answered("r1", "c1")]
    assert [each["role"] for each in told(*events, to=OPENAI).messages] == ["user", "assistant", "tool", "user"]
    made = told(*events).messages
    assert made[2] == user(got("c1", "ok"), "older work")


def test_a_call_that_was_never_answered_gets_a_result_where_the_conversation_goes_on():
    events = [event("go", "requirement"), called("c1"), event("stop", "requirement")]
    assert told(*events).messages[2] == user(got("c1", "(no result)"), "stop")
    assert told(*events, to=OPENAI).messages[2] == tool("c1", "(no result)")


def test_a_call_at_the_end_waits_for_its_result():
    assert told(event("go", "requirement"), called("c1")).messages[-1]["content"][-1]["id"] == "c1"


def test_calls_of_one_message_are_one_message_also_where_their_results_came_between():
    events = [event("go", "requirement"), called("a", message_id="m"), answered("ra", "a"), called("b", message_id="m")]
    made = told(*events, answered("rb", "b")).messages
    assert [len(each["content"]) for each in made[1:]] == [2, 2]


def test_what_is_said_or_called_after_a_result_is_another_message():
    events = [event("go", "requirement"), called("a"), answered("ra", "a"), called("b"), answered("rb", "b")]
    for more in ({}, {"message_id": "m", "repeats": "x"}):
        made = told(*(each | more if each["type"] == "tool_call" else each for each in events)).messages
        assert [len(each["content"]) for each in made[1:]] == [1, 1, 1, 1]
    made = told(*events[:3], event("ok", message_id="m"), to=OPENAI).messages
    assert [each["role"] for each in made] == ["user", "assistant", "tool", "assistant"]


def test_a_result_without_a_call_is_said_by_the_user():
    made = told(event("go", "requirement"), answered("r", "gone", "late"), to=OPENAI).messages
    assert made == [{"role": "user", "content": "go"}, {"role": "user", "content": "RESULT late"}]


def test_ids_and_names_have_only_characters_that_providers_take_and_stay_apart():
    events = [event("go", "requirement"), called("a.b:1"), called("a:b.1"), called("x" * 64)]
    (made,) = [each for each in told(*events).messages if each["role"] == "assistant"]
    assert [block["id"] for block in made["content"]] == ["a_b_1", "a_b_1_2", "x" * 40]


def test_thinking_is_sent_only_with_a_signature_of_that_provider():
    events = [event("go", "requirement"), event("hm", tags=["thinking"], signature="S"), event("ok")]
    assert told(*events, is_signed=True).messages[1] == says(
        {"type": "thinking", "thinking": "hm", "signature": "S"}, "ok"
    )
    unsigned = told(*events)
    assert (unsigned.messages[1], unsigned.lost) == (says("ok"), {"thinking": 1})


def test_instructions_are_the_system_prompt():
    made = told(event("Be brief.", "constraint"), event("go", "requirement"))
    assert (made.system, made.messages) == ("Be brief.", [{"role": "user", "content": "go"}])


def test_an_image_crosses_from_one_provider_to_the_other():
    ours = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA"}}
    theirs = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}
    assert told(event("[image]", "requirement", block=ours), to=OPENAI).messages[0]["content"] == [theirs]
    assert told(event("[image]", "requirement", block=theirs)).messages[0]["content"] == [ours]


def test_an_error_is_told_as_one_unless_it_shows_an_image():
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA"}}
    for value, more in (("no", {"is_error": True}), ([image], {})):
        events = [event("go", "requirement"), called("c1"), answered("r1", "c1", value, is_error=True)]
        assert told(*events).messages[2] == user(got("c1", value) | more)


def test_a_foreign_trace_is_compacted_by_the_same_rules():
    events = [event("go", "requirement"), called("c1"), answered("r1", "c1")]
    events[1]["tool_name"] = "search"
    events += [events[1] | {"id": "c2"}, answered("r2", "c2"), event("ok")]
    request = compacted(compact_events(events), DIALECTS[OPENAI], False)
    assert [each.get("content") for each in request.messages] == ["go", None, "ok\n[RECEIPT c2] +1", "ok"]


def test_a_signed_message_of_an_abandoned_branch_goes_also_from_the_last_loop():
    left = [event("hm", tags=["thinking"], signature="S"), called("c1"), answered("r1", "c1")]
    abandon = event("left", "abandon", ref_to=["hm"])
    events = [event("go", "requirement"), left[0], left[1] | {"parent_id": "hm"}, left[2] | {"parent_id": "c1"}]
    request = compacted(compact_events([*events, abandon, event("ok")]), DIALECTS[ANTHROPIC], False, True)
    assert request.messages == [user("go", "[RECEIPT hm] +3"), says("ok")]


def test_a_user_text_in_an_abandoned_branch_is_marked():
    events = [event("go", "requirement", tags=["user"]), event("left", "abandon", ref_to=["go"], content="no")]
    request = compacted(compact_events([*events, event("ok")]), DIALECTS[OPENAI], False)
    assert request.messages[0]["content"].startswith("go (abandoned by left, kept: ")
