"""Every page, in a real browser: no error, no report of the content policy, nothing that axe-core calls serious."""

from __future__ import annotations

import pytest
from allauth.account.models import EmailAddress
from django.urls import reverse

from accounts.models import User
from tests.browser.conftest import Opener, Window
from tests.factories import user_create
from tests.pages.team import Team, pages, team_create
from tests.pages.test_admin import OPERATOR_PAGES
from tests.pages.test_sign_in_pages import STRANGER, WITH_APP, app_add, key_add

NOT_PAGES = {"event-csv", "export-page", "memory-entry", "connection-check"}  # files and parts of pages
OPEN_PAGES = ["/", "/connect", "/no-such-page"] + [reverse(name) for name in STRANGER]
ACCOUNT_PAGES = ["/account", "/account/delete", "/accounts/email/", "/accounts/password/change/", "/accounts/2fa/",
                 "/accounts/2fa/totp/activate/", "/accounts/2fa/webauthn/add/", "/accounts/sessions/", "/spaces/new",
                 "/accounts/logout/", "/accounts/reauthenticate/", "/accounts/reauthenticate/code/",
                 "/accounts/3rdparty/"]  # fmt: skip
#: What colours, sizes and places decide, and so differs by look; the other rules read the same elements in every look.
LOOK_RULES = ["color-contrast", "target-size", "scrollable-region-focusable", "link-in-text-block", "meta-viewport"]


def addresses(team: Team) -> list[str]:
    """Return the address of every page that answers a GET."""
    client = team.client("owner")
    paths = [team.address(name) for name in sorted(pages()) if name not in NOT_PAGES]
    return [path for path in paths if client.get(path).status_code != 405]


@pytest.fixture
def team(transactional_db: None) -> Team:
    return team_create()


def careful() -> tuple[User, list[str]]:
    """Return a person with every second step, and the pages that show them."""
    user = user_create("careful@example.com")
    EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
    app_add(user)
    key = key_add(user)
    keys = [reverse(name, args=[key.pk]) for name in ("mfa_edit_webauthn", "mfa_remove_webauthn")]
    shown = [reverse(name) for name in [*WITH_APP, "mfa_list_webauthn", "account_set_password"]]
    return user, shown + keys


def console(team: Team) -> list[str]:
    """Return the pages of the operator's console."""
    rows = [("accounts/user", team.users["owner"].pk), ("accounts/space", team.space.pk)]
    look_in = f"/admin/accounts/user/{team.users['owner'].pk}/look-in/"
    return [
        *OPERATOR_PAGES,
        *(f"/admin/{model}/{pk}/change/" for model, pk in rows),
        look_in,
        "/admin/accounts/plan/add/",
    ]


def shortcomings(window: Window, *rules: str) -> list[str]:
    """Return what is wrong with the page as it looks now."""
    found = window.axe(*rules)
    width = window.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    if width > 0:
        found.append(f"{width} px too wide")
    if window.page.locator("h1").count() != 1:
        found.append("not one h1")
    return found


def visits(window: Opener, team: Team, part: str) -> list[tuple[Window, list[str]]]:
    """Return who looks at which pages."""
    if part == "space":
        return [(window(team.users["owner"], space_id=team.space.pk), addresses(team))]
    if part == "console":
        operator = user_create("operator@example.com", is_staff=True, is_superuser=True)
        return [(window(operator), console(team))]
    user, steps = careful()
    owner = window(team.users["owner"], shown_again=True)
    return [(owner, ACCOUNT_PAGES), (window(user, shown_again=True), steps), (window(), OPEN_PAGES)]


@pytest.mark.parametrize("part", ["space", "account", "console"])
def test_every_page_is_sound(window: Opener, team: Team, part: str) -> None:
    """One visit of a page looks at it on a light desktop with every rule, then on a dark phone."""
    found: dict[str, object] = {}
    for who, paths in visits(window, team, part):
        for path in paths:
            who.look(phone=False, dark=False)
            who.open(path)
            problems = shortcomings(who)
            who.look(phone=True, dark=True)
            # The menus are the same on all pages: a phone's is read once, and a desktop's once in the dark.
            rules = LOOK_RULES if path != paths[0] else []
            problems += [f"dark phone: {problem}" for problem in shortcomings(who, *rules)]
            if path == paths[0]:
                who.look(phone=False, dark=True)
                problems += [f"dark desktop: {problem}" for problem in shortcomings(who, *LOOK_RULES)]
            if problems:
                found[path] = problems

    assert found == {}


def test_every_page_without_scripts(window: Opener, team: Team) -> None:
    owner = window(team.users["owner"], space_id=team.space.pk, scripts=False, shown_again=True)
    found = {}
    for path in addresses(team) + ACCOUNT_PAGES:
        response = owner.page.goto(owner.base + path, wait_until="domcontentloaded")
        assert response is not None
        if response.status >= 400 or owner.page.locator("h1").count() != 1:
            found[path] = response.status

    assert found == {}
