"""Following in the inspector: a reader at the end goes on with it, any other is left where they are."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import streamlit
from app_runs import checked, run
from streamlit.testing.v1 import AppTest

from context_gc import load_traces
from context_gc.inspector.following import JUMP
from context_gc.inspector.home import SAMPLES


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that the inspector was started to follow; nothing is cached by an earlier test."""
    found = tmp_path / "live.jsonl"
    monkeypatch.setenv("CONTEXT_GC_OPEN", str(found))
    monkeypatch.setenv("CONTEXT_GC_FOLLOW", "1")
    monkeypatch.delenv("CONTEXT_GC_FORMAT", raising=False)
    streamlit.cache_resource.clear()
    streamlit.cache_data.clear()
    return found


def event(name: str) -> bytes:
    return json.dumps({"id": name, "type": "decision", "timestamp": 1, "content": f"Say {name}."}).encode() + b"\n"


def called(name: str) -> bytes:
    """A turn: a call and its result."""
    call = {"id": name, "type": "tool_call", "timestamp": 1, "tool_name": "look", "arguments": {"at": name}}
    result = {"id": f"r{name}", "type": "tool_result", "timestamp": 1, "call_id": name, "result": "seen"}
    return f"{json.dumps(call)}\n{json.dumps(result)}\n".encode()


def append(path: Path, *names: str) -> None:
    with open(path, "ab") as file:
        file.writelines(map(event, names))


def page_text(app: AppTest) -> str:
    shown = [element.proto.body for element in app.get("html")]
    return "\n".join(shown + [element.proto.json for element in app.get("bidi_component")])


def labels(app: AppTest) -> set[str]:
    return {button.label for button in app.button}


def test_a_file_that_is_not_there_yet_is_waited_for(path: Path) -> None:
    app = run()
    assert "live.jsonl: the file does not exist yet (it is looked at every second)" in page_text(app)
    assert "following ·" in page_text(app)
    append(path, "a")
    assert "1 event" in page_text(checked(app.run()))


@pytest.mark.parametrize("script", ["app.py", "pages/graph.py", "pages/diff.py", "pages/receipts.py"])
def test_every_page_shows_what_was_appended(script: str, path: Path) -> None:
    append(path, "a", "b")
    app = run(script)
    assert "2 events" in page_text(app)
    append(path, "c")
    assert "3 events" in page_text(checked(app.run()))


def test_at_the_end_the_newest_event_stays_selected(path: Path) -> None:
    append(path, "a", "b")
    app = run("pages/graph.py", event="b")
    append(path, "c")
    checked(app.run())
    assert app.session_state.settings["event"] == "c"
    assert "1 new event ↓" not in labels(app)


def test_an_older_event_stays_selected_and_what_is_new_is_counted(path: Path) -> None:
    append(path, "a", "b")
    app = run("pages/graph.py", event="a")
    append(path, "c", "d")
    checked(app.run())
    assert app.session_state.settings["event"] == "a"
    append(path, "e")
    checked(app.run())
    assert "3 new events ↓" in labels(app)
    checked(app.button(key="live_end").click().run())
    assert app.session_state.settings["event"] == ""
    assert app.session_state[JUMP] == 1
    assert not any("new event" in label for label in labels(app))


@pytest.mark.parametrize(("turns", "after"), [("2-3", "2-4"), ("1-2", "1-2")])
def test_chosen_turns_go_on_only_when_they_end_at_the_end(turns: str, after: str, path: Path) -> None:
    path.write_bytes(b"".join(map(called, "abc")))
    app = run("pages/graph.py", turns=turns)
    with open(path, "ab") as file:
        file.write(called("d"))
    checked(app.run())
    assert app.session_state.settings["turns"] == after


@pytest.mark.parametrize("is_older", [False, True])
def test_a_new_context_window_is_gone_on_to_from_the_end_alone(is_older: bool, path: Path) -> None:
    lines = (SAMPLES / "kimi-undo.jsonl").read_bytes().splitlines(keepends=True)
    sizes = [len(load_traces(b"".join(lines[:size]))[0].windows) for size in range(2, len(lines) + 1)]
    first = sizes.index(2) + 1  # lines before the compaction
    path.write_bytes(b"".join(lines[:first]))
    older = load_traces(path)[0].events[3]["id"]
    app = run("pages/graph.py", **({"event": older} if is_older else {}))
    path.write_bytes(b"".join(lines))
    checked(app.run())
    assert app.session_state.settings["window"] == ("1" if is_older else "")
    assert ("window 1 of 2" if is_older else "window 2 of 2") in page_text(app)
    assert app.session_state.settings["event"] == (older if is_older else "")


def test_a_rewritten_file_is_announced_until_it_is_dismissed(path: Path) -> None:
    append(path, "a", "b")
    app = run("pages/graph.py", event="a")
    path.write_bytes(event("x") + event("y"))
    checked(app.run())
    assert "The file was rewritten: it has been read anew from its start." in page_text(app)
    assert app.session_state.settings["event"] == ""
    checked(app.button(key="dismiss_anew").click().run())
    assert "read anew" not in page_text(app)


def test_a_pause_holds_what_is_shown(path: Path) -> None:
    append(path, "a")
    app = run()
    checked(app.button(key="live_pause").click().run())
    append(path, "b")
    checked(app.run())
    assert "paused" in page_text(app)
    assert "2 events" not in page_text(app)
    assert "1 new event ↓" in labels(app)
    checked(app.button(key="live_pause").click().run())
    assert "2 events" in page_text(checked(app.run()))


def test_what_is_half_written_is_told(path: Path) -> None:
    path.write_bytes(event("a") + b'{"id": "<b>')
    assert "the last line is not whole: 11 bytes are kept back" in page_text(run())


def test_a_packed_file_says_that_it_cannot_be_followed(path: Path) -> None:
    path.write_bytes(b"\x1f\x8b\x08 packed")
    assert "a packed file cannot be followed" in page_text(run())


def test_a_named_file_can_be_followed_and_is_not_by_itself(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CONTEXT_GC_FOLLOW")
    append(path, "a")
    app = run()
    assert "following ·" not in page_text(app)
    checked(app.button(key="follow").click().run())
    assert "following ·" in page_text(app)
    assert app.query_params["follow"] == "on"


def test_a_sample_cannot_be_followed_and_the_control_says_why(path: Path) -> None:
    append(path, "a")
    control = run(trace="tour").button(key="follow")
    assert control.disabled
    assert "context-gc inspect --follow FILE" in control.help


def test_in_a_folder_the_newest_trace_is_shown_and_a_newer_one_offered(
    tmp_path: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONTEXT_GC_OPEN", str(tmp_path))
    for number, name in enumerate(("b.jsonl", "a.jsonl")):
        append(tmp_path / name, name)
        os.utime(tmp_path / name, (number, number))
    app = run()
    assert app.selectbox(key="w_trace").value == "open/a.jsonl"
    append(tmp_path / "new.jsonl", "new")
    streamlit.cache_data.clear()  # a folder is looked at every few seconds
    checked(app.run())
    assert app.selectbox(key="w_trace").value == "open/a.jsonl"
    checked(app.button(key="live_newer").click().run())
    assert app.session_state.settings["trace"] == "open/new.jsonl"
