"""The compare page in a browser: how two policies differ, a call chosen on the curves, an event on the graph."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect
from waiting import settle, until

from context_gc.policy import DEFAULT_STAGES

CODING = "/compare?trace=coding_agent" + "".join(f"&stages={stage}" for stage in DEFAULT_STAGES)


def opened(page: Page, address: str) -> None:
    page.goto(address)
    expect(page.locator(".diff .row").first).to_be_visible()
    settle(page)


def test_what_the_policy_cuts_is_struck_in_the_other_prompt_with_its_stub(page: Page, server: str) -> None:
    opened(page, f"{server}{CODING}")
    expect(page.locator(".diff .head .before")).to_have_text(re.compile(r"^Full history  [\d,]+ tokens"))
    expect(page.locator(".diff .head .after")).to_have_text(re.compile(r"^In force  [\d,]+ tokens"))
    stub = page.locator(".diff .stub", has_text="[RECEIPT c10] +5")
    stub.locator("summary").click()
    expect(stub.locator(".original")).to_have_count(6)
    expect(page.locator(".diff .row.cut .pick", has_text="#11")).to_be_visible()


def test_the_same_policy_on_both_sides_makes_no_difference(page: Page, server: str) -> None:
    opened(page, f"{server}{CODING}&against=defaults")
    expect(page.get_by_text("no difference").first).to_be_visible()
    expect(page.locator(".diff .row.cut")).to_have_count(0)
    expect(page.locator(".diff .unlisted")).to_have_text("Both prompts are the same.")


def test_a_call_is_chosen_by_key_on_the_curves_and_is_part_of_the_link(page: Page, server: str) -> None:
    opened(page, f"{server}{CODING}")
    slider = page.get_by_role("slider", name="Model call")
    slider.press("Home")
    slider.press("ArrowRight")
    expect(page.get_by_text("The prompts of call 2", exact=True)).to_be_visible()
    page.wait_for_function("location.href.includes('call=2')")
    expect(slider).to_have_attribute("aria-valuenow", "2")
    expect(slider).to_have_attribute("aria-valuetext", re.compile(r"^call 2\n[\d,]+ full history"))


def test_an_event_of_the_diff_leads_to_the_graph(page: Page, server: str) -> None:
    opened(page, f"{server}{CODING}")
    row = page.locator(".diff .row.cut", has=page.locator(".pick", has_text="#11"))
    until(
        lambda: row.locator(".graph").press("Enter"),
        lambda: page.wait_for_function(
            "location.pathname.endsWith('/graph') && location.href.includes('event=c11')", timeout=5_000
        ),
    )


def test_two_runs_show_the_texts_that_only_one_has(page: Page, server: str) -> None:
    opened(page, f"{server}/compare?trace=coding_agent&other=research_agent")
    expect(page.get_by_text(re.compile("aligned by the number of the model call"))).to_be_visible()
    expect(page.locator(".diff .head .before")).to_have_text(re.compile("^Other run"))
    expect(page.locator(".diff .row.cut").first).to_be_visible()


@pytest.mark.parametrize("width", [1440, 900])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_sticks_out_sideways(page: Page, server: str, scheme: str, width: int) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.set_viewport_size({"width": width, "height": 900})
    opened(page, f"{server}{CODING}")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.locator(".compare").evaluate("host => host.scrollWidth <= host.clientWidth")
