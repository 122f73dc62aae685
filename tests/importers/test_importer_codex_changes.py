"""Codex sessions whose history changes: rollbacks, aborted turns and refused calls."""

from __future__ import annotations

from pathlib import Path

import pytest
from importer_checks import check, tree
from test_importer_codex import call, event, item, load, output, says

from context_gc.importers import codex
from context_gc.importers.files.decode import decode

SAMPLE = Path(__file__).parents[2] / "sample_traces" / "codex-session.jsonl"


def ids(trace):
    return {e["content"]: e["id"] for e in trace.events if type(e.get("content")) is str}


def abandons(trace):
    return [(e["ref_to"], e["content"]) for e in trace.events if e["type"] == "abandon"]


# rollbacks


def test_a_rollback_abandons_the_last_turns_and_goes_on_before_them():
    trace = load(
        says("user", "one"),
        says("assistant", "1"),
        says("user", "two"),
        call("f", {}),
        output("x"),
        says("user", "three"),
        event("thread_rolled_back", num_turns=2),
        says("user", "four"),
    )
    name = ids(trace)
    assert abandons(trace) == [([name["two"]], "rolled back by the user")]
    assert tree(trace)[name["two"]] == tree(trace)[f"{name['two']}:abandon"] == name["1"]
    assert tree(trace)[name["four"]] == f"{name['two']}:abandon"


def test_a_second_rollback_counts_only_turns_that_still_stand():
    trace = load(
        says("user", "one"),
        says("user", "two"),
        event("thread_rolled_back", num_turns=1),
        says("user", "three"),
        event("thread_rolled_back", num_turns=2),
        says("user", "four"),
    )
    name = ids(trace)
    assert [refs for refs, _ in abandons(trace)] == [[name["two"]], [name["one"]]]


def test_turns_that_only_events_tell_are_taken_back_alike():
    trace = load(
        event("user_message", message="one"),
        event("agent_message", message="1"),
        event("user_message", message="two"),
        event("thread_rolled_back", num_turns=1),
    )
    assert abandons(trace)[0][0] == [ids(trace)["two"]]


def test_what_another_agent_tells_begins_a_turn():
    told = item("agent_message", author="/root", content=[{"type": "input_text", "text": "Count files"}])
    blank = item("agent_message", author="/root", content=[{"type": "input_text", "text": " "}])
    trace = load(says("user", "one"), told, blank, item("agent_message"), event("thread_rolled_back", num_turns=1))
    assert abandons(trace)[0][0] == [ids(trace)["Count files"]]
    assert trace.ignored == {"blank message": 1}
    assert trace.events[2]["tags"] == ["opaque"]


def test_a_rollback_without_a_turn_changes_nothing():
    assert load(says("assistant", "x"), event("thread_rolled_back", num_turns=1)).ignored != {}


@pytest.mark.parametrize("turns", [0, -1, None, "1", True])
def test_a_rollback_of_no_turns_changes_nothing(turns):
    trace = load(says("user", "one"), event("thread_rolled_back", num_turns=turns))
    assert trace.ignored == {"event_msg/thread_rolled_back": 1}


def test_what_codex_writes_as_the_user_begins_no_turn():
    trace = load(
        says("user", "one"),
        says("user", "two"),
        says("user", "<environment_context>\n</environment_context>"),
        says("user", "<turn_aborted>…</turn_aborted>"),
        event("thread_rolled_back", num_turns=1),
    )
    assert abandons(trace)[0][0] == [ids(trace)["two"]]


# calls that came to nothing


def test_an_aborted_turn_abandons_only_the_calls_without_a_result():
    trace = load(
        says("user", "Go"),
        says("assistant", "Looking."),
        call("f", {}, "a"),
        call("f", {}, "b"),
        item("web_search_call", id="w", action={"query": "x"}),
        output("A", "a"),
        event("turn_aborted", reason="interrupted"),
        says("user", "Do the other thing"),
    )
    assert abandons(trace) == [(["b"], "turn aborted: interrupted")]
    assert tree(trace)["b:abandon"] == "a:r"  # the answered call goes on
    assert tree(trace)[ids(trace)["Do the other thing"]] == "b:abandon"


def test_an_aborted_turn_whose_calls_are_answered_abandons_nothing():
    trace = load(says("user", "Go"), call("f", {}), output("A"), event("turn_aborted", reason="interrupted"))
    assert abandons(trace) == []
    assert trace.ignored == {"event_msg/turn_aborted": 1}


@pytest.mark.parametrize(
    "answer",
    [
        "Wall time: 5.0 seconds\naborted by user",
        "aborted by user after 5.0s",
        "exec command rejected by user",
        "aborted",
    ],
)
def test_a_call_that_the_user_stopped_or_refused_is_abandoned(answer):
    trace = load(says("user", "Go"), call("shell", {}), output(answer), says("assistant", "I see."))
    assert abandons(trace) == [(["c1"], answer.rpartition("\n")[2])]
    assert tree(trace)[ids(trace)["I see."]] == "c1:abandon"
    assert tree(trace)["c1:abandon"] == ids(trace)["Go"]


def test_a_command_that_was_not_begun_since_the_user_refused_is_abandoned():
    said = r'exec_command failed for `make`: CreateProcess { message: "Rejected(\"rejected by user\")" }'
    assert abandons(load(call("exec_command", {}), output(said))) == [(["c1"], "rejected by user")]


@pytest.mark.parametrize(
    "answer", ["the patch was rejected by user 7", "Process exited with code 0\nOutput:\naborted", "aborted: no space"]
)
def test_an_output_that_merely_talks_of_refusal_is_left_alone(answer):
    assert abandons(load(call("shell", {}), output(answer))) == []


def test_a_persons_words_outlive_the_call_that_was_running():
    trace = load(
        says("user", "Go"), call("f", {}), says("user", "Wait, not that"), event("turn_aborted", reason="interrupted")
    )
    # the words began a turn of their own; the call before them has no result and is not theirs
    assert tree(trace)[ids(trace)["Wait, not that"]] == ids(trace)["Go"]


def test_the_sample_shows_what_it_was_written_for():
    (trace,) = codex.read(decode(SAMPLE.read_bytes(), SAMPLE.name))
    check([trace])
    assert trace.problems == []
    assert (trace.cwd, trace.model) == ("/home/dev/parcel", "gpt-5.2-codex")
    assert [reason for _, reason in abandons(trace)] == ["rolled back by the user", "aborted by user"]
    codes = [e["exit_code"] for e in trace.events if e["type"] == "tool_result" and "exit_code" in e]
    assert codes == [0, 0, 0, 0, 0]
    assert [e["id"] for e in trace.events if e.get("is_error")] == ["call_a1:r"]
    assert len(trace.usage) == 5
