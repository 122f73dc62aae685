"""Rows of Chat Completions: data sets, logs of requests, what a later request takes back or rewrites."""

from __future__ import annotations

import json
from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st
from importer_checks import accounted, told, tree, types
from openai_chat_records import SYSTEM, load, log, row, says, tool, user

from context_gc.trace import Usage


def test_rows_are_conversations_of_their_own_even_when_they_begin_alike():
    run = [SYSTEM, user("Solve it"), says("", ("call_0", "read", {"path": "a"})), tool("call_0", "text")]
    traces = log({"messages": [*run, says("one")], "id": 1}, {"messages": [*run, says("two")]}, {"id": 3})
    assert [told(trace)[-1][1] for trace in traces] == ["one", "two"]
    assert traces[0].extra["request"] == {"messages": None, "id": 1}
    assert traces[0].ignored == {"row without a conversation": 1}
    assert traces[1].events[0]["origin"] == {"line": 2, "index": 0, "at": ["content"]}
    assert accounted(traces) == 3


def test_an_export_of_harbor_is_read_by_its_conversations():
    turns = [user("task"), says("first"), user("output"), says("second")]
    rows = [
        {"conversations": turns[:2], "agent": "terminus-2", "episode": "e0"},
        {"conversations": turns, "episode": "e1"},
    ]
    (trace,) = log(*rows)
    assert [text for _, text, _ in told(trace)] == ["task", "first", "output", "second"]
    assert trace.ignored == {"request that a later one repeats": 1}


def test_of_a_log_the_last_request_and_the_response_to_it_are_read_and_the_others_date_it():
    first = [SYSTEM, user("q")]
    asked = says("I look.", ("call_01", "read", {"path": "a"}))
    second = [*first, asked | {"annotations": []}, tool("call_01", "text")]
    (trace,) = log(
        row(first, asked, 1, prompt_tokens=10, completion_tokens=3),
        row(second, says("done"), 2, prompt_tokens=20, completion_tokens=1, prompt_tokens_details={"cached_tokens": 8}),
    )
    assert [(e["type"], e["timestamp"], e["origin"]["line"]) for e in trace.events] == [
        ("constraint", 1000, 2),
        ("requirement", 1000, 2),
        ("decision", 1000, 2),
        ("tool_call", 1000, 2),
        ("tool_result", 2000, 2),
        ("decision", 2000, 2),
    ]
    assert trace.usage == [Usage("call_01", 10, 3), Usage("e6", 12, 1, 8)]
    assert trace.ignored == {"request that a later one repeats": 1}
    assert trace.events[-1]["origin"] == {"line": 2, "answer": 0, "at": ["content"]}
    assert accounted([trace]) == 2


def test_a_log_without_responses_is_known_by_requests_that_go_on():
    turns = [user("a"), says("b"), user("c"), says("d")]
    (trace,) = log({"messages": turns[:2]}, {"messages": turns})
    assert types(trace) == {"requirement": 2, "decision": 2}


def test_a_prefix_that_shrinks_or_changes_abandons_what_it_leaves():
    shared = [SYSTEM, user("q1"), says("a1")]
    (trace,) = log(
        row(shared[:2], shared[2]), row([*shared, user("q2")], says("a2")), row([*shared, user("q3")], says("a3"))
    )
    assert [(event["type"], event.get("content")) for event in trace.events[3:]] == [
        ("requirement", "q2"),
        ("decision", "a2"),
        ("abandon", "taken back by a later request"),
        ("requirement", "q3"),
        ("decision", "a3"),
    ]
    assert tree(trace)["e4:abandon"] == "e3"
    assert trace.events[5]["ref_to"] == ["e4"]
    assert accounted([trace]) == 3


def test_each_way_that_is_taken_back_is_abandoned_once():
    shared = [SYSTEM, user("q"), says("a")]
    ways = [row([*shared, user(f"try {n}")], says(f"way {n}")) for n in (1, 2, 3)]
    (trace,) = log(row(shared[:2], shared[2]), *ways)
    named = {event["id"]: event.get("content") for event in trace.events}
    abandons = [event for event in trace.events if event["type"] == "abandon"]
    assert [[named[name] for name in event["ref_to"]] for event in abandons] == [["try 1"], ["try 2"]]
    assert [event["parent_id"] for event in abandons] == ["e3", "e3"]


