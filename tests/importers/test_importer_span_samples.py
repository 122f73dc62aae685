"""The samples of LangChain, LangSmith, Langfuse, OTLP, Inspect AI and ATIF show what they were written for."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from importer_checks import accounted, check, claimants, paired, types

from context_gc import Policy, compact_events
from context_gc.importers import atif, inspect_ai, langchain, langfuse, langsmith, otlp
from context_gc.importers.files.decode import decode
from context_gc.policy import DEFAULT_STAGES

SAMPLES = Path(__file__).parents[2] / "sample_traces"
ALL = Policy(stages=(*DEFAULT_STAGES, "stale-reads", "superseded-status"))

#: what each must show: the stages that cut something, how much, records, tool calls, abandons
SHOWN = {
    "atif-lost-offset.json": (atif, {"duplicates": 2, "stale-reads": 2, "superseded-status": 4}, 10, 12, 0),
    "inspect-lost-mail.json": (inspect_ai, {"dead-branches": 3, "duplicates": 2, "stale-reads": 2}, 21, 7, 1),
    "langchain-trip-history.json": (langchain, {"dead-branches": 4, "duplicates": 2}, 6, 5, 1),
    "langfuse-missing-pedals.json": (langfuse, {"duplicates": 2}, 10, 4, 0),
    "langsmith-release-notes.jsonl": (langsmith, {"dead-branches": 2, "duplicates": 2}, 14, 2, 1),
    "otlp-broken-link.jsonl": (otlp, {"dead-branches": 4, "stale-reads": 2}, 9, 5, 1),
}
each_sample = pytest.mark.parametrize(("name", "shows"), SHOWN.items(), ids=SHOWN)


@each_sample
def test_each_sample_is_one_trace_of_one_format_with_all_records_accounted_for(name, shows):
    importer, _, records, calls, abandons = shows
    document = decode((SAMPLES / name).read_bytes(), name)
    assert len(document.data) < 12_000
    assert claimants(document.head) == {importer.name}
    (trace,) = importer.read(document)
    check([trace])
    assert (trace.problems, accounted([trace])) == ([], records)
    assert trace.title
    assert trace.model
    assert trace.usage
    assert types(trace).get("tool_call", 0) == calls == paired(trace)
    assert types(trace).get("abandon", 0) == abandons


@each_sample
def test_each_sample_shows_its_stages(name, shows):
    importer, stages, *_ = shows
    (trace,) = importer.read(decode((SAMPLES / name).read_bytes(), name))
    result = compact_events(trace.events, ALL)
    assert Counter(each["stage"] for each in result["decisions"] if each["kept"] is None) == stages
    assert result["warnings"] == []
    assert compact_events(trace.events)["tokens_after"] < result["tokens_before"]
