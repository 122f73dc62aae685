"""Packs of traces: events stay valid, receipts come with their originals, and no secret comes along."""

from __future__ import annotations

from dataclasses import replace

import pytest
from notation import trace
from stored import put

from context_gc import Trace
from context_gc.canonical import digest
from context_gc.context_pack import ContextPack
from context_gc.credentials import PLACEHOLDER
from context_gc.errors import StoreError
from context_gc.events import validate_event
from context_gc.receipt_store import ReceiptStore

SECRET = "sk-" + "ant-api03-Ab1Cd2Ef3Gh4Ij5Kl6Mn7"


def paths(packed: ContextPack) -> list[str]:
    return [each.path for each in packed.left_out]


def test_a_trace_comes_back_with_what_is_known_of_it(tmp_path):
    events = trace('a x = 1\nb x = 2\nc1 call get {"q": 1}\nr1 result c1 done')
    packed = ContextPack.of_trace(Trace(events, "native", title="t", model="m", cwd="/x"))
    packed.save(tmp_path / "x")
    again = ContextPack.load(tmp_path / "x")
    assert again == packed
    assert again.content == {"events": events, "receipts": [], "title": "t", "model": "m", "cwd": "/x"}


def test_the_receipts_of_one_run_come_with_their_originals():
    events = trace("a x = 1\nb x = 2")
    with ReceiptStore() as store:
        put(store, "a", events[0], run_id="r")
        put(store, "b", "of another run")
        packed = ContextPack.of_trace(Trace(events, "native"), store, "r")
        stated = store.get("a", "r")
    (receipt,) = packed.content["receipts"]
    assert receipt == {
        "id": "a", "stage": stated.stage, "reason": stated.reason, "because": ["z"], "event_ids": ["a"], "tokens": 7,
        "sha256": [digest(events[0])], "originals": [events[0]], "redacted": False,
    }  # fmt: skip


def test_a_receipt_whose_original_lost_something_claims_its_sha256_no_longer():
    secret, plain = trace("a API_TOKEN = hunter2\nb x = 2")
    with ReceiptStore() as store:
        put(store, "a", secret, plain, "text")
        given = replace(store.get("a"), reason=f"superseded by {SECRET}")
        store.put(given, [secret, plain, "text"])
        packed = ContextPack.of_trace(Trace([secret, plain], "native"), store)
    (receipt,) = packed.content["receipts"]
    assert receipt["redacted"] is True
    assert receipt["sha256"] == [None, digest(plain), digest("text")]
    assert receipt["originals"] == [{**secret, "value": PLACEHOLDER}, plain, "text"]
    assert receipt["reason"] == "superseded by [left out]"
    assert digest(secret) not in packed.to_json()
    assert "hunter2" not in packed.to_json()
    assert paths(packed) == ["/events/0/value", "/receipts/0/reason", "/receipts/0/originals/0/value"]


def test_a_damaged_original_is_a_store_error(tmp_path):
    with ReceiptStore(tmp_path / "r.db") as store:
        put(store, "a", "original of a")
    data = (tmp_path / "r.db").read_bytes()
    (tmp_path / "r.db").write_bytes(data.replace(b'"original of a"', b'"original of b"'))
    with ReceiptStore(tmp_path / "r.db") as store, pytest.raises(StoreError):
        ContextPack.of_trace(Trace([], "native"), store)


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        ({"type": "set_var", "key": "API_TOKEN", "value": "x"}, {"value": PLACEHOLDER}),
        ({"type": "set_var", "key": "max_tokens", "value": 5}, {}),
        ({"type": "set_var", "key": float("nan"), "value": float("inf")}, {"key": PLACEHOLDER, "value": PLACEHOLDER}),
        ({"type": "decision", "content": SECRET}, {"content": PLACEHOLDER}),
        ({"type": "constraint", "content": f"use {SECRET}"}, {"content": "use [left out]"}),
        ({"type": "tool_call", "tool_name": "get", "arguments": SECRET}, {"arguments": PLACEHOLDER}),
        ({"type": "tool_call", "tool_name": "get", "arguments": {"token": "t", "q": 1}}, {"arguments": {"q": 1}}),
        ({"type": "tool_result", "call_id": SECRET, "result": {"a": [1, SECRET]}}, {"result": {"a": [1, PLACEHOLDER]}}),
        ({"type": "abandon", "ref_to": [SECRET], "content": "why"}, {}),
        ({"type": "git_diff", "diff_hash": "a1", "files_changed": [SECRET]}, {"files_changed": [PLACEHOLDER]}),
        ({"type": "decision", "content": "x", "tags": [SECRET]}, {"tags": [PLACEHOLDER]}),
        ({"type": "decision", "content": "x", "api_key": "t"}, {"api_key": None}),
    ],
)
def test_an_event_stays_valid_whatever_is_left_out_of_it(event, expected):
    event = {"id": "e", "timestamp": 1, "parent_id": SECRET, **event}
    packed = ContextPack.of_trace(Trace([event], "native"))
    (clean,) = packed.content["events"]
    validate_event(clean)
    merged = {**event, **expected}
    assert clean == {name: part for name, part in merged.items() if part is not None}
    assert list(clean) == [name for name in event if name in clean]
    assert ContextPack.from_json(packed.to_json()) == packed
    assert bool(packed.left_out) == bool(expected)
