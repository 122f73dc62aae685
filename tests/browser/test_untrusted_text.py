"""A hostile trace: nothing in it may run, be fetched, become a link or change the page, on any page."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, Request, expect
from waiting import settle, until

EVIL = "http://evil.example"
PAYLOADS = (
    "<script>window.pwned=1;document.title='PWNED'</script>",
    f"<img src={EVIL}/html.png onerror=\"window.pwned=1;document.title='PWNED'\">",
    "<svg onload=window.pwned=1>",
    "[click](javascript:window.pwned=1)",
    f"![pixel]({EVIL}/markdown.png)",
    f"<a href='{EVIL}/link'>href</a>",
    "\"><iframe srcdoc='<script>parent.pwned=1</script>'>",
    "'); window.pwned=1; ('",
    "{{7*7}} ${window.pwned=1} <%= 1 %>",
    f"www.evil.example {EVIL}/bare :material/home: $x$ :red[x] | a | b |",
    "</script><script>window.pwned=1</script>\u2028\u202e",
)
ALL = " ".join(PAYLOADS)
LONG = f"long {ALL}"
NAME = "![x](http:__evil.example_n.png) <img src=x onerror=window.pwned=1>.jsonl"


def events() -> list[dict[str, Any]]:
    """Every payload as id, tool name, path, tag, argument, result and text; twice, so that some are pruned."""
    made: list[dict[str, Any]] = [
        {"id": f"u {ALL}", "type": "requirement", "timestamp": 0, "content": ALL, "tags": [ALL, *PAYLOADS]},
        {"id": "__proto__", "type": "set_var", "timestamp": 1, "key": ALL, "value": {ALL: ALL}},
        {"id": "constructor", "type": "set_var", "timestamp": 2, "key": ALL, "value": ALL},
    ]
    for turn in (1, 2):
        for place, payload in enumerate(PAYLOADS):
            name = f"{payload} {turn}.{place}"
            made += [
                {"id": name, "type": "tool_call", "timestamp": turn * 100 + place, "tool_name": payload,
                 "arguments": {"file_path": payload, "q": payload}},
                {"id": f"{name} r", "type": "tool_result", "timestamp": turn * 100 + place, "call_id": name,
                 "result": payload * 3},
            ]  # fmt: skip
    made += [
        {"id": f"wrong {ALL}", "type": "decision", "timestamp": 300, "content": ALL},
        {"id": f"stop {ALL}", "type": "abandon", "timestamp": 301, "ref_to": [f"wrong {ALL}"], "content": ALL},
        {"id": f"e {ALL}", "type": "error", "timestamp": 302, "message": ALL, "related_to": f"u {ALL}"},
        {"id": "f", "type": "file_read", "timestamp": 303, "path": ALL},
        {"id": f"long {ALL}", "type": "tool_call", "timestamp": 304, "tool_name": "Bash", "arguments": {"command": ALL},
         "tags": [f"kept {ALL}"], "retain_until": "task_end"},
        {"id": f"{LONG} r", "type": "tool_result", "timestamp": 305, "call_id": f"long {ALL}",
         "result": "\n".join(f"{line} {PAYLOADS[line % len(PAYLOADS)]}" for line in range(900))},
    ]  # fmt: skip
    return made


@pytest.fixture(scope="module")
def hostile(serve: Callable[[str], str], tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("hostile")
    trace = {
        "events": [*events(), {"id": ALL, "type": ALL, "timestamp": ALL}],
        "title": ALL,
        "model": f"gpt-4o {ALL}",
        "cwd": ALL,
    }
    (folder / NAME).write_text(json.dumps(trace), "utf-8")
    (folder / f"not a trace {NAME}").write_text(ALL, "utf-8")
    return serve(str(folder))


@pytest.fixture
def seen(page: Page) -> list[str]:
    """Requests to other machines, errors that scripts threw, dialogs."""
    noted: list[str] = []

    def note(request: Request) -> None:
        if not re.match(r"(http|ws)://(127\.0\.0\.1|localhost)[:/]|blob:|data:", request.url):
            noted.append(request.url)

    page.on("request", note)
    page.on("pageerror", lambda error: noted.append(str(error)))
    page.on("dialog", lambda dialog: (noted.append(dialog.message), dialog.dismiss()))
    return noted


def check(page: Page, seen: list[str], title: str) -> None:
    assert page.evaluate("window.pwned") is None
    assert page.title() == f"{title} · context-gc"
    outside = page.evaluate(
        """() => {
            const roots = [document, ...[...document.querySelectorAll('*')].map(e => e.shadowRoot).filter(Boolean)];
            const all = name => roots.flatMap(root => [...root.querySelectorAll(`[${name}]`)]);
            const found = name => all(name).map(element => element.getAttribute(name));
            const strange = url => !['http:', 'blob:', 'data:'].includes(new URL(url, location).protocol)
                || (new URL(url, location).host || location.host) !== location.host;
            return [...found('href'), ...found('src')].filter(strange).concat(found('srcdoc'));
        }"""
    )
    assert outside == []
    assert seen == []


@pytest.mark.parametrize("title", ["Overview", "Graph", "Diff", "Receipts", "Replay", "Compare"])
def test_a_page_with_a_hostile_trace_stays_as_it_is(page: Page, hostile: str, seen: list[str], title: str) -> None:
    page.goto(f"{hostile}/{'' if title == 'Overview' else title.lower()}")
    expect(page.get_by_role("heading", name=title, exact=True)).to_be_visible()
    expect(page.locator(".meter")).to_be_visible()
    expect(page.get_by_test_id("stSkeleton")).to_have_count(0)
    if title == "Graph":
        expect(page.locator(".host")).to_have_attribute("data-drawn", "true")
    if title == "Replay":
        expect(page.locator(".replay")).to_contain_text("<script>window.pwned=1")
        page.locator(".box").evaluate("box => { box.scrollTop = 0; }")
        page.locator(".row.stub summary").first.click()
        expect(page.locator(".originals .original").first).to_be_visible()
    if title == "Compare":
        expect(page.locator(".diff .row").first).to_be_visible()
    check(page, seen, title)


BUDGET = "budget=on&limit=9000&stages=clip&stages=overrides&stages=duplicates"


@pytest.mark.parametrize("title", ["Overview", "Graph", "Diff", "Receipts", "Tune"])
def test_under_a_budget_a_page_with_a_hostile_trace_stays_as_it_is(
    page: Page, hostile: str, seen: list[str], title: str
) -> None:
    pins = "&".join(f"pins={quote(name)}" for name in (f"u {ALL}", "__proto__", f"{PAYLOADS[1]} 2.1"))
    tags = f"tags={quote(f'kept {ALL}')}"
    page.goto(f"{hostile}/{'' if title == 'Overview' else title.lower()}?{BUDGET}&{pins}&{tags}")
    expect(page.get_by_role("heading", name=title, exact=True)).to_be_visible()
    expect(page.locator(".meter")).to_contain_text("of 9,000")
    expect(page.locator(".parts", has_text="3 pinned events")).to_contain_text("<script>")
    if title == "Overview":
        held = page.locator(".parts .warn", has_text="cannot be reached")
        expect(held).to_contain_text("protected (tag=kept <script>window.pwned=1")
        page.locator(".marks .pass").first.hover()
        expect(page.locator(".tip")).to_contain_text("Pass 1")
    if title == "Graph":
        expect(page.locator(".host")).to_have_attribute("data-drawn", "true")
    check(page, seen, title)


def test_a_clipped_event_opens_as_text_and_a_pin_is_taken_out(page: Page, hostile: str, seen: list[str]) -> None:
    page.goto(f"{hostile}/diff?stages=clip&ended=task_end&pins=__proto__&event={quote(f'{LONG} r')}")
    clipped = page.locator(".diff .row.clipped")
    expect(clipped.locator(".right .stub summary")).to_contain_text("[RECEIPT")
    clipped.locator(".right .stub summary").click()
    expect(clipped.locator(".original")).to_contain_text("<img src=")
    page.locator(".stSidebar").get_by_role("button", name="Unpin __proto__").click()
    expect(page.locator(".parts", has_text="pinned event")).to_have_count(0)
    check(page, seen, "Diff")


def test_a_models_name_and_a_limit_are_told_as_text(page: Page, hostile: str, seen: list[str]) -> None:
    page.goto(hostile)
    page.locator(".stSidebar .stExpander", has_text="Thresholds").locator("summary").click()
    expect(page.locator(".stSidebar").get_by_text("The window of gpt-4o <script>")).to_be_visible()
    check(page, seen, "Overview")


def test_controls_that_list_names_and_tags_show_them_as_text(page: Page, hostile: str, seen: list[str]) -> None:
    page.goto(hostile)
    page.locator(".stSidebar .stExpander", has_text="Retention").locator("summary").click()
    tag = page.get_by_role("option", name="<svg onload=window.pwned=1>").first
    until(page.get_by_label("Tags").click, lambda: expect(tag).to_be_visible(timeout=5_000))

    def choose() -> None:
        page.get_by_label("Tags").press("ArrowDown")
        page.get_by_label("Tags").press("Enter")

    until(choose, lambda: page.wait_for_function("location.search.includes('tags=')", timeout=5_000))
    page.keyboard.press("Escape")
    expect(page.get_by_role("option")).to_have_count(0)
    settle(page)
    options = page.get_by_role("option")
    until(page.get_by_label("Trace").click, lambda: expect(options).not_to_have_count(0, timeout=5_000))
    check(page, seen, "Overview")


def test_tooltip_selection_and_recovery_show_text(page: Page, hostile: str, seen: list[str]) -> None:
    page.goto(f"{hostile}/graph")
    host = page.locator(".host")
    expect(host).to_have_attribute("data-drawn", "true")
    node, x, y = host.evaluate(
        """host => {
            const { net, nodes } = host.__graph;
            const node = nodes.get().find(each => each.look === 'result pruned' && each.title.includes('href'));
            net.moveTo({ position: { x: node.x, y: net.getViewPosition().y } });
            const at = net.canvasToDOM({ x: node.x, y: node.y }), box = host.getBoundingClientRect();
            return [node.id, box.left + at.x, box.top + at.y];
        }"""
    )
    page.mouse.move(x, y)
    tooltip = page.locator("div.vis-tooltip")
    expect(tooltip).to_contain_text("<a href=")
    assert tooltip.evaluate("tip => [...tip.children].map(each => each.tagName).filter(tag => tag !== 'BR')") == []
    page.mouse.click(x, y)
    expect(host).to_have_attribute("data-selected", str(node))
    expect(page.locator(".parts", has_text="pruned by")).to_be_visible()
    for name in ("Source record", "Original", "Receipt"):
        page.get_by_role("tab", name=name).click()
        expect(page.get_by_role("tabpanel", name=name).get_by_test_id("stCode")).to_be_visible()
    page.get_by_role("button", name="Recover", exact=True).click()
    expect(page.locator(".cg-notice", has_text="Recovered")).to_contain_text("matches")
    check(page, seen, "Graph")


def test_a_file_that_is_no_trace_gives_one_sentence(page: Page, hostile: str, seen: list[str]) -> None:
    page.goto(hostile)
    expect(page.locator(".meter")).to_be_visible()
    page.get_by_label("Trace").click()
    page.get_by_role("option", name="not a trace").click()
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("this is no trace format that is known here")
    expect(alert).to_contain_text("<img src=x")
    expect(page.get_by_text("Traceback")).to_have_count(0)
    check(page, seen, "Overview")


def test_an_uploaded_file_with_a_hostile_name_is_opened_as_text(page: Page, hostile: str, seen: list[str]) -> None:
    page.goto(hostile)
    expect(page.locator(".meter")).to_be_visible()
    page.get_by_role("button", name="Open files").click()
    text = "".join(json.dumps(event) + "\n" for event in events()[:9])
    files = [
        {"name": f"2{NAME}", "mimeType": "application/json", "buffer": text.encode()},
        {"name": f"bad {NAME}", "mimeType": "text/plain", "buffer": ALL.encode()},
    ]
    page.locator("input[type=file]").set_input_files(files)  # type: ignore[arg-type]  # a list of payloads
    expect(page.locator(".cg-head")).to_contain_text("9 events")
    expect(page.get_by_role("alert")).to_contain_text("no trace format")
    check(page, seen, "Overview")


def test_a_hostile_address_changes_nothing(page: Page, hostile: str, seen: list[str]) -> None:
    bad = "%3Cscript%3Ewindow.pwned%3D1%3C%2Fscript%3E"
    page.goto(f"{hostile}/graph?trace=open/..%2F..%2Fetc%2Fpasswd&event={bad}&find={bad}&stages={bad}&limit={bad}")
    expect(page.get_by_role("alert")).to_contain_text("not in the folder that is open")
    page.goto(
        f"{hostile}/graph?event={bad}&find={bad}&stages={bad}&limit=-1&window=99&part=7&turns={bad}&by={bad}&budget={bad}"
        f"&low={bad}&high=7&target=-1&recent={bad}&gain={bad}&last={bad}&ended={bad}&importance={bad}&arrival={bad}"
    )
    expect(page.locator(".host")).to_have_attribute("data-drawn", "true")
    check(page, seen, "Graph")
