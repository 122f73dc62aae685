"""Follow: at every poll exactly what the whole lines so far hold, and nothing is read or told twice."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from followed import Clock, append, decision, ids

from context_gc import ContextGC, TraceError, compact_events, load_traces
from context_gc.follow import Follower
from context_gc.importers.files.document import Document

SAMPLES = Path(__file__).parents[1] / "sample_traces"
LINES = sorted(path.name for path in SAMPLES.iterdir() if path.suffix in (".jsonl", ".md"))
VALUES = sorted(path.name for path in SAMPLES.iterdir() if path.suffix in (".json", ".traj"))


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "live.jsonl"


def whole_lines(data: bytes) -> bytes:
    """The ended lines, and the last one where it is a JSON object by itself."""
    stop = data.rfind(b"\n") + 1
    try:
        return data if type(json.loads(data[stop:])) is dict else data[:stop]
    except ValueError:
        return data[:stop]


def loaded(data: bytes, name: str):
    try:
        return load_traces(data, name)
    except TraceError:
        return None


# growing


@pytest.mark.parametrize("name", LINES)
def test_a_file_appended_in_random_pieces_is_at_every_poll_what_its_whole_lines_are(name, path):
    data, chance = (SAMPLES / name).read_bytes(), random.Random(name)
    cuts = sorted({chance.randrange(len(data)) for _ in range(25)} | {len(data)})
    path.touch()
    follower, stands = Follower(path), None
    for start, stop in zip([0, *cuts], cuts, strict=False):
        append(path, data[start:stop])
        update = follower.poll()
        expected = loaded(whole_lines(data[:stop]), str(path))
        if expected is None or expected == stands:
            assert update is None
            continue
        assert list(update.traces) == expected
        assert update.anew == ""
        stands = expected
        assert follower.poll() is None
    assert stands is not None


@pytest.mark.parametrize("name", VALUES)
def test_a_file_of_one_value_that_is_written_in_pieces_appears_when_it_is_whole(name, path):
    data, chance = (SAMPLES / name).read_bytes().rstrip(), random.Random(name)
    cuts = sorted(chance.randrange(1, len(data)) for _ in range(5))
    follower = Follower(path, clock=Clock())
    for start, stop in zip([0, *cuts], cuts, strict=False):
        append(path, data[start:stop])
        assert follower.poll() is None
        assert follower.told
    append(path, data[cuts[-1] :])
    update = follower.poll()
    assert list(update.traces) == load_traces(data, str(path))
    assert follower.told == ""


def test_only_what_was_appended_is_parsed(path, monkeypatch):
    path.write_bytes(b"".join(decision(f"e{number}") for number in range(500)))
    follower = Follower(path)
    follower.poll()
    parsed: list[int] = []
    each_record = Document.each_record

    def counted(document: Document, problems):
        parsed.append(len(document.data))
        return each_record(document, problems)

    monkeypatch.setattr(Document, "each_record", counted)
    append(path, decision("new"))
    assert ids(follower.poll())[-1] == "new"
    assert sum(parsed) == len(decision("new"))


def test_what_was_there_is_kept_as_the_same_objects_and_the_rest_is_new(path):
    lines = (SAMPLES / "claude-code-session.jsonl").read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:6]))
    follower = Follower(path)
    first = follower.poll()
    assert (first.changes[0].kept, first.changes[0].before) == (0, 0)
    before = list(first.traces[0].events)
    append(path, lines[6])
    second = follower.poll()
    kept = second.changes[0].kept
    assert (kept, second.changes[0].before, second.changes[0].is_append) == (len(before), len(before), True)
    assert len(second.traces[0].events) > kept > 0
    assert all(new is old for new, old in zip(second.traces[0].events, before, strict=False))
    assert first.traces[0].events == before  # an update never changes


def test_a_client_that_is_fed_what_is_new_compacts_as_the_whole_does(path):
    data = (SAMPLES / "kimi-undo.jsonl").read_bytes()
    follower, client, starts = Follower(path), ContextGC(), 0
    for line in data.splitlines(keepends=True):
        append(path, line)
        update = follower.poll()
        if update is None:
            continue
        change, events = update.changes[0], update.traces[0].events
        if not change.is_append:
            client, starts = ContextGC(), starts + 1
        client.extend(events[change.kept if change.is_append else 0 :])
    assert client.compact()["prompt"] == compact_events(load_traces(data)[0].events)["prompt"]


def test_a_tail_that_becomes_another_says_from_where(path):
    data = (SAMPLES / "gemini-cli-rewind.jsonl").read_bytes().splitlines(keepends=True)
    follower, seen = Follower(path), []
    for line in data:  # messages that are updated in place
        append(path, line)
        update = follower.poll()
        if update:
            seen += [change for change in update.changes if change.before]
            assert list(update.traces) == load_traces(path.read_bytes(), str(path))
    assert any(not change.is_append and change.kept for change in seen)
    assert any(change.is_append for change in seen)


def test_a_line_cut_in_the_middle_of_a_character_waits_for_the_rest(path):
    line = decision("a", "naïve — 日本")
    middle = line.index("日".encode()) + 1
    path.write_bytes(decision("z") + line[:middle])
    follower = Follower(path)
    assert ids(follower.poll()) == ["z"]
    assert follower.told == f"the last line is not whole: {middle:,} bytes are kept back"
    append(path, line[middle:])
    update = follower.poll()
    assert update.traces[0].events[1]["content"] == "naïve — 日本"
    assert update.traces[0].problems == []
    assert follower.told == ""


def test_a_last_line_without_its_end_that_is_a_whole_object_is_read(path):
    path.write_bytes(decision("a").rstrip())
    follower = Follower(path)
    assert ids(follower.poll()) == ["a"]
    append(path, b"\n" + decision("b"))
    assert ids(follower.poll()) == ["a", "b"]
    assert follower.traces[0].problems == []


def test_what_is_glued_to_a_last_line_is_told_once(path):
    path.write_bytes(decision("a") + decision("b").rstrip())
    follower = Follower(path)
    assert ids(follower.poll()) == ["a", "b"]
    append(path, b" trash\n" + decision("c"))
    assert list(follower.poll().traces) == load_traces(path)
    assert [problem.line for problem in follower.traces[0].problems] == [2]


def test_a_writer_killed_in_the_middle_costs_its_line_and_no_other(path):
    path.write_bytes(decision("a") + decision("b")[:20])
    follower = Follower(path)
    assert ids(follower.poll()) == ["a"]
    append(path, b"\n" + decision("c"))  # the next writer begins a line
    update = follower.poll()
    assert ids(update) == ["a", "c"]
    assert [problem.line for problem in update.traces[0].problems] == [2]


def test_an_event_that_comes_twice_is_a_problem_and_no_event(path):
    path.write_bytes(decision("a"))
    follower = Follower(path)
    follower.poll()
    append(path, decision("a"))
    update = follower.poll()
    assert ids(update) == ["a"]
    assert update.changes[0].is_append
    assert len(update.traces[0].problems) == 1


@pytest.mark.parametrize("mend", [b"\xef\xbb\xbf", b"\0\0"])
def test_a_file_that_has_to_be_mended_is_followed_too(mend, path):
    path.write_bytes(mend + decision("a"))
    follower = Follower(path)
    assert list(follower.poll().traces) == load_traces(path)
    append(path, decision("b") + b"\xff\n")
    assert list(follower.poll().traces) == load_traces(path)


def test_utf_16_is_followed_line_by_line(path):
    data = (decision("a", "日本") + decision("b")).decode().encode("utf-16")
    path.write_bytes(data[:-9])
    follower = Follower(path)
    assert ids(follower.poll()) == ["a"]
    assert follower.traces[0].problems == []
    append(path, data[-9:])
    assert ids(follower.poll()) == ["a", "b"]
    assert follower.traces[0].problems == []


def test_bytes_that_are_not_utf_8_are_told_with_their_line(path):
    path.write_bytes(decision("a"))
    follower = Follower(path)
    follower.poll()
    append(path, decision("b", "?").replace(b"?", b"\xff"))
    update = follower.poll()
    assert list(update.traces) == load_traces(path)
    assert "line 2" in update.traces[0].problems[0].text
