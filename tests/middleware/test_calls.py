"""A call of a model, case by case, with the real SDKs: what it gives, and what a failure leaves behind."""

from __future__ import annotations

import threading

import pytest
from callers import Caller, each_provider, in_turn, sdk, texts_of
from providers import ANTHROPIC, OPENAI, Says

from context_gc import ContextGC, InvalidMessages, MissingExtra, Policy
from context_gc.middleware import anthropic_calls, openai_calls

OK = Says(texts=("Fine.",))
STEP = Says(texts=("Look.",), calls=(("step", {"number": 1}),))
TWO = Says(calls=(("step", {"number": 1}), ("step", {"number": 2})))
each_way = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])


def test_a_plain_answer_has_its_text_and_what_the_provider_counted():
    for name in (OPENAI, ANTHROPIC):
        client = ContextGC()
        with Caller(name, in_turn(OK)) as caller:
            answer = caller(client, "Hello", system="Be brief.")
            size = caller.provider.size(caller.provider.requests[0])
        metrics = answer.metrics
        assert (answer.response_text, answer.is_finished, answer.tool_calls, answer.refusal) == ("Fine.", True, (), "")
        assert metrics.input_tokens + metrics.cache_read + metrics.cache_write == size
        assert (metrics.output_tokens, metrics.rounds, metrics.tokens_before > 0) == (7, 1, True)
        assert metrics.tokens_before == metrics.tokens_after
        assert [event["content"] for event in client.look().events] == ["Hello", "Fine."]


@each_provider
def test_the_providers_count_corrects_the_meter(name):
    from context_gc import Budget

    client = ContextGC(Policy(budget=Budget(max_tokens=100_000)))
    with Caller(name, in_turn(OK)) as caller:
        answer = caller(client, "Hello", system="word " * 2000)
    assert client.budget.reported
    assert client.budget.tokens > 2000 > 10 * answer.metrics.tokens_after


@each_provider
def test_a_stream_gives_the_text_in_parts_and_then_the_same_answer(name):
    with Caller(name, in_turn(Says(texts=("One two three four.",)), Says(texts=("One two three four.",)))) as caller:
        whole = caller(ContextGC(), "Hello")
        with caller(ContextGC(), "Hello", stream=True) as stream:
            parts = list(stream)
    assert len(parts) > 1
    assert "".join(parts) == stream.answer.response_text == whole.response_text
    assert (stream.answer.metrics, stream.answer.stop_reason) == (whole.metrics, whole.stop_reason)


@each_provider
@each_way
def test_parallel_calls_are_run_in_order_and_told_together(name, stream):
    ran = []
    with Caller(name, in_turn(TWO, OK)) as caller:
        client = ContextGC()
        answer = caller(client, "go", ["step"], run_tool=lambda tool, given: ran.append(given) or "ok", stream=stream)
        answer = getattr(answer, "answer", answer)
    assert ran == [{"number": 1}, {"number": 2}]
    assert (answer.response_text, answer.metrics.rounds, caller.provider.refused) == ("Fine.", 2, [])


@each_provider
@each_way
def test_an_answer_of_calls_alone_waits_for_the_caller(name, stream):
    client = ContextGC()
    with Caller(name, in_turn(TWO, OK)) as caller:
        answer = caller(client, "go", ["step"], stream=stream)
        answer = getattr(answer, "answer", answer)
        assert (answer.response_text, answer.is_finished) == ("", False)
        first, second = answer.tool_calls
        assert (first.name, first.arguments, second.arguments) == ("step", {"number": 1}, {"number": 2})
        with pytest.raises(InvalidMessages, match=second.id):
            caller(client, None, ["step"], tool_results={first.id: "one"})
        with pytest.raises(InvalidMessages, match="call_x"):
            caller(client, None, ["step"], tool_results={"call_x": "one"})
        answer = caller(client, None, ["step"], tool_results={first.id: "one", second.id: {"n": 2}})
    assert (answer.response_text, caller.provider.refused) == ("Fine.", [])
    assert list(texts_of(caller.provider.requests[-1]["messages"]))[-2:] == ["one", '{"n": 2}']


@each_provider
def test_calls_that_nobody_answers_are_told_to_have_no_result(name):
    client = ContextGC()
    with Caller(name, in_turn(TWO, OK)) as caller:
        caller(client, "go", ["step"])
        assert caller(client, "Never mind.", ["step"]).response_text == "Fine."
    assert caller.provider.refused == []
    assert list(texts_of(caller.provider.requests[-1]["messages"]))[-3:] == ["(no result)"] * 2 + ["Never mind."]


def test_several_content_blocks_are_one_text_and_stay_blocks():
    with Caller(ANTHROPIC, in_turn(Says(texts=("One. ", "Two."), thinks=True), OK)) as caller:
        client = ContextGC()
        assert caller(client, "go").response_text == "One. Two."
        caller(client, "on")
    sent = caller.provider.requests[-1]["messages"][1]["content"]
    assert [block["type"] for block in sent] == ["thinking", "text", "text"]
    assert caller.provider.refused == []


