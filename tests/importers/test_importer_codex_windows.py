"""Codex sessions: what a compaction leaves, what a fork copies, and the reports of tokens."""

from __future__ import annotations

import pytest
from test_importer_codex import META, call, event, item, load, output, says
from test_importer_codex_changes import abandons, ids

from context_gc.trace import Usage


def compacted(message="", **more):
    return {"type": "compacted", "payload": {"message": message, **more}}


def tokens(total, prompt, cached, answer, **more):
    last = {"input_tokens": prompt, "cached_input_tokens": cached, "output_tokens": answer, **more}
    return event("token_count", info={"total_token_usage": {"total_tokens": total}, "last_token_usage": last})


# compaction


def test_a_compaction_opens_a_window_with_the_history_that_replaces_the_old_one():
    kept = [says("user", "Fix the cart")["payload"], {"type": "compaction", "encrypted_content": "gAAA"}, 7]
    meta = {"type": "session_meta", "payload": {"id": "s", "base_instructions": {"text": "Be brief."}}}
    trace = load(
        meta,
        says("user", "Fix the cart"),
        says("assistant", "Looking."),
        tokens(900, 800, 0, 100),
        compacted(replacement_history=kept, window_number=2),
        says("assistant", "On it."),
    )
    assert [(w.start, w.stop, w.tokens_before) for w in trace.windows] == [(0, 3, None), (3, 8, 900)]
    window = trace.events[3:]
    assert [(e["type"], e["content"], e.get("tags")) for e in window] == [
        ("constraint", "Be brief.", ["system"]),
        ("requirement", "Fix the cart", ["user"]),
        ("decision", "[encrypted summary]", ["summary", "opaque"]),
        ("decision", "7", ["opaque"]),
        ("decision", "On it.", None),
    ]
    assert window[0]["origin"] == {"line": 1, "path": "base_instructions"}
    assert window[1]["origin"] == {"line": 5, "path": "replacement_history/0"}
    assert window[2]["block"] == kept[1]
    assert window[0]["parent_id"] is None


def test_a_compaction_that_tells_only_its_summary_keeps_what_the_user_said():
    trace = load(says("user", "Fix the cart"), says("assistant", "Hm."), compacted("So far: the cart is broken."))
    assert [(e["content"], e["tags"]) for e in trace.events[2:]] == [
        ("Fix the cart", ["user"]),
        ("So far: the cart is broken.", ["summary"]),
    ]
    assert trace.events[2]["origin"] == {"line": 1}
    assert trace.events[2]["repeats"] == trace.events[0]["id"]
    assert [window.tokens_before for window in trace.windows] == [None, None]


def test_what_was_kept_once_is_kept_again_and_can_be_rolled_back():
    meta = {"type": "session_meta", "payload": {"base_instructions": {"text": "Be brief."}}}
    trace = load(meta, says("user", "one"), compacted("A."), compacted("B."), event("thread_rolled_back", num_turns=1))
    assert [e["content"] for e in trace.events] == [
        "Be brief.", "one", "Be brief.", "one", "A.", "Be brief.", "one", "B.", "rolled back by the user",
    ]  # fmt: skip
    assert abandons(trace)[0][0] == [trace.events[6]["id"]]


def test_a_turn_that_holds_nothing_but_a_sealed_message_is_kept_as_it_is():
    sealed = item("agent_message", content=[{"type": "encrypted_content", "encrypted_content": "gAAA"}])
    trace = load(sealed, compacted("Summary."))
    assert [e["content"] for e in trace.events] == ["[encrypted message]", "[encrypted message]", "Summary."]


def test_of_very_long_words_only_the_last_are_kept():
    trace = load(says("user", "a" * 70_000), says("user", "b" * 20_000), compacted("Summary."))
    assert [len(e["content"]) for e in trace.events[2:]] == [20_000, 8]


def test_a_summary_stands_once_though_message_and_history_both_tell_it():
    words = "Another language model started to solve this problem and produced a summary of its thinking process.\nX"
    trace = load(says("user", "Go"), compacted("X", replacement_history=[says("user", words)["payload"]]))
    assert [(e["content"], e["tags"]) for e in trace.events[1:]] == [(words, ["summary"])]


def test_a_rollback_after_a_compaction_stays_in_its_window():
    trace = load(
        says("user", "one"),
        compacted(replacement_history=[says("user", "one")["payload"]]),
        says("user", "two"),
        event("thread_rolled_back", num_turns=9),
        says("user", "three"),
    )
    assert abandons(trace) == [(["e2"], "rolled back by the user")]
    assert trace.events[-1]["parent_id"] == "e2:abandon"


# forks


