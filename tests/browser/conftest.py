"""One server and one headless Chromium for all browser tests; every page that they open is watched."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from accounts.models import User
from accounts.sessions import SPACE
from tests.pages.conftest import limits_forget
from tests.pages.test_sign_in_pages import just_shown

FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
DESKTOP, PHONE = {"width": 1280, "height": 860}, {"width": 360, "height": 740}
AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text(encoding="utf-8")
WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
#: Only the sentences leave the browser: a whole report is megabytes.
RUN = """
async only => (await axe.run(document, {runOnly: only, resultTypes: ["violations"]})).violations
  .filter(item => ["serious", "critical"].includes(item.impact))
  .map(item => `${item.id}: ${item.nodes[0].html.slice(0, 160)}`)
"""
#: Playwright keeps an event loop in this thread, which Django takes for asynchronous code.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Return the browser, started once."""
    path = shutil.which("chromium")
    if path is None:
        pytest.fail("The browser tests need Debian's package chromium: apt-get install chromium.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


class Window:
    """A window of a person's browser: one page, and whatever went wrong on it."""

    def __init__(self, context: BrowserContext, base: str) -> None:
        self.context, self.base, self.problems = context, base, list[str]()
        self.page: Page = context.new_page()
        self.page.set_default_timeout(10_000)
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.problems.append(f"script: {error}"))
        self.page.on("requestfailed", self._failed)

    def _failed(self, request: Any) -> None:
        # What a page had asked for when its person went on is given up, and no fault.
        if request.failure != "net::ERR_ABORTED":
            self.problems.append(f"request: {request.url} {request.failure}")

    def _console(self, message: Any) -> None:
        # An answer of 4xx that a test asks for is reported by the browser; everything else is a fault.
        if message.type in {"error", "warning"} and "the server responded with a status of 4" not in message.text:
            self.problems.append(f"console: {message.text}")

    def open(self, path: str) -> Page:
        """Go to an address of the service."""
        self.page.goto(self.base + path)
        return self.page

    def look(self, *, phone: bool, dark: bool) -> None:
        """Make the window that of a phone or a desktop, light or dark, with the page that it shows."""
        self.page.emulate_media(color_scheme="dark" if dark else "light")
        self.page.set_viewport_size(PHONE if phone else DESKTOP)  # type: ignore[arg-type]

    def axe(self, *rules: str) -> list[str]:
        """Return what axe-core finds serious or critical on the page, in words; by default by every rule of WCAG AA."""
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(AXE)
        found: list[str] = self.page.evaluate(RUN, list(rules) or WCAG)
        return found


@pytest.fixture(autouse=True)
def fresh_limits() -> None:
    """Begin every test with nothing used up of the limits on sign-up and sign-in."""
    limits_forget()


Opener = Callable[..., Window]


@pytest.fixture
def window(browser: Browser, live_server: Any, db: None) -> Iterator[Opener]:
    """Return what opens a window: `user` signs in, `phone` makes it small, `scripts` may be off.

    With `shown_again` the person has just shown once more that it is them, which delicate pages ask for.
    """
    opened: list[Window] = []

    def opener(
        user: User | None = None, *, space_id: int | None = None, phone: bool = False, scripts: bool = True,
        shown_again: bool = False, **options: Any,
    ) -> Window:  # fmt: skip
        context = browser.new_context(
            viewport=PHONE if phone else DESKTOP, java_script_enabled=scripts,  # type: ignore[arg-type]
            **options,
        )  # fmt: skip
        if user is not None:
            client = Client()
            client.force_login(user, backend="allauth.account.auth_backends.AuthenticationBackend")
            session = client.session
            if space_id is not None:
                session[SPACE] = space_id
            if shown_again:
                session.update(just_shown(user))
            session.save()
            context.add_cookies([{"name": "sessionid", "value": str(session.session_key), "url": live_server.url}])
        opened.append(Window(context, live_server.url))
        return opened[-1]

    yield opener
    problems = [problem for each in opened for problem in each.problems]
    for each in opened:
        each.context.close()
    assert problems == []
