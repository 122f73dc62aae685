"""opencode exports: what each part becomes, model calls, undone messages, failed answers and compactions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from importer_checks import (
    accounted,
    check,
    check_sample,
    told,
    tree,
)

from context_gc.errors import TraceError
from context_gc.importers import opencode
from context_gc.importers.files.decode import decode
from context_gc.trace import Usage

INFO = {"id": "ses_1", "projectID": "p", "directory": "/home/dev/shop", "title": "Shop", "time": {"created": 1}}
SAMPLE = Path(__file__).parents[2] / "sample_traces" / "opencode-undo.json"


def read(data):
    return opencode.read(decode(data, "export.json"))


def load(*messages, **info):
    value = {"info": {**INFO, **info}, "messages": list(messages)}
    (trace,) = read(json.dumps(value).encode())
    check([trace])
    assert accounted([trace]) == len(messages) + sum(len(each["parts"]) for each in messages)
    return trace


def message(name, role, *parts, **info):
    listed = [{"id": f"{name}.p{index}", **part} for index, part in enumerate(parts)]
    return {
        "info": {"id": name, "role": role, "sessionID": "ses_1", "time": {"created": 1000}, **info},
        "parts": listed,
    }


def user(name, *parts, **info):
    return message(name, "user", *(text(part) if isinstance(part, str) else part for part in parts), **info)


def says(name, *parts, **info):
    return message(name, "assistant", *(text(part) if isinstance(part, str) else part for part in parts), **info)


def text(said, **fields):
    return {"type": "text", "text": said, **fields}


def tool(name, output="ok", tool="bash", **state):
    return {
        "type": "tool",
        "callID": name,
        "tool": tool,
        "state": {"status": "completed", "input": {}, "output": output, **state},
    }


def broken(name, error, **state):
    return {
        "type": "tool",
        "callID": name,
        "tool": "bash",
        "state": {"status": "error", "input": {}, "error": error, **state},
    }


def finish(used=0, output=0, read=0, written=0, **fields):
    return {
        "type": "step-finish",
        "tokens": {"input": used, "output": output, "cache": {"read": read, "write": written}, **fields},
    }


# parts


def test_each_kind_of_part_has_its_event():
    image = {"type": "file", "mime": "image/png", "url": "data:image/png;base64,AAAA"}
    signed = {"type": "reasoning", "text": "hm", "metadata": {"anthropic": {"signature": "S"}}}
    trace = load(
        user("u1", "Fix it", image, {"type": "file", "mime": "text/plain", "url": "file:///a"}, system="Be brief."),
        user("u2", text("Called the Read tool", synthetic=True), text("<system-reminder>Plan only.", synthetic=True)),
        says("a1", {"type": "step-start"}, signed, "Yes", tool("t1"), {"type": "poem"}),
        user("u3", text("not sent", ignored=True), {"type": "agent", "name": "x"}, system="Be brief."),
    )
    assert told(trace) == [
        ("constraint", "Be brief.", ["system"]),
        ("requirement", "Fix it", ["user"]),
        ("requirement", "[image image/png]", ["user", "image"]),
        ("decision", "Called the Read tool", ["environment"]),
        ("constraint", "<system-reminder>Plan only.", ["system"]),
        ("decision", "hm", ["thinking"]),
        ("decision", "Yes", []),
        ("tool_call", "bash", []),
        ("tool_result", "ok", []),
        ("decision", '{"id": "a1.p4", "type": "poem"}', ["opaque"]),
    ]
    assert trace.events[5]["signature"] == "S"
    kinds = ["file", "step-start", "text that is not sent", "agent", "empty message"]
    assert trace.ignored == dict.fromkeys(kinds, 1)


def test_ids_and_origins_are_those_of_parts():
    trace = load(user("u1", "Hi"), says("a1", tool("t1")))
    assert [(e["id"], e["origin"]) for e in trace.events] == [
        ("u1.p0", {"path": "messages/0/parts/0"}),
        ("t1", {"path": "messages/1/parts/0"}),
        ("t1:r", {"path": "messages/1/parts/0"}),
    ]


def test_a_result_tells_exit_code_subagent_and_whether_it_was_cleared():
    state = {"metadata": {"exit": 2, "sessionId": "ses_2"}, "time": {"start": 5000, "end": 6000, "compacted": 7000}}
    result = load(says("a1", tool("t1", **state))).events[1]
    assert (result["exit_code"], result["agent_id"], result["cleared_at"]) == (2, "ses_2", 7000)


def test_an_attachment_is_an_image_block_of_the_result():
    attached = [{"type": "file", "mime": "image/png", "url": "data:x", "filename": "a.png"}]
    result = load(says("a1", tool("t1", "Image read", attachments=attached))).events[1]["result"]
    image = {"type": "image", "source": {"media_type": "image/png", "url": "data:x"}, "name": "a.png"}
    assert result == [{"type": "text", "text": "Image read"}, image]


def test_a_failed_call_says_so_and_an_interrupted_one_shows_what_there_was():
    cut = broken("t2", "aborted", metadata={"interrupted": True, "output": "half"})
    trace = load(says("a1", broken("t1", "no such file"), cut))
    results = [(e["result"], e["is_error"]) for e in trace.events if e["type"] == "tool_result"]
    assert results == [("no such file", True), ("half", True)]


def test_a_call_that_is_still_running_has_no_result():
    trace = load(says("a1", tool("t1", status="running")))
    assert [event["type"] for event in trace.events] == ["tool_call"]


def test_a_rejected_call_is_given_up_and_the_words_of_the_user_are_his():
    said = "The user rejected permission to use this specific tool call with the following feedback: use make"
    trace = load(says("a1", "Go", broken("t1", said), tool("t2")), user("u2", "Hi"))
    assert told(trace)[-3:] == [
        ("abandon", "use make", []),
        ("requirement", "use make", ["user"]),
        ("requirement", "Hi", ["user"]),
    ]
    assert tree(trace)["t1:abandon"] == "t2:r"
    plain = load(says("a1", broken("t1", "The user rejected permission to use this specific tool call.")))
    assert plain.events[-1]["content"] == "rejected by the user"


def test_an_answered_question_is_a_decision_beside_its_result():
    asked = {"questions": [{"question": "Which?"}, {"question": "When?"}]}
    trace = load(
        says("a1", tool("t1", "User has answered", "question", input=asked, metadata={"answers": [["A", "B"], []]}))
    )
    assert told(trace)[2] == ("decision", "Which?: A, B", ["answer"])


# model calls


def test_calls_of_a_step_stand_side_by_side_before_their_results_and_each_step_is_a_model_call():
    trace = load(
        says("a1", "Go", tool("t1"), tool("t2"), finish(3, 5, 7, 11), {"type": "step-start"}, "Done", finish(1, 2))
    )
    assert [event["id"] for event in trace.events] == ["a1.p0", "t1", "t2", "t1:r", "t2:r", "a1.p5"]
    assert [event.get("message_id") for event in trace.events] == ["a1", "a1", "a1", None, None, "a1:s2"]
    assert trace.usage == [Usage("t2", 3, 5, 7, 11), Usage("a1.p5", 1, 2)]


def test_text_behind_a_call_belongs_to_the_next_model_call():
    trace = load(says("a1", tool("t1"), "Done", tokens={"input": 3, "output": 4}))
    assert tree(trace) == {"t1": None, "t1:r": "t1", "a1.p1": "t1:r"}
    assert trace.usage == [Usage("a1.p1", 3, 4)]


def test_reasoning_that_is_counted_apart_is_output():
    trace = load(says("a1", "x", finish(10, 5, 0, 0, total=22, reasoning=7)))
    assert trace.usage == [Usage("a1.p0", 10, 12)]


# the file


def test_the_session_is_described():
    trace = load(user("u1", "Hi"), says("a1", "x", modelID="m1"), parentID="ses_0")
    assert (trace.title, trace.model, trace.cwd) == ("Shop", "m1", "/home/dev/shop")
    assert trace.extra == {"session_id": "ses_1", "parent_session": "ses_0"}
    assert load(user("u1", "Hi"), title=None).title == "Hi"


def test_messages_alone_are_a_session_too():
    (trace,) = read(json.dumps([user("u1", "Hi"), says("a1", "x")]).encode())
    check([trace])
    assert [(e["id"], e["origin"]["path"]) for e in trace.events] == [("u1.p0", "0/parts/0"), ("a1.p0", "1/parts/0")]
    assert trace.extra["session_id"] == "ses_1"


def test_what_is_no_message_and_no_part_is_reported():
    value = {
        "info": INFO,
        "messages": [5, {"info": 3}, {"info": {"id": "m", "role": "user"}, "parts": [7, text("Hi")]}],
    }
    (trace,) = read(json.dumps(value).encode())
    assert [problem.text for problem in trace.problems] == [
        "messages/0: a number where a message was expected (skipped)",
        "messages/1: a number where a message was expected (skipped)",
        "messages/2/parts/0: a number where a part was expected (skipped)",
    ]
    assert told(trace) == [("requirement", "Hi", ["user"])]


def test_an_export_that_is_cut_keeps_what_came_before():
    data = json.dumps({"info": INFO, "messages": [user("u1", "Hi"), user("u2", "x" * 99)]}).encode()
    (trace,) = read(data[:-60])
    assert trace.events[0]["id"] == "u1.p0"
    assert "what came before was kept" in trace.problems[0].text


def test_an_export_without_messages_is_a_clear_error():
    with pytest.raises(TraceError, match="no message of a session"):
        read(json.dumps({"info": INFO, "messages": []}).encode())


@pytest.mark.parametrize(
    ("value", "claimed"),
    [
        ({"info": INFO, "messages": []}, True),
        ({"info": {**INFO, "summary": "x" * 300_000}, "messages": []}, False),  # beyond what a sniffer sees
        ([user("u1", "Hi")], True),
        ({"info": {"id": "x"}, "messages": []}, False),
        ({"info": {"exit_status": "x", "time": 1}, "messages": []}, False),  # mini-swe-agent
        ({"info": INFO}, False),
        ([{"role": "user", "parts": []}], False),
    ],
)
def test_an_export_is_known_by_its_info(value, claimed):
    assert opencode.sniff(json.dumps(value).encode()[:200_000]) is claimed


def test_the_sample_is_claimed_by_this_format_alone_and_is_read_without_problems():
    check_sample(opencode, SAMPLE)
