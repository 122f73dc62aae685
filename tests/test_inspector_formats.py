"""The choice of a format: what was detected is named, another can be chosen, and there is always a way back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import streamlit
from app_runs import checked, run
from streamlit.testing.v1 import AppTest

from context_gc import load_traces
from context_gc.errors import ContextGCError
from context_gc.importers import IMPORTERS
from context_gc.inspector.formats import title
from context_gc.inspector.home import SAMPLES
from context_gc.inspector.traces import SUFFIXES

NATIVE = {"id": "a", "type": "decision", "timestamp": 1, "content": "Hello"}
CLAUDE = {"type": "user", "uuid": "u", "sessionId": "s", "message": {"role": "user", "content": "Hello"}}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that is open: a file that two formats claim, and one that none does."""
    monkeypatch.setenv("CONTEXT_GC_OPEN", str(tmp_path))
    for name in ("FOLLOW", "FORMAT"):
        monkeypatch.delenv(f"CONTEXT_GC_{name}", raising=False)
    streamlit.cache_resource.clear()
    streamlit.cache_data.clear()
    (tmp_path / "two.jsonl").write_text(json.dumps(NATIVE) + "\n" + json.dumps(CLAUDE) + "\n")
    (tmp_path / "none.jsonl").write_text('{"speaker": "me"}\n')
    (tmp_path / "claude.jsonl").write_text(json.dumps(CLAUDE) + "\n")
    return tmp_path


def page_text(app: AppTest) -> str:
    shown = [element.proto.body for element in app.get("html")]
    return "\n".join(shown + [element.proto.json for element in app.get("bidi_component")])


def choose(app: AppTest, name: str) -> AppTest:
    return checked(app.selectbox(key="w_format").select(name).run())


def test_what_was_detected_stands_first() -> None:
    app = run(trace="open/claude.jsonl")
    options = app.selectbox(key="w_format").options
    assert options[0] == "detected: Claude Code"
    assert options[1:] == [title(importer.name) for importer in IMPORTERS]


def test_a_chosen_format_is_used_on_every_page_and_part_of_the_link() -> None:
    app = choose(run(trace="open/two.jsonl"), "native")
    assert app.query_params["format"] == "native"
    assert "1 event" in page_text(app)
    assert "1 event" in page_text(run("pages/graph.py", trace="open/two.jsonl", format="native"))


def test_a_file_that_two_claim_names_both_and_offers_the_choice() -> None:
    app = run(trace="open/two.jsonl")
    assert "the formats native and claude-code both claim this file" in page_text(app)
    assert app.selectbox(key="w_format").options[0] == "detected: Native and Claude Code"
    assert "1 turn" in page_text(choose(app, "claude-code"))


def test_a_wrong_choice_gives_its_error_and_the_way_back() -> None:
    app = choose(run(trace="open/claude.jsonl"), "native")
    assert "none of its 1 events is whole" in page_text(app)
    assert app.selectbox(key="w_format").options[0] == "detected: Claude Code"
    back = next(button for button in app.button if button.label == "Read it as detected")
    checked(back.click().run())
    assert "1 turn" in page_text(app)
    assert "format" not in app.query_params


def test_a_choice_is_kept_for_its_file_and_for_no_other() -> None:
    app = choose(run(trace="open/two.jsonl"), "native")
    checked(app.selectbox(key="w_trace").select("open/claude.jsonl").run())
    assert app.session_state.settings["format"] == ""
    assert "1 turn" in page_text(app)
    checked(app.selectbox(key="w_trace").select("open/two.jsonl").run())
    assert app.session_state.settings["format"] == "native"
    assert "1 event" in page_text(app)


def test_an_upload_that_nothing_claims_can_be_read_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CONTEXT_GC_OPEN")
    app = run()
    files = [("two.jsonl", (json.dumps(NATIVE) + "\n" + json.dumps(CLAUDE)).encode(), "text/plain")]
    checked(app.file_uploader(key="upload_first").set_value(files).run())
    assert "both claim this file" in page_text(app)
    checked(app.button(key="rescue0").click().run())
    assert app.selectbox(key="w_format").options[0] == "detected: Native and Claude Code"
    assert "1 event" in page_text(choose(app, "native"))


def test_the_format_named_at_start_is_used_and_can_be_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTEXT_GC_FORMAT", "native")
    app = run(trace="open/two.jsonl")
    assert "1 event" in page_text(app)
    options = app.selectbox(key="w_format").options
    assert options[:2] == ["as started: Native", "detected: Native and Claude Code"]
    assert "both claim" in page_text(choose(app, "detect"))


def test_a_format_that_no_importer_has_is_left_out_of_a_link() -> None:
    assert "1 turn" in page_text(run(trace="open/claude.jsonl", format="<b>"))


def test_a_file_that_is_gone_offers_no_format() -> None:
    app = run(trace="open/gone.jsonl")
    assert "is not in the folder" in page_text(app)
    assert not [box for box in app.selectbox if box.key == "w_format"]


@pytest.mark.parametrize("importer", [importer.name for importer in IMPORTERS])
def test_no_format_breaks_on_the_samples_of_another(importer: str) -> None:
    for path in sorted(path for path in SAMPLES.iterdir() if path.suffix in SUFFIXES):
        try:
            traces = load_traces(path, format=importer)
        except ContextGCError:
            continue
        assert all(trace.windows for trace in traces)
