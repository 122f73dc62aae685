"""The receipts table holds every cut event once, and its check fails when an original is not what was read."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from context_gc import Compaction, Policy, StateGraph, compact_events
from context_gc.inspector.receipt_table import (
    ONE_LINER,
    ReceiptRow,
    by_stage,
    holder,
    jsonl,
    matching,
    original,
    receipts,
    verify,
)
from context_gc.inspector.rows import rows
from context_gc.trace import Trace, Window

Event = dict[str, Any]


def read() -> list[Event]:
    """A trace with an overridden value, an abandoned branch and a repeated call."""
    events: list[Event] = [
        {"id": "v1", "type": "set_var", "key": "x", "value": 1.0},
        {"id": "p1", "type": "decision", "content": "plan with é and \ud800"},
        {"id": "p2", "type": "decision", "content": "more"},
        {"id": "out", "type": "abandon", "ref_to": ["p1"]},
        {"id": "c1", "type": "tool_call", "tool_name": "search", "arguments": {"q": "a"}},
        {"id": "r1", "type": "tool_result", "call_id": "c1", "result": "found"},
        {"id": "c2", "type": "tool_call", "tool_name": "search", "arguments": {"q": "a"}},
        {"id": "r2", "type": "tool_result", "call_id": "c2", "result": "found"},
        {"id": "v2", "type": "set_var", "key": "x", "value": 2},
    ]
    before: str | None = None
    for place, event in enumerate(events):
        event |= {"timestamp": place, "parent_id": before}
        before = event["id"]
    return events


def table_of(events: list[Event], result: Compaction) -> tuple[ReceiptRow, ...]:
    window = Window(0, len(events))
    return receipts(rows(Trace(events, "native", windows=[window]), window, result), events)


def ring() -> tuple[list[Event], Compaction]:
    """Three events in a ring, with one that lives between them."""
    events: list[Event] = [
        {"id": "a", "type": "decision", "content": "a", "timestamp": 0, "parent_id": "c"},
        {"id": "b", "type": "decision", "content": "b", "timestamp": 1, "parent_id": "a"},
        {"id": "x", "type": "decision", "content": "x", "timestamp": 2, "parent_id": "a"},
        {"id": "c", "type": "decision", "content": "c", "timestamp": 3, "parent_id": "b"},
    ]
    graph = StateGraph()
    graph.extend(events)
    return events, compact_events(graph)


def tamper(result: Compaction, event_id: str, **fields: Any) -> None:
    """Change an event behind the compaction's back, in its own store."""
    next(event for event in result.events if event["id"] == event_id).update(fields)


def test_each_cut_event_is_in_one_receipt() -> None:
    result = compact_events(read())
    told = [name for row in table_of(read(), result) for name in row.event_ids]
    assert sorted(told) == sorted(result["pruned_ids"])
    assert len(told) == 6


def test_the_receipts_are_those_of_the_compaction_in_its_order() -> None:
    result = compact_events(read())
    assert [row.id for row in table_of(read(), result)] == result["receipts"]


def test_tokens_of_all_receipts_are_what_the_compaction_changed() -> None:
    result = compact_events(read())
    assert sum(row.tokens for row in table_of(read(), result)) == result["tokens_after"] - result["tokens_before"]


def test_a_row_tells_stage_reason_tool_place_and_turn() -> None:
    row = holder(table_of(read(), compact_events(read())), "r2")
    assert row is not None
    assert (row.stage, row.reason, row.what, row.number) == ("duplicates", "duplicate of c1", "search", 8)


def test_a_cluster_is_one_receipt_with_all_members() -> None:
    events, result = ring()
    (row,) = table_of(events, result)
    assert (row.id[:8], row.event_ids, len(row.sha256)) == ("cluster_", ("a", "b", "c"), 3)
    assert row.short.endswith(" +2")
    assert verify((row,), result).faults == {}


def test_nothing_cut_gives_an_empty_table_that_verifies() -> None:
    events = read()[:1]
    result = compact_events(events)
    assert table_of(events, result) == ()
    assert (verify((), result).total, verify((), result).unreachable) == (0, ())


def test_untouched_originals_verify() -> None:
    result = compact_events(read())
    outcome = verify(table_of(read(), result), result)
    assert (outcome.verified, outcome.total, dict(outcome.faults), outcome.unreachable) == (6, 6, {}, ())


@pytest.mark.parametrize(
    ("name", "fields"), [("v1", {"value": 1}), ("p2", {"content": "more "}), ("r2", {"extra": None})]
)
def test_a_tampered_original_is_reported_by_its_receipt(name: str, fields: dict[str, Any]) -> None:
    result = compact_events(read())
    table = table_of(read(), result)
    tamper(result, name, **fields)
    outcome = verify(table, result)
    assert (list(outcome.faults), outcome.verified) == ([name], 5)
    assert "sha256" in outcome.faults[name]


