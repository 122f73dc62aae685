"""Every sample and every file of the corpus, damaged in any way: sound traces, or an error of ours."""

from __future__ import annotations

import io
import json
import zipfile
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest
from importer_checks import CORPUS, cut_and_flipped, needs_corpus, survive, with_other_types

from context_gc import TraceError, load_traces

SAMPLES = sorted((Path(__file__).parents[2] / "sample_traces").iterdir())
FILES = [path for path in sorted(CORPUS.rglob("*")) if path.is_file() and path.stat().st_size > 1]
SLICE = 300_000  #: bytes of a file that are damaged: of a larger one its start, and less often
LITTLE = 60_000  #: bytes of a file in which values are given other types


def names(paths, top):
    return [path.relative_to(top).as_posix() for path in paths]


each_sample = pytest.mark.parametrize("path", SAMPLES, ids=names(SAMPLES, SAMPLES[0].parent))
each_file = pytest.mark.parametrize("path", FILES, ids=names(FILES, CORPUS))


def break_bytes(path):
    data = path.read_bytes()[:SLICE]
    for damaged in cut_and_flipped(data, 20 if len(data) < SLICE else 4):
        survive(load_traces, damaged)


def break_values(path):
    """Read as the format that the file had: with a value of another type in it, it may look like none."""
    data = path.read_bytes()
    with suppress(TraceError, ValueError):
        read = partial(load_traces, format=load_traces(data)[0].format)
        text = data.decode("utf-8-sig")
        if path.suffix == ".jsonl":
            value = [json.loads(line) for line in text[:LITTLE].splitlines()[:-1]]
        else:
            value = json.loads(text) if len(text) <= LITTLE else None
        for changed in with_other_types(value):
            is_lines = path.suffix == ".jsonl" and isinstance(changed, list)
            survive(read, ("\n".join(map(json.dumps, changed)) if is_lines else json.dumps(changed)).encode())


@each_sample
def test_a_sample_cut_and_flipped_gives_sound_traces_or_our_error(path):
    break_bytes(path)


@each_sample
def test_a_sample_with_values_of_other_types_gives_sound_traces_or_our_error(path):
    break_values(path)


@needs_corpus
@each_file
def test_a_file_of_the_corpus_cut_and_flipped_gives_sound_traces_or_our_error(path):
    break_bytes(path)


@needs_corpus
@each_file
def test_a_file_of_the_corpus_with_values_of_other_types_gives_sound_traces_or_our_error(path):
    break_values(path)


def test_a_damaged_archive_gives_sound_traces_or_our_error():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in SAMPLES[::4]:
            archive.write(path, path.name)
    for damaged in cut_and_flipped(buffer.getvalue()):
        survive(load_traces, damaged)
