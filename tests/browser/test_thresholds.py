"""Budget and retention in a browser: passes on the timeline, a task that ends, an event that is pinned and stays."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect
from waiting import settle, until

from context_gc import Policy

SESSION = Path(__file__).parents[2].parent / "shared" / "corpus" / "claude_code" / "spotter-4d5611e5.jsonl"


def story() -> list[dict[str, Any]]:
    """Sixty reads of 25 files, one in nine long; what was read in turns 2 to 4 is retained until the task ends."""
    events: list[dict[str, Any]] = [{"id": "u", "type": "requirement", "timestamp": 0, "content": "Bring it in order"}]
    for turn in range(60):
        until = "task_end" if turn in (2, 3, 4) else None
        size = 400 if turn % 9 == 5 else 110
        text = "\n".join(f"{line}: value_{turn} = compute(total, {line})" for line in range(size))
        events += [
            {"id": f"c{turn}", "type": "tool_call", "timestamp": turn, "tool_name": "Read", "retain_until": until,
             "arguments": {"file_path": f"src/part_{turn % 25}.py"}},
            {"id": f"r{turn}", "type": "tool_result", "timestamp": turn, "call_id": f"c{turn}", "result": text,
             "retain_until": until},
        ]  # fmt: skip
    return events


@pytest.fixture(scope="session")
def recorded(serve: Callable[[str], str]) -> str:
    if not SESSION.is_file():
        pytest.skip(f"the recorded session is not there: {SESSION.name} of the shared corpus")
    return serve(str(SESSION))


@pytest.fixture(scope="session")
def retained(serve: Callable[[str], str], tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("retained") / "story.jsonl"
    path.write_text("".join(json.dumps(event) + "\n" for event in story()), "utf-8")
    return serve(str(path))


def group(page: Page, title: str) -> Locator:
    """A group of controls in the sidebar."""
    return page.locator(".stSidebar .stExpander").filter(has=page.locator("summary", has_text=title))


def set_window(page: Page, tokens: int) -> None:
    """Switch the budget on, as a person does, with a window of so many tokens."""
    expect(page.locator(".meter")).to_be_visible()
    thresholds = group(page, "Thresholds")
    thresholds.locator("summary").click()
    settle(page)
    until(
        thresholds.get_by_text("Budget", exact=True).click,
        lambda: expect(thresholds.get_by_text("Low threshold")).to_be_visible(timeout=8_000),
    )
    settle(page)
    field = thresholds.get_by_label("Max tokens")
    field.fill(str(tokens))
    field.press("Enter")
    page.wait_for_function(f"location.search.includes('budget=on') && location.search.includes('limit={tokens}')")


def end_task(page: Page) -> None:
    retention = group(page, "Retention")
    retention.locator("summary").click()
    settle(page)
    until(
        retention.get_by_text(re.compile("^Task ended")).click,
        lambda: page.wait_for_function("location.search.includes('ended=task_end')", timeout=8_000),
    )


def graph(page: Page) -> Locator:
    host = page.locator(".host")
    expect(host).to_have_attribute("data-drawn", "true")
    return host


def places(page: Page, status: str) -> list[int]:
    """Places of the drawn events with this status."""
    found: list[int] = graph(page).evaluate(
        "(host, status) => host.__graph.nodes.get().filter(node => node.look.endsWith(status)).map(node => node.id)",
        f" {status}",
    )
    return found


def click(page: Page, place: int) -> None:
    """Click an event on the canvas, as a person would."""
    x, y = graph(page).evaluate(
        """(host, place) => {
            const { net, nodes } = host.__graph, node = nodes.get(place), box = host.getBoundingClientRect();
            net.moveTo({ position: { x: node.x, y: net.getViewPosition().y } });
            const at = net.canvasToDOM(net.getPositions([place])[place]);
            return [box.left + at.x, box.top + at.y];
        }""",
        place,
    )
    page.mouse.click(x, y)
    expect(page.locator(".host")).to_have_attribute("data-selected", str(place))


def test_passes_a_task_that_ends_and_a_pin_on_a_recorded_session(page: Page, recorded: str) -> None:
    page.goto(f"{recorded}/?window=1")
    set_window(page, 32_000)
    passes = page.locator(".marks .pass")
    expect(passes.first).to_be_visible()
    made = passes.count()
    assert made > 2
    passes.first.hover()
    expect(page.locator(".tip")).to_contain_text(re.compile(r"Pass 1, .*tokens: .* → .*N\*", re.DOTALL))
    passes.first.click()
    page.wait_for_function("location.search.includes('event=')")
    expect(page.locator(".parts", has_text="Selected:")).to_contain_text("pruned")

    page.locator(".stSidebar").get_by_role("link", name="Graph").click()
    page.wait_for_function("location.pathname.endsWith('/graph')")
    expect(page.locator(".passes .pass")).to_have_count(made)
    end_task(page)
    dead = next(place for place in places(page, "pruned") if place >= 0)
    click(page, dead)
    expect(page.locator(".chip")).to_have_text("✂ pruned")
    page.get_by_role("button", name="Pin", exact=True).click()
    expect(page.locator(".chip")).to_have_text(re.compile("protected"))
    expect(page.locator(".parts", has_text="1 pinned event")).to_be_visible()
    assert dead in places(page, "protected")

    page.reload()
    expect(page.locator(".chip")).to_have_text(re.compile("protected"))
    expect(page.locator(".meter")).to_contain_text("of 32,000")


def test_what_was_retained_goes_with_its_task_and_a_pinned_event_stays(page: Page, retained: str) -> None:
    page.goto(f"{retained}/graph")
    set_window(page, 32_000)
    expect(page.locator(".passes .pass").first).to_be_visible()
    held = [place for place in places(page, "protected") if place]  # all but the requirement
    assert len(held) == 6
    version = page.locator(".host").get_attribute("data-version")
    end_task(page)
    expect(page.locator(".host")).not_to_have_attribute("data-version", version or "")
    assert set(held) <= set(places(page, "pruned"))

    click(page, held[1])
    expect(page.locator(".parts", has_text="out since pass")).to_contain_text("stale reads")
    page.get_by_role("button", name="Pin", exact=True).click()
    expect(page.locator(".chip")).to_have_text(re.compile("protected"))
    assert set(places(page, "protected")) == {0, *held[:2]}  # with its call: a unit is kept whole

    page.locator(".stSidebar").get_by_role("link", name="Diff").click()
    expect(page.locator(f'.diff .row[data-seq="{held[1]}"]')).to_have_class(re.compile("row same"))
    page.locator(".stSidebar").get_by_role("button", name="Unpin r2").click()
    expect(page.locator(f'.diff .row[data-seq="{held[1]}"]')).to_have_class(re.compile("row cut"))


def test_the_strip_of_the_graph_shows_the_passes_and_a_click_selects_what_one_changed_first(
    page: Page, retained: str
) -> None:
    page.goto(f"{retained}/graph?budget=on&limit=32000")
    graph(page)
    mark = page.locator(".passes .pass").first
    expect(mark).to_have_attribute("aria-label", re.compile(r"^Pass 1, .*N\*", re.DOTALL))
    mark.click()
    page.wait_for_function("location.search.includes('event=')")
    expect(page.locator(".chip")).to_have_text("✂ pruned")
    assert graph(page).evaluate("host => host.getBoundingClientRect().bottom") <= 900


def test_contradicting_thresholds_are_told_and_the_view_stays(page: Page, retained: str) -> None:
    page.goto(f"{retained}/?budget=on&limit=32000")
    expect(page.locator(".marks .pass").first).to_be_visible()
    before = page.locator(".marks .pass").count()
    high = group(page, "Thresholds").get_by_role("slider", name="High threshold")
    high.focus()
    high.press("Home")
    expect(page.locator(".stSidebar").get_by_role("alert")).to_contain_text("threshold_high is 0.01")
    expect(page.locator(".stSidebar").get_by_role("alert")).to_contain_text("Still in force: low 0.75, high 0.92")
    expect(page.locator(".marks .pass")).to_have_count(before)
    expect(page.get_by_text("Traceback")).to_have_count(0)


def test_the_exported_policy_holds_the_budget_and_loads_again(page: Page, retained: str) -> None:
    page.goto(f"{retained}/?budget=on&limit=32000&high=0.9&pins=r2&last=2")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Export policy").click()
    policy = Policy.load(waiting.value.path())
    assert policy.budget is not None
    assert (policy.budget.max_tokens, policy.budget.threshold_high) == (32_000, 0.9)
    assert (policy.protect_ids, policy.protect_recent) == (("r2",), 2)


def test_a_clipped_event_is_told_in_graph_and_diff_and_its_chip_opens_in_place(page: Page, retained: str) -> None:
    page.goto(f"{retained}/graph?stages=clip&event=r5")
    expect(page.locator(".chip")).to_have_text("✂ clipped")
    expect(page.locator(".parts", has_text="✂ clipped by")).to_contain_text("its first and last lines stand")
    expect(page.locator(".legend .clipped")).to_be_visible()
    page.get_by_role("link", name="Show in diff").click()
    row = page.locator('.diff .row.clipped[data-seq="12"]')
    expect(row.locator(".left del")).to_contain_text("more characters")
    chip = row.locator(".right .stub")
    expect(chip.locator("summary")).to_contain_text(re.compile(r"\[RECEIPT r5\] [\d,]+ of [\d,]+ tokens"))
    chip.locator("summary").click()
    expect(chip.locator(".original")).to_contain_text("0: value_5 = compute(total, 0)")
    chip.get_by_role("button", name="more characters").click()
    expect(chip.locator(".original")).to_contain_text("399: value_5 = compute(total, 399)")
    page.goto(f"{retained}/receipts?stages=clip&event=r5")
    page.get_by_role("button", name="Verify all").click()
    expect(page.get_by_text("7 of 7 receipts verified in")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_waiting_event_has_its_own_fill_and_a_dotted_border(page: Page, retained: str, scheme: str) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.goto(f"{retained}/graph?budget=on&limit=900000&event=r1")
    node = graph(page).evaluate("host => host.__graph.nodes.get(4)")
    assert node["look"] == "result waiting"
    assert node["color"]["background"] == {"light": "#FCE7C8", "dark": "#5A4320"}[scheme]
    assert node["shapeProperties"]["borderDashes"] == [1.5, 3.5]
    expect(page.locator(".parts", has_text="waits for the next pass")).to_be_visible()
    expect(page.locator(".legend .waiting")).to_be_visible()
    page.goto(f"{retained}/diff?budget=on&limit=900000&event=r1")
    expect(page.locator('.diff .row.waits[data-seq="4"] .wait')).to_have_text("◌ waits")


@pytest.mark.parametrize("path", ["/", "/graph", "/diff", "/receipts"])
def test_no_page_scrolls_sideways_on_a_narrow_screen(page: Page, retained: str, path: str) -> None:
    page.set_viewport_size({"width": 900, "height": 900})
    page.goto(f"{retained}{path}?budget=on&limit=32000&stages=clip&stages=stale-reads&pins=r2&event=r2")
    expect(page.locator(".meter")).to_be_visible()
    expect(page.get_by_test_id("stSkeleton")).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
