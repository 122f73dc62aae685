"""The sessions page in a browser: choosing, reading, opening a run, and what a hostile run directory cannot do."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import test_untrusted_text as untrusted
from playwright.sync_api import Page, expect
from saved_runs import save_contexts, save_plain, save_tight
from test_untrusted_text import ALL, PAYLOADS, check

from context_gc import Budget, ContextBus, Policy, RunLog, Session

seen = untrusted.seen  #: the fixture
SECTIONS = ("Passes", "Context", "Bus", "Receipts", "Policy")
DIRECTORY = "![x](http:__evil.example_n.png) <img src=x onerror=window.pwned=1>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    save_contexts(folder / "team" / "mine")
    save_tight(folder / "team" / "mine")
    save_plain(folder / "other", "only")
    return folder


@pytest.fixture(scope="module")
def served(serve: Callable[[str], str], folder: Path) -> str:
    return serve(str(folder))


@pytest.fixture(scope="module")
def hostile(serve: Callable[[str], str], tmp_path_factory: pytest.TempPathFactory) -> str:
    """Every payload as user, id, value, key of a context, type of a bus event, tag and glob of a policy."""
    root = tmp_path_factory.mktemp("hostile")
    directory = root / DIRECTORY
    policy = Policy(protect_tags=(ALL, *PAYLOADS), protect_paths=PAYLOADS, budget=Budget(200, recent_observations=1))
    save_plain(directory, "plain", ALL)
    save_contexts(directory, more={payload: payload for payload in PAYLOADS} | {"memory_keys": {ALL: ALL}})
    save_tight(directory, policy=policy)
    bus = ContextBus()
    for run in ("plain", "contexts", "tight"):
        with RunLog(bus, directory / "runs" / run):
            for payload in (*PAYLOADS, ALL):
                bus.publish(payload, {payload: payload, "event_type": payload, "deep": {payload: [payload]}})
            warned = {"warnings": [*PAYLOADS], "before": {"observations": [*PAYLOADS, 1, 2, 3]}, "after": {ALL: ALL}}
            bus.publish("context.compacted", warned)
        with open(directory / "runs" / run / "bus.jsonl", "a") as log:
            log.write(json.dumps({"at": ALL, "event_type": ALL, "data": {ALL: ALL}}) + f"\n{ALL}\n")
    session = Session.load(directory)
    session.user = ALL
    session.save(directory)
    (directory / "runs" / "no name <svg onload=window.pwned=1>").mkdir()
    broken = root / "broken"
    save_plain(broken)
    (broken / "session.json").write_text(ALL)
    (broken / "runs" / "plain" / "state.json").write_text(json.dumps({"policy": ALL}))
    (broken / "policy.toml").write_text(ALL)
    (broken / "receipts.db").write_text(ALL)
    return serve(str(root))


def ready(page: Page) -> None:
    expect(page.get_by_role("heading", name="Sessions", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Open this run in the inspector")).to_be_visible()
    expect(page.get_by_test_id("stSkeleton")).to_have_count(0)


def test_a_session_is_read_section_by_section(page: Page, served: str) -> None:
    page.goto(f"{served}/sessions?directory=team/mine&run=contexts")
    ready(page)
    expect(page.locator(".cg-head")).to_contain_text("team/mine")
    page.get_by_role("radio", name="Context").click()
    expect(page.get_by_text("6 observations left, 3 stay.")).to_be_visible()
    expect(page.locator(".cg-ctx ins").first).to_contain_text("Then, ")
    expect(page.locator(".cg-ctx .row.gone")).to_have_count(6)
    page.get_by_role("button", name="‹ earlier").click()
    expect(page.get_by_text("3 observations left, 3 stay.")).to_be_visible()
    page.get_by_role("radio", name="Bus").click()
    line = page.locator(".cg-bus summary", has_text="context.compacted").first
    line.click()
    expect(page.locator(".cg-bus details[open] pre")).to_contain_text('"plan_contract"')
    page.get_by_role("radio", name="Receipts").click()
    page.get_by_role("button", name="Verify all").click()
    expect(page.get_by_text("all intact")).to_be_visible()
    search = page.get_by_role("textbox", name="Search")
    search.fill("observation 1.2")
    search.press("Enter")
    expect(page.get_by_text("1 receipt.", exact=True)).to_be_visible()
    expect(page.get_by_test_id("stCode").first).to_contain_text("observation 1.2")


def test_a_row_chooses_and_the_address_and_other_pages_keep_the_choice(page: Page, served: str) -> None:
    page.goto(f"{served}/sessions?directory=team/mine&run=contexts&section=Policy")
    ready(page)
    page.get_by_test_id("stDataFrame").nth(1).click(position={"x": 16, "y": 52})  # the newest run is the first row
    expect(page.get_by_text("Run tight: 40 events")).to_be_visible()
    page.wait_for_function("location.search.includes('run=tight') && location.search.includes('section=Policy')")
    page.get_by_role("link", name="Overview").click()
    expect(page.get_by_role("heading", name="Overview", exact=True)).to_be_visible()
    page.get_by_role("link", name="Sessions").click()
    expect(page.get_by_text("Run tight: 40 events")).to_be_visible()
    expect(page.get_by_text("max_tokens = 200")).to_be_visible()


def test_a_run_is_opened_with_its_policy_and_what_has_ended(page: Page, served: str) -> None:
    page.goto(f"{served}/sessions?directory=team/mine&run=tight")
    ready(page)
    page.get_by_role("button", name="Open this run in the inspector").click()
    expect(page.get_by_role("heading", name="Overview", exact=True)).to_be_visible()
    expect(page.locator(".cg-head")).to_contain_text("40 events")
    expect(page.locator(".meter")).to_contain_text("of 200")
    page.wait_for_function("location.search.includes('limit=200') && location.search.includes('ended=task_end')")
    assert "trace=open%2Fteam%2Fmine%2Fruns%2Ftight%2Ftrace.jsonl" in page.evaluate("location.search")


@pytest.mark.parametrize("section", SECTIONS)
@pytest.mark.parametrize("run", ["plain", "contexts", "tight"])
def test_a_hostile_run_stays_text(page: Page, hostile: str, seen: list[str], run: str, section: str) -> None:
    page.goto(f"{hostile}/sessions?run={run}&section={section}&directory={DIRECTORY}")
    ready(page)
    expect(page.get_by_role("radio", name=section)).to_have_attribute("aria-checked", "true")
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    if section == "Bus":
        expect(page.locator(".cg-bus")).to_contain_text("<svg onload=window.pwned=1>")
        page.get_by_label("Types").click()
        expect(page.get_by_role("option").first).to_be_visible()
    page.wait_for_load_state("networkidle")
    check(page, seen, "Sessions")


@pytest.mark.parametrize("section", SECTIONS)
def test_a_broken_run_gives_sentences(page: Page, hostile: str, seen: list[str], section: str) -> None:
    page.goto(f"{hostile}/sessions?directory=broken&section={section}")
    ready(page)
    expect(page.get_by_role("alert").first).to_contain_text("session.json: the session file is damaged")
    expect(page.get_by_text("Traceback")).to_have_count(0)
    check(page, seen, "Sessions")


def test_a_hostile_address_names_nothing(page: Page, hostile: str, seen: list[str]) -> None:
    bad = "%3Cscript%3Ewindow.pwned%3D1%3C%2Fscript%3E"
    for asked in ("..", "/etc", f"broken/../../{bad}", f"{bad}"):
        page.goto(f"{hostile}/sessions?directory={asked}&run={bad}&section={bad}")
        expect(page.get_by_role("alert")).to_contain_text("not in the folder that is open")
    page.goto(f"{hostile}/sessions?directory=broken&run=..%2F..%2F{bad}&section={bad}")
    expect(page.get_by_role("alert").last).to_contain_text("there is none with this id in this run directory")
    check(page, seen, "Sessions")


@pytest.mark.parametrize("width", [1440, 900])
@pytest.mark.parametrize("section", SECTIONS)
def test_the_page_does_not_scroll_sideways(page: Page, served: str, section: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{served}/sessions?directory=team/mine&run=contexts&section={section}")
    ready(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
