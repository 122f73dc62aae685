"""Waiting for the page's script."""

from __future__ import annotations

from playwright.sync_api import Page, expect


def settle(page: Page) -> None:
    """Wait until the script has run: what is clicked meanwhile may be drawn anew under the pointer."""
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
