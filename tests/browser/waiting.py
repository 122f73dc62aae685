"""Waiting for the page's script."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from playwright.sync_api import Error, Page, expect


def settle(page: Page) -> None:
    """Wait until the script has run: what is clicked meanwhile may be drawn anew under the pointer."""
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")


def until(act: Callable[[], object], seen: Callable[[], object], tries: int = 4) -> None:
    """Do something again until what it leads to is seen: a page that is being drawn may swallow a click."""
    for left in range(tries - 1, -1, -1):
        with suppress(Error):  # gone, because an earlier try took effect after all
            act()
        try:
            seen()
        except (AssertionError, Error):
            if not left:
                raise
        else:
            return
