"""Folders and zip archives are read as collections: what is a trace in them is read, the rest is counted."""

from __future__ import annotations

import io
import os
import stat
import zipfile

import pytest
from notation import trace

from context_gc import TraceError, UnknownFormat, load_trace, load_traces
from context_gc.canonical import readable
from context_gc.importers.files import collection

ONE = "\n".join(map(readable, trace("v1 x = 1\nv2 x = 2"))).encode()
TWO = "\n".join(map(readable, trace("d1 decision hello"))).encode()


def zipped(members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return buffer.getvalue()


def test_a_folder_gives_the_traces_of_its_files_in_order(tmp_path):
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "one.jsonl").write_bytes(ONE)
    (tmp_path / "a.jsonl").write_bytes(TWO)
    (tmp_path / "notes.txt").write_text("dear diary")
    (tmp_path / ".hidden.jsonl").write_bytes(ONE)
    found = load_traces(tmp_path)
    assert [(each.source, len(each.events)) for each in found] == [("a.jsonl", 1), ("b/one.jsonl", 2)]
    assert [problem.text for problem in found[0].problems] == ["1 files of no known format: notes.txt (left out)"]


def test_a_zip_gives_the_traces_of_its_members(tmp_path):
    data = zipped([("x/one.jsonl", ONE), ("two.jsonl", TWO), ("x/", b"")])
    assert [each.source for each in load_traces(data)] == ["two.jsonl", "x/one.jsonl"]
    assert load_trace(zipped([("one.jsonl", ONE)])).events == trace("v1 x = 1\nv2 x = 2")


def test_a_damaged_file_is_reported_and_the_others_are_read(tmp_path):
    (tmp_path / "good.jsonl").write_bytes(ONE)
    (tmp_path / "empty.jsonl").write_bytes(b"")
    (found,) = load_traces(tmp_path)
    assert [problem.text for problem in found.problems] == [
        "empty.jsonl: the file is empty (name a file that holds a trace) (left out)"
    ]


def test_a_link_is_not_followed(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "out.jsonl").write_bytes(TWO)
    (tmp_path / "in" / "one.jsonl").write_bytes(ONE)
    os.symlink(tmp_path / "out.jsonl", tmp_path / "in" / "link.jsonl")
    (found,) = load_traces(tmp_path / "in")
    assert "'link.jsonl' is a link (not followed)" in [problem.text for problem in found.problems]


@pytest.mark.parametrize(
    "name",
    ["../one.jsonl", "/etc/one.jsonl", "a/../../one.jsonl", "..\\one.jsonl", "C:/one.jsonl", "c:one.jsonl", "\\\\a\\b"],
)
def test_a_member_whose_path_leads_out_is_left_out(name):
    (found,) = load_traces(zipped([(name, TWO), ("one.jsonl", ONE)]))
    assert len(found.events) == 2
    assert "leads out of the archive" in found.problems[0].text


def test_a_member_that_is_a_link_is_left_out():
    buffer = io.BytesIO(zipped([("one.jsonl", ONE)]))
    with zipfile.ZipFile(buffer, "a") as archive:
        link = zipfile.ZipInfo("link.jsonl")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
    (found,) = load_traces(buffer.getvalue())
    assert "is a link" in found.problems[0].text


@pytest.mark.parametrize("cut", [4, 30, 60, -30, -5])
def test_a_damaged_zip_is_one_clear_error(cut):
    with pytest.raises(TraceError):
        load_traces(zipped([("one.jsonl", ONE * 50)])[:cut])


def test_a_flipped_byte_in_a_member_is_reported():
    data = bytearray(zipped([("one.jsonl", ONE * 50), ("two.jsonl", TWO)]))
    data[45] ^= 0xFF
    (found,) = load_traces(bytes(data))
    assert found.source == "two.jsonl"
    assert "one.jsonl" in found.problems[0].text


def test_more_files_than_the_limit_are_left_out_and_told(tmp_path, monkeypatch):
    monkeypatch.setattr(collection, "MOST_FILES", 2)
    for number in range(4):
        (tmp_path / f"{number}.jsonl").write_bytes(ONE)
    found = load_traces(tmp_path)
    assert len(found) == 2
    assert "more than 2 files" in found[0].problems[0].text


def test_a_named_format_is_read_whatever_the_file_looks_like():
    assert load_trace(ONE, format="native").format == "native"
    with pytest.raises(UnknownFormat, match="'nothing' is no format"):
        load_traces(ONE, format="nothing")
    with pytest.raises(TraceError):
        load_traces(b'{"type": "summary", "summary": "x", "sessionId": "s", "uuid": "u"}', format="native")