def test_a_tampered_member_fails_its_whole_cluster() -> None:
    events, result = ring()
    table = table_of(events, result)
    tamper(result, "c", content="C")
    assert list(verify(table, result).faults) == [table[0].id]


def test_a_trace_that_is_not_the_one_that_was_compacted_fails() -> None:
    result = compact_events(read())
    other = read()
    other[0]["value"] = 7
    assert list(verify(table_of(other, result), result).faults) == ["v1"]


def test_an_event_that_is_not_in_the_trace_as_read_fails() -> None:
    result = compact_events(read())
    assert "not any" in verify(table_of(read()[1:], result), result).faults["v1"]


def test_a_receipt_of_an_event_that_lives_fails() -> None:
    table = table_of(read(), compact_events(read()))
    assert verify(table, compact_events(read(), Policy(stages=("overrides",)))).faults["r2"] == "r2 is not pruned"


def test_without_stubs_originals_verify_but_nothing_in_the_prompt_leads_to_them() -> None:
    result = compact_events(read(), Policy(stubs="none"))
    outcome = verify(table_of(read(), result), result)
    assert (dict(outcome.faults), set(outcome.unreachable)) == ({}, set(result["pruned_ids"]))


@pytest.mark.parametrize("stubs", ["always", "described", "worthwhile"])
def test_with_stubs_every_cut_event_is_reachable(stubs: str) -> None:
    events = read()
    events[1]["id"], events[3]["ref_to"], events[2]["parent_id"] = "no [label]", ["no [label]"], "no [label]"
    result = compact_events(events, Policy(stubs=stubs))
    assert result["pruned_ids"]
    assert verify(table_of(events, result), result).unreachable == ()


def test_search_needs_every_word_and_looks_into_ids_reasons_tools_and_digests() -> None:
    table = table_of(read(), compact_events(read()))
    assert [row.id for row in matching(table, text="SEARCH c1 r2")] == ["r2"]
    assert [row.id for row in matching(table, text=table[0].sha256[0][:20])] == ["v1"]
    assert matching(table, text="search nothing") == ()


def test_the_stage_filter_leaves_other_stages_out_and_no_stage_means_all() -> None:
    table = table_of(read(), compact_events(read()))
    assert [row.id for row in matching(table, ["overrides"])] == ["v1"]
    assert matching(table) == table


def test_by_stage_counts_every_receipt() -> None:
    table = table_of(read(), compact_events(read()))
    assert [(stage, number) for stage, number, _ in by_stage(table)] == [
        ("overrides", 1), ("dead-branches", 3), ("duplicates", 2)
    ]  # fmt: skip
    assert sum(tokens for _, _, tokens in by_stage(table)) == sum(row.tokens for row in table)


def test_the_original_is_the_text_that_was_hashed() -> None:
    result = compact_events(read())
    row = holder(table_of(read(), result), "p1")
    assert row is not None
    assert hashlib.sha256(original("p1", result)).hexdigest() == row.sha256[0]


def test_the_export_gives_every_original_back_as_it_was_read() -> None:
    result = compact_events(read())
    text = jsonl(table_of(read(), result), result)
    text.encode("ascii")
    back = {event["id"]: event for told in text.splitlines() for event in json.loads(told)["events"]}
    assert back == {event["id"]: event for event in read() if event["id"] in result["pruned_ids"]}


def by_hand(folder: Path, text: str) -> str:
    """What the command for the shell prints over an export, run by this Python without the package."""
    (folder / "receipts.jsonl").write_text(text, "utf-8")
    command = ONE_LINER.replace("python3", f"'{sys.executable}' -I", 1)
    done = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_the_shell_command_verifies_an_export(tmp_path: Path) -> None:
    result = compact_events(read())
    assert by_hand(tmp_path, jsonl(table_of(read(), result), result)) == "6 of 6 match ok"


def test_the_shell_command_names_a_tampered_receipt(tmp_path: Path) -> None:
    result = compact_events(read())
    text = jsonl(table_of(read(), result), result).replace('"content": "more"', '"content": "less"')
    assert by_hand(tmp_path, text) == "5 of 6 match ['p2']"


def test_a_clipped_event_has_a_receipt_that_is_checked_and_reached_from_its_own_text() -> None:
    text = "\n".join(f"{line}: some words" for line in range(400))
    events: list[Event] = [
        {"id": "c", "type": "tool_call", "timestamp": 0, "tool_name": "search", "arguments": {"q": "a"}},
        {"id": "r", "type": "tool_result", "timestamp": 1, "call_id": "c", "result": text},
    ]
    result = compact_events(events, Policy(stages=("clip",), clip_over=200))
    table = table_of(events, result)
    assert [(row.id, row.stage, row.clipped) for row in table] == [("r", "clip", True)]
    assert verify(table, result).verified == 1
    assert verify(table, result).unreachable == ()
    assert json.loads(jsonl(table, result))["events"] == [events[1]]
