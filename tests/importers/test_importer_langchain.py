"""LangChain and LangGraph: each way in which messages are written, what is taken back, states and their history."""

from __future__ import annotations

import json

import pytest
from importer_checks import accounted, check, claimants, cut_and_flipped, survive, told, with_other_types

from context_gc import TraceError
from context_gc.importers import langchain
from context_gc.importers.files.decode import decode
from context_gc.trace import Usage


def human(words, name="h1", **more):
    return {"type": "human", "content": words, "id": name, **more}


def ai(words, name, *calls, **more):
    made = [{"id": call, "name": "read", "args": {"path": "a"}, "type": "tool_call"} for call in calls]
    return {"type": "ai", "content": words, "id": name, "tool_calls": made, **more}


def tool(call, words="text", name="t1", **more):
    return {"type": "tool", "content": words, "tool_call_id": call, "id": name, "name": "read", **more}


def remove(name):
    return {"type": "remove", "content": "", "id": name}


def lc(message):
    names = {"human": "HumanMessage", "ai": "AIMessage", "tool": "ToolMessage"}
    path = ["langchain", "schema", "messages", names[message["type"]]]
    return {"lc": 1, "type": "constructor", "id": path, "kwargs": message}


USED = {"input_tokens": 9, "output_tokens": 2, "total_tokens": 11, "input_token_details": {"cache_read": 4}}
TALK = [
    human("fix it"),
    ai("look", "a1", "c1", usage_metadata=USED, response_metadata={"model_name": "m"}),
    tool("c1", status="error"),
    ai("done", "a2"),
]
EVENTS = [
    ("requirement", "fix it", ["user"]),
    ("decision", "look", []),
    ("tool_call", "read", []),
    ("tool_result", "text", []),
    ("decision", "done", []),
]


def read(value, lines=False):
    data = "\n".join(map(json.dumps, value)) if lines else json.dumps(value)
    document = decode(data.encode(), "messages.json")
    assert langchain.sniff(document.head)
    traces = langchain.read(document)
    check(traces)
    return traces


def only(value, lines=False):
    (trace,) = read(value, lines)
    return trace


@pytest.mark.parametrize(
    ("value", "lines", "place"),
    [
        (TALK, False, {"path": "1"}),
        (TALK, True, {"line": 2}),
        ({"messages": TALK}, False, {"path": "messages/1"}),
        ([{"type": each["type"], "data": each} for each in TALK], False, {"path": "1"}),
        ([lc(each) for each in TALK], False, {"path": "1"}),
        ({"messages": [lc(each) for each in TALK]}, False, {"path": "messages/1"}),
        ({"values": {"messages": TALK}, "next": []}, False, {"path": "values/messages/1"}),
        ({"channel_values": {"messages": TALK}, "ts": "2026"}, False, {"path": "channel_values/messages/1"}),
        ([{"__start__": {"messages": TALK[:1]}}, {"agent": {"messages": TALK[1:2]}}, {"tools": {"messages": TALK[2]}},
          {"agent": {"messages": TALK[3:]}}], True, {"line": 2, "path": "agent/messages/0"}),
    ],
    ids=["array", "lines", "messages", "dicts", "lc", "lc in state", "snapshot", "checkpoint", "updates"],
)  # fmt: skip
def test_messages_are_read_alike_however_they_are_written(value, lines, place):
    trace = only(value, lines)
    assert told(trace) == EVENTS
    assert [event["id"] for event in trace.events] == ["h1", "a1", "c1", "c1:r", "a2"]
    assert trace.events[1]["origin"] == place
    assert trace.events[3]["is_error"] is True
    assert trace.usage == [Usage("c1", 5, 2, 4)]
    assert (trace.model, trace.title, trace.problems) == ("m", "fix it", [])
    assert accounted([trace]) == 4


def test_chunks_of_a_streamed_message_are_one_message():
    def chunk(words="", name="r1", **more):
        return {"type": "AIMessageChunk", "content": words, "id": name, **more}

    def piece(args, name=None, call=None):
        return {"name": name, "args": args, "id": call, "index": 0, "type": "tool_call_chunk"}

    lines = [
        human("fix it"),
        chunk("lo"),
        chunk("other", "r2"),
        chunk("ok"),
        chunk(tool_call_chunks=[piece("", "read", "c1")]),
        chunk(tool_call_chunks=[piece('{"path"')], tool_calls=[{"name": "", "args": {}, "id": None}]),
        chunk(tool_call_chunks=[piece(': "a"}')], usage_metadata=USED),
        tool("c1"),
    ]
    trace = only(lines, lines=True)
    assert told(trace) == [*EVENTS[:3], ("decision", "other", []), EVENTS[3]]
    assert trace.events[2]["arguments"] == '{"path": "a"}'
    assert trace.usage == [Usage("c1", 5, 2, 4)]
    assert accounted([trace]) == len(lines)


