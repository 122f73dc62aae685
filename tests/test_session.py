"""Session: JSON in the run directory that no writer, damage or link turns into something else."""

from __future__ import annotations

import json
import os
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context_gc import ContextGCError
from context_gc.errors import SessionError
from context_gc.session import Session, run_name

GOOD = {"version": 1, "session_id": "s-1", "started_at": "2026-01-02T03:04:05+00:00", "user": None, "run_ids": ["r1"]}


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


def write(path: Path, value: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    path.write_bytes(data)
    return path


# one session


def test_a_new_session_begins_now_and_has_no_runs():
    session, other = Session.new(), Session.new("ann")
    moment = datetime.fromisoformat(session.started_at)
    assert moment.utcoffset() == timedelta(0)
    assert timedelta(-1) < datetime.now(UTC) - moment < timedelta(minutes=5)
    assert (session.run_ids, session.user, other.user) == ([], None, "ann")
    assert session.session_id != other.session_id
    assert run_name(session.session_id) == session.session_id


def test_runs_are_added_once_in_their_order():
    session = Session.new()
    for name in ("b", "a", "b", "c"):
        session.add_run(name)
    assert session.run_ids == ["b", "a", "c"]


BAD_NAMES = ["", ".", "..", ".x", "-x", "a/b", "a\\b", "a b", "a\n", "ü", "x" * 101, "a\0", "~", None, 1, ["a"]]


@pytest.mark.parametrize("name", BAD_NAMES)
def test_an_id_that_is_no_safe_name_of_a_folder_is_refused(home, name):
    session = Session.new()
    with pytest.raises(SessionError, match="the run id is"):
        session.add_run(name)
    assert session.run_ids == []
    session.run_ids.append(name)
    with pytest.raises(SessionError, match="one of run_ids"):
        session.save(home)
    assert not home.exists()


@pytest.mark.parametrize("name", ["a", "A.b-c_9", "_", "0", "x" * 100, "a..b"])
def test_any_other_id_is_taken(name):
    assert run_name(name) == name


# save and load


def test_what_is_saved_is_loaded_from_the_file_and_from_its_folder(home):
    session = Session("s", "2026-01-02T03:04:05Z", ["r1", "r2"], "Ünï \ud800")
    session.save(home)
    file = home / "session.json"
    for path in (home, file, str(home), str(file)):
        assert Session.load(path) == session
    session.save(file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    stored = json.loads(file.read_bytes())
    assert stored == {
        "version": 1,
        "session_id": "s",
        "started_at": "2026-01-02T03:04:05Z",
        "user": "Ünï \ud800",
        "run_ids": ["r1", "r2"],
    }


def test_a_new_path_is_a_file_when_it_ends_in_json_and_else_a_folder(tmp_path):
    session = Session.new()
    session.save(tmp_path / "a" / "other.json")
    session.save(tmp_path / "b" / "c")
    assert (tmp_path / "a" / "other.json").is_file()
    assert (tmp_path / "b" / "c" / "session.json").is_file()
    assert Session.load(tmp_path / "a" / "other.json") == Session.load(tmp_path / "b" / "c")


@given(st.lists(st.from_regex(r"\A[A-Za-z0-9_][A-Za-z0-9._-]{0,5}\Z")), st.none() | st.text(st.characters()))
def test_every_session_comes_back(tmp_path_factory, runs, user):
    path = tmp_path_factory.mktemp("s") / "session.json"
    session = Session.new(user)
    for name in runs:
        session.add_run(name)
    session.save(path)
    loaded = Session.load(path)
    assert loaded.run_ids == list(dict.fromkeys(runs))
    assert json.dumps(loaded.user) == json.dumps(user)


def test_two_writers_keep_the_runs_of_both(home):
    Session("s", "2026-01-02T03:04:05Z", ["r1"]).save(home)
    one, other = Session.load(home), Session.load(home)
    one.add_run("one")
    one.user = "ann"
    other.add_run("other")
    one.save(home)
    other.save(home)
    assert other.run_ids == Session.load(home).run_ids == ["r1", "one", "other"]
    assert Session.load(home).user == "ann"
    one.save(home)
    assert one.run_ids == ["r1", "one", "other"]


def test_another_session_in_the_place_is_left_alone(home):
    Session.new().save(home)
    before = (home / "session.json").read_bytes()
    with pytest.raises(SessionError, match="it holds session"):
        Session.new().save(home)
    assert (home / "session.json").read_bytes() == before


def test_unknown_keys_stay_also_when_another_program_changes_them(home):
    deep: Any = []
    for _ in range(20_000):
        deep = [deep]
    text = json.dumps(GOOD)[:-1] + ', "theme": {"b": 1, "a": 2}, "deep": ' + "[" * 20_000 + "]" * 20_000 + "}"
    write(home / "session.json", text.encode())
    session = Session.load(home)
    write(home / "session.json", text.replace('"b": 1', '"b": 9').encode())
    session.add_run("r2")
    session.save(home)
    stored = (home / "session.json").read_text()
    assert '"theme": {"b": 9, "a": 2}' in stored
    assert "[" * 20_000 in stored
    assert Session.load(home).run_ids == ["r1", "r2"]


def test_a_file_without_a_version_is_read_and_gets_one(home):
    write(home / "session.json", {key: GOOD[key] for key in ("session_id", "started_at", "run_ids")})
    session = Session.load(home)
    assert (session.user, session.run_ids) == (None, ["r1"])
    session.save(home)
    assert json.loads((home / "session.json").read_bytes())["version"] == 1


def test_the_version_before_is_kept_and_nothing_is_written_when_nothing_changed(home):
    session = Session.new()
    session.save(home)
    assert not (home / "session.json.previous").exists()
    session.add_run("r1")
    session.save(home)
    session.save(home)
    Session.load(home).save(home)
    assert Session.load(home / "session.json.previous").run_ids == []
    assert sorted(each.name for each in home.iterdir()) == [
        "session.json",
        "session.json.lock",
        "session.json.previous",
    ]


# damage


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "the session file is damaged: expecting value"),
        (b'{"session_id": "s", ', "the session file is damaged"),
        (b"\x00\x00\x00", "the session file is damaged"),
        (b"\xff\xfe{}", "it is not UTF-8"),
        (b"[]", "it holds no object"),
        (b"{}", "session_id is None"),
        (json.dumps(GOOD).encode() + b"{", "extra data"),
        (b'{"session_id": "a", "session_id": "b"}', "the key 'session_id' is there twice"),
        (b"[" * 100_000, "the session file is damaged"),
        (GOOD | {"version": 2}, "version 2 is newer than 1"),
        (GOOD | {"version": "1"}, "version is '1'"),
        (GOOD | {"version": True}, "version is True"),
        (GOOD | {"version": 0}, "version is 0"),
        (GOOD | {"session_id": "../x"}, "session_id is '../x'"),
        (GOOD | {"session_id": 7}, "session_id is 7"),
        (GOOD | {"started_at": "yesterday"}, "started_at is 'yesterday'"),
        (GOOD | {"started_at": "2026-01-02T03:04:05"}, "started_at is '2026-01-02T03:04:05'"),
        (GOOD | {"started_at": 1767323045}, "started_at is 1767323045"),
        (GOOD | {"run_ids": "r1"}, "run_ids is 'r1'"),
        (GOOD | {"run_ids": ["r1", None]}, "one of run_ids is None"),
        (GOOD | {"run_ids": ["../../etc"]}, "one of run_ids is '../../etc'"),
        (GOOD | {"user": {"name": "x"}}, r"user is \{'name': 'x'\}"),
        (GOOD | {"user": "x" * 10_000_000, "run_ids": None}, "run_ids is None"),
    ],
)
def test_a_damaged_file_is_an_error_that_names_it_and_stays_as_it_is(home, content, says):
    file = write(home / "session.json", content)
    before = file.read_bytes()
    for use in (lambda: Session.load(home), lambda: Session.new().save(home), lambda: Session.open(home)):
        with pytest.raises(SessionError, match=says) as caught:
            use()
        assert str(caught.value).startswith(f"{file}: ")
        assert len(str(caught.value)) < 500
        assert isinstance(caught.value, ValueError)
        assert isinstance(caught.value, ContextGCError)
    assert file.read_bytes() == before


def test_a_damaged_file_says_whether_the_version_before_is_there_and_never_takes_it(home):
    session = Session.new()
    session.save(home)
    session.add_run("r1")
    session.save(home)
    file = write(home / "session.json", b'{"session')
    with pytest.raises(SessionError, match=r"\(the version before it is kept beside it: session\.json\.previous\)$"):
        Session.load(home)
    (home / "session.json.previous").unlink()
    with pytest.raises(SessionError, match=r"\(no version before it is kept beside it\)$"):
        Session.load(home)
    file.unlink()
    with pytest.raises(SessionError, match=r"no such file or directory \(Session.new\(\) begins one\)$"):
        Session.load(home)


def test_what_cannot_be_read_or_written_is_a_session_error(tmp_path):
    (tmp_path / "text").write_text("x")
    os.mkfifo(tmp_path / "session.json")
    for path in (tmp_path, tmp_path / "text" / "session.json", tmp_path / "nul\0.json"):
        with pytest.raises(SessionError):
            Session.load(path)
    for path in (tmp_path, tmp_path / "text" / "home"):
        with pytest.raises(SessionError):
            Session.new().save(path)
