"""The compare page: what is compared is in the link, and what cannot be compared is told with what to do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import streamlit
from app_runs import checked, run
from streamlit.testing.v1 import AppTest

from context_gc import Budget, Policy
from context_gc.inspector.compare_choice import brief

SAMPLE = "claude-code-session"
PAGE = "pages/compare.py"


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CONTEXT_GC_OPEN", raising=False)
    streamlit.cache_resource.clear()
    streamlit.cache_data.clear()


def given(app: AppTest, name: str) -> list[dict[str, Any]]:
    found = [each.proto for each in app.get("bidi_component")]
    return [json.loads(each.json) for each in found if each.component_name == name]


def words(app: AppTest) -> str:
    shown = [element.proto.body for element in app.get("html")]
    return "\n".join(shown + [element.proto.json for element in app.get("bidi_component")])


def names(app: AppTest) -> list[str]:
    return [each["name"] for each in given(app, "context_gc_compare")[0]["curves"]["series"]]


def test_the_policy_in_force_is_compared_with_the_full_history_at_first() -> None:
    app = run(PAGE, trace=SAMPLE)
    assert names(app) == ["full history", "full history", "the policy in force"]
    assert "The policy in force sends" in words(app)


def test_the_rival_and_the_call_of_a_link_are_shown_and_stay_in_it() -> None:
    app = run(PAGE, trace=SAMPLE, against="defaults", call="6")
    assert "the documented defaults" in names(app)
    assert "The prompts of call 6" in words(app)
    assert (app.query_params["against"], app.query_params["call"]) == ("defaults", "6")


@pytest.mark.parametrize(
    "policy",
    [
        Policy(),
        Policy(stages=("overrides",), protect_tags=("a\nb", 'c"]', "[budget]")),
        Policy(budget=Budget(50_000, threshold_low=0.5, min_gain=10, commit_when_cold=True), stubs="described"),
    ],
    ids=["default", "hostile", "budget"],
)
def test_a_policy_in_a_link_is_short_and_the_same_again(policy: Policy) -> None:
    assert Policy.from_toml(brief(policy)) == policy
    assert len(brief(policy)) < len(policy.to_toml()) / 2


def test_a_policy_of_ones_own_comes_by_link() -> None:
    app = run(PAGE, trace=SAMPLE, against=brief(Policy(stages=("duplicates",))))
    assert "the other policy" in names(app)
    assert app.selectbox(key="compare_against").value == "own"


def test_a_policy_file_is_taken_and_a_bad_one_told() -> None:
    app = run(PAGE, trace=SAMPLE)
    good = Policy(stages=("overrides",)).to_toml().encode()
    checked(app.file_uploader(key="compare_toml").set_value([("p.toml", good, "application/toml")]).run())
    assert "the other policy" in names(app)
    bad = b"stages = ['nonsense']"
    checked(app.file_uploader(key="compare_toml").set_value([("<b>bad.toml", bad, "application/toml")]).run())
    assert "&lt;b&gt;bad.toml: stages has &#x27;nonsense&#x27; (known: " in words(app)
    assert "the other policy" in names(app)


def test_a_policy_in_a_link_that_makes_no_sense_is_told_and_full_history_is_a_click_away() -> None:
    app = run(PAGE, trace=SAMPLE, against="stages = 3")
    assert "the policy to compare with: stages is 3" in words(app)
    assert "Choose another one above" in words(app)
    checked(app.selectbox(key="compare_against").select("full").run())
    assert names(app)[1] == "full history"


def test_what_only_one_prompt_holds_is_a_table() -> None:
    app = run(PAGE, trace=SAMPLE)
    table = app.dataframe[1].value
    assert set(table["only in"]) == {"full history"}
    assert len(table)


def test_two_runs_are_compared_by_call_and_the_page_says_so() -> None:
    app = run(PAGE, trace=SAMPLE, other="pi-branches")
    assert names(app) == ["the other run", "the open run"]
    assert "aligned by the number of the model call" in words(app)
    checked(app.segmented_control(key="compare_mode").set_value("policies").run())
    assert names(app)[-1] == "the policy in force"
    checked(app.segmented_control(key="compare_mode").set_value("runs").run())
    assert names(app) == ["the other run", "the open run"]


def test_a_second_run_that_cannot_be_read_is_told_with_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    event = {"id": "a", "type": "decision", "timestamp": 1, "content": "Hello"}
    (tmp_path / "a.json").write_text(json.dumps({"events": [event]}))
    (tmp_path / "bad.json").write_text("no trace")
    wish = {"id": "a", "type": "requirement", "timestamp": 1, "content": "Only a wish"}
    (tmp_path / "wish.json").write_text(json.dumps({"events": [wish]}))
    monkeypatch.setenv("CONTEXT_GC_OPEN", str(tmp_path))
    app = run(PAGE, trace="open/a.json", other="open/bad.json")
    assert "bad.json: " in words(app)
    assert "Choose another one above" in words(app)
    assert "the other run: " in words(run(PAGE, trace="open/a.json", other="open/wish.json"))
    assert "it has no model call" in words(run(PAGE, trace="open/wish.json", other="open/a.json"))
    assert "this file is not in the folder" in words(run(PAGE, trace="open/a.json", other="open/../etc/passwd"))
    assert names(run(PAGE, trace="open/a.json", other="open/a.json")) == ["the other run", "the open run"]


def test_without_prices_no_cost_is_shown_and_the_reason_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    event = {"id": "a", "type": "decision", "timestamp": 1, "content": "Hello"}
    (tmp_path / "a.json").write_text(json.dumps({"events": [event], "model": "made-up-9"}))
    monkeypatch.setenv("CONTEXT_GC_OPEN", str(tmp_path))
    app = run(PAGE, trace="open/a.json")
    assert "no prices are known for made-up-9" in words(app)
    assert "cost" not in set(app.dataframe[0].value[""])
