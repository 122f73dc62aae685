"""The controls of budget and retention: what a link brings, what is in force, what is exported, what is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import streamlit
from app_runs import checked, run
from streamlit.testing.v1 import AppTest

from context_gc import Budget, Policy
from context_gc.inspector.in_force import ended, policy, window
from context_gc.inspector.settings import DEFAULTS

CHOSEN = {
    "budget": "on", "limit": "4000", "low": "0.6", "high": "0.8", "target": "0.3", "recent": "1", "gain": "50",
    "arrival": "on", "cold": "on", "importance": ["critical", "session"], "last": "2", "pins": ["r3"],
    "ended": ["task_end"],
}  # fmt: skip


def story(model: str = "") -> dict[str, Any]:
    """Forty reads of 20 files; four are retained until the task ends, one until the session ends."""
    events: list[dict[str, Any]] = [{"id": "u", "type": "requirement", "timestamp": 0, "content": "Mend it"}]
    for turn in range(40):
        until = {2: "task_end", 3: "task_end", 5: "session_end"}.get(turn)
        text = "\n".join(f"{line}: value {turn} of {line}" for line in range(20))
        events += [
            {"id": f"c{turn}", "type": "tool_call", "timestamp": turn, "tool_name": "Read",
             "arguments": {"file_path": f"src/part_{turn % 20}.py"}, "retain_until": until},
            {"id": f"r{turn}", "type": "tool_result", "timestamp": turn, "call_id": f"c{turn}", "result": text,
             "retain_until": until},
        ]  # fmt: skip
    return {"events": events, "model": model}


@pytest.fixture(autouse=True)
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A native trace is open; nothing is cached by an earlier test."""
    path = tmp_path / "story.json"
    path.write_text(json.dumps(story()), "utf-8")
    monkeypatch.setenv("CONTEXT_GC_OPEN", str(path))
    streamlit.cache_resource.clear()
    streamlit.cache_data.clear()
    return path


def page_text(app: AppTest) -> str:
    shown = [element.proto.body for element in app.get("html")]
    drawn = [json.loads(element.proto.json or "null") for element in app.get("bidi_component")]
    return "\n".join(shown + [json.dumps(each, ensure_ascii=False) for each in drawn])


def component(app: AppTest, key: str) -> dict[str, Any]:
    """What one of our components was given to draw."""
    (found,) = (each for each in app.get("bidi_component") if each.proto.id.split("-")[-1] == key)
    told: dict[str, Any] = json.loads(found.proto.json)
    return told


def test_a_link_restores_every_control_of_budget_and_retention() -> None:
    app = run(**CHOSEN)
    shown: dict[str, Any] = app.session_state.settings
    assert {key: list(shown[key]) if isinstance(shown[key], tuple) else shown[key] for key in CHOSEN} == CHOSEN
    told = {key: app.query_params[key] for key in CHOSEN}
    assert told == {key: value[0] if len(value) == 1 else value for key, value in CHOSEN.items()}


def test_the_policy_of_the_controls_has_a_budget_table_and_loads_again() -> None:
    app = run(**CHOSEN)
    shown = policy(app.session_state.settings, "")
    assert "\n[budget]\nmax_tokens = 4000\n" in shown.to_toml()
    assert Policy.from_toml(shown.to_toml()) == shown
    assert (shown.protect_recent, shown.protect_importance, shown.protect_ids) == (2, ("critical", "session"), ("r3",))
    assert shown.budget == Budget(4_000, 0.6, 0.8, 0.3, 1, 50, commit_on_arrival=True, commit_when_cold=True)


def test_without_a_budget_the_policy_has_none() -> None:
    assert policy(DEFAULTS, "").budget is None


@pytest.mark.parametrize(
    ("model", "given", "found"),
    [
        ("claude-sonnet-4-20250514", "", (200_000, True)),
        ("gpt-4o", "", (128_000, True)),
        ("a model of our own", "", (200_000, False)),
        ("gpt-4o", "32000", (32_000, True)),
        ("", "999999999", (10_000_000, True)),
    ],
)
def test_the_window_is_the_models_own_where_it_is_known(model: str, given: str, found: tuple[int, bool]) -> None:
    assert window({**DEFAULTS, "limit": given}, model) == found


def test_an_assumed_window_is_told_as_one(opened: Path) -> None:
    assert "Assumed: the trace names no model" in page_text(run())
    opened.write_text(json.dumps(story("gpt-4o")), "utf-8")
    streamlit.cache_resource.clear()
    app = run()
    assert "The window of gpt-4o." in page_text(app)
    assert app.number_input(key="w_limit").value == 128_000


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"low": "0.95"}, "threshold_low is 0.95 and threshold_high is 0.92"),
        ({"target": "0.8"}, "target is 0.8 and threshold_low is 0.75"),
        ({"low": "1"}, "threshold_low is 1.0 and threshold_high is 0.92"),
    ],
)
def test_thresholds_that_contradict_each_other_are_told_and_the_last_good_ones_stay(
    given: dict[str, str], told: str
) -> None:
    app = run(budget="on", limit="4000", gain="100")
    before = component(app, "timeline")
    assert before["marks"]
    for key, value in given.items():
        app.slider(key=f"w_{key}").set_value(float(value))
    checked(app.run())
    assert f"✕ {told}" in page_text(app)
    assert "Still in force: low 0.75, high 0.92, target 0.4." in page_text(app)
    assert component(app, "timeline") == before


