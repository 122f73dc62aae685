"""Compaction: a result stays as it was, whatever its client and its reader do afterwards."""

from __future__ import annotations

import pytest
from notation import trace

from context_gc import ContextGC, compact_events


def test_a_result_that_was_read_late_does_not_follow_its_client_any_further():
    client = ContextGC()
    client.extend(trace("a k = 1"))
    result = client.compact()
    client.extend(trace("b decision next @5 <a"))
    client.compact()
    assert result["prompt"] == "k = 1"  # the first reading is after the client moved on
    client.extend(trace("c k = 2 @6"))
    assert client.compact()["pruned_ids"] == ["a"]
    assert (result["decisions"], result["pruned_ids"], result["receipts"]) == ([], [], [])
    assert list(result["graph"]) == ["a"]


def test_changing_one_value_of_a_result_changes_no_other():
    result = compact_events(trace("a k = 1\nb k = 2"))
    result["pruned_ids"].clear()
    assert [event["id"] for event in result["compact_events"]] == ["b"]
    result["compact_events"][0]["value"] = 3
    assert result.event("b")["value"] == 2


def test_a_result_has_its_keys_and_no_others():
    result = compact_events([])
    assert len(result) == len(list(result)) == 12
    with pytest.raises(KeyError):
        result["summary"]
