"""Prompts that each repeat the whole conversation: each thing once, in the right branch and window."""

from __future__ import annotations

from importer_checks import told
from span_records import FOUND, LOOK, Log, Q, agent, result, says, system, user

from context_gc.trace import Usage


def test_a_prompt_that_goes_on_adds_its_rest_only():
    trace = agent().trace()
    assert told(trace) == [
        ("constraint", "s", ["system"]),
        ("requirement", "q", ["user"]),
        ("decision", "look", []),
        ("tool_call", "read", []),
        ("tool_result", "text", []),
        ("decision", "done", []),
    ]
    assert [event["origin"] for event in trace.events] == [
        {"path": "1", "message": 0},
        {"path": "1", "message": 1},
        {"path": "1", "answer": 0},
        {"path": "1", "answer": 0},
        {"path": "2", "message": 3},
        {"path": "2", "answer": 0},
    ]
    assert trace.usage == [Usage("c1", 10, 2), Usage("e6", 20, 3, 10)]
    assert (trace.title, trace.model) == ("q", "m")


def test_an_answer_that_the_log_lacks_is_taken_from_the_next_prompt():
    log = Log()
    log.model([Q])
    log.model([Q, LOOK, FOUND], says("done"))
    assert [kind for kind, *_ in told(log.trace())] == [
        "requirement",
        "decision",
        "tool_call",
        "tool_result",
        "decision",
    ]


def test_what_the_next_prompt_leaves_out_at_its_end_is_abandoned():
    log = agent()
    log.model([system("s"), Q, LOOK, FOUND, user("no")], says("better"))
    trace = log.trace()
    assert told(trace)[5:] == [
        ("decision", "done", []),
        ("abandon", "left out of the next prompt", []),
        ("requirement", "no", ["user"]),
        ("decision", "better", []),
    ]
    done, abandon, no = trace.events[5:8]
    assert (abandon["ref_to"], abandon["parent_id"], no["parent_id"]) == (
        [done["id"]],
        done["parent_id"],
        abandon["id"],
    )


def test_a_call_that_was_abandoned_waits_for_no_result():
    log = Log()
    log.model([Q], says("", ":read"))
    log.model([Q, user("no")], says("", ":read:b.py"))
    log.model([Q, user("no"), says("", ":read:b.py"), result("", "b")])
    trace = log.trace()
    first, second = (event["id"] for event in trace.events if event["type"] == "tool_call")
    assert [event["call_id"] for event in trace.events if event["type"] == "tool_result"] == [second]
    assert trace.events[2]["ref_to"] == [first]


def test_a_prompt_that_keeps_later_messages_but_not_the_first_opens_a_window():
    log = agent()
    log.model([system("s"), user("Summary of the conversation so far: …"), LOOK, FOUND, user("go on")], says("fine"))
    trace = log.trace()
    assert [(w.start, w.stop, w.opened_by, w.tokens_before) for w in trace.windows] == [
        (0, 6, "start", None),
        (6, 13, "unknown", 33),
    ]
    assert told(trace)[6:] == [
        ("constraint", "s", ["system"]),
        ("decision", "Summary of the conversation so far: …", ["summary"]),
        ("decision", "look", []),
        ("tool_call", "read", []),
        ("tool_result", "text", []),
        ("requirement", "go on", ["user"]),
        ("decision", "fine", []),
    ]
    repeated = [event.get("repeats") for event in trace.events[6:]]
    assert repeated == ["e1", None, "e3", "c1", "c1:r", None, None]


def test_a_changed_result_opens_a_window_and_edited_words_of_the_user_stay_the_users():
    log = agent()
    log.model([system("s"), user("q!"), LOOK, result("c1", "[cleared]"), says("done"), user("more")], says("x"))
    trace = log.trace()
    assert [event["content"] for event in trace.events if event["type"] == "requirement"] == ["q", "q!", "more"]
    assert [event["result"] for event in trace.events if event["type"] == "tool_result"] == ["text", "[cleared]"]
    assert len(trace.windows) == 2


def test_a_compaction_that_the_log_tells_of_opens_a_window_with_its_summary():
    log = agent()
    log.model(
        [system("s"), user("What we did"), user("next")], says("x"), compacted="auto", summed_up=True, tokens_before=900
    )
    trace = log.trace()
    assert trace.windows[1].opened_by == "auto"
    assert trace.windows[1].tokens_before == 900
    assert told(trace)[7:9] == [("decision", "What we did", ["summary"]), ("requirement", "next", ["user"])]


def test_a_message_that_calls_itself_a_summary_ties_a_new_prompt_to_its_conversation():
    log = agent()
    log.model([system("s"), user("Short.", metadata={"summary": True})], says("x"))
    trace = log.trace()
    assert told(trace)[7:] == [("decision", "Short.", ["summary"]), ("decision", "x", [])]


def test_a_system_prompt_that_changes_is_said_again_as_environment():
    log = agent()
    log.model([system("s, noon"), Q, LOOK, FOUND, says("done"), user("more")], says("x"))
    assert told(log.trace())[6:] == [
        ("constraint", "s, noon", ["system", "environment"]),
        ("requirement", "more", ["user"]),
        ("decision", "x", []),
    ]
