"""The tune page without a browser: it follows the controls, and says what to do where something is missing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import streamlit
from app_runs import ROOT, checked, run
from streamlit.testing.v1 import AppTest

from context_gc import load_traces
from context_gc.inspector.settings import DEFAULTS
from context_gc.inspector.tune_sweep import runs, stop
from context_gc.replay.calls import stretches

MODEL = "claude-sonnet-4-5"
BUDGET = {"budget": "on", "limit": "6000"}


def session(turns: int = 40, **top: Any) -> str:
    """Reads of five files again and again; what was in one nine turns ago is named."""
    events: list[dict[str, Any]] = [{"id": "u", "type": "requirement", "timestamp": 1, "content": "Look"}]
    for turn in range(turns):
        at = 1_700_000_000_000 + turn * 60_000
        events += [
            {"id": f"c{turn}", "type": "tool_call", "timestamp": at, "tool_name": "Read",
             "arguments": {"file_path": f"src/f_{turn % 5}.py"}},
            {"id": f"r{turn}", "type": "tool_result", "timestamp": at, "call_id": f"c{turn}",
             "result": f"value_{turn} = {turn}\n" * 40},
            {"id": f"d{turn}", "type": "decision", "timestamp": at, "content": f"So value_{max(0, turn - 9)} it is"},
        ]  # fmt: skip
    return json.dumps({"events": events, "model": MODEL, **top})


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    streamlit.cache_resource.clear()
    streamlit.cache_data.clear()
    write(tmp_path, session())
    monkeypatch.setenv("CONTEXT_GC_OPEN", str(tmp_path / "trace.json"))
    yield
    for sweep in list(runs().values()):
        stop(sweep)


def write(folder: Path, text: str) -> None:
    (folder / "trace.json").write_text(text, "utf-8")


def page(**query: Any) -> AppTest:
    return run("pages/tune.py", **query)


def said(app: AppTest) -> str:
    shown = [element.proto.body for element in app.get("html")]
    return "\n".join(shown + [element.proto.json for element in app.get("bidi_component")])


def chart(app: AppTest) -> dict[str, Any]:
    (found,) = [told for element in app.get("bidi_component") if "sent" in (told := json.loads(element.proto.json))]
    data: dict[str, Any] = found
    return data


def button(app: AppTest, key: str) -> Any:
    return next(each for each in app.button if each.key == key)


def test_the_answer_comes_first_with_the_date_of_the_prices() -> None:
    app = page(**BUDGET)
    assert "Over 41 recorded model calls this policy would have cost $" in said(app)
    assert "The recorded behaviour is held fixed" in said(app)
    assert "Prices of 2026-11, genai-prices" in said(app)


def test_a_slider_changes_the_curve_at_once() -> None:
    app = page(**BUDGET)
    before = chart(app)
    checked(app.slider(key="w_low").set_value(0.5).run())
    after = chart(app)
    assert after["sent"] != before["sent"]
    assert after["full"] == before["full"]
    assert ["low 50 %", 3_000.0, "threshold"] in after["thresholds"]


def test_the_hour_and_the_floor_change_the_cost_and_not_the_context(tmp_path: Path) -> None:
    given = json.loads(session())
    given["events"][0]["content"] = "Look at them all " * 400  # stays cached before the first change
    write(tmp_path, json.dumps(given))
    app = page(**BUDGET, low="0.5")
    plain, hour = chart(app), chart(page(**BUDGET, low="0.5", cache="hour"))
    floor = chart(page(**BUDGET, low="0.5", breaks="floor"))
    assert plain["sent"] == hour["sent"] == floor["sent"]
    assert hour["cost"]["fresh"] != plain["cost"]["fresh"]
    assert sum(floor["cost"]["fresh"]) > sum(plain["cost"]["fresh"])


def test_without_a_budget_the_page_says_what_that_costs_and_offers_one() -> None:
    app = page()
    assert "broke the provider's cache each time" in said(app)
    checked(button(app, "tune_budget").click().run())
    assert app.session_state.settings["budget"] == "on"
    assert "broke the provider's cache each time" not in said(app)


def test_a_range_is_told_and_drawn() -> None:
    app = page(**BUDGET, range="5-9")
    assert chart(app)["range"] == [5, 9]
    assert "Calls 5 to 9: " in said(app)
    assert "Calls 9 to" not in said(app := page(**BUDGET, range="9-5"))
    assert chart(app)["range"] == [1, 41]


def test_what_was_lost_leads_to_its_event_also_in_another_window(tmp_path: Path) -> None:
    given = json.loads(session())
    given["windows"] = [{"start": 0, "stop": 61, "opened_by": "start"}, {"start": 61, "stop": 121, "opened_by": "auto"}]
    write(tmp_path, json.dumps(given))
    told = said(page(budget="on", limit="2000"))
    assert '"page": "Graph"' in told
    assert "value_" in told


def test_a_trace_without_model_calls_says_what_to_open(tmp_path: Path) -> None:
    write(tmp_path, session(0))
    app = page()
    assert "it has no model call (replay a trace of an agent" in said(app)
    assert "Tune lives a recorded run again" in said(app)


def test_a_trace_without_times_says_that_caches_count_as_warm(tmp_path: Path) -> None:
    given = json.loads(session())
    for event in given["events"]:
        event["timestamp"] = 0
    write(tmp_path, json.dumps(given))
    assert "no times, so every cache counts as warm" in said(page(**BUDGET))
    write(tmp_path, session())
    assert "no times" not in said(page(**BUDGET))


def test_an_unknown_model_gives_a_choice_and_curves_without_costs(tmp_path: Path) -> None:
    write(tmp_path, session(model="my-own-model"))
    app = page(**BUDGET)
    assert "No prices are known for my-own-model: choose a model above" in said(app)
    assert chart(app)["cost"] is None
    assert button(app, "tune_sweep").disabled
    checked(app.selectbox(key="w_prices").select("gpt-5").run())
    assert chart(app)["cost"] is not None
    assert not button(app, "tune_sweep").disabled


def test_prices_of_ones_own_are_taken_and_bad_ones_refused(tmp_path: Path) -> None:
    write(tmp_path, session(model="my-own-model"))
    app = page(**BUDGET)
    good = b'["my-own-model"]\ninput = 2.0\noutput = 8.0\n'
    checked(app.file_uploader(key="tune_prices_file").set_value([("p.toml", good, "application/toml")]).run())
    assert "Prices of your own: my-own-model, dollars for a million tokens: input 2, cached 2" in said(app)
    assert chart(app)["cost"] is not None
    bad = b'["my-own-model"]\ninput = 0\noutput = 8.0\n'
    checked(app.file_uploader(key="tune_prices_file").set_value([("bad.toml", bad, "application/toml")]).run())
    assert "input is 0" in said(app)
    checked(app.file_uploader(key="tune_prices_file").set_value([("bad.toml", b"= [", "application/toml")]).run())
    assert "bad.toml: the prices cannot be read" in said(app)
    odd = b'["my-own-model"]\ninput = 2.0\noutput = 8.0\nmin_prefix = "many"\n'
    checked(app.file_uploader(key="tune_prices_file").set_value([("odd.toml", odd, "application/toml")]).run())
    assert "min_prefix is &#x27;many&#x27;" in said(app)
    assert "Prices of your own" in said(app)


def test_own_figures_over_those_of_the_table_are_told_as_such() -> None:
    app = page(**BUDGET)
    given = b'["claude-sonnet-4-5"]\ninput = 4.0\n'
    checked(app.file_uploader(key="tune_prices_file").set_value([("p.toml", given, "application/toml")]).run())
    assert "Prices of your own over those of 2026-11" in said(app)
    assert "input 4, cached 0.3" in said(app)


def test_a_grid_that_contradicts_itself_is_told_and_not_tried() -> None:
    app = page(**BUDGET, grid=["threshold_low=0.9", "threshold_high=0.8"])
    assert "no combination is a policy" in said(app)
    assert "threshold_low has to be below threshold_high" in said(app)
    assert button(app, "tune_sweep").disabled


@pytest.mark.parametrize("value", ['threshold_low="x"', "nonsense=1", "min_gain=[1]", "x", "stages=[1]"])
def test_a_grid_in_a_link_that_makes_no_sense_is_told(value: str) -> None:
    app = page(**BUDGET, grid=[value])
    assert 'role="alert"' in said(app)
    assert button(app, "tune_sweep").disabled


def test_a_list_of_the_grid_is_edited_and_reset() -> None:
    app = page(**BUDGET, grid=["min_gain=100"])
    assert button(app, "tune_sweep").label == "Try 1 policies"
    checked(app.multiselect(key="g_recent_observations").set_value(["3", "10"]).run())
    assert button(app, "tune_sweep").label == "Try 2 policies"
    assert app.session_state.settings["grid"] == ("min_gain=100", "recent_observations=3", "recent_observations=10")
    checked(button(app, "tune_grid_default").click().run())
    assert app.session_state.settings["grid"] == DEFAULTS["grid"]


def test_a_grid_from_a_file_is_shown_in_the_lists_and_a_bad_one_refused() -> None:
    app = page(**BUDGET)
    given = b'min_gain = [100, 900]\nexpected_calls = [5]\nstages = "all"\n'
    checked(app.file_uploader(key="tune_grid_file").set_value([("g.toml", given, "application/toml")]).run())
    assert app.multiselect(key="g_min_gain").value == ["100", "900"]
    assert app.multiselect(key="g_expected_calls").value == ["5"]
    assert button(app, "tune_sweep").label == "Try 2 policies"
    bad = b"no_such_key = [1]\n"
    checked(app.file_uploader(key="tune_grid_file").set_value([("bad.toml", bad, "application/toml")]).run())
    assert "unknown key &#x27;no_such_key&#x27;" in said(app)
    assert button(app, "tune_sweep").label == "Try 2 policies"


def test_a_sweep_ends_with_a_recommendation_that_can_be_loaded() -> None:
    app = page(**BUDGET, grid=["max_tokens=6000", "max_tokens=100000", "min_gain=100", "min_gain=400"])
    checked(button(app, "tune_sweep").click().run())
    (sweep,) = runs().values()
    assert button(app, "tune_sweep").disabled
    assert sweep.thread is not None
    sweep.thread.join(60)
    checked(app.run())
    assert "the cheapest that meets every condition" in said(app)
    checked(button(app, "tune_load").click().run())
    assert app.session_state.settings["gain"] in ("100", "400")
    assert button(app, "tune_load").disabled
    assert list(runs().values()) == [sweep]
    assert "at other prices" not in said(app)
    checked(app.selectbox(key="w_prices").select("gpt-5").run())
    assert "The sweep was made at other prices" in said(app)


def test_all_traces_of_a_file_are_tried_together(tmp_path: Path) -> None:
    given = json.loads((ROOT / "sample_traces" / "tau-bench.json").read_text("utf-8"))
    (told,) = given["simulations"]
    write(tmp_path, json.dumps({**given, "simulations": [told, {**told, "id": "another"}]}))
    app = page(grid=["max_tokens=6000", "min_gain=100", "min_gain=400"])
    scope = next(each for each in app.get("button_group") if each.key == "tune_scope")
    checked(scope.select("all 2 traces of the file").run())
    checked(button(app, "tune_sweep").click().run())
    (sweep,) = runs().values()
    assert sweep.thread is not None
    sweep.thread.join(60)
    alone = sum(len(stretch.calls) for stretch in stretches(load_traces(ROOT / "sample_traces" / "tau-bench.json")[0]))
    assert {row.calls for row in sweep.rows} == {2 * alone}
    checked(app.run())
    assert "11 policies tried in" in said(app)
