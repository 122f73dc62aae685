"""What opencode tells its plugins: parts that come again and again, text in pieces, several sessions in one dump."""

from __future__ import annotations

import json

import pytest
from importer_checks import accounted, check, survive, told, tree, with_other_types

from context_gc.errors import TraceError
from context_gc.importers import opencode
from context_gc.importers.files.decode import decode


def lines(*rows):
    return "\n".join(map(json.dumps, rows)).encode()


def read(data):
    return opencode.read(decode(data, "dump.jsonl"))


def load_all(*rows):
    traces = read(lines(*rows))
    check(traces)
    assert accounted(traces) == len(rows)
    return traces


def load(*rows):
    (trace,) = load_all(*rows)
    return trace


def event(kind, session="ses_1", **properties):
    return ["event", {"event": {"type": kind, "properties": {"sessionID": session, **properties}}}]


def begun(session="ses_1", **info):
    return event("session.created", session, info={"id": session, "title": "Shop", "directory": "/shop", **info})


def message(name, role="user", session="ses_1", **info):
    return event("message.updated", session, info={"id": name, "role": role, "sessionID": session, **info})


def part(name, home, kind="text", session="ses_1", **fields):
    value = {"id": name, "messageID": home, "sessionID": session, "type": kind, **fields}
    return event("message.part.updated", session, part=value)


def delta(name, said, field="text"):
    return event("message.part.delta", partID=name, field=field, delta=said)


def prompt(said, model="m1", session="ses_1"):
    return ["experimental.chat.system.transform", {"sessionID": session, "model": {"id": model}}, {"system": [said]}]


ASKED = [begun(), message("u1"), part("p1", "u1", text="Hi")]


def test_the_last_version_of_a_part_counts_at_the_place_of_the_first():
    pending = {"status": "pending", "input": {}}
    done = {"status": "completed", "input": {"path": "a"}, "output": "ok"}
    trace = load(
        *ASKED,
        message("a1", "assistant"),
        part("p2", "a1", "tool", tool="read", callID="t1", state=pending),
        part("p3", "a1", text="Later"),
        part("p2", "a1", "tool", tool="read", callID="t1", state=done),
        message("a1", "assistant", modelID="m1"),
    )
    assert [e["id"] for e in trace.events] == ["p1", "t1", "t1:r", "p3"]
    assert trace.events[1]["arguments"] == {"path": "a"}
    assert trace.events[1]["origin"] == {"line": 7}
    assert trace.ignored == {"session.created": 1, "message.updated": 1, "message.part.updated": 1}
    assert trace.model == "m1"


def test_text_comes_in_pieces_and_the_whole_replaces_them():
    trace = load(*ASKED, part("p2", "u1", text=""), delta("p2", "a"), delta("p2", "b"), delta("unknown", "x"))
    assert told(trace)[1] == ("requirement", "ab", ["user"])
    assert trace.ignored == {"session.created": 1, "message.part.delta": 1}
    trace = load(*ASKED, part("p2", "u1", text=""), delta("p2", "a"), part("p2", "u1", text="whole"))
    assert told(trace)[1][1] == "whole"
    assert trace.ignored == {"session.created": 1, "message.part.updated": 1, "message.part.delta": 1}


def test_a_chat_message_tells_message_and_parts():
    whole = [
        "chat.message",
        {"sessionID": "ses_1"},
        {
            "message": {"id": "u1", "role": "user"},
            "parts": [{"id": "p1", "type": "text", "text": "Hi", "messageID": "u1"}],
        },
    ]
    trace = load(begun(), whole)
    assert [(e["id"], e["origin"]) for e in trace.events] == [("p1", {"line": 2})]
    assert load(begun(), whole, *ASKED[1:]).ignored == {"session.created": 1, "chat.message": 1}


def test_events_need_no_wrapper():
    rows = [row[1]["event"] for row in ASKED]
    assert told(load(*rows)) == [("requirement", "Hi", ["user"])]
    assert opencode.sniff(lines(*rows))
    assert told(load(*({"directory": "/", "payload": row} for row in rows))) == [("requirement", "Hi", ["user"])]


def test_a_system_prompt_stands_before_all_and_another_before_the_answer_that_it_was_made_for():
    trace = load(
        *ASKED,
        prompt("You find titles.", "small"),
        message("a1", "assistant", modelID="m1"),
        prompt("You are opencode."),
        part("p2", "a1", text="a"),
        message("a2", "assistant", modelID="m1"),
        prompt("You are opencode."),
        part("p3", "a2", text="b"),
        message("a3", "assistant", modelID="m1"),
        prompt("You plan."),
        part("p4", "a3", text="c"),
    )
    assert [(kind, said) for kind, said, _ in told(trace)] == [
        ("constraint", "You are opencode."),
        ("requirement", "Hi"),
        ("decision", "a"),
        ("decision", "b"),
        ("constraint", "You plan."),
        ("decision", "c"),
    ]
    assert trace.ignored["experimental.chat.system.transform"] == 2


