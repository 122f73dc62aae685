"""The pruning rules, by golden files: one of its name for each stage."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from notation import cases, told, trace

from context_gc import ContextGC, Policy, compact_events
from context_gc.policy import DEFAULT_STAGES, KNOWN_STAGES, MORE_STAGES
from context_gc.stages import STAGES, ClipStage, GroupStage, SweepStage

GOLDEN = Path(__file__).parent / "golden"


def golden(stage):
    """(title, policy, events, expected lines) of a stage's cases. The stage runs beside the default ones."""
    stages = [name for name in KNOWN_STAGES if name in (*DEFAULT_STAGES, stage.name)]
    for title, policy, events, expected in cases((GOLDEN / f"{stage.name}.txt").read_text("utf-8")):
        yield title, Policy.from_mapping({"stages": stages} | policy), events, expected


FOUND = [
    pytest.param(policy, events, expected, id=f"{stage.name}: {title}")
    for stage in STAGES
    for title, policy, events, expected in golden(stage)
]


@pytest.mark.parametrize(("policy", "events", "expected"), FOUND)
def test_what_a_stage_finds(policy, events, expected):
    result = compact_events(events, policy)
    assert told(result) == expected


@pytest.mark.parametrize(("policy", "events", "expected"), FOUND)
def test_event_by_event_it_finds_the_same(policy, events, expected):
    ids = [event["id"] for event in events]
    if any(event["parent_id"] not in [None, *ids[:place]] for place, event in enumerate(events)):
        pytest.skip("a parent comes later: add_event refuses that")
    client = ContextGC(policy)
    for event in events:
        client.add_event(event)
        result = client.compact()
    assert told(result) == expected


def test_every_stage_has_a_golden_file_and_every_golden_file_a_stage():
    names = {path.stem for path in GOLDEN.glob("*.txt")}
    assert names == {stage.name for stage in STAGES}


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.name)
def test_a_third_of_the_cases_of_a_stage_are_left_alone(stage):
    titles = [title for title, *_ in golden(stage)]
    assert len(titles) >= 7
    assert 3 * sum("left alone" in title for title in titles) >= len(titles)


def test_stages_run_in_the_documented_order():
    assert tuple(stage.name for stage in STAGES) == KNOWN_STAGES
    assert DEFAULT_STAGES == ("dead-branches", "overrides", "duplicates", "cycles")
    assert KNOWN_STAGES == DEFAULT_STAGES + MORE_STAGES


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.name)
def test_a_stage_tells_what_it_is_for_and_bears_the_name_of_its_module(stage):
    assert isinstance(stage, SweepStage | GroupStage | ClipStage)
    assert stage.rationale.endswith(".")
    assert type(stage).__module__ == f"context_gc.stages.{stage.name.replace('-', '_')}"
    assert type(stage).__name__.lower() == stage.name.replace("-", "")


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.name)
def test_a_stage_that_is_switched_off_finds_nothing(stage):
    others = tuple(name for name in KNOWN_STAGES if name != stage.name)
    for _, policy, events, _ in golden(stage):
        result = compact_events(events, replace(policy, stages=others))
        assert stage.name not in {each["stage"] for each in result["decisions"]}


def test_stages_run_in_their_order_however_the_policy_lists_them():
    events = trace("v1 x = 1\nv2 x = 2\nz abandon v2")
    turned = compact_events(events, Policy(stages=KNOWN_STAGES[::-1]))
    assert told(turned) == told(compact_events(events))
