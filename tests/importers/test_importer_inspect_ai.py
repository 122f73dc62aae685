"""Inspect AI: what samples and their events become."""

from __future__ import annotations

import pytest
from importer_checks import told
from inspect_records import event, log, model, only, read, result, sample, says, tool, user

from context_gc.trace import Usage

Q, LOOK, FOUND, DONE = user("q"), says("look", "c1:f"), result("c1", "text"), says("done")
EVENTS = [
    ("requirement", "q", ["user"]),
    ("decision", "look", []),
    ("tool_call", "f", []),
    ("tool_result", "text", []),
    ("decision", "done", []),
]


def test_model_events_give_the_conversation_with_times_usage_and_facts_about_the_sample():
    trace = only(
        event("sample_init"),
        model(1, [Q], LOOK, completed="2026-01-01T00:00:02Z"),
        tool(3, "c1", completed="2026-01-01T00:00:04Z", result="text"),
        model(5, [Q, LOOK, FOUND], DONE),
        event("score", 6),
        final=[Q, LOOK, FOUND, DONE],
        scores={"match": {"value": "C", "answer": "x"}},
    )
    assert told(trace) == EVENTS
    assert [each["timestamp"] % 60_000 // 1000 for each in trace.events] == [1, 2, 2, 4, 5]
    assert trace.usage == [Usage("c1", 9, 2), Usage("e5", 9, 2)]
    assert (trace.title, trace.model, trace.problems) == ("bench 1 epoch 1", "p/m", [])
    assert trace.extra == {"epoch": 1, "sample_id": 1, "task": "bench", "scores": {"match": "C"}}
    assert trace.ignored == {"sample_init event": 1, "score event": 1}
    assert trace.events[3]["origin"] == {"path": "samples/0/events/3", "message": 2}


def test_without_events_the_final_messages_are_the_conversation():
    trace = only(final=[Q, LOOK, FOUND, DONE])
    assert told(trace) == EVENTS
    assert trace.events[0]["origin"] == {"path": "samples/0/messages", "message": 0}


def test_what_came_after_the_last_model_call_is_added_from_the_final_messages():
    assert told(only(model(1, [Q], LOOK), final=[Q, LOOK, FOUND])) == EVENTS[:4]


def test_final_messages_that_a_solver_rewrote_are_counted():
    trace = only(model(1, [Q], DONE), final=[user("rewritten")])
    assert told(trace) == [EVENTS[0], EVENTS[4]]
    assert trace.ignored == {"end state apart": 1}


def test_a_sample_that_got_no_further_than_its_input_shows_it():
    (trace,) = read(log(sample(input=[{"role": "system", "content": "s"}, Q], error={"message": "boom"})))
    assert told(trace) == [("constraint", "s", ["system"]), ("requirement", "q", ["user"])]
    assert trace.extra["error"] == {"message": "boom"}


@pytest.mark.parametrize("scheme", ["attachment", "tc"])
def test_texts_that_are_kept_apart_are_put_in_their_places(scheme):
    kept = f"{scheme}://abc"
    call = says("", "c1:f") | {"tool_calls": [{"id": "c1", "function": "f", "arguments": {"deep": [{"x": kept}]}}]}
    content = [{"type": "text", "text": kept}, {"type": "image", "image": kept}]
    trace = only(
        model(1, [user(content)], call),
        model(2, [user(content), call, result("c1", kept)], says(f"{kept} stays")),
        attachments={"abc": "long"},
    )
    assert told(trace) == [
        ("requirement", "long", ["user"]),
        ("requirement", "[image]", ["user", "image"]),
        ("tool_call", "f", []),
        ("tool_result", "long", []),
        ("decision", f"{kept} stays", []),
    ]
    assert trace.events[2]["arguments"] == {"deep": [{"x": "long"}]}


def test_the_oldest_logs_keep_events_and_texts_in_a_transcript():
    old = sample() | {"transcript": {"events": [model(1, [user("tc://a")], DONE)], "content": {"a": "q"}}}
    del old["events"]
    (trace,) = read(log(old))
    assert told(trace) == [EVENTS[0], EVENTS[4]]


@pytest.mark.parametrize("pool", [{"message_pool": [Q, LOOK, FOUND]}, {"events_data": {"messages": [Q, LOOK, FOUND]}}])
def test_prompts_of_pooled_messages(pool):
    trace = only(
        model(1, [], LOOK, input_refs=[[0, 1]]),
        model(2, [], DONE, input_refs=[[0, 2], [2, 3], [9, 12], "x", [2]]),
        **pool,
    )
    assert told(trace) == EVENTS


def test_a_failed_tool_has_its_error_as_result():
    failed = result("c1", "", error={"type": "timeout", "message": "too late"})
    trace = only(model(1, [Q], LOOK), model(2, [Q, LOOK, failed], DONE))
    assert (trace.events[3]["result"], trace.events[3]["is_error"], trace.events[3]["error_type"]) == (
        "too late",
        True,
        "timeout",
    )


def test_a_tool_that_was_not_approved_is_abandoned():
    refused = result("c1", "", error={"type": "approval", "message": "not allowed"})
    trace = only(model(1, [Q], LOOK), event("approval", 1), model(2, [Q, LOOK, refused], DONE))
    abandon = next(each for each in trace.events if each["type"] == "abandon")
    assert (abandon["ref_to"], abandon["content"]) == (["c1"], "not allowed")


def test_a_compaction_opens_a_window_with_its_summary():
    trace = only(
        model(1, [Q], LOOK),
        model(2, [Q, LOOK, FOUND], DONE),
        event("compaction", 3, type="summary", tokens_before=900, tokens_after=100),
        model(4, [Q, user("Summary of it")], says("on")),
    )
    assert [(w.start, w.opened_by, w.tokens_before) for w in trace.windows] == [(0, "start", None), (5, "auto", 900)]
    assert told(trace)[5:] == [EVENTS[0], ("decision", "Summary of it", ["summary"]), ("decision", "on", [])]
    assert trace.ignored == {"compaction event": 1}


def test_a_compaction_that_only_trims_leaves_the_users_words_the_users():
    trace = only(
        model(1, [Q, LOOK, FOUND], DONE),
        event("compaction", 2, type="trim"),
        model(3, [Q, user("next")], says("on")),
    )
    assert told(trace)[5:7] == [EVENTS[0], ("requirement", "next", ["user"])]


def test_scorers_are_left_out_by_their_spans_steps_and_roles():
    judge = model(9, [user("judge it")], says("C"))
    trace = only(
        event("span_begin", 0, id="A", type="solver"),
        model(1, [Q], DONE, span_id="A"),
        event("span_end", 2, id="A"),
        event("span_begin", 3, id="B", type="scorers"),
        event("span_begin", 3, id="C", parent_id="B", type="scorer"),
        judge | {"span_id": "C"},
        event("step", 4, action="begin", type="scorer"),
        event("step", 4, action="begin", type="solver"),
        judge,
        event("step", 5, action="end"),
        event("step", 5, action="end"),
        judge | {"role": "grader"},
    )
    assert told(trace) == [EVENTS[0], EVENTS[4]]
    assert trace.ignored["model call of a scorer"] == 3


def test_an_agent_that_works_as_a_tool_is_a_trace_of_its_own():
    ask = says("", "c1:researcher")
    main, sub = read(
        log(
            sample(
                [
                    model(1, [Q], ask, span_id="root"),
                    event("span_begin", 2, id="T", parent_id="root", type="tool", name="researcher"),
                    tool(2, "c1", "researcher", span_id="root"),
                    event("span_begin", 3, id="agent", parent_id="T", type="agent"),
                    model(4, [user("find")], says("found"), span_id="agent"),
                    model(6, [Q, ask, result("c1", "found")], DONE, span_id="root"),
                ]
            )
        )
    )
    assert (main.title, sub.title) == ("bench 1 epoch 1", "subagent researcher: find")
    assert (sub.extra["agent_id"], sub.extra["sample_id"]) == ("c1", 1)
    assert len(main.events) == 4


def test_events_within_events_are_read_too():
    inner = [model(2, [user("find")], says("found")), 7]
    main, sub = read(log(sample([model(1, [Q], LOOK), tool(2, "c1", events=inner), model(3, [Q, LOOK, FOUND], DONE)])))
    assert told(main) == EVENTS
    assert sub.title == "subagent f: find"
    assert sub.events[0]["origin"] == {"path": "samples/0/events/1/events/0", "message": 0}
    assert [problem.text for problem in main.problems] == [
        "samples/0/events/1/events/1: a number where an object was expected (skipped)"
    ]


def test_attempts_that_failed_before_are_counted():
    (trace,) = read(log(sample([model(1, [Q], DONE)], error_retries=[{"message": "x"}, {"message": "y"}])))
    assert trace.ignored == {"failed attempt": 2}


def test_a_model_event_without_an_answer_leaves_the_prompt():
    assert told(only(model(1, [Q], None, error="overloaded"), model(2, [Q], DONE))) == [EVENTS[0], EVENTS[4]]


def test_each_sample_in_each_epoch_is_a_trace():
    traces = read(log(sample([model(1, [Q], DONE)]), sample([], number="b"), sample([model(1, [Q], DONE)], epoch=2), 5))
    assert [(trace.title, len(trace.events)) for trace in traces] == [
        ("bench 1 epoch 1", 2),
        ("bench b epoch 1", 1),
        ("bench 1 epoch 2", 2),
    ]
    assert [problem.text for problem in traces[0].problems] == ["samples/3: not a sample (skipped)"]


def test_what_is_no_message_is_reported_with_its_place():
    (trace,) = read(log(sample([model(1, [Q, 5], DONE)], [Q, DONE, None])))
    assert [problem.text for problem in trace.problems] == [
        "samples/0/events/0/input/1: no message (skipped)",
        "samples/0/messages/2: no message (skipped)",
    ]
