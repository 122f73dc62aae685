"""pi sessions: what each kind of entry becomes, what is left out or reported, and what is claimed."""

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
from context_gc.importers import pi
from context_gc.importers.files.decode import decode
from context_gc.outcomes import failed
from context_gc.trace import Usage

HEADER = {"type": "session", "id": "s1", "timestamp": "2025-11-20T10:00:00.000Z", "cwd": "/home/dev/shop"}
SAMPLE = Path(__file__).parents[2] / "sample_traces" / "pi-branches.jsonl"


def lines(*records):
    return "\n".join(json.dumps(record) for record in records).encode()


def read(data):
    return pi.read(decode(data, "session.jsonl"))


def load(*records, header=HEADER):
    (trace,) = read(lines(header, *records))
    check([trace])
    assert accounted([trace]) == 1 + len(records)
    return trace


def entry(kind, time="2025-11-20T10:00:01.000Z", **fields):
    return {"type": kind, "timestamp": time, **fields}


def message(role, content, **fields):
    return entry("message", message={"role": role, "content": content, **fields})


def text(said):
    return {"type": "text", "text": said}


def call(name, tool="bash", **arguments):
    return {"type": "toolCall", "id": name, "name": tool, "arguments": arguments}


def result(name, said="ok", **fields):
    return message("toolResult", [text(said)], toolCallId=name, toolName="bash", **fields)


# what entries become


def test_each_kind_of_content_has_its_event():
    image = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
    trace = load(
        message("user", "Fix it"),
        message("user", [text("Like this:"), image]),
        message(
            "assistant", [{"type": "thinking", "thinking": "hm", "thinkingSignature": "S"}, text("Yes"), call("t1")]
        ),
        result("t1", "done"),
        message("custom", "Remember the style guide.", customType="guide", display=True),
        entry("custom_message", customType="guide", content=[text("And the tests.")], display=False),
    )
    assert told(trace) == [
        ("requirement", "Fix it", ["user"]),
        ("requirement", "Like this:", ["user"]),
        ("requirement", "[image image/png]", ["user", "image"]),
        ("decision", "hm", ["thinking"]),
        ("decision", "Yes", []),
        ("tool_call", "bash", []),
        ("tool_result", [text("done")], []),
        ("constraint", "Remember the style guide.", ["system", "custom"]),
        ("constraint", "And the tests.", ["system", "custom"]),
    ]
    assert trace.events[2]["block"] == image
    assert (trace.events[3]["signature"], trace.events[3]["importance"]) == ("S", "temporary")


def test_ids_come_from_lines_where_the_first_version_has_none():
    trace = load(message("user", [text("a"), text("b")]), message("assistant", [text("c"), call("t1"), call("")]))
    assert [event["id"] for event in trace.events] == ["L2", "L2.1", "L3", "t1", "L3.2"]
    assert [event["origin"] for event in trace.events[1:3]] == [{"line": 2, "block": 1}, {"line": 3, "block": 0}]
    assert [event.get("message_id") for event in trace.events] == [None, None, "L3", "L3", "L3"]


def test_parallel_calls_hang_side_by_side_and_each_result_below_its_call():
    trace = load(
        message("user", "Go"),
        message("assistant", [text("Both"), call("t1"), call("t2")]),
        result("t2"),
        result("t1"),
        message("assistant", [text("Done")]),
    )
    assert tree(trace) == {"L2": None, "L3": "L2", "t1": "L3", "t2": "L3", "t2:r": "t2", "t1:r": "t1", "L6": "t1:r"}


def test_a_failed_call_says_so():
    trace = load(message("assistant", [call("t1")]), result("t1", "x\n\n\nCommand exited with code 1", isError=True))
    assert trace.events[1]["is_error"] is True
    assert failed(trace.events[0], trace.events[1:])


def test_redacted_thinking_and_unknown_blocks_and_roles_are_opaque():
    redacted = {"type": "thinking", "thinking": "", "thinkingSignature": "S", "redacted": True}
    trace = load(message("assistant", [redacted, {"type": "video"}]), message("narrator", [text("x")]))
    assert [event["tags"] for event in trace.events] == [["thinking", "opaque"], ["opaque"], ["opaque"]]


def test_what_the_user_ran_is_a_command_and_what_he_kept_to_himself_is_left_out():
    ran = {"role": "bashExecution", "command": "make", "output": "ok", "exitCode": 0, "cancelled": False}
    trace = load(
        entry("message", message=ran),
        entry("message", message={**ran, "excludeFromContext": True}),
        entry("message", message={**ran, "exitCode": None, "cancelled": True}),
        entry("message", message={**ran, "command": ""}),
    )
    assert trace.events[0]["output"] == "ok"
    assert told(trace) == [
        ("command_run", "make", ["user"]),
        ("requirement", "Ran `make`\nok\n\n(command cancelled)", ["user"]),
    ]
    assert trace.ignored == {"session": 1, "command outside of the context": 1, "empty message": 1}


def test_what_the_model_never_sees_is_counted_by_kind():
    trace = load(
        entry("model_change", provider="p", modelId="m"),
        entry("thinking_level_change", thinkingLevel="low"),
        entry("custom", customType="state", data={"x": 1}),
        entry("label", targetId="x", label="here"),
        entry("new_kind"),
        {"id": "untyped"},
        message("user", "  "),
    )
    assert trace.events == []
    kinds = ["session", "model_change", "thinking_level_change", "custom", "label", "new_kind", "untyped record"]
    assert trace.ignored == {**dict.fromkeys(kinds, 1), "empty message": 1}


