"""Other people's readers of the same files count the same messages, calls and results, or the reason is told here.

`pip install context-gc[cross-check]` brings agentpile, agent-trajectory (which runs Node) and atif; the log reader
of inspect_ai brings eighty packages along and is checked against where it is installed anyway.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest
from importer_checks import CORPUS, needs_corpus, own, paired

from context_gc import load_traces
from context_gc.exporters import atif
from context_gc.turns import model_calls

pytestmark = pytest.mark.filterwarnings("default")  # the warnings of others are not ours

SAMPLES = Path(__file__).parents[2] / "sample_traces"
SESSIONS = sorted(path.relative_to(CORPUS).as_posix() for path in CORPUS.glob("claude_code/**/*.jsonl"))
IN_PACKAGES = "a cross-check against the package {}, where it is installed: pip install context-gc[cross-check]"

#: files that agentpile reads, beside sessions of Claude Code
PILED = [
    *SESSIONS,
    "derived/claude-resume-duplicated.jsonl",
    "derived/claude.jsonl.gz",
    "mini_swe_agent/django-13265.traj.json",
    "openai_chat/openhands-fncall-llm-message.json",
    "openai_chat/tau2-test_sft-v1-small.jsonl",
    "role_content_jsonl/cass-aider_bugfix.jsonl",
    "role_content_jsonl/cass-claude_code_auth_fix.jsonl",
    "role_content_jsonl/cass-opencode_rust_cli.jsonl",
]
NO_RECORD_NAMES_A_VERSION = "agentpile asks for fields that its records lack"
UNREAD = dict.fromkeys(
    ("claude_code/ccl-edge_cases.jsonl", "claude_code/headroom-claude_code_minimal.jsonl"), NO_RECORD_NAMES_A_VERSION
)
#: what agentpile counts where it is something else: model calls, tool calls, results; and why
COUNTED_OTHERWISE = {
    "claude_code/agentsessions-schema_drift.jsonl": ((1, 0, 0), "tool lines of their own are not read"),
    "claude_code/agentsessions-small.jsonl": ((5, 3, 3), "all ids in it are the same placeholder"),
    "role_content_jsonl/cass-aider_bugfix.jsonl": ((13, 0, 0), "answers without ids that follow each other are one"),
    "role_content_jsonl/cass-claude_code_auth_fix.jsonl": ((9, 5, 0), "tool lines of their own are not read"),
    "role_content_jsonl/cass-opencode_rust_cli.jsonl": ((10, 0, 0), "answers that follow each other are one"),
}

#: files that agent-trajectory reads, by the name that it has for their format
NORMALISED = [
    *((name, "claude-code") for name in SESSIONS),
    ("derived/claude-crlf-bom.jsonl", "claude-code"),
    ("derived/claude-truncated-tail.jsonl", "claude-code"),
    ("derived/codex-invalid-utf8.jsonl", "codex"),
    ("codex/agentsessions-large.jsonl", "codex"),
    ("codex/agentsessions-small.jsonl", "codex"),
    ("codex/cass-rollout-test.jsonl", "codex"),
    ("gemini_cli/agentsessions-small.json", "gemini-cli"),
    ("openhands_v1/a3f2edad", "openhands"),
    ("openhands_v1/dd0e5779", "openhands"),
    ("pi/agentsessions-pi-small.jsonl", "pi"),
    ("pi/cass-pi.jsonl", "pi"),
    ("pi/pi-large-session.jsonl", "pi"),
    ("pi/pi-session.jsonl", "pi"),
]
#: what agent-trajectory counts where it is something else: tool calls, results; and why
NORMALISED_OTHERWISE = {
    "claude_code/agentsessions-large.jsonl": ((1, 0), "a result without its id is dropped"),
    "claude_code/agentsessions-schema_drift.jsonl": ((0, 0), "tool lines of their own are not read"),
    "claude_code/agentsessions-small.jsonl": ((2, 1), "sidechains are dropped"),
    "codex/agentsessions-large.jsonl": ((0, 0), "calls of 2025 are not read"),
    "codex/agentsessions-small.jsonl": ((7, 6), "the call that made an image is not read"),
}


def ours(traces):
    """Model calls, tool calls, results that have their call."""
    calls = sum(event["type"] == "tool_call" for trace in traces for event in own(trace))
    return sum(model_calls(trace.events) for trace in traces), calls, sum(map(paired, traces))


def of_steps(documents):
    """The same of ATIF trajectories."""
    steps = [step for document in documents for step in document["steps"]]
    calls = sum(len(step.get("tool_calls") or ()) for step in steps)
    results = sum(len((step.get("observation") or {}).get("results", ())) for step in steps)
    return sum(step["source"] == "agent" for step in steps), calls, results


def piled(path):
    """What agentpile makes of a file: ATIF trajectories, with subagents in those of their sessions."""
    agentpile = pytest.importorskip("agentpile", reason=IN_PACKAGES.format("agentpile"))
    return [run.record for run in agentpile.load(str(path))]


@needs_corpus
@pytest.mark.parametrize("name", [name for name in PILED if name not in UNREAD])
def test_agentpile_counts_the_same(name):
    theirs, counted = of_steps(piled(CORPUS / name)), ours(load_traces(CORPUS / name))
    expected, reason = COUNTED_OTHERWISE.get(name, (counted, ""))
    assert theirs == expected
    assert (theirs != counted) == bool(reason)


@needs_corpus
@pytest.mark.parametrize("name", UNREAD)
def test_what_agentpile_does_not_read_is_still_so(name):
    with pytest.raises(Exception, match="no reader recognizes"):
        piled(CORPUS / name)


@needs_corpus
@pytest.mark.parametrize("name", [name for name in PILED if name not in UNREAD])
def test_the_trajectories_that_agentpile_makes_are_read_with_all_that_is_in_them(name):
    """Real sessions as ATIF, which the corpus has none of; those of subagents stand inside."""
    documents = piled(CORPUS / name)
    inner = [each for document in documents for each in document.get("subagent_trajectories") or ()]
    traces = load_traces(json.dumps(documents).encode())
    assert {trace.format for trace in traces} == {"atif"}
    assert ours(traces) == of_steps([*documents, *inner])


@needs_corpus
@pytest.mark.parametrize("name", [name for name in PILED if name not in UNREAD])
def test_atif_finds_the_same_in_these_trajectories(name):
    package = pytest.importorskip("atif", reason=IN_PACKAGES.format("atif"))
    if name == "claude_code/agentsessions-small.jsonl":
        pytest.skip("atif refuses its times, which are placeholders")
    documents = piled(CORPUS / name)
    models = [package.Trajectory.model_validate(document).model_dump(mode="json") for document in documents]
    inner = [each for model in models for each in model.get("subagent_trajectories") or ()]
    assert of_steps([*models, *inner]) == ours(load_traces(json.dumps(documents).encode()))


def normalised(path, source):
    """Tool calls and results as agent-trajectory finds them."""
    trajectory = pytest.importorskip("trajectory", reason=IN_PACKAGES.format("agent-trajectory"))
    if shutil.which("node") is None:
        pytest.skip("agent-trajectory runs Node, which is not there")
    text = path.read_bytes().decode("utf-8", "replace") if path.is_file() else ""
    if source == "openhands":  # which it reads as a list
        events = [each.read_text("utf-8") for each in sorted(path.glob("events/*.json"))] or text.splitlines()
        text = f"[{','.join(events)}]"
    records = trajectory.normalize_transcript(source=source, transcript=text)["records"]
    roles = Counter(record["role"] for record in records)
    return sum(len(record.get("tool_calls") or ()) for record in records), roles["tool"]


@needs_corpus
@pytest.mark.parametrize(("name", "source"), NORMALISED, ids=[name for name, _ in NORMALISED])
def test_agent_trajectory_counts_the_same(name, source):
    theirs, counted = normalised(CORPUS / name, source), ours(load_traces(CORPUS / name))[1:]
    expected, reason = NORMALISED_OTHERWISE.get(name, (counted, ""))
    assert theirs == expected
    assert (theirs != counted) == bool(reason)


@needs_corpus
@pytest.mark.parametrize(
    "name",
    [
        "2025-05-12T20-27-36-04-00_browser.json",
        "log_formats.eval",
        "log_images.json",
        "log_images_tc.json",
        "log_message_deduplication.eval",
        "log_read_sample.eval",
    ],
)
def test_the_log_reader_of_inspect_ai_counts_the_same(name):
    log = pytest.importorskip("inspect_ai.log", reason="a cross-check against inspect_ai, where it is installed")
    samples = log.read_eval_log(str(CORPUS / "inspect_ai" / name)).samples
    called = [message for sample in samples for message in sample.messages]
    calls = sum(len(message.tool_calls or ()) for message in called if message.role == "assistant")
    asked = sum(event.event == "model" for sample in samples for event in sample.events)
    results = sum(message.role == "tool" for message in called)
    assert (asked, calls, results) == ours(load_traces(CORPUS / "inspect_ai" / name))


@needs_corpus
@pytest.mark.parametrize("name", [*PILED, "codex/agentsessions-large.jsonl", "pi/cass-pi.jsonl", "pi/pi-session.jsonl"])
def test_what_is_written_as_atif_is_valid_for_the_package_atif(name):
    package = pytest.importorskip("atif", reason=IN_PACKAGES.format("atif"))
    for line in atif.write(load_traces(CORPUS / name), as_lines=True).text.splitlines():
        package.Trajectory.model_validate_json(line)


@pytest.mark.parametrize("name", ["atif-lost-offset.json", "claude-code-plan.jsonl", "claude-code-session.jsonl"])
def test_agentpile_counts_the_same_in_a_sample(name):
    assert of_steps(piled(SAMPLES / name)) == ours(load_traces(SAMPLES / name))


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("claude-code-plan.jsonl", "claude-code"),
        ("claude-code-session.jsonl", "claude-code"),
        ("codex-session.jsonl", "codex"),
        ("opencode-undo.json", "opencode"),
        ("openhands-v1-rejected.jsonl", "openhands"),
        ("pi-branches.jsonl", "pi"),
    ],
)
def test_agent_trajectory_counts_the_same_in_a_sample(name, source):
    assert normalised(SAMPLES / name, source) == ours(load_traces(SAMPLES / name))[1:]


def test_atif_counts_the_same_in_the_sample():
    package = pytest.importorskip("atif", reason=IN_PACKAGES.format("atif"))
    text = (SAMPLES / "atif-lost-offset.json").read_bytes()
    assert of_steps([package.Trajectory.model_validate_json(text).model_dump(mode="json")]) == ours(load_traces(text))