def test_a_rewritten_history_stands_in_a_new_window():
    read = [user("q"), says("", ("call_long_1", "read", {})), tool("call_long_1", "much text"), says("seen")]
    cleared = [user("q"), read[1], tool("call_long_1", "[cleared]"), says("seen"), user("next")]
    (trace,) = log(row(read[:3], read[3], prompt_tokens=90, completion_tokens=2), row(cleared, says("ok")))
    assert [(w.start, w.stop, w.opened_by, w.tokens_before) for w in trace.windows] == [
        (0, 4, "start", None),
        (4, 10, "unknown", 92),
    ]
    assert trace.events[6]["call_id"] == trace.events[5]["id"] == "call_long_1:2"


def test_a_summary_opens_a_window_of_the_same_trace():
    after = [SYSTEM, user("<summary>We fixed it.</summary>"), user("go on")]
    (trace,) = log(row([SYSTEM, user("q")], says("a")), row(after, says("b")))
    assert told(trace)[3:5] == [("constraint", "Be brief.", ["system"]), ("decision", after[1]["content"], ["summary"])]
    assert len(trace.windows) == 2


def test_a_changed_system_prompt_and_other_conversations_between_do_not_break_a_thread():
    dated = [{"role": "system", "content": f"It is {time} o'clock."} for time in (1, 2)]
    first, other = [dated[0], user("q")], [SYSTEM, user("make a title")]
    traces = log(
        row(first, says("a")), row(other, says("t")), row([dated[1], user("q"), says("a"), user("r")], says("b"))
    )
    assert [Counter(event["type"] for event in trace.events) for trace in traces] == [
        {"constraint": 1, "requirement": 2, "decision": 2},
        {"constraint": 1, "requirement": 1, "decision": 1},
    ]
    assert traces[0].events[0]["content"] == "It is 2 o'clock."


def test_a_row_with_a_damaged_message_is_a_problem_on_its_line():
    traces = log({"messages": [user("a"), 5, {"role": "user", "content": {}}]}, {"messages": [user("b")]})
    assert [(problem.line, problem.text) for problem in traces[0].problems] == [
        (1, "message 1: a number where a message was expected (skipped) (and 1 more)")
    ]
    assert accounted(traces) == 2


def test_a_request_logged_with_bodies_as_text_is_read():
    each = row([user("hi")], says("yes"))
    packed = {"request": {"body": json.dumps(each["request"])}, "response": {"body": json.dumps(each["response"])}}
    (trace,) = log(packed, {"note": "x"})
    assert [text for _, text, _ in told(trace)] == ["hi", "yes"]


texts = st.sampled_from(["a", "b", "a longer text that says something"])
turns = st.lists(st.tuples(texts, st.booleans(), texts), min_size=2, max_size=5)


@settings(max_examples=40, deadline=None)
@given(turns, st.data())
def test_a_log_of_growing_requests_holds_the_events_of_its_conversation(said, data):
    talk, rows, ends = [SYSTEM, user("the task")], [], []
    for number, (text, calls, more) in enumerate(said):
        answer = says(text, (f"call_{number:04}", "read", {"path": text})) if calls else says(text)
        rows.append(row(list(talk), answer, number))
        talk += [answer, tool(f"call_{number:04}", more) if calls else user(more)]
        ends.append(len(talk))
    whole = load([*talk[:-1]])
    (logged,) = log(*rows)
    assert told(logged) == told(whole)
    assert tree(logged) == tree(whole)
    assert accounted([logged]) == len(rows)
    assert len(logged.usage) == 0
    kept = data.draw(st.integers(0, len(rows) - 1))
    again = row([*talk[: ends[kept] - 1], user("something else")], says("another answer"), 99)
    (changed,) = log(*rows, again)
    assert told(changed)[-1] == ("decision", "another answer", [])
    assert sum(event["type"] == "abandon" for event in changed.events) == (ends[kept] < ends[-1])
