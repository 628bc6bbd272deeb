"""Every page, in a real browser: no error, no report of the content policy, nothing that axe-core calls serious."""

from __future__ import annotations

import pytest

from tests.browser.conftest import Opener
from tests.pages.team import Team, pages, team_create

NOT_PAGES = {"event-csv", "export-page", "memory-entry", "connection-check"}  # files and parts of pages
OPEN_PAGES = [
    "/",
    "/accounts/login/",
    "/accounts/signup/",
    "/accounts/password/reset/",
    "/connect",
    "/accounts/confirm-email/",
]
ACCOUNT_PAGES = ["/account", "/account/delete", "/accounts/email/", "/accounts/password/change/", "/accounts/2fa/",
                 "/accounts/2fa/totp/activate/", "/accounts/sessions/", "/spaces/new", "/accounts/logout/"]  # fmt: skip


def addresses(team: Team) -> list[str]:
    """Return the address of every page that answers a GET."""
    client = team.client("owner")
    paths = [team.address(name) for name in sorted(pages()) if name not in NOT_PAGES]
    return [path for path in paths if client.get(path).status_code != 405]


@pytest.fixture
def team(transactional_db: None) -> Team:
    return team_create()


@pytest.mark.parametrize("look", ["light", "dark phone"])
def test_every_page_is_sound(window: Opener, team: Team, look: str) -> None:
    phone, dark = "phone" in look, "dark" in look
    owner = window(team.users["owner"], space_id=team.space.pk, phone=phone, dark=dark)
    stranger = window(phone=phone, dark=dark)
    found: dict[str, object] = {}
    for who, paths in ((owner, addresses(team) + ACCOUNT_PAGES), (stranger, OPEN_PAGES)):
        for path in paths:
            who.open(path)
            problems = who.axe()
            width = who.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            if width > 0:
                problems.append(f"{width} px too wide")
            if who.page.locator("h1").count() != 1:
                problems.append("not one h1")
            if problems:
                found[path] = problems

    assert found == {}


def test_every_page_without_scripts(window: Opener, team: Team) -> None:
    owner = window(team.users["owner"], space_id=team.space.pk, scripts=False)
    found = {}
    for path in addresses(team) + ACCOUNT_PAGES:
        response = owner.page.goto(owner.base + path)
        assert response is not None
        if response.status >= 400 or owner.page.locator("h1").count() != 1:
            found[path] = response.status

    assert found == {}
