"""A file that grows while it is looked at: graph, meter and diff keep up, and nothing moves under the reader."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect
from waiting import settle

SOON = 3_000  #: milliseconds in which what was appended is shown
FIRST = 40  #: turns that are there at first
CAMERA = """host => {
    const net = host?.__graph?.net;
    return net && [net.getScale(), net.getViewPosition().x, net.getViewPosition().y];
}"""
DRAWN = "host => host?.__graph?.data.order.length"


def turn(number: int) -> bytes:
    """A call and its result; the first answers repeat, so that some are duplicates."""
    about = number % 7 if number < FIRST else number
    call = {"id": f"c{number}", "type": "tool_call", "timestamp": number, "tool_name": "lookup",
            "arguments": {"n": about}}  # fmt: skip
    found = f"What is known about {about}: " + "a fact, " * 40
    result = {"id": f"r{number}", "type": "tool_result", "timestamp": number, "call_id": f"c{number}", "result": found}
    return (json.dumps(call) + "\n" + json.dumps(result) + "\n").encode()


def append(path: Path, data: bytes) -> None:
    with open(path, "ab") as file:
        file.write(data)


@pytest.fixture(scope="module")
def live(serve: Callable[..., str], tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """The address of an inspector that follows a file, and the file."""
    path = tmp_path_factory.mktemp("live") / "live.jsonl"
    path.write_bytes(b"")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CONTEXT_GC_FOLLOW", "1")
        return serve(str(path)), path


@pytest.fixture
def written(live: tuple[str, Path], page: Page) -> Path:
    """The file with its first turns, new for each test; the page has heard of it."""
    path = live[1]
    path.with_suffix(".new").write_bytes(b"".join(map(turn, range(FIRST))))
    os.replace(path.with_suffix(".new"), path)
    return path


def graph(page: Page) -> Locator:
    host = page.locator(".host")
    expect(host).to_have_attribute("data-drawn", "true")
    expect(page.locator(".cg-live")).to_contain_text("following")
    page.wait_for_function(f"({DRAWN})({HOST}) === {2 * FIRST}")
    return host


HOST = "[...document.querySelectorAll('*')].map(e => e.shadowRoot?.querySelector('.host')).find(Boolean)"


def drawn(page: Page, events: int) -> None:
    page.wait_for_function(f"({DRAWN})({HOST}) === {events}", timeout=SOON)


def test_at_the_end_the_graph_and_the_meter_go_on_with_it(live: tuple[str, Path], written: Path, page: Page) -> None:
    page.goto(f"{live[0]}/graph")
    host = graph(page)
    meter = page.locator(".meter b").inner_text()
    page.wait_for_function(f"{HOST}?.__graph?.away === false")
    settle(page)
    before = host.evaluate(CAMERA)
    append(written, turn(FIRST) + b'{"id": "half')
    drawn(page, 2 * FIRST + 2)
    scale, x, _ = host.evaluate(CAMERA)
    assert scale == before[0]
    assert x > before[1]
    expect(page.locator(".meter b")).not_to_have_text(meter, timeout=SOON)
    expect(page.locator(".cg-live")).to_contain_text("the last line is not whole: 12 bytes are kept back")
    expect(page.get_by_role("button", name="new event")).to_have_count(0)


def test_whoever_looks_at_something_older_is_left_alone(live: tuple[str, Path], written: Path, page: Page) -> None:
    page.goto(f"{live[0]}/graph?event=r3")
    host = graph(page)
    expect(host).to_have_attribute("data-selected", "7")
    host.focus()
    host.press("+")
    before = host.evaluate(CAMERA)
    append(written, turn(FIRST))
    drawn(page, 2 * FIRST + 2)
    new = page.get_by_role("button", name="2 new events")
    expect(new).to_be_visible(timeout=SOON)
    assert host.evaluate(CAMERA) == before
    expect(host).to_have_attribute("data-selected", "7")
    expect(page.locator(".parts", has_text="lookup").first).to_be_visible()
    append(written, turn(FIRST + 1))
    drawn(page, 2 * FIRST + 4)
    assert host.evaluate(CAMERA) == before

    page.get_by_role("button", name="4 new events").click()
    page.wait_for_function(f"({CAMERA})({HOST})?.[1] > {before[1]}")
    expect(host).to_have_attribute("data-selected", "")
    expect(page.get_by_role("button", name="new event")).to_have_count(0)


def test_a_view_that_was_moved_is_left_where_it_is(live: tuple[str, Path], written: Path, page: Page) -> None:
    page.goto(f"{live[0]}/graph")
    host = graph(page)
    box = host.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.wheel(-1_500, 0)
    page.wait_for_function(f"{HOST}?.__graph?.away === true")
    settle(page)
    before = host.evaluate(CAMERA)
    append(written, turn(FIRST))
    drawn(page, 2 * FIRST + 2)
    expect(page.get_by_role("button", name="2 new events")).to_be_visible(timeout=SOON)
    assert host.evaluate(CAMERA) == before


def test_the_diff_keeps_up_and_stays_where_it_was_read(live: tuple[str, Path], written: Path, page: Page) -> None:
    page.goto(f"{live[0]}/diff?event=c2")
    box = page.locator(".diff .box")
    expect(page.locator(".diff .row").first).to_be_visible()
    settle(page)
    box.evaluate("box => { box.scrollTop = 333 }")
    before = box.evaluate("box => [box.scrollTop, box.querySelector('.row').textContent]")
    told = page.locator(".diff .head .before").inner_text()
    append(written, turn(FIRST) + turn(FIRST + 1))
    expect(page.locator(".diff .head .before")).not_to_have_text(told, timeout=SOON)
    now = box.evaluate("box => [box.scrollTop, box.querySelector('.row').textContent]")
    assert now[1] == before[1]
    assert abs(now[0] - before[0]) <= 2


def test_a_rewritten_file_is_begun_anew_and_says_so(live: tuple[str, Path], written: Path, page: Page) -> None:
    page.goto(f"{live[0]}/graph?event=r3")
    graph(page)
    written.write_bytes(b"".join(map(turn, range(100, 103))))
    drawn(page, 6)
    expect(page.locator(".cg-notice")).to_have_text("! The file was truncated: it has been read anew from its start.")
    page.get_by_role("button", name="Dismiss").click()
    expect(page.locator(".cg-notice")).to_have_count(0)
    append(written, turn(103))
    drawn(page, 8)


def test_a_pause_holds_what_is_shown_and_says_what_waits(live: tuple[str, Path], written: Path, page: Page) -> None:
    page.goto(f"{live[0]}/graph")
    host = graph(page)
    page.get_by_role("button", name="Pause").click()
    expect(page.locator(".cg-live")).to_contain_text("paused")
    append(written, turn(FIRST))
    expect(page.get_by_role("button", name="2 new events")).to_be_visible(timeout=SOON)
    assert host.evaluate(DRAWN) == 2 * FIRST
    page.get_by_role("button", name="Resume").click()
    drawn(page, 2 * FIRST + 2)


def test_a_file_that_was_named_can_be_followed_from_the_page(
    serve: Callable[..., str], tmp_path: Path, page: Page
) -> None:
    path = tmp_path / "named.jsonl"
    path.write_bytes(turn(1))
    page.goto(serve(str(path)))
    page.get_by_role("button", name="Follow").click()
    expect(page.locator(".cg-live")).to_contain_text("following")
    append(path, turn(2))
    expect(page.locator(".cg-head")).to_contain_text("4 events", timeout=SOON)
    expect(page).to_have_url(re.compile("follow=on"))
