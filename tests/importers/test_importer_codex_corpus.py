"""Codex sessions of the corpus, against counts made by other means and by hand."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from importer_checks import CORPUS, accounted, check, claimants, needs_corpus

from context_gc.importers import codex, codex_exec, copilot_cli, kimi
from context_gc.importers.files.decode import decode

#: file -> who claims it: the reader of sessions, or none of these (it is plain role and content)
FILES = {
    "codex_050_legacy": "codex",
    "codex_051_usage": "codex",
    "codex_053_rate_limit": "codex",
    "large": "codex",
    "small": "codex",
    "schema_drift": "codex",
    "session_branch": "codex",
    "session_toolcall": "codex",
    "session_simple": None,
}
PATHS = {f"codex/agentsessions-{name}.jsonl": claimant for name, claimant in FILES.items()}
PATHS |= {"codex/cass-rollout-test.jsonl": "codex", "derived/codex-invalid-utf8.jsonl": "codex"}
PATHS |= {"copilot_cli/vct-copilot.jsonl": "copilot-cli", "kimi/agentsessions-assistant_tools.jsonl": "kimi"}
PATHS |= {"copilot_cli/cass-cli_truncated_resume.events.jsonl": "copilot-cli"}

OURS = (codex, codex_exec, copilot_cli, kimi)


def document(path):
    return decode((CORPUS / path).read_bytes(), path)


def load(name):
    doc = document(f"codex/agentsessions-{name}.jsonl")
    (trace,) = codex.read(doc)
    check([trace])
    records, _ = doc.records()
    assert accounted([trace]) == len(records)
    return trace, [record for _, record in records]


def types(trace):
    return Counter(event["type"] for event in trace.events)


@needs_corpus
@pytest.mark.parametrize("path", PATHS)
def test_one_importer_claims_each_file(path):
    claims = claimants(document(path).head)
    assert claims == {PATHS[path]} if PATHS[path] else not claims & {module.name for module in OURS}


@needs_corpus
@pytest.mark.parametrize("path", sorted(CORPUS.glob("*/**/*.json*")), ids=lambda path: path.name)
def test_these_readers_claim_no_file_of_another_format(path):
    name = path.relative_to(CORPUS).as_posix()
    if path.stat().st_size < 100 or name in PATHS:
        return
    head = decode(path.read_bytes(), name).head
    assert [module.name for module in OURS if module.sniff(head)] == []


@needs_corpus
@pytest.mark.parametrize(
    ("name", "left_out"), [("codex_050_legacy", 5), ("codex_051_usage", 3), ("codex_053_rate_limit", 5)]
)
def test_sessions_without_a_message_are_empty_traces(name, left_out):
    """Counted by hand: a session_meta and events, none of which reached a model."""
    trace, _ = load(name)
    assert (trace.events, trace.usage, sum(trace.ignored.values()), trace.problems) == ([], [], left_out, [])
    assert trace.cwd == "/tmp/test"
    assert trace.title == trace.extra["session_id"]


@needs_corpus
def test_a_session_of_december_2025():
    """Counted by hand: 20 records, of them 15 items with 16 events; the report comes before the answer."""
    trace, records = load("large")
    items = [record["payload"] for record in records if record["type"] == "response_item"]
    texts = [item["content"][0]["text"] for item in items if item["type"] == "message"]
    assert [e["content"] for e in trace.events if "content" in e] == texts
    assert types(trace) == {"requirement": 6, "decision": 8, "tool_call": 1, "tool_result": 1}
    assert [e["tags"] for e in trace.events if e.get("content", "").startswith("<env")] == [["environment"]]
    call, result = trace.events[2:4]
    assert (call["tool_name"], result["call_id"], result["result"]["exitCode"]) == ("run_shell_command", call["id"], 0)
    (usage,) = trace.usage
    assert (usage.input_tokens, usage.cache_read, usage.output_tokens) == (12091 - 10880, 10880, 182)
    assert trace.records_read == 17
    assert trace.ignored == {"session_meta": 1, "event_msg/user_message": 1, "turn_context": 1}


@needs_corpus
def test_a_catalogue_of_what_sessions_of_2026_hold():
    """Counted from the raw lines: 118 records, six compactions that tell 159 items, one turn aborted on an open call.

    The file is no run but one record of each kind, so that its windows follow each other at once.
    """
    trace, records = load("small")
    payloads = [record["payload"] for record in records if record["type"] == "compacted"]
    kept = [item for payload in payloads for item in payload["replacement_history"]]
    assert [window.opened_by for window in trace.windows] == ["start"] + ["unknown"] * 6
    assert [len(payload["replacement_history"]) for payload in payloads] == [1, 8, 21, 51, 65, 13]
    items = [record["payload"] for record in records if record["type"] == "response_item"]
    calls = [item for item in items if item["type"].endswith("_call")]
    answers = [item for item in items if item["type"].endswith("_output")]
    assert types(trace)["tool_call"] == len(calls) == 8
    # image_generation_call holds its result
    assert types(trace)["tool_result"] == len(answers) + 1 == 7
    assert [e["ref_to"] for e in trace.events if e["type"] == "abandon"] == [["call-1"]]
    seen = [item for item in kept if item["type"] != "ghost_snapshot"]  # 24 of the 159 never reach the model
    origins = [e["origin"]["path"] for e in trace.events if "path" in e["origin"]]
    told = {(e["origin"]["line"], e["origin"]["path"]) for e in trace.events if "path" in e["origin"]}
    assert len(told - {(line, "base_instructions") for line, _ in told}) == len(seen) == 135
    assert origins.count("base_instructions") == 7  # it stands in each window
    assert sum(e["content"] == "[encrypted summary]" for e in trace.events if "content" in e) == 5
    assert [usage.output_tokens for usage in trace.usage] == [81]
    assert trace.ignored["session_meta of a copied history"] == 6
    assert len(records) == 118
    assert trace.problems == []


@needs_corpus
@pytest.mark.parametrize(
    ("name", "read"), [("schema_drift", 4), ("session_branch", 4), ("session_toolcall", 4), ("session_simple", 2)]
)
def test_drifted_files_of_flat_records(name, read):
    """Counted by hand: a prompt, a call with its result, an answer; the simple one holds no call."""
    trace, _ = load(name)
    called = int(name != "session_simple")
    assert types(trace) == {"requirement": 1, "decision": 1} | {
        key: 1 for key in ("tool_call", "tool_result") if called
    }
    results = [e for e in trace.events if e["type"] == "tool_result"]
    assert [e["parent_id"] for e in results] == [e["call_id"] for e in results]
    assert trace.records_read == read


@needs_corpus
def test_a_session_whose_thoughts_stand_in_events_alone():
    """Counted by hand: five records, the thought is an event and no item repeats it."""
    (trace,) = codex.read(document("codex/cass-rollout-test.jsonl"))
    assert [(e["type"], e.get("tags")) for e in trace.events] == [
        ("requirement", ["user"]),
        ("decision", ["thinking"]),
        ("decision", None),
    ]
    assert trace.ignored == {"session_meta": 1, "event_msg/token_count": 1}
    assert trace.cwd == "/test/soldier/project"


@needs_corpus
def test_the_start_of_a_real_session_of_2025_with_damaged_bytes():
    """A real run: counted from the raw lines, and by hand 5 calls whose reports each came before them."""
    doc = document("derived/codex-invalid-utf8.jsonl")
    (trace,) = codex.read(doc)
    check([trace])
    payloads = [json.loads(line) for line in doc.text.splitlines() if line]
    items = [record["payload"] for record in payloads if record["type"] == "response_item"]
    outputs = {item["call_id"]: item["output"] for item in items if item["type"] == "function_call_output"}
    assert {e["call_id"]: e["result"] for e in trace.events if e["type"] == "tool_result"} == outputs
    assert types(trace) == {"requirement": 1, "decision": 6, "tool_call": 5, "tool_result": 5}
    reports = [record["payload"]["info"] for record in payloads if record["payload"].get("type") == "token_count"]
    assert [u.output_tokens for u in trace.usage] == [info["last_token_usage"]["output_tokens"] for info in reports]
    assert [u.event_id for u in trace.usage] == [e["id"] for e in trace.events if e["type"] == "tool_call"]
    assert trace.title.startswith("幫我檢查一下 go.mod")
    assert trace.records_read == 22
    assert trace.records_read + sum(trace.ignored.values()) == len(payloads) == 40
    assert [problem.text for problem in doc.problems] == [
        "bytes that are not UTF-8, first on line 11 (each replaced by U+FFFD)"
    ]