def test_a_refusal_is_told_as_one_and_the_conversation_goes_on():
    with Caller(OPENAI, in_turn(Says(refusal="I cannot."), OK)) as caller:
        client = ContextGC()
        answer = caller(client, "go")
        assert (answer.response_text, answer.refusal, answer.stop_reason) == ("", "I cannot.", "stop")
        assert caller(client, "then something else").response_text == "Fine."
    with Caller(ANTHROPIC, in_turn(Says(stop="refusal"), Says(texts=("I cann",), stop="refusal"), OK)) as caller:
        client = ContextGC()
        answer = caller(client, "go")
        assert (answer.response_text, answer.stop_reason) == ("", "refusal")
        assert caller(client, "really").refusal == "I cann"
        assert caller(client, "then something else").response_text == "Fine."
        assert caller.provider.refused == []


@each_provider
@pytest.mark.parametrize("status", [400, 429, 500])
def test_an_error_comes_through_and_the_same_call_can_be_made_again(name, status):
    client = ContextGC()
    with Caller(name, in_turn(OK, STEP, Says(status=status), OK)) as caller:
        caller(client, "first")
        with pytest.raises(sdk(name).APIStatusError) as caught:
            caller(client, "second", ["step"], run_tool=lambda tool, given: "ok")
        assert caught.value.status_code == status
        answer = caller(client, "second", ["step"], run_tool=lambda tool, given: "ok")
    assert (answer.response_text, answer.metrics.rounds, caller.provider.refused) == ("Fine.", 1, [])
    assert list(texts_of(caller.provider.requests[-1]["messages"])).count("second") == 1


@each_provider
def test_too_many_requests_are_tried_again_by_the_sdk(name):
    busy = Says(status=429, headers={"retry-after-ms": "1", "retry-after": "0"})
    with Caller(name, in_turn(busy, busy, OK)) as caller:
        assert caller(ContextGC(), "go", client=caller.client(max_retries=2)).response_text == "Fine."


@each_provider
@each_way
def test_a_timeout_comes_through_and_the_same_call_can_be_made_again(name, stream):
    slow, client = threading.Event(), ContextGC()
    with Caller(name, in_turn(Says(waits=slow), OK)) as caller:
        with pytest.raises(sdk(name).APITimeoutError):
            list(caller(client, "go", client=caller.client(timeout=0.2), stream=stream))
        slow.set()
        assert caller(client, "go").response_text == "Fine."
    assert [event["content"] for event in client.look().events] == ["go", "Fine."]


@each_provider
def test_a_stream_that_breaks_or_is_left_adds_nothing_and_can_be_asked_for_again(name):
    client = ContextGC()
    long = Says(texts=("One two three four five six.",))
    with Caller(name, in_turn(Says(texts=long.texts, breaks=True), long, OK)) as caller:
        with pytest.raises(sdk(name).APIConnectionError, match="ended before"):
            caller(client, "go", stream=True).answer  # noqa: B018
        with caller(client, "go", stream=True) as stream:
            next(stream)
        with pytest.raises(RuntimeError, match="closed"):
            stream.answer  # noqa: B018
        assert caller(client, "go").response_text == "Fine."
    assert [event["content"] for event in client.look().events] == ["go", "Fine."]


@each_provider
def test_a_tool_that_raises_comes_through_and_its_call_is_answered(name):
    def tool(_, given):
        if given["number"] == 2:
            raise OSError("disk full")
        return "ok"

    client = ContextGC()
    three = Says(calls=tuple(("step", {"number": number}) for number in (1, 2, 3)))
    with Caller(name, in_turn(three, OK)) as caller:
        with pytest.raises(OSError, match="disk full"):
            caller(client, "go", ["step"], run_tool=tool)
        assert caller(client, "go", ["step"], run_tool=tool).response_text == "Fine."
    assert caller.provider.refused == []
    told = list(texts_of(caller.provider.requests[-1]["messages"]))
    assert told[-3:] == [
        "ok",
        "The tool failed: OSError: disk full",
        "The call did not run: the call before it failed.",
    ]


@each_provider
def test_rounds_are_bounded_and_the_next_call_goes_on(name):
    with Caller(name, in_turn(STEP, STEP, OK)) as caller:
        client = ContextGC()
        answer = caller(client, "go", ["step"], run_tool=lambda tool, given: "ok", max_rounds=2)
        assert (answer.metrics.rounds, answer.is_finished, answer.tool_calls) == (2, False, ())
        assert caller(client, None, ["step"]).response_text == "Fine."
        with pytest.raises(ValueError, match="max_rounds"):
            caller(client, "go", max_rounds=0)
    assert caller.provider.refused == []


