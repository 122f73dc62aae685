"""Peers: events as messages and back lose nothing, and what is installed runs."""

from __future__ import annotations

import pytest

from context_gc import compact_events
from context_gc.benchmark.methods import COUNTER
from context_gc.benchmark.peers import PEERS, messages, text, tracegc_passes, tracegc_sessions
from context_gc.benchmark.scenarios import scenario, scenarios
from context_gc.policy import Policy

SHORT = scenario("coding", "short")


@pytest.mark.parametrize("each", scenarios(), ids=lambda each: each.name)
def test_messages_hold_the_full_history(each):
    assert text(messages(each.events)) == compact_events(each.events, Policy(stages=()))["prompt"]


def test_what_a_peer_takes_out_of_a_message_is_gone_from_the_text():
    told = messages(SHORT.events)
    cleared = [{**each, "content": "[cleared]"} if each["role"] == "tool" else each for each in told]
    assert "RESULT" not in text(cleared)
    assert "[cleared]" in text(cleared)


@pytest.mark.parametrize("peer", PEERS, ids=lambda peer: peer.name)
def test_a_peer_that_is_installed_makes_a_prompt(peer):
    if peer.version is None:
        pytest.skip(f"{peer.package} is not installed")
    assert 0 < COUNTER.count(peer.prompt(SHORT.events)) <= 1.1 * COUNTER.count(text(messages(SHORT.events)))


def test_the_default_policy_saves_more_than_21_percent_of_the_long_sessions_that_this_figure_comes_from():
    if next(peer for peer in PEERS if peer.package == "tracegc").version is None:
        pytest.skip("tracegc is not installed")
    before = after = 0
    for name, graph, probes in tracegc_sessions():
        if name.endswith("_long"):
            prompt = compact_events(graph)["prompt"]
            before += COUNTER.count(compact_events(graph, Policy(stages=()))["prompt"])
            after += COUNTER.count(prompt)
            assert all(tracegc_passes(probe, prompt) for probe in probes.values())
    assert 1 - after / before > 0.21


@pytest.mark.parametrize(("prompt", "good"), [("Port = 80", True), ("port = 80, old", False), ("none", False)])
def test_its_probes_ask_for_texts_that_are_there_and_texts_that_are_not(prompt, good):
    assert tracegc_passes({"contains": ["port = 80"], "excludes": ["OLD"]}, prompt) is good
