"""Every odd file has one exact outcome; files that are no trace are refused by every importer, also when damaged."""

from __future__ import annotations

import json
import re

import pytest
from importer_checks import CORPUS, check, claimants, cut_and_flipped, needs_corpus

from context_gc import TraceError, UnknownFormat, load_traces
from context_gc.importers.files.decode import decode

EVENT = {"id": "e1", "type": "decision", "timestamp": 1, "parent_id": None, "content": "a"}
ONE = json.dumps(EVENT)
TWO = json.dumps({**EVENT, "id": "e2"})

#: of the corpus -> format, events of each trace, and the line of each problem; or the error
CORPUS_FILES = {
    "derived/claude-crlf-bom.jsonl": ("claude-code", [18], []),
    "derived/claude-resume-duplicated.jsonl": ("claude-code", [18], []),
    "derived/claude-truncated-tail.jsonl": ("claude-code", [17], [39]),
    "derived/claude.jsonl.gz": ("claude-code", [18], []),
    "derived/codex-invalid-utf8.jsonl": ("codex", [17], [None]),
    "derived/empty-array.json": (TraceError, r"the file holds only \[\] \(name a file that holds a trace\)"),
    "derived/empty.jsonl": (TraceError, r"the file is empty \(name a file that holds a trace\)"),
    "derived/null.json": (TraceError, r"the file holds only null \(name a file that holds a trace\)"),
    "derived/whitespace.jsonl": (TraceError, r"the file is empty \(name a file that holds a trace\)"),
    "malformed/cass-all_message_types.jsonl": ("claude-code", [5], []),
    "malformed/cass-empty_session.jsonl": (UnknownFormat, "this is no trace format that is known here"),
    "malformed/cass-invalid_json.jsonl": ("claude-code", [3], [2, 4]),
    "malformed/cass-missing_fields.jsonl": ("claude-code", [5], [5, 7]),
    "malformed/cass-single_message.jsonl": ("claude-code", [1], []),
    "malformed/cass-unicode_heavy.jsonl": ("claude-code", [8], []),
    "malformed/geminicli-recorded-responses-notasession.json": (UnknownFormat, "this is no trace format that is known"),
}

NO_TRACE = {
    "prose": b"Dear diary,\n\n# today\n> nothing happened\n",
    "one number": b"42\n",
    "one string": b'"hello"\n',
    "numbers": b"[1, 2, 3]",
    "nested lists": b"[[[]], [], [[{}]]]",
    "table": b"id,type,timestamp\ne1,decision,1\n",
    "source": b'import json\n\n\ndef main():\n    print({"role": "user"})\n',
    "markup": b"<!doctype html><html><body>x</body></html>",
    "picture": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\x08\6\0\0\0\x1f\x15\xc4\x89",
    "database": b"SQLite format 3\0\x10\0\1\1\0\x40\x20\x20" + bytes(84),
    "program": b"\x7fELF\2\1\1" + bytes(57),
    "package": json.dumps({"name": "x", "version": "1.0.0", "type": "module", "scripts": {"test": "jest"}}).encode(),
    "settings": json.dumps({"editor.fontSize": 12, "files.exclude": {"**/.git": True}}, indent=4).encode(),
    "schema": json.dumps({"$schema": "http://json-schema.org/x", "type": "object", "properties": {}}).encode(),
    "map": json.dumps({"type": "FeatureCollection", "features": [{"type": "Feature", "id": "a"}]}).encode(),
    "notebook": json.dumps({"cells": [{"cell_type": "code", "source": ["x"], "outputs": []}], "nbformat": 4}).encode(),
    "requests": json.dumps({"log": {"version": "1.2", "entries": [{"request": {"method": "GET"}}]}}).encode(),
    "findings": json.dumps({"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "x"}}, "results": []}]}).encode(),
    "service log": b'{"level":30,"time":1700000000000,"pid":1,"msg":"ready"}\n{"level":50,"time":1,"msg":"x"}\n',
    "container log": b'{"log":"started\\n","stream":"stdout","time":"2026-01-01T00:00:00Z"}\n' * 3,
    "web hooks": b'{"id":"1","type":"PushEvent","actor":{"id":1},"payload":{"size":1},"created_at":"2026-01-01"}\n',
    "chat export": b'[{"type":"message","user":"U1","text":"hi","ts":"1700000000.1"}]',
    "metrics": json.dumps({"resourceMetrics": [{"scopeMetrics": [{"metrics": []}]}]}).encode(),
    "people": json.dumps([{"id": n, "name": f"p{n}", "role": "admin"} for n in range(9)]).encode(),
    "settings of a model": json.dumps({"model": "x", "temperature": 1, "max_tokens": 5}).encode(),
}


def outcome(data, name="x"):
    traces = load_traces(data, name)
    check(traces)
    (found,) = {trace.format for trace in traces}
    lines = [problem.line for trace in traces for problem in trace.problems]
    return found, [len(trace.events) for trace in traces], lines


@needs_corpus
def test_every_odd_file_of_the_corpus_is_in_the_table():
    there = {
        path.relative_to(CORPUS).as_posix() for name in ("derived", "malformed") for path in (CORPUS / name).iterdir()
    }
    assert there == CORPUS_FILES.keys()


@needs_corpus
@pytest.mark.parametrize("name", CORPUS_FILES)
def test_an_odd_file_of_the_corpus_has_its_outcome(name):
    expected = CORPUS_FILES[name]
    if isinstance(expected[0], str):
        assert outcome(CORPUS / name) == expected
        return
    with pytest.raises(TraceError, match=f"^{re.escape(name)}: {expected[1]}") as caught:
        load_traces(CORPUS / name, name)
    assert type(caught.value) is expected[0]


@pytest.mark.parametrize(
    ("data", "events", "lines"),
    [
        (ONE, 1, []),
        (f"{ONE}\r\n{TWO}\r\n", 2, []),
        (f"{ONE}{TWO}", 2, []),
        (f"{ONE},{TWO}", 1, [1]),
        (f"[{ONE},{TWO}]", 2, []),
        (f"[{ONE},{TWO}", 2, []),
        (f"[{ONE},\n{TWO[:-5]}", 1, [2]),
        (f'{{"events": [{ONE}, 7]}}', 1, [1]),
        (f"\n\n{ONE}\n\x0c\n{TWO}\n", 2, []),
        (f"{ONE}\n42\n[1]\nnull\n{TWO}", 2, [2, 3, 4]),
        (f"{ONE}\n{ONE}\n", 1, [2]),
        (f"{ONE}\n{TWO[:-3]}", 1, [2]),
        (f'{ONE}\n{{"id": "e2"}}', 1, [2]),
    ],
)
def test_an_odd_native_file_has_its_outcome(data, events, lines):
    assert outcome(data.encode()) == ("native", [events], lines)


@pytest.mark.parametrize("kind", NO_TRACE)
def test_a_file_that_is_no_trace_is_refused_by_every_importer(kind):
    data = NO_TRACE[kind]
    assert claimants(decode(data, "x").head) == set()
    with pytest.raises(UnknownFormat, match="this is no trace format that is known here"):
        load_traces(data)


@pytest.mark.parametrize("kind", NO_TRACE)
def test_a_damaged_file_that_is_no_trace_is_refused_as_well(kind):
    for data in cut_and_flipped(NO_TRACE[kind]):
        with pytest.raises(TraceError, match=r"no trace format|is empty|holds only|gzip"):
            load_traces(data)
