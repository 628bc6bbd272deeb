"""The page of the API in a real browser: under our Content-Security-Policy, and a request tried on it."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Opener
from tests.factories import People

pytestmark = pytest.mark.django_db(transaction=True)


def test_shows_the_addresses_and_tries_a_request(window: Opener, people: People) -> None:
    opened = window()
    opened.page.set_default_timeout(90_000)  # the page's script is large
    page = opened.open("/v1/docs")

    page.get_by_role("button", name="Authorize").first.click()
    page.locator("input[type=text], input[type=password]").first.fill(people.keys["owner"])
    page.locator(".modal-ux button[type=submit]").first.click()
    page.locator(".modal-ux button", has_text="Close").first.click()
    page.locator("#operations-tag-Memories").click()
    expect(page.locator("#operations-Memories-post_memories_search")).to_be_visible(timeout=90_000)
    page.locator("#operations-tag-Me").click()
    page.locator("#operations-Me-get_me button.opblock-summary-control").click()
    page.get_by_role("button", name="Try it out").click()
    page.get_by_role("button", name="Execute").click()

    expect(page.locator(".live-responses-table")).to_contain_text("owner@example.com", timeout=90_000)
