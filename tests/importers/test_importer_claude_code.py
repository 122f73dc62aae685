"""Claude Code sessions: what each kind of line becomes, usage and titles, and what holds for any session."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from claude_code_records import (
    REFUSED,
    call,
    check,
    line,
    load,
    load_all,
    only,
    result,
    says,
    text,
    tree,
    user,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from context_gc.load import load_trace
from context_gc.trace import Usage

SAMPLE = Path(__file__).parents[2] / "sample_traces" / "claude-code-session.jsonl"


# what lines become


def test_each_kind_of_content_has_its_event():
    trace = load(
        user("u1", None, "Fix it"),
        user("u2", "u1", [text("<system-reminder>Be brief.</system-reminder>"), text("And quickly")]),
        says("a1", "u2", {"type": "thinking", "thinking": "hm", "signature": "S"}, "Yes", call("t1", file="a")),
        user("u3", "a1", [result("t1", [text("x"), {"type": "image", "source": {}}], is_error=True)]),
        line("system", "s1", "u3", {"role": "system", "content": "Rules"}),
    )
    facts = [
        (e["type"], e.get("content", e.get("result", e.get("arguments"))), e.get("tags"), e.get("importance"))
        for e in trace.events
    ]
    assert facts == [
        ("requirement", "Fix it", ["user"], None),
        ("constraint", "<system-reminder>Be brief.</system-reminder>", ["system"], None),
        ("requirement", "And quickly", ["user"], None),
        ("decision", "hm", ["thinking"], "temporary"),
        ("decision", "Yes", None, None),
        ("tool_call", {"file": "a"}, None, None),
        ("tool_result", [text("x"), {"type": "image", "source": {}}], None, None),
        ("constraint", "Rules", ["system"], None),
    ]
    assert trace.events[6]["is_error"] is True
    assert trace.events[3]["signature"] == "S"


def test_events_say_where_they_come_from():
    trace = load(
        user("u1", None, "one", cwd="/a", timestamp="1970-01-01T00:00:01Z"),
        says("a1", "u1", "two", call("t1"), message="m", cwd="/a/b"),
    )
    assert trace.events[0]["origin"] == {"line": 1}
    assert [event["origin"] for event in trace.events[1:]] == [{"line": 2, "block": 0}, {"line": 2, "block": 1}]
    assert [event.get("message_id") for event in trace.events] == [None, "m", "m"]
    assert [event.get("cwd") for event in trace.events] == [None, "/a/b", "/a/b"]
    assert trace.cwd == "/a"
    assert [event["timestamp"] for event in trace.events] == [1000, 1000, 1000]  # a missing time is the one before


def test_what_the_model_never_sees_is_counted_by_kind():
    trace = load(
        line("file-history-snapshot", None, None, snapshot={}),
        user("u1", None, "Hi"),
        line("progress", "p1", "u1", data={"message": {"content": "x"}}),
        line("system", "s1", "p1", subtype="turn_duration"),
        line("attachment", "t1", "s1", attachment={"type": "command_permissions", "allowedTools": ["Bash"]}),
        user("c1", "t1", "<local-command-caveat>Caveat: …</local-command-caveat>", isMeta=True),
        user("c2", "c1", "<command-name>/mcp</command-name><command-args></command-args>"),
        user("c3", "c2", "<local-command-stdout>done</local-command-stdout>"),
        says("a1", "c3", "\n\n", {"type": "thinking", "thinking": "", "signature": "S"}),
        says("a2", "a1", "API Error", isApiErrorMessage=True),
        says("a3", "a2", "Hello"),
    )
    assert tree(trace) == {"u1": None, "a3": "u1"}
    assert trace.ignored == {
        "file-history-snapshot": 1,
        "progress": 1,
        "system/turn_duration": 1,
        "attachment/command_permissions": 1,
        "local command caveat": 1,
        "local command": 2,
        "blank text": 1,
        "API error message": 1,
    }


def test_words_of_a_person_are_kept_wherever_they_stand():
    trace = load(
        user("u1", None, "<command-name>/review</command-name><command-args>only the API</command-args>"),
        user("u2", "u1", "Review the code.", isMeta=True),
        line("attachment", "q1", "u2", attachment={"type": "queued_command", "prompt": "and the docs"}),
        line("attachment", "m1", "q1", attachment={"type": "nested_memory", "content": {"content": "Use tabs"}}),
        user("u3", "m1", "[Request interrupted by user]"),
    )
    assert [(event["type"], event["tags"]) for event in trace.events] == [
        ("requirement", ["user", "command"]),
        ("constraint", ["system"]),
        ("requirement", ["user"]),
        ("constraint", ["system"]),
        ("requirement", ["user", "interrupt"]),
    ]
    assert trace.events[3]["content"] == "Use tabs"


def test_the_unknown_becomes_opaque_and_is_not_dropped():
    trace = load(
        user("u1", None, "Hi"),
        says("a1", "u1", {"type": "hologram", "data": [1]}),
        line("oracle", "o1", "a1", {"role": "oracle", "words": "x"}),
        says("a2", "o1", {"type": "redacted_thinking", "data": "e"}),
    )
    assert [(event["content"], event["tags"]) for event in trace.events[1:]] == [
        ('{"type": "hologram", "data": [1]}', ["opaque"]),
        ('{"role": "oracle", "words": "x"}', ["opaque"]),
        ('{"type": "redacted_thinking", "data": "e"}', ["thinking", "opaque"]),
    ]


def test_an_image_that_a_user_sends_stays_in_the_event():
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}}
    event = only(load(user("u1", None, [image])), "requirement")
    assert (event["content"], event["block"], event["tags"]) == ("[image image/png]", image, ["user", "image"])


def test_background_task_reports_are_not_words_of_the_user():
    event = only(load(user("u1", None, "<task-notification>done</task-notification>")), "decision")
    assert event["tags"] == ["notification"]


# usage, titles, subagents


def test_usage_counts_a_message_once_with_its_last_report():
    def report(output):
        return {
            "input_tokens": 3,
            "output_tokens": output,
            "cache_read_input_tokens": 20,
            "cache_creation_input_tokens": 10,
        }

    trace = load(
        user("u1", None, "a"),
        says("a1", "u1", "b", message="m", usage=report(1), model="claude-x"),
        says("a2", "a1", call("t1"), message="m", usage=report(7), model="claude-x"),
        user("r1", "a2", [result("t1")]),
        says("a3", "r1", "c", message="n", usage=report(0) | {"input_tokens": "many"}, model="claude-y"),
        says("a4", "a3", "d", message="o", usage={"input_tokens": 0, "output_tokens": 0}, model="<synthetic>"),
    )
    assert trace.usage == [Usage("t1", 3, 7, 20, 10), Usage("a3", 0, 0, 20, 10)]
    assert trace.model == "claude-x"


@pytest.mark.parametrize(
    ("more", "title"),
    [
        ([], "Please fix it"),
        ([{"type": "summary", "summary": "Of another session", "leafUuid": "x"}], "Please fix it"),
        ([{"type": "summary", "summary": "Fixing", "leafUuid": "u1"}], "Fixing"),
        ([{"type": "ai-title", "aiTitle": "Fix\nit"}, {"type": "summary", "summary": "Fixing"}], "Fix it"),
    ],
)
def test_the_title_is_the_sessions_own_or_its_first_prompt(more, title):
    trace = load(user("u1", None, "Please  fix\n it"), *more)
    assert (trace.title, trace.extra["session_id"]) == (title, "s")


def test_subagents_in_the_same_file_are_traces_of_their_own():
    main, first, second = load_all(
        user("u1", None, "Go"),
        says("a1", "u1", call("t1", "Task")),
        user("x1", None, "Look", isSidechain=True),
        says("x2", "x1", "Found", isSidechain=True),
        user("y1", None, "Check", isSidechain=True, agentId="b7"),
        user("r1", "a1", [result("t1")], toolUseResult={"agentId": "b7"}),
    )
    assert list(tree(main)) == ["u1", "t1", "t1:r"]
    assert main.events[2]["agent_id"] == "b7"
    assert tree(first) == {"x1": None, "x2": "x1"}
    assert [trace.title for trace in (first, second)] == ["subagent x1: Look", "subagent b7: Check"]


def test_the_same_file_gives_the_same_trace_twice():
    assert load_trace(SAMPLE) == load_trace(SAMPLE)


# the sample


def test_the_sample_shows_each_thing_it_was_written_for():
    trace = load_trace(SAMPLE)
    check(trace)
    assert (trace.title, trace.cwd, trace.model) == ("Take a coupon off once", "/home/dev/shop", "claude-opus-4-6")
    assert trace.problems == []
    assert len(trace.usage) == 17
    tools = Counter(event["tool_name"] for event in trace.events if event["type"] == "tool_call")
    assert tools == {"Read": 3, "Grep": 2, "Bash": 5, "Edit": 4, "TodoWrite": 2}
    reasons = [event["content"] for event in trace.events if event["type"] == "abandon"]
    assert reasons == ["rewound by the user", "Never force-push. Commit only, I push myself."]
    assert len(SAMPLE.read_text("utf-8").splitlines()) == 44


def test_the_sample_with_a_plan_shows_each_thing_it_was_written_for():
    trace = load_trace(SAMPLE.with_name("claude-code-plan.jsonl"))
    check(trace)
    decided = [event["content"] for event in trace.events if {"answer", "plan"} & {*event.get("tags", ())}]
    assert decided == [
        "Where should answers be kept? → On disk, in the user's cache folder",
        "Approved the plan: Keep forecasts for ten minutes",
    ]
    assert only(trace, "abandon")["content"] == "taken back by a later edit of src/forecast.py"
    assert only(trace, "file_read")["path"] == "/home/dev/forecast/src/forecast.py"
    said = [event["content"] for event in trace.events if event["type"] == "requirement"]
    assert said[1:] == ["And a line about --no-cache in the README, please"]


# any session

UUIDS = st.sampled_from(["a", "b", "c", "d", "e", "f", "g", "12345678-aaaa-4aaa-8aaa-aaaaaaaaaaaa", None, 7])
CALL_IDS = st.sampled_from(["t1", "t2", "", None, "a"])
BLOCKS = st.one_of(
    st.builds(text, st.sampled_from(["x", " ", "[Request interrupted by user]", "<command-name>/x</command-name>"])),
    st.builds(lambda name: call(name), CALL_IDS),
    st.builds(result, CALL_IDS, st.sampled_from(["ok", REFUSED, REFUSED + "the user said:\nno", [], None, 4])),
    st.sampled_from([{"type": "thinking", "thinking": "x"}, {"type": "image"}, {"type": []}, {}, "bare", None, [1]]),
)
RECORDS = st.builds(
    lambda kind, uuid, parent, content, message_id, **more: line(
        kind, uuid, parent, {"role": kind, "content": content, "id": message_id, "usage": {"input_tokens": 1}}, **more
    ),
    st.sampled_from(["user", "user", "assistant", "system", "progress", "attachment", "x", 3]),
    UUIDS,
    UUIDS,
    st.one_of(st.text(max_size=3), st.lists(BLOCKS, max_size=3), st.none()),
    st.sampled_from(["m", "n", None, {}]),
    isSidechain=st.sampled_from([False, False, False, True]),
    isMeta=st.sampled_from([False, False, True]),
    isCompactSummary=st.sampled_from([False] * 9 + [True]),
    subtype=st.sampled_from([None] * 4 + ["compact_boundary"]),
    timestamp=st.sampled_from(["2026-01-01T00:00:00Z", "bad", None, 5]),
    attachment=st.sampled_from([None, {"type": "queued_command", "prompt": "x"}, {"type": "file"}, []]),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(RECORDS, max_size=25))
def test_any_session_keeps_the_promises_and_accounts_for_each_line(made):
    made = [user("first", None, "so that the file is claimed"), *made]
    traces = load_all(*made)
    accounted = sum(trace.records_read + sum(trace.ignored.values()) for trace in traces)
    assert accounted + sum(len(trace.problems) for trace in traces) == len(made)
