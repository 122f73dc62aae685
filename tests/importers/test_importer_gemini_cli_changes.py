"""Gemini CLI sessions that were changed: updates in place, rewinds and compressions."""

from __future__ import annotations

from importer_checks import own, survive, told, tree, with_other_types
from test_importer_gemini_cli import HEADER, lines, load, message, read, tool


def setting(**values):
    return {"$set": values}


def rewind(name):
    return {"$rewindTo": name}


def windows(trace):
    return [[event["id"] for event in trace.events[w.start : w.stop]] for w in trace.windows]


# updates in place


def test_the_last_version_of_a_message_counts_at_the_place_of_the_first():
    trace = load(
        message("a1", "gemini", "I'll look."),
        message("u2", content="Quick!"),
        message("a1", "gemini", "I'll look.", toolCalls=[tool("c1")]),
    )
    assert [event["id"] for event in trace.events] == ["a1", "c1", "c1:r", "u2"]
    assert trace.events[0]["origin"] == {"line": 4, "first": 2}
    assert trace.ignored["earlier version of a message"] == 1


def test_a_list_with_the_same_messages_updates_them_and_adds_no_window():
    answer = message("a1", "gemini", "Go", toolCalls=[tool("c1", "a long text")])
    masked = {**answer, "toolCalls": [tool("c1", "[masked]")]}
    responses = message("r1", content=[{"functionResponse": {"id": "c1", "name": "x", "response": {"output": "y"}}}])
    trace = load(
        message("u1"),
        message("i1", "info"),
        answer,
        message("u2", content="More"),
        setting(messages=[message("u1"), masked, responses, message("u2", content="More")]),
        setting(messages=[message("u1"), masked, responses, message("u2", content="More")]),
    )
    assert told(trace)[3] == ("tool_result", "[masked]", [])
    assert windows(trace) == [["u1", "a1", "c1", "c1:r", "u2"]]
    assert trace.ignored == {"session": 1, "info": 1, "$set": 1}


def test_content_that_repeats_calls_beside_their_record_is_no_second_call():
    parts = [{"text": "Go"}, {"functionCall": {"id": "c1", "name": "read_file", "args": {}}}]
    trace = load(message("a1", "gemini", parts, toolCalls=[tool("c1")]))
    assert [event["id"] for event in trace.events] == ["a1", "c1", "c1:r"]


def test_a_call_that_only_the_content_tells_is_a_call():
    parts = [{"functionCall": {"id": "c1", "name": "read_file", "args": {}}, "thoughtSignature": "S"}]
    response = [{"functionResponse": {"id": "c1", "name": "read_file", "response": {"output": "y"}}}]
    trace = load(message("a1", "gemini", parts), message("u1", content=response))
    assert told(trace) == [("tool_call", "read_file", []), ("tool_result", "y", [])]
    assert trace.events[0]["signature"] == "S"


def test_a_new_message_in_a_list_stands_where_it_stands_there():
    trace = load(message("u1"), message("u2"), setting(messages=[message("u1"), message("n"), message("u2")]))
    assert windows(trace) == [["u1", "n", "u2"]]
    assert trace.events[1]["origin"] == {"line": 4, "path": "1"}


# rewinds


def test_a_rewind_gives_up_the_message_and_all_that_follow():
    trace = load(
        message("u1"), message("a1", "gemini"), message("u2"), message("a2", "gemini"), rewind("u2"), message("u3")
    )
    assert tree(trace) == {"u1": None, "a1": "u1", "u2": "a1", "a2": "u2", "u2:abandon": "a1", "u3": "u2:abandon"}
    undone = trace.events[4]
    assert (undone["ref_to"], undone["content"], undone["origin"]) == (["u2"], "rewound by the user", {"line": 6})


def test_a_rewind_to_an_unknown_message_gives_up_all_of_them_as_gemini_cli_does():
    trace = load(message("u1"), message("u2"), rewind("x"), message("u3"))
    assert trace.events[2]["ref_to"] == ["u1"]
    assert load(rewind("x")).ignored == {"session": 1, "$rewindTo": 1}


def test_a_message_that_comes_again_after_a_rewind_is_a_new_one():
    trace = load(message("u1"), rewind("u1"), message("u1", content="Again"))
    assert [event["id"] for event in trace.events] == ["u1", "u1:abandon", "u1:2"]


# compressions


def compressed():
    snapshot = message("s1", content="<state_snapshot>All went well.</state_snapshot>")
    kept = message("a2", "gemini", "Kept", toolCalls=[tool("c2")])
    first = [message("u1"), message("a1", "gemini", "Old"), message("u2"), kept]
    return [
        *first,
        setting(messages=[snapshot, message("k1", "gemini", "Got it."), message("u2"), kept]),
        message("u3"),
    ]


def test_a_compression_opens_a_window_with_the_snapshot_and_the_messages_that_were_kept():
    trace = load(*compressed())
    assert windows(trace) == [
        ["u1", "a1", "u2", "a2", "c2", "c2:r"],
        ["s1", "k1", "u2:2", "a2:2", "c2:2", "c2:2:r", "u3"],
    ]
    assert trace.events[6]["tags"] == ["summary"]
    assert [event["repeats"] for event in trace.events[8:12]] == ["u2", "a2", "c2", "c2:r"]
    assert trace.events[11]["call_id"] == "c2:2"
    assert len(own(trace)) == 9


def test_a_list_that_lacks_messages_of_the_chat_opens_a_window_and_one_that_lacks_others_does_not():
    trace = load(message("u1"), message("u2"), setting(messages=[message("u2")]), message("u3"))
    assert windows(trace) == [["u1", "u2"], ["u2:2", "u3"]]
    assert len(load(message("u1"), message("i1", "info"), setting(messages=[message("u1")])).windows) == 1


def test_a_rewind_after_a_compression_gives_up_what_is_in_its_window():
    trace = load(*compressed(), rewind("u2"), message("u4"))
    (undone,) = (event for event in trace.events if event["type"] == "abandon")
    assert undone["ref_to"] == ["u2:2"]
    assert tree(trace)["u4"] == undone["id"]


def test_a_snapshot_in_a_message_of_its_own_opens_a_window_too():
    trace = load(message("u1"), message("s1", content=[{"text": "<state_snapshot>x</state_snapshot>"}]), message("u2"))
    assert windows(trace) == [["u1"], ["s1", "u2"]]


def test_a_session_of_other_types_gives_sound_traces_or_our_error():
    for records in with_other_types([HEADER, *compressed(), rewind("u2")], 300):
        if isinstance(records, list):
            survive(read, lines(*records) or b" ")
