"""Atomic files: the old contents or the new ones, never anything between."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from context_gc.atomic import locked, write_atomically

ROOT = Path(__file__).parents[1]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "file.json"


def names(path: Path) -> list[str]:
    return sorted(each.name for each in path.parent.iterdir())


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_file_is_written_whole_for_its_owner_alone(path):
    write_atomically(path, b"one")
    assert (path.read_bytes(), mode(path), names(path)) == (b"one", 0o600, ["file.json"])
    path.chmod(0o666)
    write_atomically(str(path), b"")
    assert (path.read_bytes(), mode(path), names(path)) == (b"", 0o600, ["file.json"])
    write_atomically(path, b"x", mode=0o644)
    assert mode(path) == 0o644


def test_the_version_before_is_kept_when_that_is_asked_for(path):
    for version in (b"one", b"two", b"three"):
        write_atomically(path, version, keep_previous=True)
    assert path.read_bytes() == b"three"
    assert (path.parent / "file.json.previous").read_bytes() == b"two"
    write_atomically(path, b"four")
    assert (path.parent / "file.json.previous").read_bytes() == b"two"
    assert names(path) == ["file.json", "file.json.previous"]


def test_a_kill_between_the_two_renames_leaves_nothing_behind(path):
    """Then the file and the version before it are one and the same, which rename takes as done."""
    path.write_bytes(b"one")
    os.link(path, path.parent / "file.json.previous")
    write_atomically(path, b"two", keep_previous=True)
    assert (path.parent / "file.json.previous").read_bytes() == b"one"
    assert names(path) == ["file.json", "file.json.previous"]


def test_the_version_before_is_copied_where_there_are_no_hard_links(path, monkeypatch):
    def refuse(*_: object) -> None:
        raise OSError("not supported")

    monkeypatch.setattr(os, "link", refuse)
    for version in (b"one", b"two"):
        write_atomically(path, version, keep_previous=True)
    assert (path.parent / "file.json.previous").read_bytes() == b"one"
    assert mode(path.parent / "file.json.previous") == 0o600
    assert names(path) == ["file.json", "file.json.previous"]


@pytest.mark.parametrize("step", ["replace", "fsync", "chmod"])
@pytest.mark.parametrize("keep", [True, False])
def test_what_fails_leaves_the_old_file_and_nothing_else(path, monkeypatch, step, keep):
    path.write_bytes(b"old")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(OSError, match="No space"):
        write_atomically(path, b"new", keep_previous=keep)
    assert path.read_bytes() == b"old"
    assert names(path) == ["file.json"]


def test_a_missing_folder_and_a_folder_in_the_way_are_os_errors(tmp_path):
    with pytest.raises(FileNotFoundError):
        write_atomically(tmp_path / "none" / "x", b"")
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        write_atomically(tmp_path / "folder", b"", keep_previous=True)
    assert names(tmp_path / "x") == ["folder"]


def test_a_link_is_replaced_and_never_written_through(path):
    target = path.parent / "target"
    target.write_bytes(b"kept")
    path.symlink_to(target)
    write_atomically(path, b"new")
    assert (path.read_bytes(), target.read_bytes(), path.is_symlink()) == (b"new", b"kept", False)


def test_long_names_are_written(tmp_path):
    path = tmp_path / ("n" * 240)
    write_atomically(path, b"x", keep_previous=True)
    assert path.read_bytes() == b"x"


def test_threads_take_turns(path):
    path.write_bytes(b"0")

    def work() -> None:
        for _ in range(25):
            with locked(path):
                write_atomically(path, str(int(path.read_bytes()) + 1).encode())

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert path.read_bytes() == b"150"
    assert names(path) == ["file.json", "file.json.lock"]
    assert mode(path.parent / "file.json.lock") == 0o600


COUNTING = """
import sys
from pathlib import Path
from context_gc.atomic import locked, write_atomically
path = Path(sys.argv[1])
for _ in range(40):
    with locked(path):
        write_atomically(path, str(int(path.read_bytes()) + 1).encode())
"""


def test_processes_take_turns(path):
    path.write_bytes(b"0")
    command = [sys.executable, "-c", COUNTING, str(path)]
    running = [subprocess.Popen(command, cwd=ROOT) for _ in range(4)]
    assert [process.wait() for process in running] == [0] * 4
    assert path.read_bytes() == b"160"


HOLDING = """
import sys
from context_gc.atomic import locked
with locked(sys.argv[1]):
    print("locked", flush=True)
    sys.stdin.read()
"""


def test_a_killed_process_lets_the_lock_go(path):
    command = [sys.executable, "-c", HOLDING, str(path)]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"locked\n"
        process.kill()
    with locked(path):
        pass


def test_an_error_inside_lets_the_lock_go(path):
    with pytest.raises(KeyError), locked(path):
        raise KeyError
    with locked(path):
        pass


def test_a_lock_needs_its_folder_and_follows_no_link(path):
    with pytest.raises(FileNotFoundError), locked(path.parent / "none" / "x"):
        pass
    (path.parent / "file.json.lock").symlink_to(path.parent / "elsewhere")
    with pytest.raises(OSError, match="symbolic"), locked(path):
        pass
    assert not (path.parent / "elsewhere").exists()
    assert names(path) == ["file.json.lock"]
