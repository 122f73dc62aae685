"""What tuning finds on recorded sessions: the claims that README makes, on the sum of the sessions."""

from __future__ import annotations

from pathlib import Path

import pytest

from context_gc import load_traces
from context_gc.replay.advice import misses, recommend
from context_gc.replay.baselines import FULL, Masking
from context_gc.replay.grid import cells
from context_gc.replay.sweep import prepare, sweep

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"
SESSIONS = (
    "claude_code/spotter-4d5611e5.jsonl", "claude_code/spotter-8463c716.jsonl", "pi/pi-large-session.jsonl",
    "pi/pi-session.jsonl", "mini_swe_agent/django-13265.traj.json", "copilot_cli/vct-copilot.jsonl",
)  # fmt: skip
SLIDING, BATCHED = Masking(10), Masking(10, batch=20_000)
CLEARING, CLEARING_AT_LEAST = Masking(3, trigger=100_000), Masking(3, batch=40_000, trigger=100_000)
GRID = {
    "stages": ["lossless"],
    "max_prompt_tokens": [60_000, 72_000, 100_000],
    "target": [0.4],
    "min_gain": [20_000],
    "commit_when_cold": [True],
    "commit_on_arrival": [False],
}

pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus of real traces is not beside the checkout")


@pytest.fixture(scope="module")
def rows():
    prepared = [prepare(load_traces(CORPUS / path)[0]) for path in SESSIONS]
    methods = [FULL, SLIDING, BATCHED, CLEARING, CLEARING_AT_LEAST, *cells(GRID, max_tokens=200_000)]
    return {row.method: row for row in sweep(prepared, methods, processes=1)}


def test_a_sliding_mask_costs_more_than_the_full_history_and_batches_do_not(rows):
    sliding, batched = rows[SLIDING.name], rows[BATCHED.name]
    assert sliding.tokens < batched.tokens < rows[FULL.name].tokens
    assert sliding.floor > 2
    assert batched.floor < 0.7


def test_what_is_recommended_is_cheaper_than_clearing_and_loses_less(rows):
    best = recommend(list(rows.values())).best
    assert best is not None
    assert not misses(best)
    for clearing in (rows[CLEARING.name], rows[CLEARING_AT_LEAST.name]):
        assert best.floor < clearing.floor
        assert best.measures.recall.ratio >= clearing.measures.recall.ratio
        assert best.measures.sole_source.ratio >= clearing.measures.sole_source.ratio
    assert best.cost < rows[CLEARING_AT_LEAST.name].cost


def test_every_policy_of_ours_keeps_instructions_units_and_the_artifact_trail(rows):
    for row in rows.values():
        if row.values:
            assert row.measures.instructions.ratio == 1
            assert not row.measures.faults
            assert row.measures.artifacts.ratio == 1
