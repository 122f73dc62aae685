"""Damaged files of Codex, Copilot CLI and Kimi: cut, with bytes flipped, with values of other JSON types."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from importer_checks import CORPUS, accounted, check, cut_and_flipped, with_other_types

from context_gc.errors import ContextGCError
from context_gc.importers import codex, codex_exec, copilot_cli, kimi
from context_gc.importers.files.decode import decode

SAMPLES = Path(__file__).parents[2] / "sample_traces"
FILES = [(codex, path) for path in sorted(SAMPLES.glob("codex-s*.jsonl")) + sorted(CORPUS.glob("codex/*.jsonl"))]
FILES += [(codex_exec, path) for path in sorted(SAMPLES.glob("codex-exec*.jsonl"))]
FILES += [
    (copilot_cli, path) for path in sorted(SAMPLES.glob("copilot-*")) + sorted(CORPUS.glob("copilot_cli/*.jsonl"))
]
FILES += [(kimi, path) for path in sorted(SAMPLES.glob("kimi-*")) + sorted(CORPUS.glob("kimi/*.jsonl"))]
each_file = pytest.mark.parametrize(("module", "path"), FILES, ids=[path.name for _, path in FILES])


def read(module, data):
    """Read what was damaged: sound traces that account for each record and are the same again, or our own error."""
    try:
        document = decode(data, "damaged")
    except ContextGCError:
        return
    module.sniff(document.head)
    traces = module.read(document)
    check(traces)
    records, broken = document.records()
    assert accounted(traces) == len(records) + len(broken)
    assert traces == module.read(decode(data, "damaged"))


@each_file
def test_a_file_that_is_cut_or_flipped_never_raises_anything_else(module, path):
    for damaged in cut_and_flipped(path.read_bytes()):
        read(module, damaged)


@each_file
def test_values_of_other_types_become_problems_or_opaque_events(module, path):
    records, _ = decode(path.read_bytes()[:80_000], path.name).records()
    for damaged in with_other_types([record for _, record in records]):
        lines = damaged if isinstance(damaged, list) else [damaged]
        read(module, "\n".join(map(json.dumps, lines)).encode())


@each_file
def test_each_record_may_be_odd_at_once(module, path):
    records, _ = decode(path.read_bytes()[:80_000], path.name).records()
    odd = zip(*(with_other_types(record, 20) for _, record in records), strict=True)
    for lines in odd:
        read(module, "\n".join(map(json.dumps, lines)).encode())


@pytest.mark.parametrize("module", [codex, codex_exec, copilot_cli, kimi])
def test_any_bytes_at_all_are_read_or_refused(module):
    read(module, bytes(range(256)) * 4)
    read(module, b'{"type": "session_meta", "payload": ' + b'{"a":' * 5_000 + b"1" + b"}" * 5_001)
    read(module, b"[" * 100_000)
    read(module, b"42\n[1]\n{}\n{} {}\nnull")
