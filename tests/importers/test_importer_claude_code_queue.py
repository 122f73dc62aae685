"""Claude Code sessions: what a person typed while the agent was at work is told once, however it was logged."""

from __future__ import annotations

import pytest
from claude_code_records import call, line, load, result, says, tree, user


def queue(operation, content=None, **more):
    record = {"type": "queue-operation", "operation": operation, "sessionId": "s", **more}
    return record if content is None else {**record, "content": content}


def said(trace):
    return [event["content"] for event in trace.events if event["type"] == "requirement"]


START = (user("u1", None, "Go"), says("a1", "u1", call("t1")))
DONE = (user("r1", "a1", [result("t1")]), says("a2", "r1", "Done"))


def test_a_text_that_has_a_line_of_its_own_is_told_once():
    trace = load(*START, queue("enqueue", "and the docs"), queue("dequeue"), *DONE, user("u2", "a2", "and the docs"))
    assert said(trace) == ["Go", "and the docs"]
    assert trace.ignored == {"queue-operation": 2}


def test_a_text_that_came_as_an_attachment_is_told_once():
    steered = line("attachment", "q1", "r1", attachment={"type": "queued_command", "prompt": "and the docs"})
    trace = load(
        *START,
        queue("enqueue", "and the docs"),
        DONE[0],
        steered,
        queue("remove", "and the docs", reason="absorbed_mid_turn"),
        says("a2", "q1", "Done"),
    )
    assert said(trace) == ["Go", "and the docs"]


def test_a_text_that_only_the_queue_holds_speaks_where_it_left_the_queue():
    trace = load(*START, queue("enqueue", "and the docs"), DONE[0], queue("dequeue"), DONE[1])
    assert said(trace) == ["Go", "and the docs"]
    event = trace.events[3]
    assert (event["tags"], event["origin"], event["parent_id"]) == (["user"], {"line": 5}, "t1:r")
    assert tree(trace)["a2"] == "t1:r"
    assert trace.ignored == {"queue-operation": 1}


def test_what_a_running_turn_absorbed_without_a_line_speaks_too():
    absorbed = queue("remove", "and the docs", reason="absorbed_mid_turn")
    assert said(load(*START, queue("enqueue", "and the docs"), absorbed, *DONE)) == ["Go", "and the docs"]


@pytest.mark.parametrize(
    "taken_back",
    [
        [queue("remove")],
        [queue("remove", "and the docs")],
        [queue("remove", "and the docs", reason="delivered_to_agent")],
        [queue("popAll", "and the docs")],
        [queue("popAll")],
        [queue("reshuffle", "and the docs")],
        [],
    ],
)
def test_what_was_taken_back_or_still_waits_does_not_speak(taken_back):
    trace = load(*START, queue("enqueue", "and the docs"), *taken_back, *DONE)
    assert said(trace) == ["Go"]
    assert trace.ignored == {"queue-operation": 1 + len(taken_back)}


@pytest.mark.parametrize("command", ["/mcp", "/review the docs", "!ls"])
def test_commands_are_left_to_their_own_lines(command):
    assert said(load(*START, queue("enqueue", command), queue("dequeue"), *DONE)) == ["Go"]


@pytest.mark.parametrize("words", ["/etc/hosts is wrong", "!!! stop", "! no"])
def test_words_that_begin_like_a_command_are_words(words):
    assert said(load(*START, queue("enqueue", words), queue("dequeue"), *DONE)) == ["Go", words]


def test_an_interrupt_gives_the_text_back_to_the_user():
    interrupted = user("i1", "a1", "[Request interrupted by user]")
    assert "and the docs" not in said(load(*START, queue("enqueue", "and the docs"), queue("dequeue"), interrupted))


def test_texts_that_were_sent_together_are_found_in_one_line():
    trace = load(
        *START,
        *DONE,
        queue("enqueue", "one"),
        queue("enqueue", "two"),
        queue("dequeue"),
        queue("dequeue"),
        user("u2", "a2", "one\ntwo"),
    )
    assert said(trace) == ["Go", "one\ntwo"]


def test_an_equal_text_that_was_typed_before_is_another_one():
    trace = load(
        user("u1", None, "continue"), says("a1", "u1", "x"), queue("enqueue", "continue"), queue("dequeue"),
        says("a2", "a1", "y"),
    )  # fmt: skip
    assert said(trace) == ["continue", "continue"]


def test_the_queue_is_first_in_first_out_unless_a_text_is_named():
    trace = load(
        *START,
        queue("enqueue", "one"),
        queue("enqueue", "two"),
        queue("remove", "two"),
        queue("enqueue", "three"),
        queue("dequeue"),
        *DONE,
    )
    assert said(trace) == ["Go", "one"]


def test_reports_of_background_tasks_are_no_words_of_the_user():
    report = "<task-notification>done</task-notification>"
    trace = load(*START, queue("enqueue", report), queue("dequeue"), *DONE)
    assert said(trace) == ["Go"]
    assert [event["content"] for event in trace.events if event.get("tags") == ["notification"]] == [report]
