"""Gemini files of the corpus (all synthetic there), against counts made by hand from the raw JSON."""

from __future__ import annotations

import pytest
from importer_checks import (
    CORPUS,
    accounted,
    check,
    claimants,
    needs_corpus,
    paired,
    types,
)

from context_gc.importers import gemini_cli, gemini_contents
from context_gc.importers.files.decode import decode
from context_gc.trace import Usage

FILES = {
    "agentsessions-jsonl_v040.jsonl": gemini_cli,
    "agentsessions-small.json": gemini_cli,
    "cass-session-test.json": gemini_cli,
    "agentsessions-schema_drift.json": gemini_contents,
}
every_file = pytest.mark.parametrize(("name", "importer"), FILES.items(), ids=FILES)


def document(name):
    return decode((CORPUS / "gemini_cli" / name).read_bytes(), name)


@needs_corpus
@every_file
def test_every_file_is_claimed_by_one_format_and_keeps_the_promises(name, importer):
    found = document(name)
    assert claimants(found.head) == {importer.name}
    traces = importer.read(found)
    check(traces)
    assert len(traces) == 1
    assert traces[0].problems == []


@needs_corpus
@pytest.mark.parametrize(
    ("name", "kinds", "results", "ignored", "records"),
    [
        (
            "agentsessions-jsonl_v040.jsonl",
            {"requirement": 1, "tool_call": 1, "tool_result": 1, "decision": 1},
            1,
            {"session": 1, "$set": 1},
            5,  # lines
        ),
        ("agentsessions-small.json", {"requirement": 1, "decision": 2}, 0, {}, 2),  # messages
        ("cass-session-test.json", {"requirement": 1, "decision": 1}, 0, {}, 2),  # messages
        ("agentsessions-schema_drift.json", {"requirement": 2, "decision": 1}, 0, {}, 2),  # contents
    ],
)
def test_the_files_hold_what_was_counted_by_hand(name, kinds, results, ignored, records):
    traces = FILES[name].read(document(name))
    (trace,) = traces
    assert types(trace) == kinds
    assert paired(trace) == results
    assert trace.ignored == ignored
    assert accounted(traces) == records
    assert [(w.start, w.stop, w.opened_by) for w in trace.windows] == [(0, len(trace.events), "start")]
    assert "abandon" not in kinds


@needs_corpus
def test_the_usage_of_the_newer_form():
    (trace,) = gemini_cli.read(document("agentsessions-jsonl_v040.jsonl"))
    assert trace.usage == [Usage("run_shell_command_stage0", 11855, 81), Usage("g-assistant-2", 567, 147, 11502)]
    assert trace.model == "gemini-3-flash-preview"


@needs_corpus
def test_recorded_responses_are_no_session():
    path = CORPUS / "malformed" / "geminicli-recorded-responses-notasession.json"
    assert not claimants(decode(path.read_bytes(), path.name).head)
