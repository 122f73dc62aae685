"""Copilot CLI sessions: what each event becomes, and what is claimed."""

from __future__ import annotations

import json

import pytest
from importer_checks import accounted, check, tree

from context_gc.importers import copilot_cli
from context_gc.importers.files.decode import decode
from context_gc.outcomes import exit_code, failed
from context_gc.semantics import Command, FileRead, semantics
from context_gc.trace import Usage


def load_all(*records):
    traces = copilot_cli.read(decode("\n".join(map(json.dumps, records)).encode(), "events.jsonl"))
    check(traces)
    assert accounted(traces) == len(records)
    return traces


def load(*records):
    (trace,) = load_all(*records)
    return trace


def event(kind, key="", parent=None, agent=None, **data):
    more = {"agentId": agent} if agent else {}
    return {"type": kind, "data": data, "id": key, "parentId": parent, "timestamp": "2026-04-23T17:08:08Z", **more}


def asks(words, key="", parent=None, **more):
    return event("user.message", key, parent, content=words, **more)


def answers(text, *requests, message="m", key="", parent=None, **more):
    return event("assistant.message", key, parent, messageId=message, content=text, toolRequests=list(requests), **more)


def request(call, name="bash", **arguments):
    return {"toolCallId": call, "name": name, "arguments": arguments, "type": "function"}


def done(call, content="ok", success=True, **more):
    return event("tool.execution_complete", toolCallId=call, success=success, result={"content": content}, **more)


def refused(call, code, message="The user rejected this tool call."):
    error = {"code": code, "message": message}
    return event("tool.execution_complete", toolCallId=call, success=False, error=error)


def notice(text, what):
    record = event("system.notification", content=text)
    record["data"]["kind"] = {"type": what}
    return record


def abandons(trace):
    return [(e["ref_to"], e["content"]) for e in trace.events if e["type"] == "abandon"]


# what is claimed


@pytest.mark.parametrize(
    "record",
    [
        event("session.start", "a", sessionId="s"),
        event("tool.execution_start", "a"),
        {"session_id": "s", "type": "userPromptSubmitted", "prompt": "Hi", "timestamp": 1700002000000},
    ],
)
def test_an_event_is_claimed_also_behind_damaged_lines(record):
    assert copilot_cli.sniff(b"{damaged\n[1]\n" + json.dumps(record).encode())


@pytest.mark.parametrize(
    "record",
    [
        {"type": "session.start"},
        {"type": "session.updated", "properties": {}, "data": {}, "id": "x"},
        {"type": "user", "data": {}, "id": "x"},
        {"type": ["user.message"], "data": {}, "id": "x"},
        {"type": "userPromptSubmitted", "prompt": "no session"},
    ],
)
def test_other_records_are_left_alone(record):
    assert not copilot_cli.sniff(json.dumps(record).encode())


# what events become


def test_a_message_of_the_user_is_split_into_words_and_what_stands_around_them():
    trace = load(
        event("session.start", sessionId="s", selectedModel="gpt-5", startTime="", context={"cwd": "/a"}),
        event("system.message", role="system", content="You are the CLI."),
        asks("Fix it", transformedContent="<current_datetime>now</current_datetime>\n\nFix it\n\n<reminder/>"),
        event("system.message", role="system", content="You are the CLI."),
        asks("", transformedContent="Keep on working."),
        asks("Go on", isAutopilotContinuation=True),
        asks("shown", transformedContent="sent"),
        asks(" "),
    )
    assert [(e["type"], e["content"], e["tags"]) for e in trace.events] == [
        ("constraint", "You are the CLI.", ["system"]),
        ("decision", "<current_datetime>now</current_datetime>", ["environment"]),
        ("requirement", "Fix it", ["user"]),
        ("decision", "<reminder/>", ["environment"]),
        ("constraint", "Keep on working.", ["system"]),
        ("constraint", "Go on", ["system"]),
        ("requirement", "sent", ["user"]),
    ]
    assert (trace.title, trace.cwd, trace.model, trace.extra["session_id"]) == ("Fix it", "/a", "gpt-5", "s")
    assert trace.ignored == {"session.start": 1, "repeated system.message": 1, "blank text": 1}