def test_chunks_of_blocks_are_joined_and_chunks_without_ids_go_to_the_one_before():
    def chunk(*blocks, **more):
        return {"type": "AIMessageChunk", "content": list(blocks), **more}

    trace = only(
        [
            human("q"),
            chunk({"type": "thinking", "thinking": "h", "index": 0}),
            chunk({"type": "thinking", "thinking": "m", "index": 0}),
            chunk({"type": "text", "text": "a", "index": 1}),
            chunk({"type": "text", "text": "b", "index": 1}, "c", 5),
            chunk({"type": "tool_use", "id": "c1", "index": 2}, tool_calls=[{"id": "c1", "name": "read", "args": {}}]),
        ]
    )
    assert told(trace)[1:] == [
        ("decision", "hm", ["thinking"]),
        ("decision", "ab", []),
        ("decision", "c", []),
        EVENTS[2],
    ]


# what is taken back


def test_a_removed_last_message_is_abandoned():
    trace = only([*TALK, remove("a2"), ai("better", "a3")])
    assert told(trace)[5:] == [("abandon", "left out of the next prompt", []), ("decision", "better", [])]
    assert trace.events[5]["origin"] == {"path": "4"}
    assert trace.events[5]["ref_to"] == ["a2"]
    assert accounted([trace]) == 6


def test_a_message_that_comes_again_with_other_words_replaces_the_first():
    trace = only([human("fix it"), ai("draft", "a1"), ai("final", "a1")])
    assert [event["type"] for event in trace.events] == ["requirement", "decision", "abandon", "decision"]


def test_a_history_that_was_summed_up_is_a_new_window():
    summary = human("Here is a summary: x", "s1", additional_kwargs={"lc_source": "summarization"})
    trace = only([*TALK, remove(langchain.ALL), summary, *TALK[1:3], human("next", "h2"), ai("fin", "a4")])
    assert [(w.start, w.opened_by, w.tokens_before) for w in trace.windows] == [(0, "start", None), (5, "unknown", 11)]
    assert told(trace)[5:] == [
        ("decision", "Here is a summary: x", ["summary"]),
        *EVENTS[1:4],
        ("requirement", "next", ["user"]),
        ("decision", "fin", []),
    ]
    assert [event.get("repeats") for event in trace.events[5:]] == [None, "a1", "c1", "c1:r", None, None]
    assert len(trace.usage) == 1


def test_a_cleared_history_is_a_new_window_and_the_users_words_stay_the_users():
    trace = only([*TALK, remove(langchain.ALL), human("new", "h2"), ai("ok", "a5")])
    assert len(trace.windows) == 2
    assert told(trace)[5:] == [("requirement", "new", ["user"]), ("decision", "ok", [])]
    again = only([*TALK, remove(langchain.ALL), TALK[0], ai("ok", "a5")])
    assert [window.start for window in again.windows] == [0, 5]  # though it begins as before


def test_a_message_removed_from_the_middle_rewrites_the_history():
    trace = only([*TALK, remove("h1"), human("next", "h2")])
    assert [len(trace.windows), told(trace)[5:]] == [2, [*EVENTS[1:], ("requirement", "next", ["user"])]]


# states


def state(step, *messages, thread="T", **more):
    return {
        "values": {"messages": list(messages)},
        "metadata": {"step": step},
        "config": {"configurable": {"thread_id": thread, "checkpoint_ns": ""}},
        "created_at": f"2026-01-01T00:00:{step:02d}+00:00",
        **more,
    }


HISTORY = [
    state(0),
    state(1, *TALK[:1]),
    state(3, *TALK[:3]),
    state(4, *TALK),
    state(5, *TALK[:3], human("no, so", "h2")),
    state(6, *TALK[:3], human("no, so", "h2"), ai("ok", "a3")),
]


