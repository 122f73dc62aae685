"""The replay page in a browser: steps by key and button, play, the slider, stubs, the selected event, and the end."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect
from waiting import settle, until

from context_gc import Policy
from context_gc.inspector.home import SAMPLES
from context_gc.inspector.settings import START
from context_gc.load import load_traces
from context_gc.policy import DEFAULT_STAGES
from context_gc.replay import context_at
from context_gc.tokens import family_of

SAMPLE = "claude-code-session"
TRACE = load_traces(SAMPLES / f"{SAMPLE}.jsonl")[0]
POLICY = Policy(stages=START, counter=family_of(TRACE.model))
STUBBED = "/replay?trace=coding_agent" + "".join(f"&stages={stage}" for stage in DEFAULT_STAGES)
SOON = 3_000  #: milliseconds in which what was appended is shown


def opened(page: Page, address: str) -> Locator:
    """The player, once the page has come to rest."""
    page.goto(address)
    player = page.locator(".replay[data-call]")
    expect(player).to_be_visible()
    settle(page)
    return player


def at(player: Locator, call: int) -> None:
    expect(player).to_have_attribute("data-call", str(call))


def copied(page: Page) -> str:
    """The prompt that is shown, as its button copies it."""
    page.evaluate("navigator.clipboard.writeText('')")
    page.get_by_role("button", name="Copy prompt").click()
    expect(page.locator("button.copy")).to_have_text("Copied")
    text: str = page.evaluate("navigator.clipboard.readText()")
    expect(page.locator("button.copy")).to_have_text("Copy prompt")
    return text


def test_a_step_by_key_shows_the_exact_prompt_of_that_call(page: Page, server: str) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    player = opened(page, f"{server}/replay?trace={SAMPLE}&call=1")
    player.locator(".plot").press("End")
    last = int(player.locator(".number").input_value())
    for key, call in (("Home", 1), ("ArrowRight", 2), ("ArrowRight", 3), ("ArrowLeft", 2), ("End", last)):
        player.press(key)
        at(player, call)
        assert copied(page) == context_at(TRACE, call, POLICY)


def test_buttons_the_number_and_the_link_go_to_a_call(page: Page, server: str) -> None:
    player = opened(page, f"{server}/replay?trace={SAMPLE}&call=5")
    at(player, 5)
    page.get_by_role("button", name="Next call").click()
    at(player, 6)
    page.get_by_role("button", name="First call").click()
    at(player, 1)
    expect(page.get_by_role("button", name="Call before")).to_be_disabled()
    player.locator(".number").fill("7")
    player.locator(".number").press("Enter")
    at(player, 7)
    page.wait_for_function("location.href.includes('call=7')")
    page.reload()
    at(page.locator(".replay"), 7)


def test_steps_ask_the_server_nothing_until_the_reader_rests(page: Page, server: str) -> None:
    sent: list[object] = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(frame)))
    player = opened(page, f"{server}/replay?trace={SAMPLE}&call=1")
    before = len(sent)
    took = player.evaluate(
        """host => {
            const start = performance.now();
            for (let step = 0; step < 10; step += 1) {
                host.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight', bubbles: true }));
            }
            return (performance.now() - start) / 10;
        }"""
    )
    at(player, 11)
    assert len(sent) == before
    assert took < 50
    page.wait_for_function("location.href.includes('call=11')")
    at(player, 11)


def test_play_goes_on_until_it_is_paused_and_stops_at_the_end(page: Page, server: str) -> None:
    player = opened(page, f"{server}/replay?trace={SAMPLE}&call=1")
    player.locator(".speed").select_option("10")
    player.press("Space")
    expect(player).to_have_attribute("data-playing", "true")
    page.wait_for_function("globalThis.__contextGcReplay.views.replay.call >= 4")
    page.get_by_role("button", name="Pause").click()
    expect(player).to_have_attribute("data-playing", "false")
    stopped = int(player.get_attribute("data-call") or "")
    page.wait_for_function(f"location.href.includes('call={stopped}')")
    at(player, stopped)
    page.get_by_role("button", name="Play").click()
    expect(player).to_have_attribute("data-playing", "false")
    assert int(player.get_attribute("data-call") or "") == page.evaluate(
        "globalThis.__contextGcReplay.views.replay.last"
    )


def test_the_slider_is_dragged_and_tells_its_value(page: Page, server: str) -> None:
    player = opened(page, f"{server}/replay?trace={SAMPLE}&call=1")
    slider = page.get_by_role("slider", name="Model call")
    box = slider.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 60, box["y"] + 50)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 2, box["y"] + 50, steps=5)
    page.mouse.up()
    last = slider.get_attribute("aria-valuemax")
    expect(slider).to_have_attribute("aria-valuenow", last or "")
    expect(slider).to_have_attribute("aria-valuetext", re.compile(rf"call {last} of {last}\n[\d,]+ tokens sent"))
    slider.press("PageDown")
    at(player, int(last or "") - 10)


def test_a_stub_opens_in_place_to_the_originals_with_the_reason(page: Page, server: str) -> None:
    player = opened(page, f"{server}{STUBBED}")
    stub = player.locator(".row.stub", has_text="[RECEIPT c10] +5")
    stub.locator("summary").click()
    expect(stub.locator(".original")).to_have_count(6)
    expect(stub.locator(".original").first).to_contain_text("✂ overrides: superseded by c29 → #29")
    player.press("ArrowLeft")
    player.press("ArrowRight")
    expect(stub.locator(".original")).to_have_count(6)


def test_what_left_and_what_entered_is_listed_for_the_call(page: Page, server: str) -> None:
    player = opened(page, f"{server}{STUBBED}")
    left = player.locator(".rail .left")
    calls = page.evaluate("globalThis.__contextGcReplay.views.replay.last")
    seen = 0
    for call in range(calls, 0, -1):
        at(player, call)
        seen += left.locator(".entry").count()
        player.press("ArrowLeft")
    assert seen >= 6
    expect(player.locator(".rail .wrote .entry")).not_to_have_count(0)


def test_a_click_selects_for_all_pages_and_the_event_is_marked_wherever_it_stands(page: Page, server: str) -> None:
    player = opened(page, f"{server}{STUBBED}")
    stub = player.locator(".row.stub", has_text="[RECEIPT c10] +5")
    stub.locator("summary").click()
    until(
        lambda: stub.locator(".original .pick").nth(1).click(),
        lambda: expect(stub).to_have_class(re.compile("holds"), timeout=3_000),
    )
    expect(stub.locator(".original.selected")).to_have_count(1)
    expect(player.locator(".where")).to_contain_text("is behind a stub")
    page.wait_for_function("location.href.includes('event=c11')")
    player.press("Home")
    expect(player.locator(".where")).to_contain_text(re.compile(r"enters at call \d+"))
    player.locator(".where .jump").click()
    expect(player.locator(".row.selected")).to_have_attribute("data-place", "10")
    settle(page)
    until(
        lambda: page.get_by_test_id("stSidebar").get_by_role("link", name="Diff").click(),
        lambda: expect(page.locator(".diff .row.selected")).to_have_attribute("data-seq", "10", timeout=5_000),
    )


@pytest.mark.parametrize("width", [1440, 900])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_sticks_out_sideways(page: Page, server: str, scheme: str, width: int) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.set_viewport_size({"width": width, "height": 900})
    player = opened(page, f"{server}{STUBBED}")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert player.evaluate("host => host.scrollWidth <= host.clientWidth")


def test_a_text_that_is_too_long_to_be_sent_at_once_is_fetched_when_it_is_opened(
    page: Page, serve: Callable[[str], str], tmp_path: Path
) -> None:
    long = {"id": "r", "type": "tool_result", "timestamp": 1, "call_id": "c0", "result": "x" * 300_000 + "THE END"}
    (tmp_path / "long.jsonl").write_bytes(
        turn(0).splitlines(keepends=True)[0] + json.dumps(long).encode() + b"\n" + turn(1)
    )
    player = opened(page, f"{serve(str(tmp_path))}/replay?trace=open/long.jsonl")
    row = player.locator('.row[data-place="1"]')
    expect(row.locator(".more")).to_have_text(re.compile(r"^… [\d,]+ more characters$"))
    row.locator(".more").click()
    expect(row.locator(".text")).to_have_text(re.compile("THE END$"))
    row.locator(".more").click()
    expect(row.locator(".text")).not_to_have_text(re.compile("THE END$"))


@pytest.fixture(scope="module")
def live(serve: Callable[..., str], tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """The address of an inspector that follows a file, and the file."""
    path = tmp_path_factory.mktemp("live") / "live.jsonl"
    path.write_bytes(b"".join(map(turn, range(5))))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CONTEXT_GC_FOLLOW", "1")
        return serve(str(path)), path


def turn(number: int) -> bytes:
    call = {
        "id": f"c{number}",
        "type": "tool_call",
        "timestamp": number,
        "tool_name": "lookup",
        "arguments": {"n": number},
    }
    result = {
        "id": f"r{number}",
        "type": "tool_result",
        "timestamp": number,
        "call_id": f"c{number}",
        "result": "found",
    }
    return f"{json.dumps(call)}\n{json.dumps(result)}\n".encode()


def test_at_the_end_the_replay_goes_on_with_a_followed_file_and_elsewhere_it_stays(
    live: tuple[str, Path], page: Page
) -> None:
    server, path = live
    player = opened(page, f"{server}/replay")
    at(player, 5)
    append(path, turn(5))
    expect(player).to_have_attribute("data-call", "6", timeout=SOON)
    player.press("ArrowLeft")
    at(player, 5)
    page.wait_for_function("location.href.includes('call=5')")
    append(path, turn(6))
    expect(player.locator(".of")).to_have_text("of 7", timeout=SOON)
    at(player, 5)
    page.get_by_role("button", name=re.compile("new event")).click()
    at(player, 7)


def append(path: Path, data: bytes) -> None:
    with open(path, "ab") as file:
        file.write(data)
