"""The journal of what an agent asked back."""

from __future__ import annotations

import os
import stat
import sys

import pytest

from context_gc.errors import StoreError
from context_gc.recovered import NAME, Recovered, note


def test_ids_of_a_run_are_given_once_each_and_only_when_new(tmp_path):
    journal = Recovered(tmp_path, "a")
    assert journal.new() == []
    note(tmp_path, "a", ["x", "y", "x"])
    note(tmp_path, "b", ["z"])
    assert (journal.new(), journal.new()) == (["x", "y"], [])
    note(tmp_path, "a", ["é☃\n"])
    assert journal.new() == ["é☃\n"]
    assert Recovered(tmp_path, "b").new() == ["z"]


def test_a_line_that_is_being_written_is_read_when_it_is_whole(tmp_path):
    journal = Recovered(tmp_path, "a")
    note(tmp_path, "a", ["x"])
    whole = (tmp_path / NAME).read_bytes()
    (tmp_path / NAME).write_bytes(whole + whole[:20])
    assert journal.new() == ["x"]
    (tmp_path / NAME).write_bytes(whole + whole.replace(b'"x"', b'"y"'))
    assert journal.new() == ["y"]


@pytest.mark.parametrize(
    "line", [b"no json", b"7", b'{"run_id": "a"}', b'{"run_id": "a", "receipt_id": 7}', b"\xff", b"[" * 9_000]
)
def test_lines_that_are_none_are_passed_over(tmp_path, line):
    (tmp_path / NAME).write_bytes(line + b"\n")
    note(tmp_path, "a", ["x"])
    assert Recovered(tmp_path, "a").new() == ["x"]


def test_a_long_journal_is_read_to_its_end(tmp_path):
    names = [f"receipt-{number}" for number in range(30_000)]
    note(tmp_path, "a", names)
    assert Recovered(tmp_path, "a").new() == names


@pytest.mark.skipif(sys.platform == "win32", reason="it has no pipes of this kind")
def test_a_journal_that_is_no_file_gives_nothing_and_is_not_written(tmp_path):
    os.mkfifo(tmp_path / NAME)
    assert Recovered(tmp_path, "a").new() == []
    with pytest.raises(StoreError, match=NAME):
        note(tmp_path, "a", ["x"])


@pytest.mark.skipif(sys.platform == "win32", reason="it has other rights")
def test_the_journal_is_its_owners_alone(tmp_path):
    note(tmp_path, "a", ["x"])
    assert stat.S_IMODE((tmp_path / NAME).stat().st_mode) == 0o600


def test_a_folder_that_is_not_there_is_told(tmp_path):
    with pytest.raises(StoreError, match=r"cannot be written: .* \(check the folder\)"):
        note(tmp_path / "no", "a", ["x"])