@pytest.mark.parametrize("lines", [False, True])
def test_a_history_of_states_newest_first_is_one_conversation_with_its_fork(lines):
    trace = only(HISTORY[::-1], lines)
    assert told(trace) == [
        *EVENTS,
        ("abandon", "left out of the next prompt", []),
        ("requirement", "no, so", ["user"]),
        ("decision", "ok", []),
    ]
    assert [event["timestamp"] // 1000 % 60 for event in trace.events] == [1, 3, 3, 3, 4, 5, 5, 6]
    assert trace.extra["trace_id"] == "T"
    assert trace.ignored == {"state without messages": 1}
    assert accounted([trace]) == len(HISTORY)
    place = {"line": 3} if lines else {}
    path = "values/messages/3" if lines else "2/values/messages/3"
    assert trace.events[4]["origin"] == place | {"path": path}


def test_states_without_times_are_ordered_by_their_steps_else_left_in_order():
    bare = [{key: each[key] for key in ("values", "metadata")} for each in HISTORY[::-1]]
    assert [event["id"] for event in only(bare).events] == [event["id"] for event in only(HISTORY).events]
    listed = [{"values": each["values"]} for each in HISTORY]
    assert [event["id"] for event in only(listed).events] == [event["id"] for event in only(HISTORY).events]


def test_states_of_several_threads_and_subgraphs_are_several_conversations():
    inner = {"config": {"configurable": {"thread_id": "T", "checkpoint_ns": "sub:1"}}}
    traces = read([state(1, human("a")), state(2, human("a"), thread="U"), state(3, human("a")) | inner])
    assert [trace.extra["trace_id"] for trace in traces] == ["T", "U", "T/sub:1"]


def test_states_of_one_thread_are_one_conversation_though_nothing_is_left_of_the_first():
    trace = only([state(1, human("a"), ai("b", "a1")), state(2, human("c", "h2"))])
    assert [(w.start, w.opened_by) for w in trace.windows] == [(0, "start"), (2, "unknown")]


def test_what_is_no_message_and_no_state_is_reported():
    (trace,) = read([TALK[0], {"x": 1}, 5, TALK[3]], lines=True)
    assert [(problem.line, problem.text) for problem in trace.problems] == [
        (3, "a number where an object was expected (skipped)"),
        (2, "no message (skipped)"),
    ]
    assert accounted([trace]) == 4
    trace = only([*HISTORY, {"next": []}])
    assert [problem.text for problem in trace.problems] == ["6: no state (skipped)"]


def test_a_file_without_messages_is_an_error():
    with pytest.raises(TraceError, match=r"it holds no messages \(name a file that does\)"):
        langchain.read(decode(b'{"messages": []}', "x"))


@pytest.mark.parametrize(
    ("value", "claimed"),
    [
        ([human("q")], True),
        ({"messages": [{"type": "system", "content": "s"}, human("q")]}, True),
        ({"agent": {"messages": [ai("a", "1")]}}, True),
        ([lc(human("q"))], True),
        ([{"type": "human", "data": {"content": "q"}}], True),
        ({"messages": [{"role": "user", "content": "q"}]}, False),
        ([{"type": "system", "content": "s"}], False),
        ([{"type": "human", "role": "user", "content": "q"}], False),
        ([{"type": "human"}], False),
        ({"messages": [{"type": "user", "content": "q"}]}, False),
        ({"lc": 1, "type": "constructor", "id": ["x", "ChatOpenAI"], "kwargs": {}}, False),
    ],
)
def test_only_what_langchain_alone_writes_is_claimed(value, claimed):
    head = json.dumps(value).encode()
    assert langchain.sniff(head) is claimed
    assert not claimed or claimants(head) == {"langchain"}
    assert langchain.sniff(json.dumps(value, indent=2).encode() + b"x") is claimed


def test_damaged_files_give_sound_traces_or_our_error():
    def damaged_read(data):
        document = decode(data, "damaged")
        langchain.sniff(document.head)
        return langchain.read(document)

    chunk = {"type": "AIMessageChunk", "id": "r", "content": ["x"], "tool_call_chunks": [{"name": "n", "args": "{}"}]}
    sounds = [[*TALK, remove("a2"), chunk, chunk, ai("x", "a9")], HISTORY, [lc(each) for each in TALK]]
    sounds.append([{"agent": {"messages": TALK}}, {"messages": TALK}])
    for sound in sounds:
        for data in cut_and_flipped(json.dumps(sound, indent=1).encode(), 8):
            survive(damaged_read, data)
        for data in cut_and_flipped("\n".join(map(json.dumps, sound)).encode(), 8):
            survive(damaged_read, data)
        for copy in with_other_types(sound, 100):
            survive(damaged_read, json.dumps(copy).encode())
