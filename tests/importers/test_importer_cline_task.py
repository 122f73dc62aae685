"""Cline and Roo: windows, the display log, the files of a task, damage."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cline_records import (
    API,
    DISPLAY,
    ENVIRONMENT,
    METADATA,
    TASK,
    bot,
    only,
    read,
    read_all,
    read_task,
    shown,
    text,
    use,
    user,
)
from importer_checks import (
    CORPUS,
    accounted,
    check,
    claimants,
    needs_corpus,
    own,
    survive,
    told,
    tree,
    types,
    with_other_types,
)

from context_gc.errors import TraceError
from context_gc.importers import cline
from context_gc.importers.files.decode import decode
from context_gc.trace import Usage

SAMPLE = Path(__file__).parents[2] / "sample_traces" / "cline-denied.json"

# windows


def test_a_continued_session_begins_a_window_with_its_summary():
    trace = read(TASK, bot("Hm."), user("This session is being continued from a previous conversation: …"), bot("On."))
    assert [(w.start, w.stop, w.opened_by) for w in trace.windows] == [(0, 3, "start"), (3, 5, "auto")]
    assert trace.events[3]["tags"] == ["summary"]


def test_a_marker_of_roo_begins_a_window_with_what_it_does_not_hide():
    trace = read(
        TASK,
        bot("gone", condenseParent="c1"),
        user("gone too", condenseParent="c1"),
        user("so far", isSummary=True, condenseId="c1"),
        bot("On."),
    )
    window = trace.windows[1]
    kept = [event["content"] for event in trace.events[window.start : window.stop]]
    assert kept == ["<task>\nFix it\n</task>", ENVIRONMENT, "so far", "On."]
    assert [event.get("repeats") for event in trace.events[window.start :]] == ["e1", "e2", None, None]


def test_the_range_that_was_left_out_begins_a_window():
    messages = [TASK, bot("one"), user("two"), bot("three"), user("four"), bot("five")]
    log = [
        shown("say", "text", 1),
        shown("say", "api_req_started", 3, conversationHistoryDeletedRange=[1, 2]),
        shown("say", "text", 4, conversationHistoryDeletedRange=[1, 2]),
    ]
    trace = read_task(messages, log)
    window = trace.windows[1]
    assert [event["content"] for event in trace.events[window.start :]] == [
        "<task>\nFix it\n</task>",
        ENVIRONMENT,
        "three",
        "four",
        "five",
    ]
    assert len(own(trace)) == 7


# the display log


def test_the_display_log_adds_times_usage_and_names():
    request = json.dumps({"request": "…", "tokensIn": 100, "tokensOut": 7, "cacheWrites": 30, "cacheReads": 60})
    log = [
        shown("say", "task", -1, ts=1772880001000),
        shown("say", "api_req_started", -1, ts=1772880002000, text=request),
        shown("say", "text", 0, ts=1772880003000),
        shown("say", "deleted_api_reqs", 1, ts=1772880004000, text="{}"),
    ]
    trace = read_task([TASK, bot("Hello")], log, model_usage=[{"model_id": "claude"}])
    assert trace.usage == [Usage("e3", 100, 7, 60, 30)]
    assert trace.model == "claude"
    assert [event["timestamp"] for event in trace.events] == [1772880003000, 1772880003000, 1772880004000]
    assert trace.ignored == {
        "say task": 1,
        "say api_req_started": 1,
        "say text": 1,
        "say deleted_api_reqs": 1,
    }
    assert trace.extra["task_id"] == "t"
    assert trace.events[0]["origin"] == {"file": API, "path": "0"}


def test_without_a_log_newer_histories_tell_usage_and_model_themselves():
    info = {"modelInfo": {"modelId": "m"}, "metrics": {"tokens": {"prompt": 9, "completion": 2, "cached": 5}}}
    trace = read(TASK, bot("Hello", ts=1772880003000, **info))
    assert (trace.usage, trace.model) == ([Usage("e3", 9, 2, 5, 0)], "m")
    assert trace.events[-1]["timestamp"] == 1772880003000


@pytest.mark.parametrize(("resumed", "given_up"), [(4, ["e5", "m3", "e7"]), (None, ["e5", "m3", "e7", "e8", "e9"])])
def test_files_that_were_set_back_to_a_checkpoint_give_up_what_came_after_it(resumed, given_up):
    tagged = "<execute_command><command>make</command></execute_command>"
    messages = [TASK, bot("plan"), user("go"), bot(f"edit\n{tagged}"), user("more"), user("no, otherwise"), bot("so")]
    log = [
        shown("say", "checkpoint_created", 0, lastCheckpointHash="a"),
        shown("say", "checkpoint_created", 1, lastCheckpointHash="b", isCheckpointCheckedOut=True),
        shown("say", "checkpoint_created", 3, lastCheckpointHash="c"),
    ]
    if resumed is not None:
        log.append(shown("ask", "resume_task", resumed))
    trace = read_task(messages, log)
    (abandon,) = only(trace, "abandon")
    assert abandon["content"] == "files restored to a checkpoint"
    assert abandon["ref_to"] == ["e5"]
    parents, below = tree(trace), {"e5"}
    for event in trace.events[: trace.events.index(abandon)]:
        if parents[event["id"]] in below:
            below.add(event["id"])
    assert sorted(below) == sorted(given_up)


# files


def test_the_files_of_each_task_are_one_group():
    paths = [API, DISPLAY, METADATA, "u/ui_messages.json", "v/claude_messages.json", "t/focus_chain.md"]
    assert cline.groups(paths) == [(API, DISPLAY, METADATA), ("v/claude_messages.json",)]
    assert cline.groups(["api_conversation_history.json"]) == [("api_conversation_history.json",)]


def test_a_damaged_display_log_does_not_hide_the_history():
    documents = [decode(json.dumps([TASK]).encode(), API), decode(b"\x01", DISPLAY)]
    (trace,) = cline.read_group(documents)
    assert types(trace) == {"requirement": 1, "decision": 1}
    assert len(trace.problems) == 1


def test_a_display_log_alone_says_what_to_open_instead():
    log = [shown("say", "text"), shown("ask", "tool")]
    assert cline.sniff(json.dumps(log).encode())
    with pytest.raises(TraceError, match=r"this is a task.s display log"):
        read_all(log)


@pytest.mark.parametrize(
    "value",
    [
        [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}],
        [{"role": "user", "content": [text("x")]}, bot(use("t1", "read_file", path="a"))],
        [{"type": "say", "text": "x"}],
        {"version": 2, "messages": [{"role": "user", "content": "x"}]},
    ],
)
def test_lists_of_messages_that_are_not_its_own_are_not_claimed(value):
    assert not cline.sniff(json.dumps(value).encode())


def test_a_history_is_claimed_by_one_format_alone():
    for messages in ([TASK, bot("Hi")], [user("Hi", ts=1772880003000), bot("Hi")], [user("<task>x</task>")]):
        assert claimants(json.dumps(messages).encode()) == {"cline"}


# the only task in the corpus was written as a fixture, with messages in both files; counted by hand


@needs_corpus
def test_the_recorded_task_is_read_from_both_files_in_order_of_time():
    folder = CORPUS / "cline"
    paths = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.json"))
    (group,) = cline.groups(paths)
    documents = [decode((folder / path).read_bytes(), path) for path in group]
    assert not any(cline.sniff(document.head) for document in documents)  # alone, each is a list of anything
    traces = cline.read_group(documents)
    check(traces)
    (trace,) = traces
    assert told(trace) == [
        ("requirement", "Hello Cline", ["user"]),
        ("decision", "Hi from Cline", []),
        ("decision", "API reply", []),
    ]
    assert [event["timestamp"] for event in trace.events] == [1700000000000, 1700000001000, 1700000002000]
    assert (accounted(traces), trace.problems, trace.ignored) == (3, [], {})
    raw = [each for path in paths for each in json.loads((folder / path).read_bytes())]
    assert len(trace.events) == len(raw)


def test_damaged_histories_give_sound_traces_or_our_error():
    data = SAMPLE.read_bytes()
    log = [
        shown("say", "checkpoint_created", 1, isCheckpointCheckedOut=True),
        shown("say", "api_req_started", 3, text="{}"),
    ]
    log.append(shown("ask", "resume_task", 5, conversationHistoryDeletedRange=[2, 3]))
    for value in with_other_types([json.loads(data), log]):
        cline.sniff(json.dumps(value).encode())
        survive(read_all, json.dumps(value).encode())
        if isinstance(value, list) and len(value) == 2:
            files = dict(zip((API, DISPLAY), value, strict=True))
            survive(lambda _: cline.read_group([decode(json.dumps(v).encode(), k) for k, v in files.items()]), b"")  # noqa: B023
