"""Cline and Roo: native and tagged calls, text results, and what people said."""

from __future__ import annotations

import pytest
from cline_records import ENVIRONMENT, TASK, bot, only, read, read_all, text, use, user
from importer_checks import accounted, check, told, tree

# messages


def test_the_task_its_environment_and_the_answer():
    trace = read(TASK, bot({"type": "thinking", "thinking": "deep", "signature": "S"}, "Hello"))
    assert told(trace) == [
        ("requirement", "<task>\nFix it\n</task>", ["user"]),
        ("decision", ENVIRONMENT, ["environment"]),
        ("decision", "deep", ["thinking"]),
        ("decision", "Hello", []),
    ]
    assert (trace.title, trace.cwd) == ("Fix it", "/home/kim/app")
    assert trace.events[0]["origin"] == {"path": "0"}


def test_the_environment_stands_apart_also_where_it_is_in_one_text():
    trace = read({"role": "user", "content": f"<task>Fix it</task>\n\n{ENVIRONMENT}"})
    assert [tags for _, _, tags in told(trace)] == [["user"], ["environment"]]


@pytest.mark.parametrize(
    "answer",
    [
        ["[read_file for 'a.py'] Result:\nx = 1"],
        ["[read_file for 'a.py'] Result:", "x = 1"],
        [{"type": "tool_result", "tool_use_id": "t1", "content": "x = 1"}],
    ],
)
def test_a_result_is_text_under_a_header_or_a_block(answer):
    trace = read(TASK, bot("Look.", use("t1", "read_file", path="a.py")), user(*answer, ENVIRONMENT))
    assert told(trace)[-3:] == [
        ("tool_call", "read_file", []),
        ("tool_result", "x = 1", []),
        ("decision", ENVIRONMENT, ["environment"]),
    ]
    assert only(trace, "tool_result")[0]["call_id"] == "t1"


def test_text_results_pair_with_the_first_waiting_call_of_their_tool():
    trace = read(
        TASK,
        bot(
            "Look.",
            use("t1", "read_file", path="a"),
            use("t2", "list_files", path="."),
            use("t3", "read_file", path="b"),
        ),
        user("[list_files for '.'] Result:\na b", "[read_file for 'a'] Result:\nA", "[read_file for 'b'] Result:\nB"),
    )
    results = {event["call_id"]: event["result"] for event in only(trace, "tool_result")}
    assert results == {"t2": "a b", "t1": "A", "t3": "B"}
    assert tree(trace)["t1"] == tree(trace)["t3"] == "e3"


def test_images_belong_to_the_result_before_them():
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA"}}
    trace = read(
        TASK,
        bot("Look.", use("t1", "browser_action", action="launch")),
        user("[browser_action for 'launch'] Result:", "loaded", image, ENVIRONMENT),
    )
    assert only(trace, "tool_result")[0]["result"] == [text("loaded"), image]


def test_a_result_that_no_call_waits_for_is_a_notification():
    trace = read(TASK, bot("Hm."), user("[read_file for 'a.py'] Result:\nx"))
    assert told(trace)[-1] == ("decision", "[read_file] Result: x", ["notification"])


def test_failures_are_told_by_the_harness():
    trace = read(
        TASK,
        bot("Two.", use("t1", "read_file", path="a"), use("t2", "execute_command", command="ls")),
        user(
            "[read_file for 'a'] Result:\nThe tool execution failed with the following error:\n<error>\nno\n</error>",
            "Tool [execute_command for 'ls'] was not executed because a tool has already been used in this message.",
        ),
    )
    assert [event["is_error"] for event in only(trace, "tool_result")] == [True, True]


def test_tags_in_the_text_are_calls():
    told_ = "<thinking>hm</thinking>Read.\n\n<read_file>\n<path>a.py</path>\n</read_file>"
    trace = read(TASK, {"role": "assistant", "content": told_}, user("[read_file for 'a.py'] Result:", "x"))
    assert told(trace)[2:] == [
        ("decision", "hm", ["thinking"]),
        ("decision", "Read.", []),
        ("tool_call", "read_file", []),
        ("tool_result", "x", []),
    ]
    assert only(trace, "tool_call")[0]["arguments"] == {"path": "a.py"}
    assert only(trace, "tool_result")[0]["call_id"] == only(trace, "tool_call")[0]["id"] == "m1"


