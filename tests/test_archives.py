"""Hostile archives: whatever a zip or gzip file claims, what unpacks of it is bounded, and the rest is read."""

from __future__ import annotations

import gzip
import io
import sys
import zipfile
import zlib

import pytest
from notation import trace

from context_gc import TraceError, UnknownFormat, load_trace, load_traces
from context_gc.canonical import readable
from context_gc.importers.files import collection

ONE = "\n".join(map(readable, trace("v1 x = 1\nv2 x = 2"))).encode()
TWO = "\n".join(map(readable, trace("d1 decision hello"))).encode()

#: where a field stands behind the signatures of a member's own header and of the one in the directory
METHOD, FLAGS, CRC, SIZE = (8, 10, 2), (6, 8, 2), (14, 16, 4), (22, 24, 4)


def zipped(*members, method=zipfile.ZIP_DEFLATED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return buffer.getvalue()


def patched(data, **fields):
    """The first member's headers with other values in these fields."""
    data = bytearray(data)
    for name, value in fields.items():
        own, listed, length = globals()[name]
        for signature, at in ((b"PK\3\4", own), (b"PK\1\2", listed)):
            place = data.index(signature) + at
            data[place : place + length] = value.to_bytes(length, "little")
    return bytes(data)


def problems(data):
    """What is told of an archive whose other members are read."""
    found = load_traces(data, "a.zip")
    assert sum(len(each.events) for each in found) == 2
    return [problem.text for problem in found[0].problems]


def test_an_archive_that_does_not_pack_its_members_is_read_as_one():
    assert [each.source for each in load_traces(zipped(("a", TWO), ("b", ONE), method=zipfile.ZIP_STORED))] == [
        "a",
        "b",
    ]


# members that cannot be read


def test_an_encrypted_member_is_told():
    assert problems(patched(zipped(("a.jsonl", TWO), ("one.jsonl", ONE)), FLAGS=1)) == [
        "a.zip/a.jsonl: it is encrypted (unpack it first) (left out)"
    ]


@pytest.mark.parametrize("size", [0, 10, len(TWO) - 1, len(TWO) + 1, 30_000_000])
def test_a_member_that_lies_about_its_size_is_told(size):
    (text,) = problems(patched(zipped(("a.jsonl", TWO), ("one.jsonl", ONE)), SIZE=size))
    assert (
        text.startswith("a.zip/a.jsonl: it ") or text == "a.jsonl: the file is empty (name a file that holds a trace)"
    )


def test_a_member_that_is_packed_in_an_unknown_way_is_told():
    (text,) = problems(patched(zipped(("a.jsonl", TWO), ("one.jsonl", ONE)), METHOD=97))
    assert "packed in a way that Python does not know" in text


def test_of_members_of_one_name_the_last_is_read():
    with pytest.warns(UserWarning, match="Duplicate name"):
        data = zipped(("one.jsonl", TWO), ("one.jsonl", ONE))
    assert problems(data) == ["several members are called 'one.jsonl' (the last was read)"]


def test_names_with_a_colon_that_are_no_drive_are_read():
    assert load_trace(zipped(("session 10:30.jsonl", ONE))).source == "session 10:30.jsonl"


# zstd


def with_zstd(data, packed):
    """An archive of a member that is packed with zstd, and of one that is not."""
    made = zipped(("a.jsonl", packed), ("one.jsonl", ONE), method=zipfile.ZIP_STORED)
    return patched(made, METHOD=collection.ZSTD, SIZE=len(data), CRC=zlib.crc32(data))


def zstd():
    if sys.version_info >= (3, 14):
        from compression import zstd as found

        return found
    return pytest.importorskip("backports.zstd", reason="the extra inspect-zstd is not installed")


def test_a_member_packed_with_zstd_is_read():
    found = load_traces(with_zstd(TWO, zstd().compress(TWO)))
    assert [len(each.events) for each in found] == [1, 2]
    assert found[0].problems == []


@pytest.mark.parametrize(
    "change", [lambda packed: packed[:-3], lambda packed: b"x" * 9, lambda packed: packed[:9] + b"!"]
)
def test_a_damaged_member_packed_with_zstd_is_told(change):
    (text,) = problems(with_zstd(TWO, change(zstd().compress(TWO))))
    assert text.startswith("a.zip/a.jsonl: it ")


def test_a_zstd_member_that_unpacks_to_more_than_it_says_is_told():
    (text,) = problems(with_zstd(TWO, zstd().compress(bytes(100_000_000))))
    assert "its checksum is wrong" in text


def test_without_the_extra_a_member_packed_with_zstd_gives_a_hint(monkeypatch):
    if sys.version_info >= (3, 14):
        pytest.skip("this Python unpacks zstd")
    monkeypatch.setitem(sys.modules, "backports", None)
    assert problems(with_zstd(TWO, b"x")) == [
        "a.zip/a.jsonl: it is packed with zstd, which Python unpacks from 3.14 on"
        " (pip install 'context-gc[inspect-zstd]') (left out)"
    ]


# bombs


def test_a_member_that_unpacks_to_far_too_much_is_refused():
    bomb = zipped(("bomb.jsonl", b"\n" * (collection.RATIO_FROM + 1)))
    with pytest.raises(TraceError, match="unpack to 33,554,433"):
        load_traces(bomb)


def test_a_gzip_file_that_unpacks_to_far_too_much_is_refused():
    with pytest.raises(TraceError, match="unpack to more than"):
        load_traces(gzip.compress(bytes(64 << 20)))


def test_many_members_that_are_too_much_together_are_read_up_to_a_limit(monkeypatch):
    monkeypatch.setattr(collection, "MOST_BYTES", 2_500)
    data = zipped(("a.jsonl", ONE), *((f"b{n}.jsonl", b" " * 1_000) for n in range(6)))
    told = problems(data)
    assert told[-1] == "more than 2,500 bytes in all: the last 3 files were not read (left out)"


@pytest.mark.parametrize(
    "pack", [lambda data: gzip.compress(data, mtime=0), lambda data: zipped(("header.json", data))]
)
def test_what_unpacks_in_members_counts_as_well(monkeypatch, pack):
    monkeypatch.setattr(collection, "MOST_BYTES", 25_000)
    inner = pack(b'{"x": "' + b"y" * 9_990 + b'"}')
    told = problems(zipped(("a.jsonl", ONE), *((f"b{n}", inner) for n in range(9))))
    assert told[-2] == "more than 25,000 bytes in all: the last 6 files were not read (left out)"


def test_an_archive_in_an_archive_is_not_opened():
    inner = zipped(("one.jsonl", ONE), method=zipfile.ZIP_STORED)
    assert problems(zipped(("inner.zip", inner), ("one.jsonl", ONE))) == [
        "1 files of no known format: inner.zip (left out)"
    ]
    for _ in range(20):
        inner = zipped(("inner.zip", inner))
    with pytest.raises(UnknownFormat, match=r"inner\.zip"):
        load_traces(inner)


def test_an_archive_of_nothing_is_said_to_be_empty():
    with pytest.raises(TraceError, match="no trace could be read: it is empty"):
        load_traces(zipped())
