"""The replay page says what a call would have been sent, keeps the call in the link, and tells what is missing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import streamlit
from app_runs import run
from streamlit.testing.v1 import AppTest

SAMPLE = "claude-code-session"
PAGE = "pages/replay.py"


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CONTEXT_GC_OPEN", raising=False)
    streamlit.cache_resource.clear()
    streamlit.cache_data.clear()


def given(app: AppTest, name: str) -> list[dict[str, Any]]:
    """The data that the components of a name were given."""
    found = [each.proto for each in app.get("bidi_component")]
    return [json.loads(each.json) for each in found if each.component_name == name]


def words(app: AppTest) -> str:
    return "\n".join(element.proto.body for element in app.get("html"))


def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *events: dict[str, Any], **about: Any) -> None:
    (tmp_path / "a.json").write_text(json.dumps({"events": list(events), **about}))
    monkeypatch.setenv("CONTEXT_GC_OPEN", str(tmp_path))


def test_the_last_call_is_shown_at_first_and_no_call_is_in_the_link() -> None:
    app = run(PAGE, trace=SAMPLE)
    (film,) = given(app, "context_gc_replay")
    (reply,) = given(app, "context_gc_replay_reply")
    assert reply["call"] == len(film["calls"])
    assert reply["end"]
    assert "call" not in app.query_params


def test_the_call_of_a_link_is_shown_and_stays_in_it() -> None:
    app = run(PAGE, trace=SAMPLE, call="5")
    assert given(app, "context_gc_replay_reply")[0]["call"] == 5
    assert app.query_params["call"] == "5"


@pytest.mark.parametrize("call", ["999999", "0", "-3", "x", "１"])
def test_a_call_that_does_not_exist_is_taken_for_the_nearest_or_the_last(call: str) -> None:
    app = run(PAGE, trace=SAMPLE, call=call)
    found = given(app, "context_gc_replay_reply")[0]["call"]
    assert found == (1 if call == "0" else len(given(app, "context_gc_replay")[0]["calls"]))


def test_the_selected_event_is_told_with_its_window_and_place() -> None:
    film = given(run(PAGE, trace=SAMPLE), "context_gc_replay")[0]
    event = film["events"][3][2]
    app = run(PAGE, trace=SAMPLE, event=event)
    assert given(app, "context_gc_replay_reply")[0]["selected"] == [0, 3]
    assert given(run(PAGE, trace=SAMPLE, event="none of them"), "context_gc_replay_reply")[0]["selected"] is None


def test_a_trace_without_model_calls_says_so_and_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened(tmp_path, monkeypatch, {"id": "a", "type": "requirement", "timestamp": 1, "content": "Only a wish"})
    app = run(PAGE, trace="open/a.json")
    assert given(app, "context_gc_replay") == []
    assert "It has no model call. Nothing was written by a model in it. Open the log" in words(app)


def test_one_call_alone_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened(tmp_path, monkeypatch, {"id": "a", "type": "decision", "timestamp": 1, "content": "Hello"})
    (film,) = given(run(PAGE, trace="open/a.json"), "context_gc_replay")
    assert [(call["sent"], call["wrote"]) for call in film["calls"]] == [(0, [0])]


def test_an_unknown_model_has_no_costs_and_the_page_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    event = {"id": "a", "type": "decision", "timestamp": 1, "content": "Hello"}
    opened(tmp_path, monkeypatch, event, model="made-up-9")
    (film,) = given(run(PAGE, trace="open/a.json"), "context_gc_replay")
    assert "no prices are known for made-up-9" in film["prices"]
    (priced,) = given(run(PAGE, trace="open/a.json", prices="claude-sonnet-4-5"), "context_gc_replay")
    assert "cost" in priced["calls"][0]
    assert "cost" not in film["calls"][0]


def test_another_policy_is_another_replay_and_another_call_is_not() -> None:
    first, moved = (given(run(PAGE, trace=SAMPLE, call=call), "context_gc_replay")[0] for call in ("2", "7"))
    other = given(run(PAGE, trace=SAMPLE, stages="none"), "context_gc_replay")[0]
    assert first == moved
    assert first["version"] != other["version"]
