"""The budget engine's promises over every real coding session that can be read, turn by turn."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from budget_invariants import measured
from invariants import canonical, clip_stubs, clipped_ids, must_stay, pairs, slots_of, stubs_in

from context_gc import Budget, Compaction, ContextGC, Policy, TraceError, UnknownFormat, expand_receipt, load_traces
from context_gc.policy import KNOWN_STAGES
from context_gc.render import label, line
from context_gc.timeline import timeline
from context_gc.tokens import family_of
from context_gc.turns import turn_numbers

Event = dict[str, Any]

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"
FILES = sorted(path for path in CORPUS.rglob("*") if path.is_file() and path.name not in ("README.md", "MANIFEST.tsv"))
CALLS = 30  #: tool calls that make a trace a session
OFTEN = 5  #: turns from one full check to the next
POLICIES = {
    "200k": Policy(budget=Budget(200_000)),
    "32k": Policy(budget=Budget(32_000)),
    "200k-all": Policy(stages=KNOWN_STAGES, budget=Budget(200_000, commit_on_arrival=True)),
    "32k-all": Policy(stages=KNOWN_STAGES, budget=Budget(32_000, commit_on_arrival=True)),
}

pytestmark = pytest.mark.skipif(not FILES, reason="the corpus of real traces is not beside the checkout")


@cache
def sessions() -> dict[str, tuple[list[Event], str]]:
    """Name -> events and token counter, for each window of each trace and each whole trace."""
    found = {}
    for path in FILES:
        try:
            traces = load_traces(path)
        except (UnknownFormat, TraceError):
            continue
        for number, trace in enumerate(traces):
            spans = {(window.start, window.stop) for window in trace.windows} | {(0, len(trace.events))}
            for start, stop in sorted(spans):
                events = trace.events[start:stop]
                if sum(event["type"] == "tool_call" for event in events) >= CALLS:
                    found[f"{path.relative_to(CORPUS)}:{number}:{start}-{stop}"] = events, family_of(trace.model)
    return found


def turns(events: list[Event]) -> Iterator[list[Event]]:
    """The events of each turn. What the first events of a window hang on is not in it."""
    known, numbers = set[str](), iter(turn_numbers(events))
    for _, turn in groupby(events, lambda _: next(numbers)):
        taken = []
        for event in turn:
            parent = event.get("parent_id")
            taken.append(event if parent is None or parent in known else {**event, "parent_id": None})
            known.add(event["id"])
        yield taken


class Replay:
    """A session that is lived again under a policy, with its promises checked after every turn."""

    def __init__(self, policy: Policy) -> None:
        self.client, self.policy, self.budget = ContextGC(policy), policy, policy.budget
        self.events: list[Event] = []
        self.prompt, self.passes, self.calls = "", 0, 0

    def live(self, turn: list[Event]) -> None:
        self.client.extend(turn)
        self.events += turn
        result = self.client.compact()
        self.calls += 1
        passes = result["budget"]["passes"][self.passes :]
        assert len(passes) <= 1
        for made in passes:
            self.check_pass(made, result)
        if not passes or passes[0]["first_changed"] is None:
            assert result["prompt"].startswith(self.prompt)
        if passes or self.calls % OFTEN == 0:
            check_integrity(self.events, result)
        check_instructions(self.events, result)
        self.prompt, self.passes = result["prompt"], self.passes + len(passes)

    def check_pass(self, made: dict[str, Any], result: Compaction) -> None:
        assert made["gain"] >= 0
        assert made["tokens_after"] == measured(result, self.policy)
        lost = made["unreachable"]
        if made["tokens_after"] > self.budget.target_tokens:
            assert sum(tokens for _, tokens in lost["holds"]) == lost["tokens"] > lost["target"]
        else:
            assert lost is None


def check_instructions(events: list[Event], result: Compaction) -> None:
    """M5: what the user and the system said is in the prompt, byte for byte."""
    slots, prompt = slots_of(result), result["prompt"]
    for event in filter(must_stay, events):
        text = line(event)
        assert (slots[event["id"]] or "").startswith(text)
        assert text in prompt


def check_integrity(events: list[Event], result: Compaction) -> None:
    """M6: units are whole, and the prompt's stubs lead to all that is not in it, byte for byte."""
    originals, cut = {event["id"]: event for event in events}, set(result["pruned_ids"])
    live = {event["id"] for event in result["compact_events"]}
    assert live | cut == set(originals)
    assert not live & cut
    for each, call in pairs(events).items():
        assert (each in cut) == (call in cut)
    clipped = clipped_ids(result)
    assert clip_stubs(result) == [(label(name), 0) for name in clipped]
    found: dict[str, Event] = {}
    for name, _ in stubs_in(result["prompt"]):
        expanded = expand_receipt(result["graph"], name)
        assert expanded
        found |= {event["id"]: event for event in expanded}
    assert found.keys() == cut | set(clipped)
    for name, event in found.items():
        assert canonical(event) == canonical(originals[name])


@pytest.mark.parametrize("policy", POLICIES)
def test_a_real_session_keeps_every_promise_turn_by_turn(policy):
    cut = 0
    for name, (events, counter) in sessions().items():
        chosen = POLICIES[policy]
        replay = Replay(Policy(stages=chosen.stages, counter=counter, budget=chosen.budget))
        for turn in turns(events):
            replay.live(turn)
        last = replay.client.compact()
        check_integrity(replay.events, last)
        cut += len(last["pruned_ids"])
        passes = replay.client.budget.passes
        if chosen.budget.max_tokens == 200_000:
            assert 20 * len(passes) <= max(replay.calls, 20), name
        replayed = timeline(events, replay.policy)
        assert [point.passed for point in replayed.points if point.passed is not None] == list(passes)
        assert replayed.result["prompt"] == last["prompt"]
    assert cut


def test_below_the_threshold_a_real_session_is_sent_as_it_is():
    for events, counter in sessions().values():
        client = ContextGC(Policy(counter=counter, budget=Budget(10_000_000)))
        for turn in turns(events):
            client.extend(turn)
            client.compact()
        lines = [line(event) for event in events]
        assert client.compact()["prompt"] == "\n".join(text for text in lines if text)
