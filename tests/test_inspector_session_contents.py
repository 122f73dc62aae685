"""What the sessions page shows of a bus and of a context: bounded, escaped, with nothing left out unsaid."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from saved_runs import MEMORY, save_contexts

from context_gc import ContextBus, RunLog
from context_gc.inspector import session_log
from context_gc.inspector.session_diff import CAME, CHANGED, LISTED, OBSERVATIONS, SUMMARY, context_diff
from context_gc.inspector.session_html import context_html, events_html


def test_a_long_log_is_bounded_and_says_how_long_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_log, "EVENTS", 5)
    monkeypatch.setattr(session_log, "COMPACTIONS", 2)
    bus = ContextBus()
    with RunLog(bus, tmp_path):
        for number in range(9):
            bus.publish("context.compacted", {"before": {"n": number}, "after": {}})
            bus.publish("noise", {"text": "x" * 9_000, "number": number})
    log = session_log.read(tmp_path)
    assert (log.lines, len(log.events), log.compactions) == (18, 5, 9)
    assert [change.before["n"] for change in log.changes] == [7, 8]
    assert log.events[-1].brief.endswith("…")
    assert len(log.events[-1].payload) == session_log.CHARS < session_log.CHARS + log.events[-1].more


def test_damaged_lines_and_odd_values_are_shown(tmp_path: Path) -> None:
    lines = ['{"at": "', "[]", '{"at": 7, "event_type": null, "data": {"a": NaN}}', '{"data": {"a": "\\ud800<b>"}}',
             '{"event_type": "context.compacted", "data": {"before": 1}}', "\x00"]  # fmt: skip
    (tmp_path / "bus.jsonl").write_text("\n".join(lines))
    log = session_log.read(tmp_path)
    assert [bool(event.problem) for event in log.events] == [True, True, False, False, False, True]
    assert (log.compactions, log.changes) == (1, ())
    html = events_html(log.events)
    assert html.encode()
    assert "&lt;b&gt;" in html
    assert "<b>" not in html


def test_a_compaction_shows_what_left_what_was_added_and_what_was_kept(tmp_path: Path) -> None:
    save_contexts(tmp_path)
    first, second = session_log.read(tmp_path / "runs" / "contexts").changes
    found = context_diff(first.before, first.after)
    assert (found.left, found.kept, found.memory, found.lost) == (3, 3, 2, ())
    found = context_diff(second.before, second.after)
    assert (found.left, found.kept, found.lost) == (6, 3, ())
    fates = {row.name: row.fate for row in found.rows if row.group != OBSERVATIONS}
    assert fates == {
        SUMMARY: CHANGED, "goal": "same", "branch": "same", "run_id": "same", "plan_contract": "same",
        "compaction_count": CHANGED, "compression_ratio": CHANGED,
    }  # fmt: skip
    summary = next(row for row in found.rows if row.group == SUMMARY)
    assert summary.after[-1].what == "new"
    assert summary.after[-1].text.startswith("\nThen, ")


def test_of_equal_observations_the_newest_stay() -> None:
    found = context_diff({"observations": ["a", "b", "a", "c"]}, {"observations": ["a", "c"]})
    assert [(row.name, row.fate) for row in found.rows] == [
        ("observation 1", "gone"), ("observation 2", "gone"), ("observation 3", "same"), ("observation 4", "same"),
    ]  # fmt: skip


def test_a_memory_key_that_is_lost_or_changed_is_told() -> None:
    before = {"memory_keys": {**MEMORY, "gone": 1}}
    found = context_diff(before, {"memory_keys": {**MEMORY, "branch": "other", "new": 2}})
    assert found.lost == ("branch", "gone")
    assert 'class="row lost"' in context_html(found)


def test_contexts_of_any_shape_and_size_give_bounded_rows() -> None:
    deep: Any = None
    for _ in range(5_000):
        deep = [deep]
    many = [f"observation {number} " + "long " * 2_000 for number in range(500)]
    before = {
        "observations": many,
        "compacted_summary": "s" * 10**6,
        "deep": deep,
        "\ud800": "\u202e",
        "memory_keys": 5,
    }
    after = {"observations": [*many[-2:], "came"], "compacted_summary": 3, "deep": [deep], "memory_keys": None}
    found = context_diff(before, after)
    assert (found.left, found.kept) == (498, 2)
    assert sum(row.fate == "gone" and row.group == OBSERVATIONS for row in found.rows) == LISTED
    assert any(row.fate == CAME and row.group == OBSERVATIONS for row in found.rows)
    assert len(context_html(found).encode()) < 300_000
    assert context_diff({}, {}).rows == ()
