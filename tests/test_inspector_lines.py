"""A place of a file as raw text: the line that is meant, its neighbours and the column, cut to what can be read."""

from __future__ import annotations

import gzip
import io
import json
import os
import zipfile
from pathlib import Path

import pytest
import streamlit
from app_runs import run
from streamlit.testing.v1 import AppTest

from context_gc import TraceError
from context_gc.inspector.line_data import CUT, excerpt, is_place, place_of_origin, place_of_problem, words_of
from context_gc.trace import Problem

FILE = "\n".join(f"line {number}" for number in range(1, 21)).encode()


def shown(data: bytes, place: str, member: str = "") -> list[str]:
    return excerpt(data, "file", member, place).text.split("\n")


def test_a_line_stands_between_its_neighbours() -> None:
    assert shown(FILE, "10") == ["   8 │ line 8", "   9 │ line 9", "▶ 10 │ line 10", "  11 │ line 11", "  12 │ line 12"]


def test_at_the_ends_of_the_file_there_are_fewer_neighbours() -> None:
    assert shown(FILE, "1")[0] == "▶ 1 │ line 1"
    assert shown(FILE, "20")[-1] == "▶ 20 │ line 20"


@pytest.mark.parametrize("column", [1, 150, 201, 500, 999, 1_000])
def test_the_column_is_marked_below_its_character_also_where_the_line_is_cut(column: int) -> None:
    line = "".join(chr(0x4E00 + number) for number in range(1_000))
    first, mark = shown(line.encode(), f"1:{column}")[:2]
    assert first[mark.index("▲")] == line[column - 1]
    assert len(first) <= CUT + 10


def test_a_long_line_is_cut_and_its_length_told() -> None:
    found = excerpt(b"x" * 5_000 + b"\nshort", "file", "", "1")
    assert found.text.split("\n")[0] == "▶ 1 │ " + "x" * CUT + "…"
    assert found.told == "5,000 characters, 400 of them shown"


def test_control_characters_are_made_visible() -> None:
    assert shown(b"a\x1b[31m\tb", "1") == ["▶ 1 │ a␛[31m␉b"]


def test_packed_and_mended_files_are_counted_as_the_importer_counted_them() -> None:
    assert shown(gzip.compress(FILE), "2")[1] == "▶ 2 │ line 2"
    assert shown("one\ntwo".encode("utf-16"), "2")[1] == "▶ 2 │ two"


def test_a_member_of_an_archive_is_looked_into() -> None:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("deep/a.jsonl", FILE)
    assert "▶ 3 │ line 3" in shown(data.getvalue(), "3", "deep/a.jsonl")
    with pytest.raises(TraceError, match="packed"):
        excerpt(data.getvalue(), "file", "other", "3")


def test_a_record_of_json_is_found_by_its_path() -> None:
    data = json.dumps({"messages": [{"a": 1}, {"b": "ü"}]}).encode()
    assert json.loads("\n".join(shown(data, "/messages/1"))) == {"b": "ü"}
    assert json.loads("\n".join(shown(b'["x", {"a": 1}]', "/1"))) == {"a": 1}


@pytest.mark.parametrize("place", ["21", "0", "/a", "/0/1"])
def test_a_place_that_is_not_there_says_so(place: str) -> None:
    with pytest.raises(TraceError, match="there is no"):
        excerpt(FILE, "file", "", place)


@pytest.mark.parametrize(
    ("problem", "place"),
    [
        (Problem(3, "not JSON: expecting value at column 17 (line skipped)"), "3:17"),
        (Problem(3, "field 'message' is missing (skipped)"), "3"),
        (Problem(None, "element 4: a string where an object was expected (skipped)"), "/4"),
        (Problem(None, "2 NUL bytes (removed)"), ""),
    ],
)
def test_the_place_of_a_problem(problem: Problem, place: str) -> None:
    assert place_of_problem(problem) == place
    assert not place or is_place(place)


@pytest.mark.parametrize(
    ("origin", "place"),
    [({"line": 7, "block": 1}, "7"), ({"path": "messages/3"}, "/messages/3"), ({"index": 2}, "/2"), ({}, ""),
     (None, ""), ("x", ""), ({"line": True}, ""), ({"path": "x" * 500}, "")],
)  # fmt: skip
def test_the_place_of_an_event(origin: object, place: str) -> None:
    assert place_of_origin(origin) == place


def test_places_are_told_in_words() -> None:
    assert [words_of(place) for place in ("1234", "12:7", "/3")] == ["line 1,234", "line 12, column 7", "record 3"]


@pytest.mark.parametrize("place", ["", "x", "1:2:3", "-1", "1" * 12, "/" + "x" * 500, "/a\nb", "１"])
def test_what_is_no_place_is_refused(place: str) -> None:
    assert not is_place(place)


# on the pages


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    found = tmp_path / "damaged.jsonl"
    event = '{"id": "a", "type": "decision", "timestamp": 1, "content": "Hello", "origin": {"line": 1}}'
    found.write_text(event + '\n{"id": "b", tru}\n')
    monkeypatch.setenv("CONTEXT_GC_OPEN", str(found))
    for name in ("FOLLOW", "FORMAT"):
        monkeypatch.delenv(f"CONTEXT_GC_{name}", raising=False)
    streamlit.cache_resource.clear()
    streamlit.cache_data.clear()
    return found


def page_text(app: AppTest) -> str:
    shown = [element.proto.body for element in app.get("html")]
    return "\n".join(shown + [element.proto.json for element in app.get("bidi_component")])


def codes(app: AppTest) -> str:
    return "\n".join(code.value for code in app.code)


def test_a_problem_is_listed_with_what_was_done_and_a_link_to_its_line(path: Path) -> None:
    told = page_text(run())
    assert '"go": {"line": "2:13"}' in told
    assert "line skipped" in told


def test_the_panel_shows_the_line_on_the_overview_and_beside_its_event(path: Path) -> None:
    assert '▶ 2 │ {"id": "b", tru}' in codes(run(line="2:12"))
    assert '▶ 1 │ {"id": "a"' in codes(run("pages/graph.py", event="a", line="1"))
    assert "▶" not in codes(run("pages/graph.py", event="a"))


def test_a_line_that_is_not_there_is_one_sentence(path: Path) -> None:
    assert "damaged.jsonl: there is no line 99 (it has 3)" in page_text(run(line="99"))


def test_a_file_that_changed_since_says_so(path: Path) -> None:
    app = run()
    streamlit.cache_data.clear()
    opened = path.stat()
    app.session_state.settings["line"] = "1"
    path.write_text(path.read_text().replace("Hello", "Howdy"))
    os.utime(path, ns=(opened.st_atime_ns, opened.st_mtime_ns))
    assert "the file has changed since it was read" in page_text(app.run())


def test_an_upload_shows_its_lines_too(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CONTEXT_GC_OPEN")
    app = run()
    app.file_uploader(key="upload_first").set_value([("up.jsonl", path.read_bytes(), "text/plain")]).run()
    app.session_state.settings["line"] = "2"
    assert '▶ 2 │ {"id": "b", tru}' in codes(app.run())


def test_what_was_left_out_on_purpose_is_counted_by_kind(path: Path) -> None:
    told = page_text(run(trace="claude-code-session"))
    assert "left out on purpose, by kind:" in told
    assert "file-history-snapshot" in told
