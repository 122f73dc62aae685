"""What a case of `context_bugs.jsonl` did, and a check for each kind that the cases use."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from message_checks import POLICIES, call_ids, faults

from context_gc import (
    Budget,
    Compaction,
    InvalidEvent,
    InvalidPolicy,
    MessagesClient,
    Policy,
    ReceiptStore,
    compact_events,
    compact_messages,
    expand_receipt,
)
from context_gc.messages import DIALECTS, compacted
from context_gc.render import line
from context_gc.tokens import COUNTERS

ROOT = Path(__file__).parents[1]
FULL = Policy(budget=Budget(max_tokens=10_000, min_gain=0))


@dataclass
class Run:
    """What a case did: the events that went in, each result in turn, and what was refused."""

    case: dict[str, Any]
    events: list[dict[str, Any]]
    before: str
    policy: Policy
    results: list[Compaction] = field(default_factory=list)
    refused: InvalidEvent | InvalidPolicy | None = None
    value: Any = None
    messages: list[dict[str, Any]] = field(default_factory=list)

    @property
    def last(self) -> Compaction:
        return self.results[-1]

    @property
    def prompt(self) -> str:
        return str(self.last["prompt"])

    def event(self, name: str) -> dict[str, Any]:
        return next(event for event in self.events if event["id"] == name)


def pairs_ok(done: Run) -> None:
    cut = set(done.last["pruned_ids"])
    by_id = {event["id"]: event for event in done.events}
    for event in done.events:
        if event["type"] == "tool_result" and event["call_id"] in by_id:
            assert (event["id"] in cut) == (event["call_id"] in cut)


def not_pruned(done: Run, ids: list[str]) -> None:
    assert not set(ids) & set(done.last["pruned_ids"])
    for name in ids:
        assert line(done.event(name)) in done.prompt


def contains(done: Run, text: list[str]) -> None:
    assert all(part in done.prompt for part in text)


def not_contains(done: Run, text: list[str]) -> None:
    assert not any(part in done.prompt for part in text)


def contains_or_raises(done: Run, text: list[str]) -> None:
    if done.refused is None:
        contains(done, text)
    else:
        assert "already" in str(done.refused)


def pruned_at_least(done: Run, n: int) -> None:
    assert len(done.last["pruned_ids"]) >= n


def tokens_le_before(done: Run) -> None:
    assert done.last["tokens_after"] <= done.last["tokens_before"]


def tokens_after_le(done: Run, n: int) -> None:
    assert done.last["tokens_after"] <= n


def adjacent(done: Run, ids: list[str]) -> None:
    """In the text where they are neighbours in the trace; in messages always."""
    places = [[event["id"] for event in done.events].index(name) for name in ids]
    if places == list(range(places[0], places[0] + len(places))):
        assert "\n".join(line(done.event(name)) for name in ids) in done.prompt
    for dialect in DIALECTS.values() if done.event(ids[0])["type"] == "tool_call" else ():
        messages = compacted(done.last, dialect, False).messages
        assert faults(messages, dialect.name) == []
        (asked,) = [place for place, each in enumerate(messages) if ids[0] in call_ids(each)]
        assert ids[0] in json.dumps(messages[asked + 1])
        assert done.event(ids[1])["result"] in json.dumps(messages[asked + 1])


def idempotent(done: Run) -> None:
    assert compact_events(done.last["compact_events"], done.policy)["prompt"] == done.prompt
    assert len({result["prompt"] for result in done.results}) == 1


def prefix_stable(done: Run, min_pct: int) -> None:
    prompts = [result["prompt"] for result in done.results]
    stable = sum(after.startswith(before) for before, after in itertools.pairwise(prompts))
    assert 100 * stable >= min_pct * (len(prompts) - 1)


def stub_share_le(done: Run, pct: int) -> None:
    for result in done.results:
        stubs = [text for text in result["prompt"].split("\n") if text.startswith("[RECEIPT ")]
        count = COUNTERS[done.policy.counter].count
        assert 100 * sum(count(text + "\n") for text in stubs) <= pct * result["tokens_after"]


def deterministic(done: Run) -> None:
    code = (
        "import sys, json, context_gc; r = context_gc.compact_events(json.load(sys.stdin));"
        "print(json.dumps({k: r[k] for k in r if k != 'graph'}))"
    )
    outputs = set()
    for seed in done.case["input"]["config"]["pythonhashseeds"]:
        environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
        command = [sys.executable, "-c", code]
        text = json.dumps(done.events)
        got = subprocess.run(command, input=text, capture_output=True, text=True, check=True, cwd=ROOT, env=environment)
        outputs.add(got.stdout)
    assert outputs == {json.dumps({key: done.last[key] for key in done.last if key != "graph"}) + "\n"}


def utf8_ok(done: Run) -> None:
    assert done.prompt.encode("utf-8").decode("utf-8") == done.prompt
    assert done.last["tokens_after"] > 0


def recover_equal(done: Run, ids: list[str]) -> None:
    """Also when the event is cut: here it is abandoned."""
    end = {"id": "z", "type": "abandon", "timestamp": 99, "ref_to": [ids[0]]}
    graph = compact_events([*done.events, end], done.policy)["graph"]
    for name in ids:
        assert done.event(name) in expand_receipt(graph, name)
    survivors = {event["id"]: event for event in done.last["compact_events"]}
    assert all(survivors[name] == done.event(name) for name in ids)


def input_not_mutated(done: Run) -> None:
    assert json.dumps(done.events) == done.before
    assert [event["id"] for event in done.last["compact_events"]] == [event["id"] for event in done.events]


def conservation(done: Run) -> None:
    seen = 0
    for result in done.results:
        ids = {event["id"] for event in result["compact_events"]} | set(result["pruned_ids"])
        assert ids == {event["id"] for event in done.events[: len(ids)]}
        assert len(ids) >= seen
        seen = len(ids)
    assert seen == len(done.events)


def loaded_ids(done: Run, ids: list[str]) -> None:
    assert [event["id"] for event in done.events] == ids
    assert compact_events(done.events)["pruned_ids"] == []


def each_once(done: Run) -> None:
    for event in done.events:
        assert done.prompt.count(line(event)) == 1
    count = COUNTERS[done.policy.counter].count
    assert done.last["tokens_after"] == sum(count(text + "\n") for text in done.prompt.split("\n"))


def value(done: Run, equals: Any) -> None:
    assert done.value is equals


def raises(done: Run) -> None:
    config = done.case["input"]["config"]
    assert isinstance(done.refused, InvalidPolicy)
    assert str(config["threshold_low"]) in str(done.refused)
    assert str(config["threshold_high"]) in str(done.refused)


def max_compactions(done: Run, n: int) -> None:
    """Also one that freed nothing counts; it tells what holds the space."""
    passes = done.last["budget"]["passes"]
    assert 1 <= len(passes) <= n
    assert passes[0]["unreachable"]["holds"]
    assert done.last["budget"]["unreachable"] is not None


def load_ok(done: Run) -> None:
    names = [event["id"] for event in done.events]
    loaded = [event["id"] for event in done.last["compact_events"]]
    assert loaded in (names[:1], names)


def image_payloads_le(done: Run, n: int) -> None:
    """Under a budget that they fill."""
    found = compact_messages(done.messages, FULL)
    assert json.dumps(found.messages).count("A" * 1000) <= n * 100
    assert found.recover(found.receipts[0])[0]["result"] == done.messages[1]["content"]


def store_bytes_le_factor(done: Run, x: float) -> None:
    """After a pass at each further message: a payload is stored once, not once a pass."""
    path = Path(mkdtemp()) / "receipts.db"
    client = MessagesClient(FULL, store=ReceiptStore(path))
    for end in range(1, len(done.messages) + 1):
        client.compact(done.messages[:end], force=True)
    assert path.stat().st_size <= x * len(json.dumps(done.messages))


def message_unchanged(done: Run, index: int) -> None:
    for policy in POLICIES.values():
        assert compact_messages(done.messages, policy).messages[index] is done.messages[index]


def no_dangling_ids(done: Run) -> None:
    """Whatever goes: an item that has its id follows the reasoning that it came with."""
    more = [{"role": "user", "content": f"go on {number} " * 20} for number in range(9)]
    for policy in POLICIES.values():
        for messages in (done.messages, done.messages + more):
            made = compact_messages(messages, policy).messages
            assert faults(made, "openai-responses") == []
            ids = [each.get("id") for each in made]
            assert ("rs_1" in ids) or ("msg_1" not in ids)
            assert ("msg_1" in ids) or ("rs_1" not in ids)


CHECKS: dict[str, Callable[..., None]] = {
    check.__name__: check
    for check in (
        pairs_ok, not_pruned, contains, not_contains, contains_or_raises, pruned_at_least, tokens_le_before,
        tokens_after_le, adjacent, idempotent, prefix_stable, stub_share_le, deterministic, utf8_ok, recover_equal,
        input_not_mutated, conservation, loaded_ids, each_once, value, raises, max_compactions, load_ok,
        image_payloads_le, store_bytes_le_factor, message_unchanged, no_dangling_ids,
    )
}  # fmt: skip
