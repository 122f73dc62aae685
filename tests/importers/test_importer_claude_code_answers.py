"""Claude Code sessions: what a person decided when a tool asked them."""

from __future__ import annotations

import pytest
from claude_code_records import call, load, only, result, says, tree, user

from context_gc.importers.claude_code.lines import needed

PLAN = "# Plan\n\n1. Read\n2. Write"
APPROVED = "User has approved your plan. You can now start coding.\n\n## Approved Plan:\n" + PLAN
REJECTED = (
    "The agent proposed a plan that was rejected by the user. The user chose to stay in plan mode.\n\nRejected plan:\n"
)


def asked(tool, content, report=None, **given):
    return load(
        user("u1", None, "Go"),
        says("a1", "u1", call("t1", tool, **given)),
        user("r1", "a1", [result("t1", content)], toolUseResult=report),
        says("a2", "r1", "So be it"),
    )


def decision(trace):
    (event,) = (event for event in trace.events if event["id"] in ("t1:answer", "t1:plan"))
    return event


def test_an_answer_is_a_decision_below_the_result_in_the_users_words():
    report = {
        "questions": [{"question": "Which?"}, {"question": "When?"}, {"question": "Why?"}],
        "answers": {"Which?": "B", "When?": ["now", "later"], "Why?": ""},
        "annotations": {"Which?": {"notes": "not A"}},
    }
    trace = asked("AskUserQuestion", "User has answered your questions: …", report)
    event = decision(trace)
    assert event["content"] == "Which? → B (not A)\nWhen? → now, later"
    assert (event["type"], event["tags"], event["parent_id"]) == ("decision", ["user", "answer"], "t1:r")
    assert tree(trace)["a2"] == "t1:answer"
    assert only(trace, "tool_result")["call_id"] == "t1"


@pytest.mark.parametrize("start", ["User has answered your questions: ", "Your questions have been answered: "])
def test_an_answer_is_read_from_the_result_where_the_app_noted_none(start):
    trace = asked("AskUserQuestion", f'{start}"Which?"="B". You can now continue with the answers in mind.')
    assert decision(trace)["content"] == '"Which?"="B"'


def test_an_approved_plan_is_a_decision_that_names_it():
    event = decision(asked("ExitPlanMode", APPROVED, {"plan": PLAN}, plan=PLAN))
    assert (event["content"], event["tags"]) == ("Approved the plan: Plan", ["user", "plan"])


def test_a_plan_that_the_user_changed_says_so():
    event = decision(asked("ExitPlanMode", APPROVED, {"plan": "# Better\n1. Write"}, plan=PLAN))
    assert event["content"] == "Approved the plan as the user changed it: Better"


@pytest.mark.parametrize(
    ("tool", "content", "report"),
    [
        ("AskUserQuestion", "The user did not answer.", {"answers": {}}),
        ("AskUserQuestion", "The user did not answer.", "Error"),
        ("ExitPlanMode", "Error: you are not in plan mode", None),
        ("Bash", APPROVED, {"answers": {"Which?": "B"}}),
        ("AskUserQuestion", [], {"answers": []}),
    ],
)
def test_what_decides_nothing_is_left_alone(tool, content, report):
    assert list(tree(asked(tool, content, report))) == ["u1", "t1", "t1:r", "a2"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (REJECTED + PLAN, []),
        ("The user doesn't want to proceed. To tell you how to proceed, the user said:\nSmaller", ["Smaller"]),
        ("The user doesn't want to proceed. The user provided the following reason for the rejection:  No", ["No"]),
    ],
)  # fmt: skip
def test_a_rejected_plan_is_abandoned(content, said):
    trace = asked("ExitPlanMode", content, plan=PLAN)
    assert only(trace, "abandon")["ref_to"] == ["t1"]
    assert [event["content"] for event in trace.events if event["type"] == "requirement"][1:] == said


def test_a_failed_call_decides_nothing():
    trace = load(
        user("u1", None, "Go"),
        says("a1", "u1", call("t1", "ExitPlanMode", plan=PLAN)),
        user("r1", "a1", [result("t1", APPROVED, is_error=True)]),
    )
    assert list(tree(trace)) == ["u1", "t1", "t1:r"]


def test_of_what_the_app_noted_only_the_decision_is_held_on_to():
    report = {"agentId": "a1", "answers": {"Which?": "B"}, "file": {"content": "x" * 1_000}}
    record = user("r1", "a1", [result("t1", "…")], toolUseResult=report, slug="s")
    assert needed(record)["toolUseResult"] == {"agentId": "a1", "answers": {"Which?": "B"}}
    assert "slug" not in needed(record)
    assert record["toolUseResult"] is report  # the record itself is left alone: whoever follows a file reads it again