def test_what_a_message_of_the_model_holds_shares_its_id_and_calls_hang_side_by_side():
    trace = load(
        asks("Go", "u"),
        answers("Reading.", request("t1", "view", path="/a"), request("t2"), reasoningText="hm", key="a"),
        event("tool.execution_start", toolCallId="t1", toolName="view", arguments={"path": "/a"}),
        done("t2"),
        done("t1", "x"),
        event("assistant.turn_end", turnId="0"),
    )
    assert [(e["type"], e.get("message_id")) for e in trace.events] == [
        ("requirement", None),
        ("decision", "m"),
        ("decision", "m"),
        ("tool_call", "m"),
        ("tool_call", "m"),
        ("tool_result", None),
        ("tool_result", None),
    ]
    assert tree(trace) == {"u": None, "e2": "u", "a": "e2", "t1": "a", "t2": "a", "t2:r": "t2", "t1:r": "t1"}
    assert semantics(trace.events[3]) == FileRead("/a")
    assert trace.events[3]["origin"] == {"line": 2, "path": "data/toolRequests/0"}
    assert trace.ignored == {"tool.execution_start": 1, "assistant.turn_end": 1}


def test_thinking_that_stands_alone_is_read_only_where_no_message_holds_it():
    alone = load(event("assistant.reasoning", content="hm"), answers("Done."))
    assert [e["content"] for e in alone.events] == ["hm", "Done."]
    both = load(event("assistant.reasoning", content="hm"), answers("Done.", reasoningText="hm"))
    assert [e["content"] for e in both.events] == ["hm", "Done."]
    assert both.ignored == {"assistant.reasoning": 1}


