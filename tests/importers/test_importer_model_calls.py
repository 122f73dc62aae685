"""Spans of model calls and tool runs: which belong to one conversation, which stand in for what, in which order."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st
from importer_checks import told
from span_records import FOUND, LOOK, NOON, Log, Q, agent, messages, result, says, system, user

from context_gc.importers.dialects.payloads import Tokens
from context_gc.trace import Usage

# several conversations


def test_other_prompts_are_other_conversations_in_order_of_their_first_calls():
    log = agent()
    log.model([system("t"), user("other")], says("y"))
    log.model([system("s"), Q, LOOK, FOUND, says("done"), user("more")], says("x"))
    first, second = log.traces()
    assert [len(first.events), len(second.events)] == [8, 3]
    assert (first.title, second.title) == ("q", "other")


def test_the_same_words_to_another_agent_are_another_conversation():
    log = Log()
    log.model([system("guard"), Q], says("safe"))
    log.model([system("s"), Q], says("hello"))
    assert [len(trace.events) for trace in log.traces()] == [3, 3]


def test_the_same_question_in_another_trace_is_another_conversation_but_its_continuation_is_not():
    log = Log()
    log.model([Q], says("a"), trace="t1")
    log.model([Q], says("b"), trace="t2")
    log.model([Q, says("a"), user("more")], says("c"), trace="t3")
    first, second = log.traces()
    assert [event["content"] for event in first.events] == ["q", "a", "more", "c"]
    assert [event["content"] for event in second.events] == ["q", "b"]
    assert (first.extra["trace_id"], second.extra["trace_id"]) == ("t1", "t2")


def test_traces_of_one_session_belong_together():
    log = Log()
    log.model([Q], says("a"), trace="t1", session="s")
    log.model([Q], says("b"), trace="t2", session="s")
    trace = log.trace()
    assert [event["type"] for event in trace.events] == ["requirement", "decision", "abandon", "decision"]
    assert trace.extra["session_id"] == "s"


def test_a_conversation_within_a_tool_run_is_that_of_a_subagent():
    log = Log()
    log.model([Q], says("", "c1:research"))
    log.tool("research", id="run", call="c1", end=NOON + 9_000)
    log.other("agent span", id="inner", parent="run")
    log.model([user("look it up")], says("found"), parent="inner")
    log.model([Q, says("", "c1:research"), result("c1", "found")], says("done"))
    main, sub = log.traces()
    assert (main.title, sub.title) == ("q", "subagent research: look it up")
    assert sub.extra["agent_id"] == "c1"
    assert [event["timestamp"] for event in main.events if event["type"] == "tool_result"] == [NOON + 9_000]


# tool runs


def test_a_tool_run_tells_when_a_result_came_and_that_it_failed():
    log = Log()
    log.model([Q], LOOK)
    log.tool("read", call="c1", failed=True, end=NOON + 2_700)
    log.model([Q, LOOK, FOUND], says("done"))
    (event,) = (event for event in log.trace().events if event["type"] == "tool_result")
    assert (event["timestamp"], event["is_error"], event["origin"]) == (NOON + 2_700, True, {"path": "3", "message": 2})


def test_what_follows_a_result_has_the_time_of_its_own_call():
    log = Log()
    log.model([Q], LOOK)
    log.tool("read", call="c1", end=NOON + 2_700)
    log.model([Q, LOOK, FOUND, user("and?")], says("done"))
    assert [event["timestamp"] - NOON for event in log.trace().events[-3:]] == [2_700, 3_000, 3_500]


def test_without_a_prompt_tool_runs_stand_in_for_calls_and_results():
    log = Log()
    log.model([Q], says("look"))
    log.tool("read", arguments={"path": "a.py"}, result="text")
    log.model(None, says("done"))
    assert told(log.trace()) == [
        ("requirement", "q", ["user"]),
        ("decision", "look", []),
        ("tool_call", "read", []),
        ("tool_result", "text", []),
        ("decision", "done", []),
    ]


def test_a_prompt_that_words_it_otherwise_repeats_what_a_tool_run_told():
    log = Log()
    log.model([Q], LOOK)
    log.tool("read", call="c1", result="raw")
    log.model(None, says("done"))
    log.model([Q, LOOK, result("c1", "as the model saw it"), says("done"), user("more")], says("x"))
    trace = log.trace()
    assert [event["result"] for event in trace.events if event["type"] == "tool_result"] == ["raw"]
    assert [event["type"] for event in trace.events[-2:]] == ["requirement", "decision"]


def test_a_tool_run_whose_call_the_next_prompt_leaves_out_belongs_to_what_is_abandoned():
    log = Log()
    log.model([Q], LOOK)
    log.tool("read", call="c1", result="text")
    log.model([Q, user("stop")], says("ok"))
    trace = log.trace()
    kinds = [event["type"] for event in trace.events]
    assert kinds == ["requirement", "decision", "tool_call", "tool_result", "abandon", "requirement", "decision"]
    assert trace.events[4]["ref_to"] == [trace.events[1]["id"]]
    assert trace.ignored == {}


def test_the_last_tool_run_is_shown_though_no_model_call_follows():
    log = Log()
    log.model([Q], says("", "c1:read", "c2:read:b.py"))
    log.tool("read", call="c2", result="b")
    trace = log.trace()
    assert trace.events[-1]["call_id"] == "c2"


def test_a_tool_run_that_no_prompt_shows_is_counted():
    log = Log()
    log.model([Q], says("a"))
    log.tool("load_prompt")
    log.model([Q, says("a"), user("b")], says("c"))
    trace = log.trace()
    assert trace.ignored == {"tool run that no model saw": 1}
    assert {event["type"] for event in trace.events} == {"requirement", "decision"}


def test_tool_runs_without_any_model_call_are_a_trace():
    log = Log()
    log.tool("read", arguments={"path": "a"}, result="x")
    log.tool("read", failed=True)
    trace = log.trace()
    assert [event["type"] for event in trace.events] == ["tool_call", "tool_result"] * 2
    assert trace.events[3]["is_error"] is True


def test_runs_and_calls_without_ids_are_paired_by_tool_and_order():
    log = Log()
    log.model([Q], says("", ":read", ":grep", ":read:b.py"))
    log.tool("grep", result="g", failed=True)
    answers = [result("", "a", name="read"), result("", "g", name="grep"), result("", "b", name="read")]
    log.model([Q, says("", ":read", ":grep", ":read:b.py"), *answers], says("done"))
    events = log.trace().events
    calls = {event["id"]: event["tool_name"] for event in events if event["type"] == "tool_call"}
    results = [(calls[e["call_id"]], e["result"], "is_error" in e) for e in events if e["type"] == "tool_result"]
    assert results == [("read", "a", False), ("grep", "g", True), ("read", "b", False)]
    assert len({event["call_id"] for event in events if event["type"] == "tool_result"}) == 3


def test_a_result_that_was_not_approved_abandons_its_call():
    log = Log()
    log.model([Q], says("", "c1:rm", "c2:ls"))
    refused = result("c1", "not allowed", error={"type": "approval", "message": "not allowed"})
    log.model([Q, says("", "c1:rm", "c2:ls"), refused, result("c2", "files")], says("then so"))
    events = {event["id"]: event for event in log.trace().events}
    assert events["c1:abandon"]["ref_to"] == ["c1"]
    assert events["c1:r"]["is_error"] is True
    assert (events["c2:r"]["parent_id"], events["c1:abandon"]["parent_id"]) == ("c2", "e1")


# wrappers, states, order


def test_of_model_calls_around_others_only_what_those_lack_is_read():
    log = Log()
    log.model([user("outer words")], says("final"), id="outer", end=NOON + 9_000)
    log.model(None, says("look"), parent="outer", id="in1")
    log.model(None, parent="outer", id="in2", tokens=Tokens(5, 1))
    trace = log.trace()
    assert told(trace) == [
        ("requirement", "outer words", ["user"]),
        ("decision", "look", []),
        ("decision", "final", []),
    ]
    assert trace.events[2]["origin"] == {"path": "1", "answer": 0}
    assert trace.usage == [Usage("e3", 5, 1)]


def test_a_wrapper_that_adds_nothing_is_counted():
    log = Log()
    log.model([Q], says("a"), id="outer")
    log.model([Q], says("a"), parent="outer")
    assert log.trace().ignored == {"model call around others": 1}


def test_a_state_adds_what_stands_behind_all_calls():
    log = agent()
    log.other("state", prompt=[*messages(Q, LOOK, FOUND, says("done")), *messages(user("thanks"))])
    assert told(log.trace())[-2:] == [("decision", "done", []), ("requirement", "thanks", ["user"])]


def test_a_state_that_does_not_hold_the_last_answer_is_counted():
    log = agent()
    log.other("state", prompt=messages(user("rewritten")))
    assert log.trace().ignored == {"end state apart": 1}


def test_a_state_alone_is_a_conversation():
    log = Log()
    log.other("state", prompt=messages(Q, says("a")))
    assert told(log.trace()) == [("requirement", "q", ["user"]), ("decision", "a", [])]


def test_spans_are_taken_in_order_of_time_and_those_without_one_stay_behind_their_predecessor():
    log = Log()
    log.model([Q, says("a"), user("b")], says("c"), start=NOON + 5_000, end=NOON + 5_500)
    log.model([Q], says("a"), start=NOON + 1_000, end=NOON + 1_500)
    log.model([Q, says("a"), user("b"), says("c"), user("d")], start=NOON + 6_000)
    log.model([Q, says("a"), user("b"), says("c"), user("d")], says("e"), start=None, end=None)
    assert [event["content"] for event in log.trace().events] == ["q", "a", "b", "c", "d", "e"]


def test_spans_that_are_their_own_ancestors_end():
    log = Log()
    log.model([Q], says("a"), id="x", parent="y")
    log.model([Q], says("b"), id="y", parent="x")
    assert [event["type"] for event in log.trace().events] == ["requirement", "decision", "abandon", "decision"]


# any log

WORDS = st.sampled_from(["a", "b", "c", "Summary: d", "", " "])
MESSAGES = st.one_of(
    st.builds(user, WORDS),
    st.builds(system, WORDS),
    st.builds(says, WORDS, st.sampled_from(["c1:read", "c2:grep", ":read", "c1:read:b.py"])),
    st.builds(says, WORDS),
    st.builds(result, st.sampled_from(["c1", "c2", "", "zz"]), WORDS),
)
PROMPTS = st.one_of(st.none(), st.lists(MESSAGES, max_size=6))


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_any_log_keeps_the_promises_and_gives_the_same_again(data):
    def built():
        log = Log()
        for kind, prompt, answer, more in steps:
            if kind == "tool":
                log.tool("read", **{key: value for key, value in more.items() if key != "compacted"}, result="r")
            elif kind == "state":
                log.other("state", prompt=messages(*(prompt or ())))
            else:
                log.model(prompt, *answer, **more)
        return log.traces()

    more = st.fixed_dictionaries(
        {
            "parent": st.sampled_from(["", "s1", "s2", "s3"]),
            "trace": st.sampled_from(["", "t"]),
            "call": st.sampled_from(["", "c1"]),
            "compacted": st.sampled_from(["", "", "auto"]),
        }
    )
    step = st.tuples(st.sampled_from(["model"] * 4 + ["tool", "state"]), PROMPTS, st.lists(MESSAGES, max_size=2), more)
    steps = data.draw(st.lists(step, max_size=7))
    assert json.dumps([trace.events for trace in built()]) == json.dumps([trace.events for trace in built()])
