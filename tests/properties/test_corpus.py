"""The promises of the design over every real trace that can be read, window by window."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest
from invariants import check, must_stay, values

from context_gc import ContextGC, Policy, TraceError, compact_events, load_traces
from context_gc.render import line

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"
FOLDERS = tuple(  # whose files are fragments of the traces that they give together
    CORPUS / name
    for name in (
        "cline/cass-task1",
        "opencode_storage/agentsessions/storage_legacy",
        "opencode_storage/agentsessions/storage_v2",
        "opencode_storage/cass",
        "openhands_v1/a3f2edad",
        "openhands_v1/dd0e5779",
    )
)
FILES = sorted(
    path
    for path in CORPUS.rglob("*")
    if path in FOLDERS or (path.is_file() and path.parent != CORPUS and not any(map(path.is_relative_to, FOLDERS)))
)
UNREADABLE = {  #: files that hold no trace, and what the error says
    "derived/empty-array.json": "the file holds only []",
    "derived/empty.jsonl": "the file is empty",
    "derived/null.json": "the file holds only null",
    "derived/whitespace.jsonl": "the file is empty",
    "inspect_ai/2025-05-12T20-28-13-04-00_no-samples.json": "it holds no samples",
    "inspect_ai/empty.json": "this is no trace format",
    "malformed/cass-empty_session.jsonl": "this is no trace format",
    "malformed/geminicli-recorded-responses-notasession.json": "this is no trace format",
}
STEPS = 12  #: compactions of an incremental client over a window

pytestmark = pytest.mark.skipif(not FILES, reason="the corpus of real traces is not beside the checkout")
every_file = pytest.mark.parametrize("path", FILES, ids=[path.relative_to(CORPUS).as_posix() for path in FILES])


def windows(path):
    """The events of each window of each trace in a file or a folder; skips what no trace can be read from."""
    try:
        traces = load_traces(path)
    except TraceError as error:
        reason = UNREADABLE.get(path.relative_to(CORPUS).as_posix())
        if reason is None or reason not in str(error):
            raise
        pytest.skip(f"no trace can be read from it: {reason}")
    return [trace.events[window.start : window.stop] for trace in traces for window in trace.windows]


@every_file
def test_every_promise_holds_for_a_real_trace(path):
    for events in windows(path):
        before = copy.deepcopy(events)
        for policy in (Policy(), Policy(stubs="worthwhile"), Policy(stubs="described", override_scope="path")):
            result = compact_events(events, policy)
            check(before, result, policy)
            assert values(result) == values(compact_events(result["graph"], policy))
        assert events == before


@every_file
def test_a_real_trace_gives_the_same_step_by_step(path):
    for events in windows(path):
        ids, known = set(), []
        for event in events:  # a window begins in the middle of a session: what its first events hang on is not in it
            parent = event.get("parent_id")
            known.append(event if parent is None or parent in ids else {**event, "parent_id": None})
            ids.add(event["id"])
        client, results, step = ContextGC(), [], max(1, len(known) // STEPS)
        for start in range(0, len(known), step):
            client.extend(known[start : start + step])
            batch = values(compact_events(known[: start + step]))
            results.append((client.compact(), batch))
        for result, batch in results:
            assert values(result) == batch


@every_file
def test_what_is_left_of_a_real_trace_can_be_compacted_again(path):
    for events in windows(path):
        left = compact_events(events)["compact_events"]
        again = compact_events(left)
        check(left, again)
        for event in events:
            if must_stay(event):
                assert line(event) in again["prompt"]


def test_some_real_traces_are_read_and_some_of_their_events_are_cut():
    read = [path for path in FILES if path.relative_to(CORPUS).parts[0] == "claude_code" and path.suffix == ".jsonl"]
    cut = sum(len(compact_events(events)["pruned_ids"]) for path in read for events in windows(path))
    assert len(read) > 10
    assert cut > 0
