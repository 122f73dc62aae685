"""The tune page in a browser: curves that follow a slider, a sweep to its recommendation, links to what was lost."""

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

SESSION = Path(__file__).parents[2].parent / "shared" / "corpus" / "pi" / "pi-session.jsonl"
SOON = 500  #: milliseconds from a key on a slider to the curve that it changes
QUERY = "budget=on&limit=6000&" + "&".join(
    f"grid={each}" for each in ("max_tokens=6000", "max_tokens=100000", "min_gain=100", "min_gain=400")
)
WATCH = """plot => {
    let down = 0;
    window.times = [];
    addEventListener('keydown', () => { down = performance.now(); }, true);
    const watch = new MutationObserver(() => times.push(performance.now() - down));
    watch.observe(plot, { attributeFilter: ['data-version'] });
}"""
EVIL = "<img src=http://evil.example/x.png onerror=window.pwned=1>![p](http://evil.example/m.png)"


def story(turns: int = 40, mark: str = "") -> list[dict[str, Any]]:
    """Reads of five files again and again; what was in one nine turns ago is named."""
    events: list[dict[str, Any]] = [{"id": "u", "type": "requirement", "timestamp": 1, "content": f"Look {mark}"}]
    for turn in range(turns):
        at = 1_700_000_000_000 + turn * 60_000
        events += [
            {"id": f"c{turn}{mark}", "type": "tool_call", "timestamp": at, "tool_name": f"Read{mark}",
             "arguments": {"file_path": f"src/f_{turn % 5}.py"}},
            {"id": f"r{turn}{mark}", "type": "tool_result", "timestamp": at, "call_id": f"c{turn}{mark}",
             "result": f"value_{turn} = {turn} {mark}\n" * 40},
            {"id": f"d{turn}{mark}", "type": "decision", "timestamp": at,
             "content": f"So value_{max(0, turn - 9)} {mark}"},
        ]  # fmt: skip
    return events


@pytest.fixture(scope="session")
def tuned(serve: Callable[[str], str], tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("tuned")
    story_file, evil_file = folder / "a-story.json", folder / "evil.json"
    story_file.write_text(json.dumps({"events": story(), "model": "claude-sonnet-4-5"}), "utf-8")
    given = {"events": story(12, EVIL), "model": f"claude-sonnet-4-5 {EVIL}", "title": EVIL}
    evil_file.write_text(json.dumps(given), "utf-8")
    return serve(str(folder))


def plot(page: Page) -> Locator:
    """The picture of the context over the calls, once it is drawn."""
    found = page.locator(".plot[data-version]")
    expect(found).to_be_visible()
    return found


def open_page(page: Page, address: str) -> Locator:
    page.goto(address)
    found = plot(page)
    settle(page)
    return found


def sweep(page: Page) -> None:
    button = page.get_by_role("button", name=re.compile(r"^Try \d"))
    until(button.click, lambda: expect(page.locator(".parts .answer", has_text="Ship ")).to_be_visible(timeout=30_000))
    settle(page)


def test_a_slider_changes_the_curve_within_half_a_second(page: Page, serve: Callable[[str], str]) -> None:
    if not SESSION.is_file():
        pytest.skip(f"the recorded session is not there: {SESSION.name} of the shared corpus")
    found = open_page(page, f"{serve(str(SESSION))}/tune?budget=on&limit=100000")
    found.evaluate(WATCH)
    slider = page.locator(".stSidebar").get_by_role("slider", name="High threshold")
    slider.focus()
    line = found.locator("path.line").first.get_attribute("d")
    for number in range(1, 6):  # a machine that does other things as well may be late at times
        slider.press("ArrowLeft")
        page.wait_for_function("number => times.length >= number", arg=number)
        settle(page)
    assert found.locator("path.line").first.get_attribute("d") != line
    assert min(page.evaluate("times")) < SOON  # the machine may be busy with other tests


def test_a_sweep_tells_how_far_it_is_and_a_click_on_a_point_loads_it(page: Page, tuned: str) -> None:
    open_page(page, f"{tuned}/tune?trace=open/a-story.json&{QUERY}")
    sweep(page)
    expect(page.locator(".st-key-tune_sweep button")).to_be_enabled()
    expect(page.locator(".parts", has_text="13 policies tried in")).to_be_visible()
    before = plot(page).get_attribute("data-version")
    best = page.locator(".point.best")
    best.hover()
    expect(page.locator(".tip", has_text="click: load it into the controls")).to_be_visible()
    until(best.click, lambda: page.wait_for_function("location.search.includes('gain=')", timeout=8_000))
    expect(plot(page)).not_to_have_attribute("data-version", before or "")
    expect(page.locator(".legend", has_text="in the controls")).to_be_visible()
    assert "limit=100000" in page.evaluate("location.search")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="policy.toml").click()
    policy = Policy.load(waiting.value.path())
    assert policy.budget is not None
    assert policy.budget.max_tokens == 100_000


