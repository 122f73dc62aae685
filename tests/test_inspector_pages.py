"""Every page runs over samples, links, uploads and bad files without an exception, and says what it is about."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import streamlit
from app_runs import ROOT, checked, run
from streamlit.testing.v1 import AppTest

from context_gc import Policy, load_traces
from context_gc.inspector.home import PAGES, SAMPLES
from context_gc.inspector.in_force import policy
from context_gc.inspector.settings import DEFAULTS
from context_gc.inspector.traces import SUFFIXES
from context_gc.meter import event_tokens
from context_gc.policy import DEFAULT_STAGES, KNOWN_STAGES
from context_gc.tokens import COUNTERS

SCRIPTS = [script for script, title in PAGES if title != "Sessions"]  #: those that look at one trace
SAMPLE = "claude-code-session"
PRUNED = "toolu_01KQ3DKRFCPYJALQXLPJRJ"


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """No file named at start, nothing cached by an earlier test."""
    monkeypatch.delenv("CONTEXT_GC_OPEN", raising=False)
    streamlit.cache_resource.clear()
    streamlit.cache_data.clear()


def page_text(app: AppTest) -> str:
    """What st.html and our components were given to show."""
    shown = [element.proto.body for element in app.get("html")]
    return "\n".join(shown + [element.proto.json for element in app.get("bidi_component")])


def settings(app: AppTest) -> dict[str, Any]:
    found: dict[str, Any] = app.session_state.settings
    return found


@pytest.mark.parametrize("script", SCRIPTS)
def test_without_a_trace_a_page_says_what_to_do(script: str) -> None:
    app = run(script)
    assert "Open a trace" in page_text(app)
    assert app.get("file_uploader")
    assert {button.label for button in app.button} >= {"claude code session"}


@pytest.mark.parametrize("sample", sorted(path.stem for path in SAMPLES.iterdir() if path.suffix in SUFFIXES))
@pytest.mark.parametrize("script", SCRIPTS)
def test_every_page_shows_every_sample(script: str, sample: str) -> None:
    app = run(script, trace=sample)
    assert re.search(r"\d+ turns?", page_text(app))


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_link_opens_a_page_cold_at_an_event(script: str) -> None:
    app = run(script, trace=SAMPLE, event=PRUNED, stages=["dead-branches"], stubs="described")
    assert settings(app)["event"] == PRUNED
    assert settings(app)["stages"] == ("dead-branches",)
    told = {key: app.query_params[key] for key in ("trace", "event", "stages", "stubs")}
    assert told == {"trace": SAMPLE, "event": PRUNED, "stages": "dead-branches", "stubs": "described"}


def test_a_sample_button_opens_the_sample() -> None:
    app = run()
    checked(app.button(key="sample0").click().run())
    assert settings(app)["trace"] == min(path.stem for path in (ROOT / "sample_traces").iterdir())
    assert "None of them are dead" not in page_text(app)


def test_the_first_thing_on_the_overview_is_the_answer() -> None:
    app = run(trace=SAMPLE)
    assert re.search(r"17 turns, [\d,]+ tokens\. [\d,]+ of them \([\d.]+ %\) are dead", page_text(app))


def test_a_stage_switch_tells_what_it_saves_on_and_off() -> None:
    app = run(trace=SAMPLE, stages=DEFAULT_STAGES)
    on = app.toggle(key="s_dead-branches")
    label = on.label
    assert re.fullmatch(r"dead branches · −\d+", label)
    checked(on.set_value(False).run())
    assert app.toggle(key="s_dead-branches").label == label
    assert "None of them are dead" in page_text(app)


def test_every_stage_has_a_switch_and_all_but_clip_are_on_at_first() -> None:
    app = run(trace=SAMPLE)
    assert {name: app.toggle(key=f"s_{name}").value for name in KNOWN_STAGES} == {
        name: name != "clip" for name in KNOWN_STAGES
    }


def test_one_click_sets_the_stages_of_the_library() -> None:
    app = run(trace=SAMPLE)
    checked(app.button(key="documented_defaults").click().run())
    assert policy(settings(app), "") == Policy()
    assert app.button(key="documented_defaults").disabled


def test_reset_puts_the_policy_back() -> None:
    app = run(trace=SAMPLE, stages="none", stubs="none", types="none", counter="chars4")
    assert settings(app)["stages"] == ()
    checked(next(button for button in app.button if button.label == "Reset").click().run())
    assert {key: settings(app)[key] for key in ("stages", "stubs", "types", "counter")} == {
        key: DEFAULTS[key] for key in ("stages", "stubs", "types", "counter")
    }


def test_a_pinned_event_stays_and_is_part_of_the_policy() -> None:
    app = run("pages/graph.py", trace=SAMPLE, event=PRUNED)
    checked(next(button for button in app.button if button.label == "Pin").click().run())
    assert settings(app)["pins"] == (PRUNED,)
    assert policy(settings(app), "").protect_ids == (PRUNED,)
    assert "Kept because of id=" in page_text(app)
    assert "Unpin" in {button.label for button in app.button}


def test_recover_shows_the_original_with_its_digest_checked_and_hides_it_again() -> None:
    app = run("pages/graph.py", trace=SAMPLE, event=PRUNED)
    checked(next(button for button in app.button if button.label == "Recover").click().run())
    assert re.search(r"Recovered 1 event: sha256 [0-9a-f]{16}… matches", page_text(app))
    assert any("CALL Edit" in element.value for element in app.code)
    checked(next(button for button in app.button if button.label == "Hide original").click().run())
    assert "Recovered" not in page_text(app)


def test_what_makes_no_sense_in_a_link_is_left_out() -> None:
    app = run(trace=SAMPLE, stages="no-such-stage", stubs="<b>", limit="-5", window="x", counter="?", by="nothing")
    kept = {key: settings(app)[key] for key in ("stages", "stubs", "limit", "window", "counter", "by")}
    assert kept == {key: DEFAULTS[key] for key in kept}


def test_the_exported_policy_is_the_one_that_is_shown() -> None:
    app = run(trace=SAMPLE, stages=["overrides", "cycles"], tags=["pin", "a,b"], stubs="worthwhile")
    shown = policy(settings(app), "claude-opus-4-6")
    assert Policy.from_toml(shown.to_toml()) == shown
    assert (shown.stages, shown.protect_tags, shown.counter) == (("overrides", "cycles"), ("pin", "a,b"), "claude")


def test_uploads_are_opened_and_bad_ones_told(tmp_path: Path) -> None:
    app = run()
    events = [{"id": "a", "type": "decision", "timestamp": 1, "content": "Hello"}, {"id": "b", "type": "?"}]
    good = "\n".join(map(json.dumps, events)).encode()
    files = [("good.jsonl", good, "application/json"), ("bad.txt", b"no trace", "text/plain")]
    checked(app.file_uploader(key="upload_first").set_value(files).run())
    told = page_text(app)
    assert "bad.txt: this is no trace format" in told
    assert "1 event" in told
    checked(app.switch_page("pages/graph.py").run())
    assert "bad.txt: this is no trace format" in page_text(app)
    checked(app.button(key="dismiss_refused").click().run())
    assert "bad.txt" not in page_text(app)
    checked(app.switch_page("app.py").run())
    told = page_text(app)
    assert "1 problem" in told
    assert re.fullmatch(r"[0-9a-f]{12}", settings(app)["trace"])


def test_an_upload_stays_open_on_another_page_and_in_a_link() -> None:
    app = run()
    line = b'{"id": "a", "type": "decision", "timestamp": 1, "content": "Hello"}\n'
    checked(app.file_uploader(key="upload_first").set_value([("one.jsonl", line, "application/json")]).run())
    key = settings(app)["trace"]
    assert "1 turn" in page_text(run("pages/graph.py", trace=key))


def test_a_link_to_a_file_that_is_not_here_says_so() -> None:
    app = run(trace="0123456789ab")
    assert "it names a file that is not open on this server" in page_text(app)


def test_a_folder_named_at_start_lists_its_files_and_nothing_above(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = '{"id": "a", "type": "decision", "timestamp": 1, "content": "Hello"}\n'
    (tmp_path / "secret.jsonl").write_text(line)
    folder = tmp_path / "open"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "one.jsonl").write_text(line)
    (folder / "out.jsonl").symlink_to(tmp_path / "secret.jsonl")
    monkeypatch.setenv("CONTEXT_GC_OPEN", str(folder))
    app = run()
    offered = app.selectbox(key="w_trace").options
    assert "deep/one.jsonl" in offered
    assert not any("secret" in name or "out" in name for name in offered)
    assert settings(app)["trace"] == ""
    for outside in ("open/../secret.jsonl", "open/out.jsonl", "../secret"):
        streamlit.cache_data.clear()
        assert "1 turn" not in page_text(run(trace=outside))


def test_files_whose_names_look_alike_can_be_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for end in ("a", "b"):
        (tmp_path / f"{'long' * 30}{end}.jsonl").write_text(
            '{"id": "x", "type": "error", "timestamp": 1, "message": "m"}'
        )
    monkeypatch.setenv("CONTEXT_GC_OPEN", str(tmp_path))
    offered = run().selectbox(key="w_trace").options
    assert len(set(offered)) == len(offered)


def test_a_file_that_cannot_be_read_gives_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "empty.jsonl").write_bytes(b"")
    monkeypatch.setenv("CONTEXT_GC_OPEN", str(tmp_path / "empty.jsonl"))
    app = run()
    assert "empty.jsonl: " in page_text(app)
    assert app.selectbox(key="w_trace").options


def test_a_window_is_chosen_and_the_last_is_the_default() -> None:
    corpus = ROOT.parent / "shared" / "corpus" / "claude_code"
    session = corpus / "spotter-8463c716.jsonl"
    if not session.is_file():
        pytest.skip(f"the recorded session is not there: {session.name} of the shared corpus")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CONTEXT_GC_OPEN", str(session))
        app = run()
        assert "window 2 of 2" in page_text(app)
        assert "window 1 of 2" in page_text(checked(app.selectbox(key="w_window").select("1").run()))


def test_no_text_of_a_trace_is_given_to_markdown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mark = "ZZmarkZZ"
    events: list[dict[str, Any]] = [
        {"id": f"{mark}{turn}", "type": "tool_call", "timestamp": turn, "tool_name": mark, "arguments": {"path": mark},
         "tags": [mark]}
        for turn in range(2)
    ]  # fmt: skip
    events += [
        {"id": f"{mark}r{turn}", "type": "tool_result", "timestamp": 5, "call_id": f"{mark}{turn}", "result": mark}
        for turn in range(2)
    ]
    (tmp_path / f"{mark}.jsonl").write_text(json.dumps({"events": events, "title": mark, "model": mark}))
    monkeypatch.setenv("CONTEXT_GC_OPEN", str(tmp_path))
    for script in SCRIPTS:
        app = run(script, event=f"{mark}1")
        for kind in (
            "markdown",
            "caption",
            "metric",
            "title",
            "header",
            "subheader",
            "button",
            "page_link",
            "expander",
        ):
            for element in app.get(kind):
                assert mark not in str(getattr(element, "proto", element)).split("query_string")[0], (script, kind)
        for widget in (*app.toggle, *app.selectbox, *app.multiselect, *app.text_input, *app.button, *app.number_input):
            assert mark not in f"{widget.label} {widget.help}", (script, widget.label)
        assert mark in page_text(app)


def test_the_receipt_counts_tokens_as_the_view_does() -> None:
    (event,) = [event for event in load_traces(SAMPLES / f"{SAMPLE}.jsonl")[0].events if event["id"] == PRUNED]
    sizes = {name: event_tokens(event, COUNTERS[name]) for name in ("chars4", "claude", "o200k")}
    assert len(set(sizes.values())) == 3
    for name, size in sizes.items():
        app = run("pages/graph.py", trace=SAMPLE, event=PRUNED, counter=name)
        (receipt,) = [json.loads(code.value) for code in app.code if '"sha256": [' in code.value]
        assert receipt["tokens"] == size