def test_a_link_with_contradicting_thresholds_gives_the_text_and_a_page() -> None:
    app = run(budget="on", limit="4000", low="0.9", high="0.5")
    assert "threshold_low is 0.9 and threshold_high is 0.5" in page_text(app)
    assert component(app, "timeline")["marks"]


@pytest.mark.parametrize("bad", ["0", "1.5", "-0.5", "x", "", "1e-3", "0.5.5", "٠.٥"])
def test_a_share_in_a_link_that_makes_no_sense_is_left_out(bad: str) -> None:
    app = run(budget="on", low=bad, limit="0", last="x", ended="tomorrow", importance="<b>")
    shown: dict[str, Any] = app.session_state.settings
    assert [shown[key] for key in ("low", "last", "ended", "importance")] == ["0.75", "0", (), ("critical",)]
    assert app.number_input(key="w_limit").value == 200_000


def test_the_timeline_shows_full_and_sent_the_thresholds_and_the_passes() -> None:
    drawn = component(run(budget="on", limit="4000"), "timeline")
    assert [size for _, size in drawn["thresholds"]] == [3_000, 3_680]
    assert drawn["full"][-1][1] > drawn["sent"][-1][1]
    assert [mark["number"] for mark in drawn["marks"]] == list(range(1, len(drawn["marks"]) + 1))
    first = drawn["marks"][0]
    assert {(first["turn"], first["before"]), (first["turn"], first["after"])} <= set(map(tuple, drawn["sent"]))
    assert first["tip"].startswith(f"Pass 1, emergency: turn {first['turn']}, at the high threshold\n−")
    assert "N*" in first["tip"]


def test_without_a_budget_the_chart_has_no_passes() -> None:
    drawn = component(run(), "timeline")
    assert not drawn["passes"]
    assert drawn["marks"] == []
    assert drawn["sent"][-1][1] < drawn["full"][-1][1]


def test_the_meter_tells_level_passes_and_what_waits() -> None:
    told = page_text(run(budget="on", limit="16000"))
    assert '"level ok"' in told
    assert " · 0 passes" in told
    assert " waiting" in told
    assert "low ┆ 75 %" in told
    assert "low ┆ 60 %" in page_text(run(budget="on", limit="16000", low="0.6"))


def test_what_cannot_be_reached_is_told_with_what_holds_the_space() -> None:
    told = page_text(run(budget="on", limit="800"))
    assert "The target of 320 tokens cannot be reached" in told
    assert "protected (retain_until=task_end)" in told
    assert " · target out of reach" in told


def test_the_scopes_tell_how_many_events_they_hold_and_end() -> None:
    app = run(budget="on", limit="4000")
    assert app.toggle(key="e_task_end").label == "Task ended · 4 events"
    assert app.toggle(key="e_session_end").label == "Session ended · 2 events"
    checked(app.toggle(key="e_task_end").set_value(True).run())
    assert app.session_state.settings["ended"] == ("task_end",)
    assert not app.toggle(key="e_session_end").value
    checked(app.toggle(key="e_session_end").set_value(True).run())
    checked(app.toggle(key="e_task_end").set_value(False).run())
    assert app.toggle(key="e_task_end").value, "a session that has ended has ended its task"
    assert app.toggle(key="e_task_end").disabled


def test_a_sessions_end_ends_the_task() -> None:
    assert ended({**DEFAULTS, "ended": ("session_end",)}) == ("task_end", "session_end")
    assert ended({**DEFAULTS, "ended": ("task_end",)}) == ("task_end",)
    assert ended(DEFAULTS) == ()


@pytest.mark.parametrize("budget", [{}, {"budget": "on", "limit": "4000"}], ids=["at once", "under a budget"])
def test_what_was_retained_goes_when_its_scope_ends_and_a_pinned_event_stays(budget: dict[str, str]) -> None:
    app = run("pages/graph.py", event="r2", **budget)
    assert "retain_until=task_end" in page_text(app)
    checked(app.toggle(key="e_task_end").set_value(True).run())
    assert "✂ pruned" in page_text(app)
    checked(next(button for button in app.button if button.label == "Pin").click().run())
    assert "Kept because of id=r2" in page_text(app)
    assert "1 pinned event" in page_text(app)
    assert policy(app.session_state.settings, "").protect_ids == ("r2",)


def test_reset_takes_budget_retention_and_pins_back() -> None:
    app = run(**CHOSEN)
    checked(next(button for button in app.button if button.label == "Reset").click().run())
    assert {key: app.session_state.settings[key] for key in CHOSEN} == {key: DEFAULTS[key] for key in CHOSEN}


@pytest.mark.parametrize("script", ["app.py", "pages/graph.py", "pages/diff.py", "pages/receipts.py"])
def test_every_page_is_drawn_under_a_budget_that_clips_evicts_and_waits(script: str) -> None:
    app = run(script, **{**CHOSEN, "stages": ["clip", "stale-reads"], "event": "r1"})
    assert "passes" in page_text(app)
