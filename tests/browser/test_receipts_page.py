"""The receipts page in a browser: the check of everything, the recovered original, and what can be taken away."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from context_gc.policy import DEFAULT_STAGES

SAMPLE = "/receipts?trace=coding_agent"
CODING = SAMPLE + "".join(f"&stages={stage}" for stage in DEFAULT_STAGES)


def test_verify_all_recovers_and_checks_every_receipt(page: Page, server: str) -> None:
    page.goto(f"{server}{CODING}")
    page.get_by_role("button", name="Verify all").click()
    expect(page.get_by_text("11 of 11 receipts verified in")).to_be_visible()


def test_a_link_to_a_cut_event_shows_its_original_and_how_to_prove_it(page: Page, server: str) -> None:
    page.goto(f"{server}{CODING}&event=c10")
    expect(page.get_by_text("Recovered 1 event")).to_be_visible()
    page.get_by_text("Prove it", exact=True).click()
    expect(page.get_by_text("sha256sum original.json")).to_be_visible()


def test_search_narrows_the_table_and_an_empty_result_says_what_to_do(page: Page, server: str) -> None:
    page.goto(f"{server}{CODING}")
    expect(page.get_by_text("11 receipts of 11")).to_be_visible()
    search = page.get_by_role("textbox", name="Search")
    search.fill("c10 superseded")
    search.press("Enter")
    expect(page.get_by_text("1 receipt of 11")).to_be_visible()
    search.fill("no such thing")
    search.press("Enter")
    expect(page.get_by_text("None of the 11 receipts matches.")).to_be_visible()


def test_the_download_holds_every_original(page: Page, server: str) -> None:
    page.goto(f"{server}{CODING}")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Receipts with originals").click()
    lines = Path(waiting.value.path()).read_text("utf-8").splitlines()
    assert len(lines) == 11
    assert all(json.loads(line)["events"] and json.loads(line)["sha256"] for line in lines)


def test_the_prompt_is_downloaded_with_its_stubs(page: Page, server: str) -> None:
    page.goto(f"{server}{CODING}")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Compacted prompt").click()
    assert "[RECEIPT c10] +5" in Path(waiting.value.path()).read_text("utf-8").splitlines()


def test_a_policy_that_cuts_nothing_says_what_to_do(page: Page, server: str) -> None:
    page.goto(f"{server}{SAMPLE}&stages=none")
    expect(page.get_by_text("Nothing was cut, so there are no receipts.")).to_be_visible()


def test_without_stubs_the_check_warns_that_nothing_leads_to_what_was_cut(page: Page, server: str) -> None:
    page.goto(f"{server}{CODING}&stubs=none")
    page.get_by_role("button", name="Verify all").click()
    expect(page.get_by_text("No stub in the prompt leads to 11 pruned events")).to_be_visible()


@pytest.mark.parametrize("width", [1440, 900])
def test_the_page_does_not_scroll_sideways(page: Page, server: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{server}{CODING}&event=c10")
    expect(page.get_by_text("11 receipts of 11")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_nothing_is_asked_of_another_machine(page: Page, server: str) -> None:
    foreign: list[str] = []
    own = (server, server.replace("http", "ws"), "blob:", "data:")
    page.on("request", lambda request: None if request.url.startswith(own) else foreign.append(request.url))
    page.goto(f"{server}{CODING}&event=c10")
    expect(page.get_by_text("Recovered 1 event")).to_be_visible()
    assert foreign == []
