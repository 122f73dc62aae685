"""The sessions page: what it reads below the folder that is open, what it says of it, and that it writes nothing."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
import streamlit
from saved_runs import TIGHT, save_contexts, save_plain, save_tight
from stored import edit
from streamlit.testing.v1 import AppTest

from context_gc import Budget, ContextGC, Policy, Session, SessionError
from context_gc.inspector import in_force, session_dirs, traces
from context_gc.inspector.session_dirs import listing, own_file
from context_gc.inspector.session_opening import chosen, without_control
from context_gc.inspector.session_runs import read_directory, read_run
from context_gc.inspector.settings import DEFAULTS

ROOT = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CONTEXT_GC_OPEN", str(tmp_path))
    streamlit.cache_resource.clear()
    streamlit.cache_data.clear()


def page(**query: Any) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    app.switch_page("pages/sessions.py")
    for key, value in query.items():
        app.query_params[key] = value
    app.run()
    assert not app.exception, [each.message for each in app.exception]
    return app


def said(app: AppTest) -> str:
    return "\n".join(element.proto.body for element in app.get("html") if "<style>" not in element.proto.body)


# what is found


def test_run_directories_are_found_below_the_folder_the_newest_first(tmp_path: Path) -> None:
    for age, name in enumerate(("b", "deep/er/a", "runs-of/x", ".hidden")):
        save_plain(tmp_path / name)
        os.utime(tmp_path / name / "session.json", (1_000 + age, 1_000 + age))
    (tmp_path / "no-session").mkdir()
    assert list(listing(tmp_path).directories) == ["runs-of/x", "deep/er/a", "b"]
    save_plain(tmp_path)
    assert list(listing(tmp_path).directories) == ["."]  # what lies in a run directory is its own


def test_depth_and_count_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = tmp_path.joinpath(*"abcde")
    Session.new().save(deep)
    Session.new().save(deep / "f")
    (deep / "session.json").unlink()
    assert listing(tmp_path).directories == {}
    monkeypatch.setattr(session_dirs, "LISTED", 2)
    for name in "pqrs":
        Session.new().save(tmp_path / "many" / name)
    found = listing(tmp_path / "many")
    assert (len(found.directories), found.whole) == (2, False)


def test_nothing_but_what_was_listed_can_be_named(tmp_path: Path) -> None:
    save_plain(tmp_path / "open" / "mine")
    save_plain(tmp_path / "secret")
    (tmp_path / "open" / "out").symlink_to(tmp_path / "secret")
    found = listing(tmp_path / "open")
    assert list(found.directories) == ["mine"]
    for key in ("out", "../secret", str(tmp_path / "secret"), "mine/../../secret", "mine/", "", "\0"):
        with pytest.raises(SessionError, match="not in the folder that is open"):
            found.directory(key)


@pytest.mark.parametrize(
    "name", ["session.json", "receipts.db", "runs/plain/trace.jsonl", "runs/plain/bus.jsonl", "runs"]
)
def test_a_link_that_leads_out_of_a_run_directory_is_refused(tmp_path: Path, name: str) -> None:
    home, secret = tmp_path / "open" / "mine", tmp_path / "secret"
    save_plain(home)
    save_plain(secret)
    (home / name).rename(tmp_path / "kept")
    (home / name).symlink_to(secret / name)
    streamlit.cache_data.clear()
    inside = "runs/plain/trace.jsonl" if name == "runs" else name
    with pytest.raises(SessionError, match="a link leads out of the run directory"):
        own_file(home, *inside.split("/"))
    for section in ("Bus", "Receipts"):
        text = said(page(section=section, directory="open/mine"))
        assert "the old value" not in text
    assert "link leads out" in said(page(section="Receipts" if name == "receipts.db" else "Bus", directory="open/mine"))


def test_what_is_no_regular_file_is_not_opened(tmp_path: Path) -> None:
    save_plain(tmp_path)
    (tmp_path / "runs/plain/state.json").unlink()
    os.mkfifo(tmp_path / "runs/plain/state.json")  # reading it would wait for ever
    assert read_run(tmp_path, "plain").problems == (
        "runs/plain/state.json: it is no regular file (ContextGC.save writes it)",
    )


# what is read


def test_a_run_is_told_as_it_was_saved(tmp_path: Path) -> None:
    client = save_tight(tmp_path)
    client.restore("r1")
    client.save(tmp_path)
    run, state = read_run(tmp_path, "tight"), client.budget
    assert state is not None
    assert run.figures is not None
    assert (run.events, run.problems, run.policy) == (40, (), TIGHT)
    assert (run.ended, run.pinned) == (("task_end",), ("c1", "r1"))
    assert run.figures.budget == state
    assert [each.number for each in run.figures.passes] == [each.number for each in state.passes] != []
    assert sum(each.freed for each in run.figures.passes) == sum(each.gain for each in state.passes) > 0
    assert run.figures.passes[0].first.startswith("#")
    assert run.figures.after < run.figures.before


def test_a_damaged_session_state_and_trace_leave_the_rest_readable(tmp_path: Path) -> None:
    for name in ("good", "no-state", "odd-state", "no-trace", "bad-trace"):
        save_plain(tmp_path, name)
    runs = tmp_path / "runs"
    (runs / "no-state/state.json").unlink()
    state = json.loads((runs / "odd-state/state.json").read_text())
    (runs / "odd-state/state.json").write_text(json.dumps(state | {"edges": [1]}))
    (runs / "no-trace/trace.jsonl").unlink()
    (runs / "bad-trace/trace.jsonl").write_bytes(b"\x00 no trace")
    (runs / "stray").mkdir()
    (runs / "two\nlines").mkdir()
    found = read_directory(tmp_path)
    assert found.run_ids == ("good", "no-state", "odd-state", "no-trace", "bad-trace", "stray")
    assert [problem.split(":")[0] for problem in found.problems] == ["runs/stray", r"runs/'two\nlines'"]
    read = {name: read_run(tmp_path, name) for name in found.run_ids}
    assert [each.events for each in read.values()] == [2, 2, 2, None, None, None]
    assert read["good"].problems == ()
    assert all(each.problems and each.policy == Policy() for each in list(read.values())[1:])
    assert "its edges are damaged" in read["odd-state"].problems[0]
    (tmp_path / "session.json").write_text("{")
    assert read_directory(tmp_path).session is None
    assert len(read_directory(tmp_path).run_ids) == 6
    for name in found.run_ids:
        assert "cg-error" in said(page(run=name))


def test_the_page_writes_nothing_into_the_run_directory(tmp_path: Path) -> None:
    save_plain(tmp_path)
    save_tight(tmp_path)
    save_contexts(tmp_path)

    def everything() -> dict[str, Any]:
        files = [path for path in tmp_path.rglob("*") if path.is_file()]
        return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}

    before = everything()
    for run in ("plain", "tight", "contexts"):
        for section in ("Passes", "Context", "Bus", "Receipts", "Policy"):
            app = page(run=run, section=section)
    app = page(run="contexts", section="Receipts")
    app.button(key="sessions_verify").click().run()
    app.text_input(key="sessions_find").set_value("observation").run()
    assert everything() == before


# opening


def test_the_policy_of_a_run_is_what_the_controls_stand_for_afterwards() -> None:
    budget = Budget(64_000, threshold_low=0.5, threshold_high=0.8, target=0.3, min_gain=100, commit_on_arrival=True)
    policy = Policy(
        stages=("clip",), protect_tags=("a",), protect_recent=3, protect_ids=("x",), stubs="none", budget=budget
    )
    assert in_force.policy({**DEFAULTS, **chosen(policy)}, "") == policy
    assert without_control(policy) == ()
    assert without_control(Policy(stubs="none")) == ()


def test_what_has_no_control_is_named() -> None:
    assert without_control(Policy(protect_tools=("x",), budget=Budget(10**8, overhead_tokens=5))) == (
        "protect_tools", "budget.max_tokens", "budget.overhead_tokens",
    )  # fmt: skip
    assert without_control(Policy(budget=Budget(100, threshold_low=0.005, target=0.001))) == ("budget",)
    assert without_control(Policy(protect_tags=("\ud800",))) == ("protect_tags",)
    assert "protect_tools" not in said(page())


@pytest.mark.parametrize("listed", [500, 0])
def test_opening_a_run_puts_its_trace_policy_pins_and_ends_in_force(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, listed: int
) -> None:
    monkeypatch.setattr(traces, "LISTED", listed)  # with 0 the trace is not among the files that are listed
    client = save_tight(tmp_path)
    client.restore("r1")
    client.save(tmp_path)
    (tmp_path / "a.json").write_text("{}")
    app = page(run="tight", stages=["none"], limit="999")
    next(button for button in app.button if button.label.startswith("Open this run")).click().run()
    found = app.session_state.settings
    assert found["trace"] == "open/runs/tight/trace.jsonl" if listed else len(found["trace"]) == 12
    assert {key: found[key] for key in ("stages", "budget", "limit", "pins", "ended")} == {
        "stages": TIGHT.stages, "budget": "on", "limit": "200", "pins": ("c1", "r1"), "ended": ("task_end",),
    }  # fmt: skip


def test_a_run_without_events_cannot_be_opened(tmp_path: Path) -> None:
    ContextGC(run_id="empty").save(tmp_path)
    app = page()
    assert "<b>empty</b>: 0 events" in said(app)
    assert next(button for button in app.button if button.label.startswith("Open this run")).disabled


# the page


def test_without_a_folder_or_a_run_directory_the_page_says_how_to_make_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file.jsonl").write_text("{}")
    for start, says in (("", "No folder is open"), (str(tmp_path / "file.jsonl"), "file.jsonl is a file"),
                        (str(tmp_path), "There is no run directory")):  # fmt: skip
        monkeypatch.setenv("CONTEXT_GC_OPEN", start)
        app = page()
        assert says in said(app)
        assert "client.save" in app.code[0].value
        assert "RunLog" in app.code[0].value


def test_the_page_tells_session_and_run_in_figures(tmp_path: Path) -> None:
    save_plain(tmp_path)
    save_tight(tmp_path)
    session = Session.load(tmp_path)
    session.user = "ana <b>"
    session.save(tmp_path)
    app = page()
    text = said(app)
    assert f"session {session.session_id}" in text
    assert "ana &lt;b&gt; · 2 runs" in text
    assert "<b>tight</b>: 40 events" in text
    runs = app.dataframe[0].value
    assert list(runs["run"]) == ["tight", "plain"]
    assert list(runs["pruned"])[1] == 1
    assert page(run="plain").dataframe[0].value.equals(runs)
    assert "It has no budget" in said(page(run="plain"))


def test_a_run_or_directory_that_is_not_there_is_refused_in_the_house_form(tmp_path: Path) -> None:
    save_plain(tmp_path / "a")
    assert "../a: this run directory is not in the folder that is open" in said(page(directory="../a"))
    assert "there is none with this id in this run directory" in said(page(run="../../a"))


def test_verify_names_the_damaged_row_and_search_finds_the_others(tmp_path: Path) -> None:
    save_plain(tmp_path)
    save_contexts(tmp_path)
    app = page(run="plain", section="Receipts")
    app.button(key="sessions_verify").click().run()
    assert "3 receipts verified" in said(app)
    edit(tmp_path / "receipts.db", "UPDATE payloads SET text = CAST(replace(CAST(text AS TEXT), 'old', 'new') AS BLOB)")
    app.run()
    assert "verified" not in said(app)
    app.button(key="sessions_verify").click().run()
    assert "1 row damaged" in said(app)
    assert any("plain/v1" in str(frame.value) for frame in app.dataframe)
    app = page(run="contexts", section="Receipts")
    app.text_input(key="sessions_find").set_value("observation 0.1").run()
    assert "recovered: the sha256 matches" in said(app)
    assert "observation 0.1" in app.code[0].value


def test_each_compaction_of_a_context_can_be_looked_at(tmp_path: Path) -> None:
    save_contexts(tmp_path, count=3)
    app = page(run="contexts", section="Context")
    assert "6 observations left, 3 stay." in said(app)
    assert "2 memory keys are as they were" in said(app)
    assert app.selectbox[0].options[0].startswith("3 of 3 · ")
    app.selectbox[0].select_index(2).run()
    assert "3 observations left, 3 stay." in said(app)
