"""Passkeys, made and used in a real browser with Chromium's virtual authenticator."""

from __future__ import annotations

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from playwright.sync_api import CDPSession, Page, expect

from accounts.models import User
from accounts.services import space_create
from tests.browser.conftest import Opener
from tests.factories import user_create

pytestmark = pytest.mark.django_db(transaction=True)
PASSWORD = "four plain words here"


class Phone:
    """The authenticator of a device, such as a phone's, plugged into one page."""

    def __init__(self, page: Page) -> None:
        self.protocol: CDPSession = page.context.new_cdp_session(page)
        self.protocol.send("WebAuthn.enable")
        options = {
            "protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True,
            "isUserVerified": True, "automaticPresenceSimulation": True,
        }  # fmt: skip
        self.id = self.protocol.send("WebAuthn.addVirtualAuthenticator", {"options": options})["authenticatorId"]

    def knows_its_person(self, yes: bool) -> None:
        """Have the device recognise its person's finger or face, or not."""
        self.protocol.send("WebAuthn.setUserVerified", {"authenticatorId": self.id, "isUserVerified": yes})

    def keys(self) -> int:
        """Return how many passkeys the device keeps."""
        return len(self.protocol.send("WebAuthn.getCredentials", {"authenticatorId": self.id})["credentials"])


def test_passkey_is_made_signs_in_and_opens_delicate_pages(window: Opener) -> None:
    user = user_create("ada@example.com", PASSWORD)
    EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
    space_create(owner=user, name="Mine")
    mine = window(user)
    phone = Phone(mine.page)
    page = mine.open("/account")

    page.get_by_role("link", name="Authenticator app, passkeys, recovery codes").click()
    page.get_by_role("link", name="Add one").click()
    expect(page.get_by_role("heading", name="Is it you?")).to_be_visible()
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Go on").click()
    page.get_by_label("Name").fill("My phone")
    page.get_by_role("button", name="Go on").click()
    expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()
    expect(page.get_by_text("The passkey is added.")).to_be_visible()
    assert phone.keys() == 1
    mine.open("/accounts/2fa/webauthn/")
    expect(page.locator(".entry")).to_contain_text("My phone")
    expect(page.locator(".entry strong")).to_have_text("Passkey")

    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("link", name="Sign in").first).to_be_visible()
    user.set_unusable_password()
    user.save()
    mine.open("/accounts/login/")
    phone.knows_its_person(False)
    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(page.get_by_role("alert")).to_have_text("It was stopped, or took too long. Try again.")
    phone.knows_its_person(True)
    mine.open("/settings")
    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(page.get_by_role("heading", name="Settings")).to_be_visible()

    mine.open("/account/delete")
    page.get_by_role("link", name="Use a passkey or security key").click()
    page.get_by_role("button", name="Use the passkey").click()
    page.get_by_label("Type your e-mail address").fill(user.email)
    page.get_by_role("button", name="Delete the account for good").click()
    expect(page.get_by_text("Your account is deleted, with everything in it.")).to_be_visible()
    assert not User.objects.exists()
    assert not Authenticator.objects.exists()
    mine.open("/accounts/login/")
    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(page.get_by_role("main")).to_contain_text("Incorrect code")


def test_passkey_as_a_second_step(window: Opener) -> None:
    user = user_create("ada@example.com", PASSWORD)
    EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
    space_create(owner=user, name="Mine")
    mine = window(user, shown_again=True)
    Phone(mine.page)
    page = mine.open("/accounts/2fa/webauthn/add/")
    page.get_by_label("It lets me in without the password").uncheck()
    page.get_by_role("button", name="Go on").click()
    expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()
    mine.open("/account")
    page.get_by_role("button", name="Sign out").click()

    mine.open("/accounts/login/")
    page.get_by_label("E-mail address").fill(user.email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("heading", name="Second step")).to_be_visible()
    assert mine.axe() == []
    page.get_by_role("button", name="Use a passkey or security key").click()
    expect(page.get_by_role("heading", name="Mine")).to_be_visible()


def test_passkey_at_a_number_says_which_address_to_open(window: Opener) -> None:
    mine = window()
    number = mine.base.replace("localhost", "127.0.0.1")
    mine.page.goto(f"{number}/accounts/login/")

    mine.page.get_by_role("button", name="Sign in with a passkey").click()

    expect(mine.page.get_by_role("alert")).to_have_text(
        f"Passkeys need a name in the address bar, not a number. Open {mine.base} and sign in there."
    )