def test_a_fork_keeps_its_own_name_and_the_history_that_it_copied():
    own = {"type": "session_meta", "payload": {"id": "new", "forked_from_id": "old", "agent_nickname": "Ada"}}
    own["payload"]["source"] = {"subagent": {"thread_spawn": {"parent_thread_id": "old", "depth": 1}}}
    parents = {"type": "session_meta", "payload": {"id": "old", "base_instructions": {"text": "Be long."}}}
    trace = load(own, parents, says("user", "one"), says("user", "two"))
    assert [e["content"] for e in trace.events] == ["one", "two"]
    assert trace.extra["session_id"] == "new"
    assert (trace.extra["forked_from"], trace.extra["parent_session"]) == ("old", "old")
    assert trace.extra["agent_name"] == "Ada"
    assert trace.ignored == {"session_meta": 1, "session_meta of a copied history": 1}


# usage


def test_todays_reports_follow_the_output_that_they_are_about():
    trace = load(
        META,
        says("user", "Go"),
        says("assistant", "Looking."),
        call("f", {}),
        tokens(110, 100, 30, 10, cache_write_input_tokens=20),
        tokens(110, 100, 30, 10, cache_write_input_tokens=20),  # told again
        output("x"),
        says("assistant", "Done."),
        tokens(230, 110, 100, 10),
    )
    done = ids(trace)["Done."]
    assert trace.usage == [Usage("c1", 50, 10, 30, 20), Usage(done, 10, 10, 100, 0)]
    assert trace.ignored == {"session_meta": 1, "event_msg/token_count": 1}


def test_the_reports_of_2025_come_before_the_output():
    trace = load(
        says("user", "Go"),
        tokens(110, 100, 30, 10),
        says("assistant", "Looking."),
        call("f", {}),
        output("x"),
        tokens(230, 110, 100, 10),
        says("assistant", "Done."),
        says("user", "More"),
        tokens(350, 120, 0, 1),
    )
    assert trace.usage == [Usage("c1", 70, 10, 30), Usage(ids(trace)["Done."], 10, 10, 100)]
    assert trace.ignored == {"event_msg/token_count": 1}  # the last one is about no output that is here


def test_a_report_that_came_before_is_laid_on_the_last_output_of_a_window_and_of_the_file():
    trace = load(
        tokens(110, 100, 0, 10),
        tokens(110, 100, 0, 10),
        says("assistant", "one"),
        compacted("Summary."),
        tokens(130, 100, 0, 20),
        says("assistant", "two"),
    )
    assert [(usage.event_id, usage.output_tokens) for usage in trace.usage] == [
        (ids(trace)["one"], 10),
        (ids(trace)["two"], 20),
    ]
    assert trace.ignored == {"event_msg/token_count": 1}


def test_a_report_told_again_after_the_result_is_not_about_what_comes_next():
    told = tokens(110, 100, 0, 10)
    trace = load(call("f", {}), told, output("x"), told, says("assistant", "Done."))
    assert [usage.event_id for usage in trace.usage] == ["c1"]


def test_of_two_reports_about_no_output_none_is_laid_on_the_next_one_but_the_last():
    trace = load(tokens(1, 1, 0, 0), tokens(9, 8, 0, 0), says("assistant", "x"))
    assert [usage.input_tokens for usage in trace.usage] == [8]
    assert trace.ignored == {"event_msg/token_count": 1}


def test_the_call_that_wrote_a_summary_is_not_the_last_answers():
    trace = load(
        says("user", "Go"),
        says("assistant", "Hm."),
        tokens(110, 100, 0, 10),
        tokens(310, 150, 0, 50),
        compacted("Summary."),
        says("assistant", "On."),
    )
    assert [usage.output_tokens for usage in trace.usage] == [10]
    assert trace.ignored == {"event_msg/token_count": 1}
    assert trace.windows[1].tokens_before == 200


def test_an_estimate_after_a_compaction_is_laid_on_no_output():
    trace = load(
        says("user", "Go"),
        says("assistant", "Hm."),
        tokens(110, 100, 0, 10),
        compacted("Summary."),
        tokens(50, 50, 0, 0),
        says("assistant", "On."),
        tokens(130, 20, 0, 5),
    )
    assert trace.usage == [Usage("e2", 100, 10), Usage(ids(trace)["On."], 20, 5)]


@pytest.mark.parametrize("info", [None, {}, [], {"last_token_usage": {}}, {"last_token_usage": {"input_tokens": "x"}}])
def test_a_report_without_numbers_is_none(info):
    trace = load(says("assistant", "x"), event("token_count", info=info))
    assert (trace.usage, trace.ignored) == ([], {"event_msg/token_count": 1})
