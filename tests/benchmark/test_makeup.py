"""Makeup: shares of a session that can be counted by reading it."""

from __future__ import annotations

import pytest

from context_gc.benchmark.makeup import makeup, table


def session(*events):
    return [
        {"id": f"e{number}", "timestamp": number, "parent_id": f"e{number - 1}" if number else None, **event}
        for number, event in enumerate(events)
    ]


def read(path):
    return {"type": "tool_call", "tool_name": "read_file", "arguments": {"path": path}}


def result(call, text, **more):
    return {"type": "tool_result", "call_id": call, "result": text, **more}


def test_reads_calls_and_failures_are_counted_by_call():
    found = makeup(
        "a",
        session(
            read("a.py"), result("e0", "x = 1"), read("b.py"), result("e2", "no such file", is_error=True),
            read("a.py"), result("e4", "x = 1"), read("c.py"), result("e6", "y = 2"),
        ),
    )  # fmt: skip
    assert found.rereads == pytest.approx(1 / 4)
    assert found.again == pytest.approx(1 / 4)
    assert found.failures == pytest.approx(1 / 4)
    assert found.results + found.calls == pytest.approx(1)


def test_only_large_results_are_large():
    small = makeup("a", session(read("a.py"), result("e0", "word " * 100)))
    large = makeup("a", session(read("a.py"), result("e0", "word " * 4_000)))
    assert small.large == 0
    assert large.large > 0.9


def test_what_was_given_up_is_what_dead_branches_take():
    kept = session({"type": "decision", "content": "try the cache"}, {"type": "decision", "content": "use a table"})
    gone = [*kept, {"id": "e2", "type": "abandon", "timestamp": 2, "parent_id": "e1", "ref_to": ["e1"]}]
    assert makeup("a", kept).abandoned == 0
    assert makeup("a", gone).abandoned == pytest.approx(0.5, abs=0.2)


def test_what_is_repeated_or_was_never_sent_is_left_out():
    events = session({"type": "decision", "content": "one"}, {"type": "decision", "content": "two", "unsent": True})
    assert makeup("a", events).events == 1


def test_a_session_without_calls_has_shares_of_nothing():
    found = makeup("a", session({"type": "decision", "content": "one"}))
    assert (found.rereads, found.again, found.failures) == (0, 0, 0)
    assert "| a | 1 |" in table([found])[-1]