# answers that were cut off


def cut_off(*blocks, **fields):
    return message("assistant", list(blocks), stopReason="aborted", errorMessage="Request was aborted.", **fields)


def test_the_calls_of_an_answer_that_was_cut_off_are_given_up_and_its_text_stays_in_the_first_version():
    trace = load(message("user", "Go"), cut_off(text("I'll"), call("t1"), call("t2")), message("user", "Wait"))
    (undone,) = (event for event in trace.events if event["type"] == "abandon")
    assert (undone["ref_to"], undone["content"]) == (["t1", "t2"], "Request was aborted.")
    assert [event["id"] for event in trace.events if event.get("unsent")] == ["t1", "t2"]
    assert tree(trace)["L4"] == undone["id"]
    assert tree(trace)[undone["id"]] == "L3"


def test_all_of_an_answer_that_was_cut_off_is_given_up_in_later_versions_with_its_late_results():
    records = [
        message("user", "Go") | {"id": "u1", "parentId": None},
        cut_off(text("I'll"), call("t1")) | {"id": "a1", "parentId": "u1"},
        result("t1", "Command aborted", isError=True) | {"id": "r1", "parentId": "a1"},
        message("user", "Wait") | {"id": "u2", "parentId": "r1"},
    ]
    trace = load(*records, header={**HEADER, "version": 3})
    assert [event["id"] for event in trace.events] == ["u1", "a1", "t1", "t1:r", "a1:abandon", "u2"]
    assert trace.events[4]["ref_to"] == ["a1"]
    assert tree(trace)["u2"] == "a1:abandon"
    assert [event["id"] for event in trace.events if event.get("unsent")] == ["a1", "t1"]


def test_an_answer_that_was_cut_off_before_it_began_is_left_out():
    trace = load(message("user", "Go"), cut_off(), message("assistant", [text("x")], stopReason="stop"))
    assert [event["id"] for event in trace.events] == ["L2", "L4"]
    assert trace.ignored["empty message"] == 1


# usage, titles, damage


def test_usage_stands_on_the_last_event_of_its_model_call():
    usage = {"input": 3, "output": 5, "cacheRead": 7, "cacheWrite": 11, "cost": {"total": 1}}
    trace = load(message("assistant", [text("a"), call("t1")], usage=usage), result("t1"))
    assert trace.usage == [Usage("t1", 3, 5, 7, 11)]


def test_the_session_is_described():
    trace = load(
        message("user", "Fix\n the cart"),
        message("assistant", [text("x")], model="m1"),
        cut_off(text("y"), model="m2"),
        header={**HEADER, "modelId": "m0", "branchedFrom": "/old.jsonl"},
    )
    assert (trace.title, trace.model, trace.cwd) == ("Fix the cart", "m1", "/home/dev/shop")
    assert trace.extra == {"session_id": "s1", "forked_from": "/old.jsonl"}
    assert load(entry("session_info", name="Cart"), entry("session_info", name=" ")).title == "Cart"
    assert load(header={**HEADER, "modelId": "m0"}).model == "m0"


def test_damaged_messages_are_reported_with_their_lines_and_the_rest_is_read():
    trace = load(
        entry("message"),
        entry("message", message=[]),
        entry("message", message={"content": "x"}),
        message("user", 5),
        message("user", "Hi"),
    )
    assert [(problem.line, problem.text) for problem in trace.problems] == [
        (2, "field 'message' is missing (skipped)"),
        (3, "field 'message' is a list, expected an object (skipped)"),
        (4, "field 'message.role' is missing (skipped)"),
        (5, "field 'message.content' is a number, expected a string or a list (skipped)"),
    ]
    assert [event["id"] for event in trace.events] == ["L6"]


def test_two_records_on_one_line_are_both_read():
    joined = lines(HEADER) + b"\n" + lines(message("user", "a")) + lines(message("user", "b"))
    (trace,) = read(joined)
    assert [(event["id"], event["origin"]) for event in trace.events] == [
        ("L2", {"line": 2}),
        ("L2.1", {"line": 2, "record": 1}),
    ]


def test_a_missing_time_is_the_one_before_and_a_message_has_one_too():
    trace = load(
        message("user", "a", timestamp=1763632802000) | {"timestamp": None},
        {"type": "message", "message": {"role": "user", "content": "b", "timestamp": 1763632803000}},
        {"type": "message", "message": {"role": "user", "content": "c"}},
    )
    assert [event["timestamp"] for event in trace.events] == [1763632802000, 1763632803000, 1763632803000]


def test_a_file_without_a_whole_line_is_a_clear_error():
    with pytest.raises(TraceError, match="none of its lines is whole"):
        read(b'{"type":"session"')


# what is claimed


@pytest.mark.parametrize(
    ("record", "claimed"),
    [
        (HEADER, True),
        ({**HEADER, "version": 3}, True),
        ({**HEADER, "createdAt": 1}, False),  # DeepSeek Harness
        ({"type": "session", "id": "x"}, False),
        ({"type": "session.start", "id": "x", "cwd": "/", "timestamp": "t"}, False),
        ({"type": ["session"], "id": "x"}, False),
        ([HEADER], False),
    ],
)
def test_a_session_is_known_by_its_header(record, claimed):
    assert pi.sniff(lines(record)) is claimed


def test_the_sample_is_claimed_by_this_format_alone_and_is_read_without_problems():
    check_sample(pi, SAMPLE)
