"""Samples: every file can be read and compacted, and shows what it was written to show."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest

from context_gc import EVENT_TYPES, Compaction, Policy, compact_events, expand_receipt, load_trace
from context_gc.policy import DEFAULT_STAGES

ROOT = Path(__file__).parents[1]
SAMPLES = sorted(path for path in (ROOT / "sample_traces").iterdir() if path.is_file())


class Shows(NamedTuple):
    """What a sample must show: the stages that cut something, and a protected event with what was found of it."""

    stages: set[str]
    kept: str
    would: str


SHOWN = {
    "claude-code-session.jsonl": Shows({"dead-branches"}, "toolu_01V4JVMFCJK5LBCNWF3QU3:said", ""),
    "claude-code-plan.jsonl": Shows({"dead-branches"}, "toolu_01forecast01:answer", ""),
    "coding_agent.json": Shows({"dead-branches", "overrides", "duplicates"}, "c24", "Would be superseded by c35"),
    "research_agent.json": Shows({"dead-branches", "overrides", "duplicates"}, "r15", "Would be abandoned by r16"),
    "support_agent.json": Shows({"dead-branches", "overrides", "duplicates"}, "s05", "Would be superseded by s24"),
    "parallel_branches.json": Shows({"dead-branches", "overrides"}, "p01", ""),
    "cyclic.json": Shows({"cycles"}, "rule", "Would be collapsed into cycle cluster"),
    "aider-undo.md": Shows({"dead-branches"}, "e3", ""),
    "anthropic-messages.json": Shows({"duplicates"}, "e1", ""),
    "anthropic-sessions.jsonl": Shows({"dead-branches"}, "e1", ""),
    "cline-denied.json": Shows({"dead-branches"}, "e1", ""),
    "codex-exec.jsonl": Shows({"dead-branches"}, "", ""),
    "codex-session.jsonl": Shows({"dead-branches"}, "e21", "Would be abandoned by e21:abandon"),
    "copilot-rewind.jsonl": Shows({"dead-branches"}, "a2d0e210", "Would be abandoned by e13:abandon"),
    "gemini-cli-rewind.jsonl": Shows({"dead-branches"}, "u-1", ""),
    "gemini-contents-chat.json": Shows({"duplicates"}, "c1", ""),
    "kimi-undo.jsonl": Shows({"dead-branches"}, "e9", "Would be abandoned by e9:abandon"),
    "mini-swe-agent-rejected.json": Shows({"dead-branches"}, "e1", ""),
    "openai-chat-log.jsonl": Shows({"dead-branches", "duplicates"}, "e1", ""),
    "openai-responses.json": Shows({"duplicates"}, "e1", ""),
    "opencode-undo.json": Shows({"dead-branches"}, "prt_e65b3f400100gardenplan", ""),
    "openhands-undo.json": Shows({"dead-branches"}, "e0", ""),
    "openhands-v1-rejected.jsonl": Shows({"dead-branches"}, "00000000", ""),
    "pi-branches.jsonl": Shows({"dead-branches"}, "00003a32", ""),
    "role-content.jsonl": Shows({"duplicates"}, "e1", ""),
    "swe-agent-undo.traj": Shows({"dead-branches"}, "e1", ""),
    "tau-bench.json": Shows({"duplicates"}, "e1", ""),
    "atif-lost-offset.json": Shows({"duplicates"}, "e1", ""),
    "inspect-lost-mail.json": Shows({"dead-branches", "duplicates"}, "m1", ""),
    "langchain-trip-history.json": Shows({"dead-branches", "duplicates"}, "sys", ""),
    "langfuse-missing-pedals.json": Shows({"duplicates"}, "e1", ""),
    "langsmith-release-notes.jsonl": Shows({"dead-branches", "duplicates"}, "e1", ""),
    "otlp-broken-link.jsonl": Shows({"dead-branches"}, "e1", ""),
    "tour.json": Shows(set(DEFAULT_STAGES), "t08", "Would be collapsed into cycle cluster"),
}
AGENTS = ("coding_agent.json", "research_agent.json", "support_agent.json")


def compacted(name: str, policy: Policy | None = None) -> Compaction:
    return compact_events(load_trace(ROOT / "sample_traces" / name).events, policy)


def cut(result: Compaction) -> Counter[str]:
    return Counter(each["stage"] for each in result["decisions"] if each["kept"] is None)


def test_the_table_names_exactly_the_files_that_are_there():
    assert sorted(SHOWN) == [path.name for path in SAMPLES]


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_every_sample_is_read_without_problems_and_warns_of_nothing(path):
    trace = load_trace(path)
    assert trace.problems == []
    assert trace.title
    assert compact_events(trace.events)["warnings"] == []


@pytest.mark.parametrize("name", SHOWN)
def test_every_sample_gets_shorter(name):
    result = compacted(name)
    assert result["tokens_after"] < result["tokens_before"]


@pytest.mark.parametrize("name", SHOWN)
def test_everything_cut_from_a_sample_comes_back_from_the_stubs_in_its_prompt(name):
    events = load_trace(ROOT / "sample_traces" / name).events
    result = compact_events(events)
    recovered = {}
    for stub in result["stubs"]:
        assert stub["text"] in result["prompt"].split("\n")
        recovered |= {event["id"]: event for event in expand_receipt(result["graph"], stub["receipts"][0])}
    assert recovered == {event["id"]: event for event in events if event["id"] in result["pruned_ids"]}


@pytest.mark.parametrize(("name", "shows"), SHOWN.items(), ids=SHOWN)
def test_each_sample_shows_its_stages(name, shows):
    assert set(cut(compacted(name))) == shows.stages


@pytest.mark.parametrize("name", [name for name, shows in SHOWN.items() if shows.kept])
def test_each_sample_keeps_a_protected_event_and_tells_what_was_found_of_it(name):
    result, shows = compacted(name), SHOWN[name]
    assert shows.kept in result["protected_ids"]
    assert shows.kept not in result["pruned_ids"]
    decision = result.decision(shows.kept)
    assert (decision.would if decision else "") == shows.would


def test_all_types_of_events_occur_in_the_samples():
    assert {event["type"] for path in SAMPLES for event in load_trace(path).events} == set(EVENT_TYPES)


@pytest.mark.parametrize("name", AGENTS)
def test_the_three_agents_are_of_a_size_that_can_be_read_and_give_a_reason_for_what_they_abandon(name):
    events = load_trace(ROOT / "sample_traces" / name).events
    assert 25 <= len(events) <= 45
    assert {"requirement", "constraint", "abandon"} <= {event["type"] for event in events}
    assert all(event["content"] in compacted(name)["prompt"] for event in events if event["type"] == "abandon")


def test_the_tour_has_ten_events_and_each_stage_once():
    result = compacted("tour.json")
    assert len(result.events) == 10
    # one branch with its abandon, one value, one call with its result, one ring
    assert cut(result) == {"dead-branches": 2, "overrides": 1, "duplicates": 2, "cycles": 2}
    assert len(result["receipts"]) == 6
    assert [stub["text"].split()[0] + stub["text"].split()[1] for stub in result["stubs"]] == [
        "[RECEIPTt01]",
        "[RECEIPTt04]",
        "[RECEIPTt06]",
        "[RECEIPTcluster_8604fa1f9845]",
    ]


def test_a_question_asked_again_after_an_act_is_no_duplicate_in_the_support_sample():
    result = compacted("support_agent.json")
    asked = [event["id"] for event in result.events if event.get("tool_name") == "get_order"]
    assert [name in result["pruned_ids"] for name in asked] == [False, True, False]


def test_parallel_branches_keep_their_values_with_the_scope_of_a_path():
    values = {"p04": 3, "p07": 4, "p09": 6, "p14": 2}

    def left(policy: Policy) -> list[int]:
        pruned = compacted("parallel_branches.json", policy)["pruned_ids"]
        return [value for name, value in values.items() if name not in pruned]

    assert left(Policy()) == [6]
    assert left(Policy(override_scope="path")) == [4, 6]


def test_the_protected_member_of_the_ring_stays_out_of_its_cluster():
    result = compacted("cyclic.json")
    assert {result.decision(name).cluster for name in ("write", "critic", "revise")} == set(result["receipts"])
    assert [event["id"] for event in expand_receipt(result["graph"], result["receipts"][0])] == [
        "write",
        "critic",
        "revise",
    ]


def test_each_sample_has_a_line_in_the_readme():
    section = (ROOT / "README.md").read_text("utf-8").partition("\n## Samples\n")[2].partition("\n## ")[0]
    lines = [line for line in section.split("\n") if line.startswith("- ")]
    assert sorted(line.split("`")[1] for line in lines) == [path.name for path in SAMPLES]
    assert all(len(line.split("`: ")[1]) > 20 for line in lines)
