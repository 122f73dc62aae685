"""The graph page on a real session: from a click on a pruned node to its reason, its original, the diff and back."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, Request, expect
from waiting import settle, until

SESSION = Path(__file__).parents[2].parent / "shared" / "corpus" / "claude_code" / "spotter-8463c716.jsonl"


@pytest.fixture(scope="session")
def session(serve: Callable[[str], str], tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of the graph page over a session that has duplicates: a recorded one, else a generated one."""
    if SESSION.is_file():
        return f"{serve(str(SESSION))}/graph?window=1&stages=duplicates"
    made = tmp_path_factory.mktemp("session") / "made.jsonl"
    made.write_text("".join(json.dumps(event) + "\n" for turn in range(80) for event in asked(turn)), "utf-8")
    return f"{serve(str(made))}/graph?stages=duplicates"


def asked(turn: int) -> list[dict[str, object]]:
    call = {"id": f"c{turn}", "type": "tool_call", "timestamp": turn, "tool_name": "lookup",
            "arguments": {"n": turn % 60}}  # fmt: skip
    found = f"What is known about {turn % 60}: " + "a fact, " * 40
    return [call, {"id": f"r{turn}", "type": "tool_result", "timestamp": turn, "call_id": f"c{turn}", "result": found}]


@pytest.fixture
def strangers(page: Page) -> list[str]:
    """Every request to another machine, and every error that a script threw."""
    seen: list[str] = []

    def note(request: Request) -> None:
        if not re.match(r"(http|ws)://(127\.0\.0\.1|localhost)[:/]|blob:|data:", request.url):
            seen.append(request.url)

    page.on("request", note)
    page.on("pageerror", lambda error: seen.append(str(error)))
    return seen


def graph(page: Page) -> Locator:
    host = page.locator(".host")
    expect(host).to_have_attribute("data-drawn", "true")
    return host


def click(page: Page, look: str) -> int:
    """Click the first node whose look ends so, on the canvas, as a person would; gives its id."""
    host = graph(page)
    node, x, y = host.evaluate(
        """(host, look) => {
            const { net, nodes } = host.__graph, node = nodes.get().find(each => each.look.endsWith(look));
            net.moveTo({ position: { x: node.x, y: net.getViewPosition().y } });
            const at = net.canvasToDOM(net.getPositions([node.id])[node.id]), box = host.getBoundingClientRect();
            return [node.id, box.left + at.x, box.top + at.y];
        }""",
        look,
    )
    page.mouse.click(x, y)
    return int(node)


HOST = "[...document.querySelectorAll('*')].map(e => e.shadowRoot?.querySelector('.host')).find(Boolean)"


def event_in(url: str) -> str:
    return re.search(r"event=([^&]+)", url)[1]  # type: ignore[index]  # a missing one is a failure


def test_from_a_pruned_node_to_its_original_the_diff_and_back(page: Page, session: str, strangers: list[str]) -> None:
    page.goto(session)
    node = click(page, " pruned")
    told = page.locator(".parts", has_text="pruned by")
    expect(told).to_contain_text("duplicates")
    expect(page.locator(".host")).to_have_attribute("data-selected", str(node))
    page.wait_for_function("location.search.includes('event=')")
    chosen = page.evaluate("location.href")

    page.get_by_role("button", name="Recover", exact=True).click()
    expect(page.locator(".cg-notice")).to_contain_text(re.compile(r"Recovered 1 event: sha256 [0-9a-f]{16}… matches"))
    expect(page.get_by_test_id("stCode")).to_contain_text(re.compile("CALL|RESULT"))

    settle(page)
    until(
        page.get_by_role("link", name="Show in diff").click,
        lambda: page.wait_for_function("location.pathname.endsWith('/diff')", timeout=8_000),
    )
    expect(page.get_by_role("heading", name="Diff", exact=True)).to_be_visible()
    page.wait_for_function("event => location.search.includes('event=' + event)", arg=event_in(chosen))

    page.goto(chosen)
    graph(page)
    expect(page.locator(".host")).to_have_attribute("data-selected", str(node))
    expect(page.locator(".parts", has_text="pruned by")).to_be_visible()
    assert strangers == []


def test_a_witness_is_a_link_that_selects_it(page: Page, session: str) -> None:
    page.goto(session)
    dead = click(page, " pruned")
    page.locator(".parts p", has_text="pruned by").get_by_role("button").first.click()
    expect(page.locator(".host")).not_to_have_attribute("data-selected", str(dead))
    expect(page.locator(".parts .chip")).to_have_text(re.compile("live|protected|kept"))