def test_a_subagent_is_a_trace_of_its_own_and_its_tasks_result_names_it():
    done = {"status": "completed", "input": {}, "output": "ok", "metadata": {"sessionId": "ses_2"}}
    main, sub = load_all(
        *ASKED,
        begun("ses_2", parentID="ses_1"),
        message("u9", session="ses_2"),
        part("p9", "u9", session="ses_2", text="Look"),
        message("a1", "assistant"),
        part("p2", "a1", "tool", tool="task", callID="t1", state=done),
        event("session.idle", "ses_2"),
        event("server.instance.disposed", ""),
    )
    assert main.events[-1]["agent_id"] == sub.extra["session_id"] == "ses_2"
    assert sub.extra["parent_session"] == main.extra["session_id"] == "ses_1"
    assert sub.ignored == {"session.created": 1, "session.idle": 1}
    assert main.ignored == {"session.created": 1, "server.instance.disposed": 1}


def test_subagents_stand_behind_the_session_that_began_them():
    child = [
        begun("ses_0", parentID="ses_1"),
        message("u9", session="ses_0"),
        part("p9", "u9", session="ses_0", text="x"),
    ]
    assert [trace.extra["session_id"] for trace in load_all(*child, *ASKED)] == ["ses_1", "ses_0"]


def test_removed_messages_and_parts_are_given_up_before_what_comes_next():
    trace = load(
        *ASKED,
        message("u2"),
        part("p2", "u2", text="Wrong"),
        event("message.removed", messageID="u2"),
        message("u3"),
        part("p3", "u3", text="Right"),
        part("p4", "u3", text="or so"),
        event("message.part.removed", messageID="u3", partID="p4"),
    )
    assert tree(trace) == {
        "p1": None, "p2": "p1", "p2:abandon": "p1", "p3": "p2:abandon", "p4": "p3", "p4:abandon": "p3",
    }  # fmt: skip
    undone = [(e["content"], e["origin"]) for e in trace.events if e["type"] == "abandon"]
    assert undone == [("removed from the session", {"line": 6}), ("removed from the session", {"line": 10})]


def test_messages_that_are_undone_at_the_end_are_given_up_as_the_session_says():
    undoing = event("session.updated", info={"id": "ses_1", "revert": {"messageID": "u2"}})
    trace = load(*ASKED, message("u2"), part("p2", "u2", text="Wrong"), undoing)
    assert trace.events[-1]["origin"] == {"line": 6, "path": "revert"}
    assert trace.events[-1]["ref_to"] == ["p2"]


def test_rows_that_are_none_are_reported():
    data = lines(*ASKED) + b'\n{"x": 1}\n42\n["event", {"event": {"type": "m'
    (trace,) = read(data)
    assert [(problem.line, problem.text.partition(":")[0]) for problem in trace.problems] == [
        (4, "an object that is no row of a dump (skipped)"),
        (5, "a number that is no row of a dump (skipped)"),
        (6, "not JSON"),
    ]
    assert accounted([trace]) == 6


def test_a_dump_without_messages_is_a_clear_error():
    with pytest.raises(TraceError, match="no message of a session"):
        read(lines(begun()))


@pytest.mark.parametrize(
    ("row", "claimed"),
    [
        (begun(), True),
        (ASKED[1], True),
        (["tool.definition", {"toolID": "bash"}, {"description": "x"}], True),
        (["event", {"event": {"type": "x", "properties": {}}}], False),
        (["event", "x"], False),
        ({"type": "session.start", "data": {"sessionId": "x"}}, False),  # Copilot CLI
        ({"type": "session", "id": "x", "cwd": "/", "timestamp": "t"}, False),  # pi
        ({"type": "item.completed", "properties": {"sessionID": "x"}}, False),
        ([], False),
        (5, False),
    ],
)
def test_a_dump_is_known_by_its_rows(row, claimed):
    assert opencode.sniff(lines(row)) is claimed


def test_rows_of_other_types_give_sound_traces_or_our_error():
    removed = event("message.removed", messageID="u1")
    rows = [*ASKED, delta("p1", "x"), prompt("You."), message("a1", "assistant", modelID="m1"), removed, *ASKED]
    for damaged in with_other_types(rows, 300):
        if isinstance(damaged, list):
            survive(read, lines(*damaged) or b" ")
            opencode.sniff(lines(*damaged))