def test_progress_is_shown_and_the_page_stays_usable_meanwhile(page: Page, serve: Callable[[str], str]) -> None:
    if not SESSION.is_file():
        pytest.skip(f"the recorded session is not there: {SESSION.name} of the shared corpus")
    found = open_page(page, f"{serve(str(SESSION))}/tune?budget=on&limit=100000")
    button = page.get_by_role("button", name=re.compile(r"^Try \d"))
    button.click()
    expect(page.get_by_test_id("stProgress")).to_contain_text(re.compile(r"\d+ of \d+ policies"))
    expect(button).to_be_disabled()
    version = found.get_attribute("data-version")
    slider = page.locator(".stSidebar").get_by_role("slider", name="Low threshold")
    slider.focus()
    slider.press("ArrowLeft")
    expect(found).not_to_have_attribute("data-version", version or "")
    expect(page.get_by_test_id("stProgress")).to_be_visible()
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(page.get_by_test_id("stProgress")).to_have_count(0)
    expect(button).to_be_enabled()


def test_a_lost_row_leads_to_its_event(page: Page, tuned: str) -> None:
    open_page(page, f"{tuned}/tune?trace=open/a-story.json&budget=on&limit=3000")
    row = page.locator(".lost button").first
    number = row.inner_text()
    row.click()
    page.wait_for_function("location.pathname.endsWith('/graph')")
    expect(page.locator(".host")).to_have_attribute("data-selected", str(int(number.removeprefix("#")) - 1))


def test_a_drag_chooses_a_range_and_a_click_opens_the_call(page: Page, tuned: str) -> None:
    found = open_page(page, f"{tuned}/tune?trace=open/a-story.json&budget=on&limit=6000")
    box = found.locator("svg").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 0.3 * box["width"], box["y"] + 80)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.6 * box["width"], box["y"] + 90, steps=4)
    page.mouse.up()
    page.wait_for_function("/range=\\d+-\\d+/.test(location.search)")
    expect(page.locator(".parts", has_text=re.compile(r"^Calls \d+ to \d+: "))).to_be_visible()
    page.get_by_role("button", name=re.compile("show all")).click()
    page.wait_for_function("!location.search.includes('range=')")
    settle(page)
    page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 80)
    expect(page.locator(".tip")).to_contain_text(re.compile(r"call \d+\n.* full history\n.* sent\n\$"))
    page.mouse.down()
    page.mouse.up()
    page.wait_for_function("location.pathname.endsWith('/replay') && /call=\\d+/.test(location.search)")


def test_the_cursor_follows_the_arrow_keys(page: Page, tuned: str) -> None:
    found = open_page(page, f"{tuned}/tune?trace=open/a-story.json&budget=on&limit=6000")
    found.locator("svg").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".tip")).to_contain_text("call 1")
    page.keyboard.press("PageDown")
    expect(page.locator(".tip")).to_contain_text("call 11")


def test_hostile_text_runs_nothing_and_fetches_nothing(page: Page, tuned: str) -> None:
    asked: list[str] = []
    own = (tuned, tuned.replace("http", "ws"), "blob:", "data:")
    page.on("request", lambda request: None if request.url.startswith(own) else asked.append(request.url))
    page.on("pageerror", lambda error: asked.append(str(error)))
    image = EVIL[EVIL.index("!") :]
    open_page(page, f"{tuned}/tune?trace=open/evil.json&prices=claude-sonnet-4-5&{QUERY}&grid={image}=1")
    expect(page.get_by_role("alert")).to_contain_text("unknown key")
    page.goto(f"{tuned}/tune?trace=open/evil.json&prices=claude-sonnet-4-5&{QUERY}&range={EVIL}&lost={EVIL}")
    plot(page)
    sweep(page)
    page.locator(".point").first.hover()
    expect(page.locator(".parts .lost")).to_be_visible()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="report.html").click()
    assert "<img" not in Path(waiting.value.path()).read_text("utf-8")
    assert page.evaluate("window.pwned") is None
    assert page.title() == "Tune · context-gc"
    assert asked == []


@pytest.mark.parametrize("width", [1440, 900])
def test_the_page_does_not_scroll_sideways(page: Page, tuned: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    open_page(page, f"{tuned}/tune?trace=open/a-story.json&{QUERY}&limit=3000")
    sweep(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    inside = "found => found.every(each => each.getBoundingClientRect().right <= innerWidth + 1)"
    assert page.locator(".parts > div").evaluate_all(inside)