def test_arrows_move_between_events_and_n_to_the_next_pruned_one(page: Page, session: str) -> None:
    page.goto(session)
    host = graph(page)
    host.focus()
    host.press("Home")
    expect(host).to_have_attribute("data-selected", "0")
    host.press("ArrowRight")
    expect(host).to_have_attribute("data-selected", "1")
    host.press("ArrowLeft")
    expect(host).to_have_attribute("data-selected", "0")
    host.press("n")
    expect(page.locator(".parts .chip")).to_have_text("✂ pruned")


def test_a_stage_switch_redraws_without_moving_the_view(page: Page, session: str) -> None:
    page.goto(session)
    host = graph(page)
    looks = "host => host.__graph.nodes.get().filter(node => node.look.endsWith(' pruned')).length"
    assert host.evaluate(looks) > 0
    before = host.evaluate("host => [host.__graph.net.getScale(), host.__graph.net.getViewPosition().x]")
    version = host.get_attribute("data-version")
    page.locator(".stSidebar label", has_text="duplicates").click()
    expect(host).not_to_have_attribute("data-version", version or "")
    assert host.evaluate(looks) == 0
    assert host.evaluate("host => [host.__graph.net.getScale(), host.__graph.net.getViewPosition().x]") == before
    page.wait_for_function("location.search.includes('stages=') && !location.search.includes('stages=duplicates')")


def test_the_table_is_complete_when_the_search_hides_nodes(page: Page, session: str) -> None:
    page.goto(session)
    host = graph(page)
    everything = host.evaluate("host => host.__graph.data.order.length")
    page.get_by_placeholder("Search text").fill("no event holds this")
    page.keyboard.press("Enter")
    expect(page.locator(".empty")).to_be_visible()
    page.get_by_placeholder("Search text").fill("")
    page.keyboard.press("Enter")
    expect(page.locator(".empty")).to_be_hidden()
    expect(page.get_by_text(re.compile(f"^{everything:,} events of {everything:,}"))).to_be_visible()


def test_dragging_over_the_strip_chooses_turns_and_a_double_click_takes_them_back(page: Page, session: str) -> None:
    page.goto(session)
    host = graph(page)
    everything = host.evaluate("host => host.__graph.data.order.length")
    strip = page.get_by_role("img", name=re.compile("^Tokens of")).bounding_box()
    assert strip is not None
    middle = strip["y"] + strip["height"] / 2
    page.mouse.move(strip["x"] + strip["width"] * 0.2, middle)
    page.mouse.down()
    page.mouse.move(strip["x"] + strip["width"] * 0.3, middle, steps=4)
    page.mouse.up()
    page.wait_for_function("location.search.includes('turns=')")
    page.wait_for_function(f"{HOST}?.__graph?.data.order.length < {everything}")
    expect(page.get_by_text(re.compile("not drawn"))).to_be_visible()
    page.mouse.dblclick(strip["x"] + strip["width"] * 0.8, middle)
    page.wait_for_function(f"{HOST}?.__graph?.data.order.length === {everything}")


def test_a_line_of_the_table_selects_its_event(page: Page, session: str) -> None:
    page.goto(session)
    host = graph(page)
    table = page.get_by_test_id("stDataFrame")
    table.scroll_into_view_if_needed()
    table.click(position={"x": 17, "y": 36 + 28 * 2 + 14})
    expect(host).to_have_attribute("data-selected", "2")
    expect(page.locator(".parts .chip").first).to_be_visible()


def test_toolbar_graph_and_detail_fit_on_a_laptop_screen(page: Page, session: str) -> None:
    page.goto(session)
    click(page, " pruned")
    expect(page.locator(".parts", has_text="pruned by")).to_be_visible()
    assert graph(page).evaluate("host => host.getBoundingClientRect().bottom") <= 900
    panel = page.get_by_role("tabpanel", name="Rendered").get_by_test_id("stCode").bounding_box()
    assert panel is not None
    assert panel["y"] + panel["height"] <= 900


def test_on_a_narrow_screen_the_detail_goes_below(page: Page, session: str) -> None:
    page.set_viewport_size({"width": 900, "height": 900})
    page.goto(session)
    bottom = graph(page).evaluate("host => host.getBoundingClientRect().bottom")
    detail = page.get_by_text("Select an event in the graph").bounding_box()
    assert detail is not None
    assert detail["y"] >= bottom
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize(("scheme", "fill"), [("light", "#E5E7EB"), ("dark", "#374151")])
def test_colours_follow_the_theme(page: Page, session: str, scheme: str, fill: str) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.goto(session)
    pruned = "host => host.__graph.nodes.get().find(node => node.look.endsWith(' pruned'))"
    drawn = graph(page).evaluate(pruned)
    assert drawn["color"]["background"] == fill
    assert drawn["shapeProperties"]["borderDashes"]