def test_a_call_that_no_message_holds_is_read_from_its_start():
    trace = load(
        event("tool.execution_start", toolCallId="t1", toolName="glob", arguments={"pattern": "*"}),
        done("t1", "a.rs"),
        event("tool.user_requested", toolCallId="t2", toolName="bash", arguments={"command": "ls"}),
        done("t2"),
    )
    assert [(e["type"], e["id"]) for e in trace.events] == [
        ("tool_call", "t1"), ("tool_result", "t1:r"), ("tool_call", "t2"), ("tool_result", "t2:r"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("answer", "has_failed", "code"),
    [
        (done("t1", "a\n<exited with exit code 0>"), False, 0),
        (done("t1", "no\n<exited with exit code 2>"), True, 2),
        (done("t1", "x", success=False), True, None),
        (
            event(
                "tool.execution_complete",
                toolCallId="t1",
                success=True,
                result={"content": "x", "contents": [{"type": "terminal", "text": "x", "exitCode": 3}, 7]},
            ),
            True,
            3,
        ),
        (event("tool.execution_complete", toolCallId="t1", success=False, error={"message": "gone"}), True, None),
        (event("tool.execution_complete", toolCallId="t1", success=True, result="plain"), False, None),
        (event("tool.execution_complete", toolCallId="t1", success=True), False, None),
    ],
)
def test_a_result_tells_whether_it_failed(answer, has_failed, code):
    trace = load(answers("", request("t1", command="ls")), answer)
    lead, result = trace.events
    assert semantics(lead) == Command("ls")
    assert (failed(lead, [result]), exit_code(lead, [result])) == (has_failed, code)


def test_media_that_the_model_saw_stay_in_the_result():
    image = {"type": "image", "data": "AA==", "mimeType": "image/png"}
    answer = event("tool.execution_complete", toolCallId="t1", success=True)
    answer["data"]["result"] = {"content": "seen", "binaryResultsForLlm": [image]}
    blob = {"type": "blob", "data": "AA==", "mimeType": "image/png"}
    trace = load(asks("See", attachments=[blob, {"type": "file", "path": "/a"}]), answers("", request("t1")), answer)
    assert trace.events[1]["content"] == "[image image/png]"
    assert trace.events[1]["block"] == blob
    assert trace.events[3]["result"] == [{"type": "text", "text": "seen"}, image]


def test_notices_skills_and_instructions_are_told_apart():
    trace = load(
        notice("shell done", "shell_completed"),
        notice("Use tabs", "instruction_discovered"),
        event("skill.invoked", name="pdf", content="Read PDFs so."),
        asks("", source="skill-pdf", transformedContent="Read PDFs so."),
        event("session.title_changed", title="PDFs"),
    )
    assert [(e["type"], e.get("tags")) for e in trace.events] == [
        ("decision", ["notification"]),
        ("constraint", ["system"]),
        ("constraint", ["system"]),
    ]
    assert trace.title == "PDFs"
    assert trace.ignored == {"skill again": 1, "session.title_changed": 1}


def test_an_answer_to_a_question_is_a_decision():
    trace = load(answers("", request("t1", "ask_user", question="Which?")), done("t1", "User selected: the second"))
    assert (trace.events[-1]["content"], trace.events[-1]["tags"]) == ("User selected: the second", ["answer"])
    assert trace.events[1]["result"] == "User selected: the second"


def test_words_that_come_while_a_call_runs_outlive_its_refusal():
    trace = load(asks("Go", "u"), answers("", request("t1")), asks("Wait", "w"), refused("t1", "rejected", ""))
    assert tree(trace)["w"] == "u"
    assert abandons(trace) == [(["t1"], "rejected")]


def test_a_log_that_hooks_keep_is_read_by_its_prompts_and_answers():
    kept = {"session_id": "s", "cwd": "/a", "timestamp": 1700002000000}
    trace = load(
        kept | {"type": "userPromptSubmitted", "prompt": "Hi"},
        kept | {"type": "assistantresponse", "result": "Hello"},
        kept | {"type": "assistantresponse"},
    )
    assert [(e["type"], e["content"], e["timestamp"]) for e in trace.events] == [
        ("requirement", "Hi", 1700002000000),
        ("decision", "Hello", 1700002000000),
    ]
    assert (trace.cwd, trace.extra["session_id"], trace.ignored) == ("/a", "s", {"blank text": 1})


@pytest.mark.parametrize("code", ["rejected", "denied"])
def test_a_refused_call_is_abandoned(code):
    trace = load(asks("Go", "u"), answers("", request("t1")), refused("t1", code), answers("I see.", key="a"))
    assert abandons(trace) == [(["t1"], "The user rejected this tool call.")]
    assert tree(trace)["a"] == "t1:abandon"


def test_a_call_that_failed_otherwise_is_not_abandoned():
    assert abandons(load(answers("", request("t1")), refused("t1", "failure", "no such file"))) == []


def test_an_abort_abandons_the_calls_that_were_running():
    trace = load(
        asks("Go", "u"), answers("", request("t1"), request("t2")), done("t1"), event("abort", reason="user initiated")
    )
    assert abandons(trace) == [(["t2"], "aborted: user initiated")]
    assert load(asks("Go"), event("abort", reason="user initiated")).ignored == {"abort": 1}


def test_the_unknown_is_counted_and_what_is_no_message_becomes_opaque():
    trace = load(event("session.shutdown"), event("hologram.shown"), answers(["odd"], "odd"), {"type": 7, "data": {}})
    assert [(e["content"], e.get("tags")) for e in trace.events] == [('["odd"]', None), ('"odd"', ["opaque"])]
    assert trace.ignored == {"session.shutdown": 1, "hologram.shown": 1, "untyped record": 1}


def test_damaged_records_are_reported_with_their_line():
    trace = load(asks("Hi"), {"type": "user.message", "data": "x"}, {"type": "user.message"}, {})
    assert [(p.line, p.text) for p in trace.problems] == [
        (2, "field 'data' is a string, expected an object (skipped)"),
        (3, "field 'data' is missing, expected an object (skipped)"),
        (4, "field 'data' is missing, expected an object (skipped)"),
    ]


def test_usage_is_read_where_it_is_told():
    used = event("assistant.usage", inputTokens=100, cacheReadTokens=60, cacheWriteTokens=10, outputTokens=5)
    trace = load(used, answers("Hi", key="a"), used, event("assistant.usage", inputTokens="x"))
    assert trace.usage == [Usage("a", 30, 5, 60, 10)]
    assert trace.ignored == {"assistant.usage": 2}