@pytest.mark.parametrize(
    ("written", "arguments"),
    [
        (
            "<write_to_file><path>a</path><content>\n<p></content></p>\n</content></write_to_file>",
            {"path": "a", "content": "<p></content></p>"},
        ),
        (
            "<write_to_file><path>a</path><content>\n</write_to_file>\nx\n</content></write_to_file>",
            {"path": "a", "content": "</write_to_file>\nx"},
        ),
        (
            "<read_file><args><file><path>a</path><line_range>1-9</line_range></file></args></read_file>",
            {"path": "a", "line_range": "1-9"},
        ),
        (
            "<read_file><args><file><path>a</path></file><file><path>b</path></file></args></read_file>",
            {"files": [{"path": "a"}, {"path": "b"}]},
        ),
        ("<attempt_completion><result>ok</attempt_completion>", {}),
    ],
)
def test_the_fields_of_tagged_calls(written, arguments):
    trace = read(TASK, bot(written))
    assert only(trace, "tool_call")[0]["arguments"] == arguments


@pytest.mark.parametrize("written", ["<read_file><path>a", "about <read_file> and </p>", "<div><path>a</path></div>"])
def test_what_only_looks_like_a_call_stays_text(written):
    assert told(read(TASK, bot(written)))[-1] == ("decision", written, [])


def test_tags_beside_native_calls_stay_text():
    trace = read(TASK, bot("As <read_file><path>a</path></read_file>", use("t1", "read_file", path="a")))
    assert len(only(trace, "tool_call")) == 1


def test_items_of_the_ai_sdk_and_of_responses_are_read():
    call = {"type": "tool-call", "toolCallId": "t1", "toolName": "read_file", "input": {"path": "a"}}
    output = {"type": "text", "value": "x"}
    result = {"type": "tool-result", "toolCallId": "t1", "toolName": "read_file", "output": output}
    messages = [TASK, {"type": "reasoning", "summary": [], "encrypted_content": "E", "ts": 5}, bot(call)]
    messages.append({"role": "tool", "content": [result]})
    (trace,) = read_all({"version": 2, "messages": messages})
    check([trace])
    assert told(trace)[2][2] == ["thinking", "opaque"]
    assert only(trace, "tool_result")[0]["result"] == "x"
    assert trace.events[0]["origin"] == {"path": "messages/0"}


# people


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("[read_file for 'a'] Result:\nThe user denied this operation.", ""),
        (
            "[read_file for 'a'] Result:\nThe user denied this operation and provided the following feedback:\n"
            "<feedback>\nnot that\n</feedback>",
            "not that",
        ),
        ('[read_file for \'a\'] Result:\n{"status":"denied","message":"no","feedback":"not that"}', "not that"),
    ],
)
def test_a_denied_call_is_given_up_and_the_words_stay(answer, words):
    trace = read(TASK, bot("Look.", use("t1", "read_file", path="a")), user(answer), bot("Then not."))
    (abandon,) = only(trace, "abandon")
    assert abandon["ref_to"] == ["t1"]
    assert [event["content"] for event in only(trace, "requirement")][1:] == ([words] if words else [])


def test_an_answer_of_a_person_protects_its_result_and_a_files_text_does_not():
    trace = read(
        TASK,
        bot("Ask.", use("t1", "ask_followup_question", question="Which?")),
        user("[ask_followup_question for 'Which?'] Result:\n<answer>\nthe blue one\n</answer>"),
        bot("Read.", use("t2", "read_file", path="a")),
        user("[read_file for 'a'] Result:\n<answer>x</answer>"),
    )
    assert [event.get("tags") for event in only(trace, "tool_result")] == [["user"], None]


def test_what_is_no_message_in_an_envelope_is_reported():
    traces = read_all({"version": 1, "messages": [user("Fix it."), 7, bot(text("Done."))]})
    assert [problem.text for problem in traces[0].problems] == [
        "messages/1: a number where an object was expected (skipped)"
    ]
    assert accounted(traces) == 3


def test_what_else_stands_in_a_message_to_the_model():
    trace = read(
        TASK,
        bot("Look.", use("t1", "read_file", path="a")),
        user(
            "[TASK RESUMPTION] This task was interrupted 3 days ago.",
            "<user_message>\ngo on\n</user_message>",
            "# TODO LIST UPDATE REQUIRED",
            '<explicit_instructions type="x">Do it so</explicit_instructions>',
            "<feedback>nice</feedback>",
            "And this",
        ),
        user("[ERROR] You did not use a tool <feedback>\nuse one\n</feedback>"),
    )
    assert told(trace)[4:] == [
        ("decision", "[TASK RESUMPTION] This task was interrupted 3 days ago.", ["notification"]),
        ("requirement", "<user_message>\ngo on\n</user_message>", ["user"]),
        ("decision", "# TODO LIST UPDATE REQUIRED", ["environment"]),
        ("constraint", '<explicit_instructions type="x">Do it so</explicit_instructions>', ["system"]),
        ("requirement", "<feedback>nice</feedback>", ["user"]),
        ("requirement", "And this", ["user"]),
        ("abandon", "interrupted", []),
        ("decision", "[ERROR] You did not use a tool <feedback>\nuse one\n</feedback>", ["notification"]),
        ("requirement", "use one", ["user"]),
    ]
