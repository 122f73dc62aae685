"""The diff page in a browser: what a link opens, what a click opens in place, and what never leaves the machine."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from context_gc.inspector.home import SAMPLES
from context_gc.load import load_traces
from context_gc.policy import DEFAULT_STAGES

CODING = "/diff?trace=coding_agent" + "".join(f"&stages={stage}" for stage in DEFAULT_STAGES)
SESSION = "claude-code-plan"  # long enough that something is folded


def row(page: Page, number: int) -> Locator:
    """The row of event `number` of the trace, counted from 1."""
    return page.locator(f'.diff .row[data-seq="{number - 1}"]')


def test_a_link_to_an_event_opens_with_it_marked_and_in_view(page: Page, server: str) -> None:
    page.goto(f"{server}{CODING}&event=c29")
    marked = page.locator(".diff .row.selected")
    expect(marked).to_have_count(1)
    expect(marked.locator(".pick")).to_have_attribute("title", re.compile(r"^c29\n"))
    expect(marked).to_be_in_viewport()


def test_an_event_inside_a_fold_is_opened_by_a_link_to_it(page: Page, server: str) -> None:
    page.goto(f"{server}/diff?trace={SESSION}")
    fold = page.locator(".diff .fold").first
    expect(fold).to_have_text(re.compile(r"… \d+ unchanged events"))
    hidden = int(fold.get_attribute("data-start") or "") + 1
    expect(row(page, hidden)).to_have_count(0)
    event = load_traces(SAMPLES / f"{SESSION}.jsonl")[0].events[hidden - 1]["id"]
    page.goto(f"{server}/diff?trace={SESSION}&event={event}")
    expect(row(page, hidden)).to_have_class(re.compile("selected"))
    expect(row(page, hidden)).to_be_in_viewport()


def test_a_stub_opens_in_place_to_the_originals(page: Page, server: str) -> None:
    page.goto(f"{server}{CODING}")
    stub = page.locator(".diff .stub", has_text="[RECEIPT c10] +5")
    stub.locator("summary").click()
    expect(stub.locator(".original")).to_have_count(6)
    expect(stub.locator(".original").first).to_contain_text(row(page, 10).locator(".body").inner_text())


def test_removed_events_have_a_sign_and_their_own_token_change(page: Page, server: str) -> None:
    page.goto(f"{server}{CODING}")
    removed = row(page, 11)
    expect(removed).to_have_class(re.compile("cut"))
    expect(removed.locator(".tokens")).to_have_text(re.compile(r"^[−+]\d"))
    expect(removed.locator(".hint")).to_have_text("Removed: ")
    assert "✂" in removed.locator(".pick").evaluate("e => getComputedStyle(e, '::after').content")


def test_a_fold_opens(page: Page, server: str) -> None:
    page.goto(f"{server}/diff?trace={SESSION}")
    fold = page.locator(".diff .fold").first
    start, stop = int(fold.get_attribute("data-start") or ""), int(fold.get_attribute("data-stop") or "")
    fold.click()
    for number in range(start + 1, stop + 1):
        expect(row(page, number)).to_have_count(1)


def test_a_change_in_the_list_is_jumped_to_and_keys_go_on_from_there(page: Page, server: str) -> None:
    page.goto(f"{server}{CODING}")
    listed = page.locator(".diff .jump")
    listed.nth(3).click()
    expect(listed.nth(3)).to_have_class(re.compile("now"))
    expect(page.locator(".diff .items .now")).to_be_in_viewport()
    page.locator(".diff .box").press("n")
    expect(listed.nth(4)).to_have_class(re.compile("now"))
    page.locator(".diff .box").press("p")
    expect(listed.nth(3)).to_have_class(re.compile("now"))


def test_a_click_on_a_number_selects_the_event_and_tells_the_address(page: Page, server: str) -> None:
    page.goto(f"{server}{CODING}")
    row(page, 10).locator(".pick").click()
    expect(row(page, 10)).to_have_class(re.compile("selected"))
    page.wait_for_function("location.href.includes('event=c10')")


def test_the_arrow_of_a_row_leads_to_the_graph_at_that_event(page: Page, server: str) -> None:
    page.goto(f"{server}{CODING}")
    row(page, 10).hover()
    row(page, 10).locator(".graph").click()
    page.wait_for_function("location.pathname.endsWith('/graph') && location.href.includes('event=c10')")


def test_the_slider_takes_stages_back_to_the_full_history(page: Page, server: str) -> None:
    page.goto(f"{server}{CODING}")
    count = page.locator(".diff .count")
    expect(count).to_have_text("6")
    page.get_by_role("slider").press("Home")
    expect(count).to_have_text("0")
    expect(page.locator(".diff .row.cut")).to_have_count(0)
    expect(page.locator(".diff .head .delta")).to_have_text("nothing cut")


def test_after_only_shows_the_prompt_and_no_removed_line(page: Page, server: str) -> None:
    page.goto(f"{server}{CODING}")
    page.get_by_text("After only").click()
    expect(row(page, 11)).to_be_hidden()
    expect(page.locator(".diff .stub summary").first).to_be_visible()
    expect(row(page, 1).locator(".right")).to_be_visible()
    expect(row(page, 1).locator(".left")).to_be_hidden()


def test_little_room_makes_side_by_side_unified_without_scrolling_sideways(page: Page, server: str) -> None:
    page.set_viewport_size({"width": 900, "height": 900})
    page.goto(f"{server}{CODING}")
    expect(page.locator(".diff")).to_have_attribute("data-mode", "unified")
    expect(row(page, 1).locator(".left")).to_be_visible()
    expect(row(page, 1).locator(".right")).to_be_hidden()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_removed_line_stands_out_from_the_page_in_both_themes(page: Page, server: str, scheme: str) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.goto(f"{server}{CODING}")
    fill = "rgb(55, 65, 81)" if scheme == "dark" else "rgb(229, 231, 235)"
    expect(row(page, 11)).to_have_css("background-color", fill)


def test_nothing_is_asked_of_another_machine_and_no_error_is_thrown(page: Page, server: str) -> None:
    foreign: list[str] = []
    page.on("request", lambda request: foreign.append(request.url) if is_foreign(request.url, server) else None)
    page.on("pageerror", lambda error: foreign.append(str(error)))
    page.goto(f"{server}{CODING}&event=c10")
    page.locator(".diff .stub summary").first.click()
    expect(page.locator(".diff .original").first).to_be_visible()
    assert foreign == []


def is_foreign(url: str, server: str) -> bool:
    return not url.startswith((server, server.replace("http", "ws"), "blob:", "data:"))
