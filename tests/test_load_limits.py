"""What is read is bounded: endless sources, folders that hold anything, and memory beside the text of a file."""

from __future__ import annotations

import os
import socket
import threading
import tracemalloc

import pytest

from context_gc import TraceError, UnknownFormat, load, load_trace, load_traces
from context_gc.benchmark.recordings import RECORDINGS, lines
from context_gc.importers.files import collection
from context_gc.render import line

ONE = b'{"id": "e1", "type": "decision", "timestamp": 1, "parent_id": null, "content": "a"}'
MB = 1_000_000
MOST = {"claude-code": 9, "otlp": 16}  #: times the visible text; the bytes of such files are 2.5 and 8 times as much

needs_devices = pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="this system has no /dev/zero")
needs_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")


def problems(path):
    (found,) = load_traces(path)
    assert len(found.events) == 1
    return [problem.text for problem in found.problems]


# sources without end


@needs_devices
def test_a_device_without_end_is_one_clear_error(monkeypatch):
    monkeypatch.setattr(load, "LARGEST", 8 * MB)
    with pytest.raises(TraceError, match=r"^/dev/zero: the file is larger than 8,000,000 bytes \(split it\)"):
        load_traces("/dev/zero")
    with open("/dev/zero", "rb") as stream, pytest.raises(TraceError, match="the file is larger than"):
        load_traces(stream)


def test_a_file_that_is_too_large_is_one_clear_error(tmp_path):
    with open(tmp_path / "large", "wb") as file:
        file.truncate(load.LARGEST + 1)  # takes no room on the disk
    with pytest.raises(TraceError, match="the file is larger than 1,073,741,824 bytes"):
        load_traces(tmp_path / "large", format="native")


@needs_pipes
def test_a_pipe_is_read_to_its_end(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    thread = threading.Thread(target=lambda: pipe.write_bytes(ONE))
    thread.start()
    assert len(load_trace(pipe).events) == 1
    thread.join()


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="this system has no /proc")
def test_a_file_that_says_it_is_empty_and_is_not_is_read():
    with pytest.raises(UnknownFormat):
        load_traces("/proc/self/status")


# folders


@needs_pipes
def test_pipes_and_sockets_in_a_folder_are_told_and_not_opened(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # the path of a socket must be short
    (tmp_path / "one.jsonl").write_bytes(ONE)
    os.mkfifo(tmp_path / "a pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("b socket")
        assert problems(tmp_path) == [
            "'a pipe' is a pipe, a socket or a device (left out)",
            "'b socket' is a pipe, a socket or a device (left out)",
        ]


def test_links_in_a_circle_are_told_and_not_followed(tmp_path):
    (tmp_path / "one.jsonl").write_bytes(ONE)
    (tmp_path / "self").symlink_to(tmp_path)
    (tmp_path / "loop").symlink_to("loop")
    assert problems(tmp_path) == ["'loop' is a link (not followed)", "'self' is a link (not followed)"]


def test_a_folder_that_cannot_be_opened_is_told_and_the_others_are_read(tmp_path, monkeypatch):
    (tmp_path / "closed").mkdir()
    (tmp_path / "one.jsonl").write_bytes(ONE)
    scan = os.scandir

    def refuse(path):
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied")
        return scan(path)

    monkeypatch.setattr(os, "scandir", refuse)
    assert problems(tmp_path) == ["the folder 'closed' cannot be read: Permission denied (left out)"]


def test_a_file_that_goes_away_is_told_and_the_others_are_read(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(ONE)
    found = collection.folder(tmp_path)
    (tmp_path / "a.jsonl").unlink()
    with pytest.raises(TraceError, match="cannot be read: No such file"):
        found.document("a.jsonl")


def test_names_that_are_long_or_no_text_are_read_and_can_be_printed(tmp_path):
    long = "x" * 240 + ".jsonl"
    (tmp_path / long).write_bytes(ONE)
    odd = os.fsencode(tmp_path) + b"/\xff\n.jsonl"
    try:
        with open(odd, "wb") as file:
            file.write(ONE)
    except OSError:
        pytest.skip("names on this system are text")
    found = load_traces(tmp_path)
    assert [trace.source for trace in found] == [long, "\\udcff\n.jsonl"]
    assert load_trace(os.fsdecode(odd)).source.endswith("/\\udcff\n.jsonl")


def test_folders_deeper_than_the_limit_are_told(tmp_path):
    (tmp_path / "one.jsonl").write_bytes(ONE)
    deep = tmp_path.joinpath(*"abcdefghijklmnop")
    deep.mkdir(parents=True)
    (deep / "two.jsonl").write_bytes(ONE)
    assert problems(tmp_path) == ["folders more than 12 deep (left out)"]


def test_files_that_are_too_much_together_are_read_up_to_a_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(collection, "MOST_BYTES", 50)
    for name in ("a", "b", "c"):
        (tmp_path / name).write_bytes(ONE)
    assert problems(tmp_path) == ["more than 50 bytes in all: the last 2 files were not read (left out)"]


# memory


@pytest.mark.parametrize("name", [*RECORDINGS])
def test_reading_takes_little_memory_beside_the_text(tmp_path, name):
    path = tmp_path / "recording.jsonl"
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.writelines(text + "\n" for text in lines(name, 4 * MB))
    load_traces(path)
    tracemalloc.start()
    traces = load_traces(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    events = [event for trace in traces for event in trace.events if "repeats" not in event]
    visible = sum(len(line(event).encode()) for event in events)
    assert len(events) > 100
    size = os.path.getsize(path)
    assert peak < 5 * size
    assert peak < MOST.get(name, 6) * visible
