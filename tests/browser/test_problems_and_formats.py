"""What could not be read, with its place in the file; and the choice of another format, from the page."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect
from waiting import settle

EVIL = '<img src=x onerror="document.title=1"><script>document.title=2</script>'
GOOD = {"id": "a", "type": "decision", "timestamp": 1, "content": "Hello"}
LINES = [
    json.dumps(GOOD),
    json.dumps({"id": EVIL, "type": EVIL}),
    '{"id": "b", "note": "' + "x" * 900 + '", "broken": tru, "rest": "' + EVIL + '"}',
    json.dumps({**GOOD, "id": "c"}),
]


@pytest.fixture(scope="module")
def address(serve: Callable[..., str], tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("problems")
    (folder / "damaged.jsonl").write_text("\n".join(LINES) + "\n", "utf-8")
    (folder / "nobody.jsonl").write_text('{"speaker": "me", "said": "Hello"}\n', "utf-8")
    (folder / "session.jsonl").write_text(
        json.dumps({"type": "user", "uuid": "u1", "sessionId": "s", "cwd": "/x",
                    "message": {"role": "user", "content": "Hello"}}) + "\n", "utf-8",
    )  # fmt: skip
    return serve(str(folder))


def test_a_problem_leads_to_its_line_with_the_column_marked(address: str, page: Page) -> None:
    page.goto(f"{address}/?trace=open/damaged.jsonl")
    expect(page.get_by_role("button", name=re.compile("2 problems"))).to_be_visible()
    column = LINES[2].index("tru") + 1
    page.get_by_role("button", name="line 3", exact=True).click()
    panel = page.locator(".st-key-line_panel")
    expect(panel).to_contain_text(f"line 3, column {column}")
    shown = panel.get_by_test_id("stCode").inner_text()
    marked = [line for line in shown.splitlines() if line.startswith("▶ 3")]
    assert len(marked) == 1
    assert len(marked[0]) <= 420
    assert f"▲ column {column}" in shown
    place = shown.splitlines()[shown.splitlines().index(marked[0]) + 1].index("▲")
    assert marked[0][place:].startswith("tru")
    settle(page)
    page.get_by_role("button", name="Close").click()
    expect(panel).to_have_count(0)


def test_hostile_text_of_a_problem_and_of_a_line_stays_text(address: str, page: Page) -> None:
    page.goto(f"{address}/?trace=open/damaged.jsonl&line=2")
    expect(page.locator(".faults")).to_contain_text(EVIL[:20])
    expect(page.locator(".st-key-line_panel")).to_contain_text("<script>document.title=2")
    assert page.title() == "Overview · context-gc"
    assert page.locator("img[src=x]").count() == 0


def test_an_event_leads_to_its_record_in_the_file(address: str, page: Page) -> None:
    page.goto(f"{address}/graph?trace=open/session.jsonl&event=u1")
    page.get_by_role("button", name="line 1", exact=True).click()
    expect(page.locator(".st-key-line_panel").get_by_test_id("stCode")).to_contain_text('▶ 1 │ {"type": "user"')
    page.wait_for_function("location.search.includes('line=1')")


def test_a_file_that_nothing_claims_can_be_read_as_what_was_chosen_and_back(address: str, page: Page) -> None:
    page.goto(f"{address}/?trace=open/nobody.jsonl")
    expect(page.locator(".cg-notice").first).to_contain_text("this is no trace format that is known here")
    chooser = page.get_by_role("combobox", name=re.compile("Read as"))
    expect(chooser).to_have_value("detected: nothing")
    chooser.fill("Native")
    page.get_by_role("option", name="Native").click()
    expect(page.get_by_text("It was read as Native, as chosen.")).to_be_visible()
    expect(page.locator(".cg-notice").first).to_contain_text("none of its 1 events is whole")
    settle(page)
    chooser.fill("role")
    page.get_by_role("option", name="role/content").click()
    expect(page.locator(".cg-head")).to_contain_text("1 event")
    page.wait_for_function("location.search.includes('format=role-content')")


def test_the_header_names_the_format_and_lets_it_be_overridden(address: str, page: Page) -> None:
    page.goto(f"{address}/?trace=open/session.jsonl")
    page.get_by_role("button", name="Claude Code").click()
    page.get_by_role("combobox", name=re.compile("Read as")).click()
    page.get_by_role("option", name="Codex", exact=True).click()
    page.wait_for_function("location.search.includes('format=codex')")
    expect(page.get_by_role("button", name="Codex", exact=True)).to_be_visible()
    settle(page)
    chooser = page.get_by_role("combobox", name=re.compile("Read as"))
    if not chooser.is_visible():
        page.get_by_role("button", name="Codex", exact=True).click()
    chooser.click()
    page.get_by_role("option", name="detected: Claude Code").click()
    expect(page.get_by_role("button", name="Claude Code", exact=True)).to_be_visible()
    page.wait_for_function("!location.search.includes('format=')")
