"""The storage folder of opencode in its layouts: which files belong together, and how they are joined."""

from __future__ import annotations

import json
import random

import pytest
from importer_checks import accounted, check, survive, told, with_other_types

from context_gc.errors import TraceError
from context_gc.importers import Grouping, opencode
from context_gc.importers.files.decode import decode

SESSION = {"id": "ses_1", "projectID": "p", "directory": "/shop", "title": "Shop", "time": {"created": 1}}
FILES = {
    "storage/session/p/ses_1.json": SESSION,
    "storage/message/ses_1/msg_1.json": {
        "id": "msg_1",
        "sessionID": "ses_1",
        "role": "user",
        "time": {"created": 1000},
    },
    "storage/message/ses_1/msg_2.json": {
        "id": "msg_2",
        "sessionID": "ses_1",
        "role": "assistant",
        "time": {"created": 2000},
    },
    "storage/part/msg_1/prt_1.json": {"id": "prt_1", "messageID": "msg_1", "type": "text", "text": "Hi"},
    "storage/part/msg_2/prt_2.json": {"id": "prt_2", "type": "text", "text": "Hello"},
    "storage/part/msg_2/prt_3.json": {"id": "prt_3", "type": "step-finish", "tokens": {"input": 3, "output": 4}},
}


def read(files):
    return opencode.read_group([decode(json.dumps(value).encode(), path) for path, value in files.items()])


def load(files):
    (trace,) = read(files)
    check([trace])
    assert accounted([trace]) == len(files)
    return trace


def test_the_files_of_a_folder_are_joined():
    trace = load(FILES)
    assert told(trace) == [("requirement", "Hi", ["user"]), ("decision", "Hello", [])]
    assert [event["origin"] for event in trace.events] == [
        {"file": "storage/part/msg_1/prt_1.json"},
        {"file": "storage/part/msg_2/prt_2.json"},
    ]
    assert (trace.title, trace.cwd, trace.extra["session_id"]) == ("Shop", "/shop", "ses_1")
    assert trace.ignored == {"session": 1, "step-finish": 1}
    assert len(trace.usage) == 1


def test_the_session_file_may_be_missing_and_ids_stand_in_the_paths():
    files = {path: {k: v for k, v in value.items() if not k.endswith("ID")} for path, value in FILES.items()}
    del files["storage/session/p/ses_1.json"]
    assert told(load(files)) == [("requirement", "Hi", ["user"]), ("decision", "Hello", [])]


def test_parts_may_lie_in_one_folder_and_name_their_message():
    files = dict(FILES)
    files["storage/part/prt_1.json"] = files.pop("storage/part/msg_1/prt_1.json")
    assert len(load(files).events) == 2


def test_messages_stand_in_the_order_of_their_times():
    files = dict(FILES)
    files["storage/message/ses_1/msg_2.json"] = {**files["storage/message/ses_1/msg_2.json"], "time": {"created": 500}}
    assert [event["id"] for event in load(files).events] == ["prt_2", "prt_1"]


def test_undone_messages_are_given_up_and_the_session_file_says_so():
    trace = load({**FILES, "storage/session/p/ses_1.json": {**SESSION, "revert": {"messageID": "msg_2"}}})
    assert trace.events[-1]["ref_to"] == ["prt_2"]
    assert trace.events[-1]["origin"] == {"file": "storage/session/p/ses_1.json", "path": "revert"}


def test_a_subagent_is_a_trace_of_its_own():
    more = {
        "storage/session/p/ses_0.json": {**SESSION, "id": "ses_0", "parentID": "ses_1"},
        "storage/message/ses_0/msg_9.json": {"id": "msg_9", "sessionID": "ses_0", "role": "user"},
        "storage/part/msg_9/prt_9.json": {"id": "prt_9", "messageID": "msg_9", "type": "text", "text": "Look"},
    }
    traces = read({**more, **FILES})
    check(traces)
    assert [trace.extra.get("parent_session") for trace in traces] == [None, "ses_1"]
    assert [trace.source for trace in traces] == ["storage/session/p/ses_1.json", "storage/session/p/ses_0.json"]
    assert accounted(traces) == 9


def test_damaged_files_are_reported_by_name():
    documents = [decode(json.dumps(value).encode(), path) for path, value in FILES.items()]
    documents += [decode(b'{"id": ', "storage/part/msg_1/prt_4.json"), decode(b"[5]", "storage/part/msg_1/prt_5.json")]
    documents += [decode(b'{"id": "x"}', "storage/part/msg_8/prt_6.json")]
    traces = opencode.read_group(documents)
    check(traces)
    assert [problem.text.partition(": ")[2].partition(" at ")[0] for problem in traces[0].problems] == [
        "not JSON: expecting value",
        "a list where an object was expected (left out)",
        "a part of an unknown message (skipped)",
    ]
    assert accounted(traces) == len(documents)


def test_a_folder_without_messages_is_a_clear_error():
    with pytest.raises(TraceError, match="no message of a session"):
        read({"storage/session/p/ses_1.json": SESSION})


# which files belong together


def test_files_are_grouped_by_their_folder_sessions_first():
    paths = [f"{root}{path}" for root in ("", "b/") for path in FILES]
    random.Random(1).shuffle(paths)
    assert opencode.groups(paths) == [tuple(FILES), tuple(f"b/{path}" for path in FILES)] or opencode.groups(paths) == [
        tuple(f"b/{path}" for path in FILES),
        tuple(FILES),
    ]
    assert isinstance(opencode, Grouping)


def test_the_first_layout_is_known():
    files = {
        path.replace("storage/session/p/", "storage/session/info/")
        .replace("storage/message/", "storage/session/message/")
        .replace("storage/part/", "storage/session/part/ses_1/"): value
        for path, value in FILES.items()
    }
    (group,) = opencode.groups(list(files))
    assert set(group) == set(files)
    assert len(load({path: files[path] for path in group}).events) == 2


@pytest.mark.parametrize(
    "paths",
    [
        ["message/ses_1/msg_1.json"],
        ["message.json", "part.json"],
        ["message/msg_1.json", "session/ses_1.json"],
        ["message/ses_1/msg_1.jsonl", "part/msg_1/prt_1.jsonl"],
        ["todo/ses_1.json", "session_diff/ses_1.json", "project/p.json"],
    ],
)
def test_other_files_are_left_alone(paths):
    assert opencode.groups(paths) == []


def test_one_file_of_a_folder_is_claimed_by_nothing():
    assert not any(opencode.sniff(json.dumps(value).encode()) for value in FILES.values())


def test_files_of_other_types_give_sound_traces_or_our_error():
    for files in with_other_types(FILES, 200):
        if isinstance(files, dict) and set(files) <= set(FILES):
            survive(lambda data: read(json.loads(data)), json.dumps(files).encode())
