"""Follow: a file that is another one by now is begun anew, and what is not there, or half there, is waited for."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest
from followed import Clock, append, decision, ids

from context_gc import TraceError, UnknownFormat, load_traces
from context_gc.follow import PATIENCE, Follower, newest


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "live.jsonl"


# another file


def test_a_rewritten_file_of_the_same_size_starts_anew(path):
    path.write_bytes(decision("a") + decision("b"))
    follower = Follower(path)
    follower.poll()
    path.write_bytes(decision("a") + decision("c"))
    update = follower.poll()
    assert (ids(update), update.anew) == (["a", "c"], "rewritten")
    assert (update.changes[0].kept, update.changes[0].before) == (0, 2)


def test_a_file_rewritten_to_a_longer_one_starts_anew(path):
    path.write_bytes(decision("a"))
    follower = Follower(path)
    follower.poll()
    path.write_bytes(decision("b") + decision("c"))
    update = follower.poll()
    assert (ids(update), update.anew) == (["b", "c"], "rewritten")


@pytest.mark.parametrize("changed", ["first", "last"])
def test_a_longer_file_that_was_another_at_its_start_or_just_before_what_is_new_starts_anew(changed, path):
    names = [f"e{number}" for number in range(200)]
    path.write_bytes(b"".join(map(decision, names)))
    follower = Follower(path)
    follower.poll()
    names[0 if changed == "first" else -1] = "x" * len(names[0 if changed == "first" else -1])
    with open(path, "r+b") as file:
        file.write(b"".join(map(decision, [*names, "new"])))
    update = follower.poll()
    assert (ids(update), update.anew) == ([*names, "new"], "rewritten")


def test_a_file_rewritten_within_one_tick_of_its_clock_starts_anew(path):
    path.write_bytes(decision("a"))
    follower = Follower(path)
    follower.poll()
    state = path.stat()
    path.write_bytes(decision("b"))
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert ids(follower.poll()) == ["b"]


def test_a_truncated_file_starts_anew_when_something_is_in_it_again(path):
    path.write_bytes(decision("a") + decision("b"))
    follower = Follower(path)
    follower.poll()
    path.write_bytes(b"")
    assert follower.poll() is None
    assert follower.told == "the file is empty"
    assert len(follower.traces[0].events) == 2
    append(path, decision("c"))
    update = follower.poll()
    assert (ids(update), update.anew) == (["c"], "truncated")


def test_a_rotated_file_starts_anew_and_the_old_one_is_left_alone(path):
    path.write_bytes(decision("a"))
    follower = Follower(path)
    follower.poll()
    os.rename(path, path.with_suffix(".1"))
    assert follower.poll() is None
    assert follower.told == "the file is gone"
    append(path.with_suffix(".1"), decision("old"))
    assert follower.poll() is None
    path.write_bytes(decision("b"))
    update = follower.poll()
    assert (ids(update), update.anew, follower.told) == (["b"], "replaced", "")


def test_a_file_replaced_by_a_longer_copy_of_itself_only_grew(path):
    path.write_bytes(decision("a"))
    follower = Follower(path)
    follower.poll()
    path.with_suffix(".new").write_bytes(decision("a") + decision("b"))
    os.replace(path.with_suffix(".new"), path)
    update = follower.poll()
    assert (ids(update), update.anew, update.changes[0].is_append) == (["a", "b"], "", True)


def test_a_touched_file_is_no_change(path):
    path.write_bytes(decision("a"))
    follower = Follower(path)
    follower.poll()
    os.utime(path, (1, 1))
    assert follower.poll() is None


def test_one_value_written_again_keeps_the_events_that_are_the_same(path):
    events = [json.loads(decision(name)) for name in "abc"]
    path.write_text(json.dumps({"events": events[:2]}))
    follower = Follower(path)
    follower.poll()
    path.write_text(json.dumps({"events": events}))
    update = follower.poll()
    assert (update.changes[0].kept, update.changes[0].before, update.anew) == (2, 2, "")


def test_one_value_written_again_with_another_type_is_another_event(path):
    event = json.loads(decision("a"))
    path.write_text(json.dumps([event | {"extra": True}]))
    follower = Follower(path)
    follower.poll()
    path.write_text(json.dumps([event | {"extra": 1}]))
    assert follower.poll().traces[0].events[0]["extra"] is not True


def test_half_a_value_leaves_what_stood_and_is_read_as_it_is_after_a_while(path):
    whole = json.dumps([json.loads(decision(name)) for name in "abcd"])
    clock = Clock()
    path.write_text(whole)
    follower = Follower(path, clock=clock)
    follower.poll()
    path.write_text(whole[:-90])
    assert follower.poll() is None
    assert follower.told == "the file is half written so far"
    assert len(follower.traces[0].events) == 4
    clock.now = PATIENCE
    assert list(follower.poll().traces) == load_traces(path)
    assert follower.told == "the file ends in the middle and has not changed for 5 s"
    assert follower.poll() is None
    path.write_text(whole)
    assert len(follower.poll().traces[0].events) == 4
    assert follower.told == ""


# nothing to read


def test_a_file_that_is_not_there_yet_is_waited_for(path):
    follower = Follower(path)
    assert follower.poll() is None
    assert follower.told == "the file does not exist yet"
    path.touch()
    assert follower.poll() is None
    assert follower.told == "the file is empty so far"
    append(path, decision("a"))
    assert ids(follower.poll()) == ["a"]


def test_nothing_new_costs_one_stat(path, monkeypatch):
    path.write_bytes(decision("a"))
    os.utime(path, (1, 1))
    follower = Follower(path)
    follower.poll()
    monkeypatch.setattr("builtins.open", lambda *_: pytest.fail("the file was opened"))
    assert follower.poll() is None


def test_a_damaged_first_line_is_no_half_written_value(path):
    path.write_bytes(b'{"id": "z", "type": tru\n' + decision("a"))
    follower = Follower(path)
    assert ids(follower.poll()) == ["a"]
    assert follower.told == ""


def test_a_format_that_shows_later_is_waited_for(path):
    path.write_bytes(b'{"note": "not yet"}\n')
    follower = Follower(path)
    assert follower.poll() is None
    assert "no trace format" in follower.told
    append(path, decision("a"))
    assert ids(follower.poll()) == ["a"]


def test_a_named_format_is_used_and_an_unknown_one_refused(path):
    path.write_text('{"role": "user", "content": "Hello"}\n')
    follower = Follower(path, "role-content")
    assert follower.poll().traces[0].format == "role-content"
    with pytest.raises(UnknownFormat, match="'rolecontent' is no format"):
        Follower(path, "rolecontent")


@pytest.mark.parametrize("data", [gzip.compress(decision("a"), mtime=0), b"PK\x03\x04rest"])
def test_a_packed_file_is_refused(data, path):
    path.write_bytes(data)
    follower = Follower(path)
    for _ in range(2):
        with pytest.raises(TraceError, match="a packed file cannot be followed"):
            follower.poll()
    path.write_bytes(decision("a"))
    assert ids(follower.poll()) == ["a"]


# folders


def test_in_a_folder_the_newest_trace_is_followed_and_a_newer_one_is_named(tmp_path):
    for number, name in enumerate(("old.jsonl", "deep/new.jsonl", "notes.txt")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"no trace" if name == "notes.txt" else decision(name))
        os.utime(tmp_path / name, (number, number))
    clock = Clock()
    follower = Follower(tmp_path, clock=clock)
    assert ids(follower.poll()) == ["deep/new.jsonl"]
    assert follower.newer is None
    (tmp_path / "newer.jsonl").write_bytes(decision("newer"))
    assert follower.poll() is None
    clock.now = 60.0
    assert follower.poll() is None
    assert follower.newer == tmp_path / "newer.jsonl"
    append(tmp_path / "deep" / "new.jsonl", decision("b"))
    assert ids(follower.poll()) == ["deep/new.jsonl", "b"]


def test_an_empty_folder_is_waited_for(tmp_path):
    clock = Clock()
    follower = Follower(tmp_path, clock=clock)
    assert newest(tmp_path) is None
    assert follower.poll() is None
    assert follower.told == "no trace is in this folder so far"
    (tmp_path / "a.jsonl").write_bytes(decision("a"))
    clock.now = 60.0
    assert ids(follower.poll()) == ["a"]