@each_provider
def test_a_call_that_the_output_limit_cut_short_does_not_run(name):
    cut = Says(calls=STEP.calls, stop="length" if name == OPENAI else "max_tokens")
    ran = []
    with Caller(name, in_turn(cut, OK)) as caller:
        caller(ContextGC(), "go", ["step"], run_tool=lambda tool, given: ran.append(given))
    assert ran == []
    assert "cut short" in list(texts_of(caller.provider.requests[-1]["messages"]))[-1]


def test_arguments_that_are_no_json_do_not_run_and_the_model_is_told():
    ran = []
    with Caller(OPENAI, in_turn(Says(calls=(("step", "[1"),)), OK)) as caller:
        caller.provider.faults = lambda name, body: []
        caller(ContextGC(), "go", ["step"], run_tool=lambda tool, given: ran.append(given))
    assert ran == []
    assert "not a valid JSON object" in list(texts_of(caller.provider.requests[-1]["messages"]))[-1]


def test_a_turn_that_the_provider_paused_is_gone_on_with():
    with Caller(ANTHROPIC, in_turn(Says(texts=("So far.",), stop="pause_turn"), OK)) as caller:
        caller.provider.faults = lambda name, body: []
        answer = caller(ContextGC(), "go")
    assert (answer.response_text, answer.metrics.rounds) == ("Fine.", 2)
    assert caller.provider.requests[-1]["messages"][-1]["role"] == "assistant"


def test_cache_breakpoints_stand_on_the_system_prompt_the_opening_and_the_last_messages():
    with Caller(ANTHROPIC, in_turn(STEP, STEP, OK, OK)) as caller:
        caller(ContextGC(), "go", ["step"], run_tool=lambda tool, given: "ok", system="Be brief.")
        caller(ContextGC(), "go", system="Be brief.", cache=False)
    body, plain = caller.provider.requests[2:]
    assert "cache_control" in body["system"][0]
    marked = [place for place, each in enumerate(body["messages"]) if "cache_control" in str(each)]
    assert marked == [0, 2, 4]
    assert "cache_control" not in str(plain)


@each_provider
def test_history_that_came_otherwise_opens_the_conversation(name):
    client = ContextGC()
    client.add_event({"id": "s", "type": "constraint", "timestamp": 1, "content": "Speak French."})
    client.add_event({"id": "u", "type": "requirement", "timestamp": 2, "content": "Bonjour"})
    with Caller(name, in_turn(OK, OK)) as caller:
        caller(client)
        client.add_event({"id": "n", "type": "test_run", "timestamp": 3, "test_names": [], "exit_code": 1,
                          "passed_count": 1, "failed_count": 2})  # fmt: skip
        caller(client, "Why?")
    body = caller.provider.requests[-1]
    assert "Speak French." in str(body)
    assert list(texts_of(body["messages"]))[-4:] == ["Bonjour", "Fine.", "TEST (all) — 1 passed, 2 failed", "Why?"]
    assert caller.provider.refused == []


@each_provider
def test_a_history_of_one_provider_goes_on_at_the_other(name):
    other = ANTHROPIC if name == OPENAI else OPENAI
    client = ContextGC()
    with Caller(other, in_turn(Says(texts=("Look.",), calls=STEP.calls, thinks=True), OK)) as caller:
        caller(client, "go", ["step"], run_tool=lambda tool, given: "ok")
    with Caller(name, in_turn(OK)) as caller:
        caller(client, "and?", ["step"])
        assert caller.provider.refused == []
    assert list(texts_of(caller.provider.requests[0]["messages"]))[-3:] == ["ok", "Fine.", "and?"]


@each_provider
def test_nothing_to_answer_is_refused_before_the_model_is_asked(name):
    with Caller(name, in_turn()) as caller, pytest.raises(InvalidMessages, match="nothing to answer"):
        caller(ContextGC())


@each_provider
def test_key_and_address_come_from_arguments_or_the_environment(name, monkeypatch):
    with Caller(name, in_turn(OK, OK)) as caller:
        address = f"{caller.address}/v1" if name == OPENAI else caller.address
        assert caller(ContextGC(), "go", client=None, api_key="k", base_url=address, timeout=9, max_retries=0)
        prefix = "OPENAI" if name == OPENAI else "ANTHROPIC"
        monkeypatch.setenv(f"{prefix}_API_KEY", "k")
        monkeypatch.setenv(f"{prefix}_BASE_URL", address)
        assert caller(ContextGC(), "go", client=None).response_text == "Fine."


@pytest.mark.parametrize(("module", "package"), [(openai_calls, "openai"), (anthropic_calls, "anthropic")])
def test_a_missing_sdk_is_named_with_its_extra(module, package, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, package, None)
    call = getattr(module, f"call_{package}_with_compaction")
    with pytest.raises(MissingExtra, match=rf"install context-gc\[{package}\]"):
        call(ContextGC(), "model-1", "go")
