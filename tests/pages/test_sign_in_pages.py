"""The pages, words and messages of django-allauth: all ours, sound in every state, and there without Valkey."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import allauth
import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import (
    TOTP,
    format_hotp_value,
    generate_totp_secret,
    hotp_value,
    yield_hotp_counters_from_time,
)
from django.conf import settings as django_settings
from django.core import mail
from django.core.cache import cache
from django.template.loader import get_template
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from accounts.models import User
from config import valkey
from tests.factories import user_create
from tests.pages.team import PASSWORD, patterns
from tests.pages.test_security import check

LIBRARY = Path(allauth.__file__).parent / "templates"
APPS = ("account", "mfa", "socialaccount", "usersessions")
#: Frames and pieces around pages, and pages of features that are off: sign-up and sign-in by code, telephone,
#: sign-up by passkey, trusted browsers.
NOT_OURS = re.compile(
    r"/base(_\w+)?\.html$|snippets/|phone|signup_by_passkey|signup_form|trust\.html|account/email\.html"
    r"|request_login_code|confirm_email_verification_code|password_reset_code|download\.txt"
)


def test_every_word_of_the_library_is_ours() -> None:
    names = [str(path.relative_to(LIBRARY)) for app in APPS for path in (LIBRARY / app).rglob("*.*")]
    wanted = sorted(name for name in names if not NOT_OURS.search("/" + name))

    theirs = [name for name in wanted if LIBRARY in Path(get_template(name).origin.name).parents]

    assert len(wanted) > 80
    assert theirs == []


@pytest.fixture
def person(db: None) -> User:
    return person_create()


def person_create(password: str | None = PASSWORD) -> User:
    """Return a person with a confirmed address."""
    user = user_create("ada@example.com", password)
    EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
    return user


def app_add(user: User) -> str:
    """Give a person an authenticator app and recovery codes; return the app's secret."""
    secret: str = generate_totp_secret()
    TOTP.activate(user, secret)
    RecoveryCodes.activate(user)
    return secret


def key_add(user: User) -> Authenticator:
    """Give a person a security key with a hostile name, which nobody can sign in with."""
    made: Authenticator = Authenticator.objects.create(
        user=user, type=Authenticator.Type.WEBAUTHN, data={"name": '"><script>alert(1)</script>', "credential": {}}
    )
    return made


def code_of(secret: str) -> str:
    """Return the code that the app shows now."""
    code: str = format_hotp_value(hotp_value(secret, next(yield_hotp_counters_from_time())))
    return code


def just_shown(user: User) -> dict[str, Any]:
    """Return what the session of a person holds who has just shown once more that it is them."""
    return {
        "account_authentication_methods": [{"method": "password", "at": time.time(), "reauthenticated": True}],
        "account_authentication_methods_user": str(user.pk),
    }


def signed_in(user: User) -> Client:
    """Return a browser in which the person has just shown that it is them."""
    client = Client()
    client.force_login(user, backend="allauth.account.auth_backends.AuthenticationBackend")
    session = client.session
    session.update(just_shown(user))
    session.save()
    return client


def half_signed_in(user: User) -> Client:
    """Return a browser in which the second step of a sign-in is due."""
    client = Client()
    answer = client.post("/accounts/login/", {"login": user.email, "password": PASSWORD})
    assert answer.headers["Location"] == reverse("mfa_authenticate")
    return client


PLAIN = ["account_change_password", "account_email", "account_reauthenticate", "account_request_reauthentication_code",
         "account_logout", "mfa_index", "mfa_activate_totp", "mfa_list_webauthn", "mfa_add_webauthn",
         "socialaccount_connections", "usersessions_list"]  # fmt: skip
WITH_APP = ["mfa_index", "mfa_deactivate_totp", "mfa_view_recovery_codes", "mfa_generate_recovery_codes",
            "mfa_reauthenticate"]  # fmt: skip
STRANGER = ["account_login", "account_signup", "account_reset_password", "account_reset_password_done",
            "account_reset_password_from_key_done", "account_email_verification_sent", "account_inactive",
            "socialaccount_login_cancelled", "socialaccount_login_error"]  # fmt: skip
#: Pages that need more than a name: tests of this file and of tests/browser open them.
ELSEWHERE = {"account_confirm_email", "account_reset_password_from_key", "account_confirm_reauthentication_code",
             "account_set_password", "mfa_authenticate", "mfa_edit_webauthn", "mfa_remove_webauthn",
             "mfa_reauthenticate_webauthn"}  # fmt: skip
#: They answer with a redirection or a file: sign-in by code and sign-up by other services are off.
NO_PAGES = {"account_confirm_login_code", "mfa_login_webauthn", "socialaccount_signup", "mfa_download_recovery_codes"}


def test_every_address_of_the_library_is_looked_at() -> None:
    theirs = {p.name for p in patterns() if p.name and p.callback.__module__.startswith("allauth.")}

    assert theirs == {*PLAIN, *WITH_APP, *STRANGER} | ELSEWHERE | NO_PAGES


def sound(response: Any, where: str) -> str:
    """Hold a page against the rules of every page; return its text."""
    assert response.status_code in {200, 401}, where  # 401: the other service did not say who it is
    check(response, where)
    html: str = response.content.decode()
    assert html.count("<h1") == 1, where
    return html


def test_pages_of_an_account(person: User) -> None:
    client = signed_in(person)
    for name in PLAIN:
        sound(client.get(reverse(name)), name)


def test_pages_with_an_app(person: User) -> None:
    app_add(person)
    client = signed_in(person)

    for name in WITH_APP:
        sound(client.get(reverse(name)), name)
    codes = client.get(reverse("mfa_download_recovery_codes"))
    assert codes.headers["Content-Type"].startswith("text/plain")


def test_pages_of_passkeys(person: User) -> None:
    key = key_add(person)
    client = signed_in(person)

    for path in (
        reverse("mfa_list_webauthn"),
        *(reverse(f"mfa_{verb}_webauthn", args=[key.pk]) for verb in ("edit", "remove")),
    ):
        assert "script&gt;alert(1)" in sound(client.get(path), path)


@pytest.mark.django_db
def test_pages_of_strangers() -> None:
    for name in STRANGER:
        sound(Client().get(reverse(name)), name)


def test_second_step_by_app_and_by_recovery_code(person: User) -> None:
    secret = app_add(person)
    code = RecoveryCodes(Authenticator.objects.get(type="recovery_codes")).get_unused_codes()[0]

    for given in (code_of(secret), code):
        client = half_signed_in(person)
        sound(client.get(reverse("mfa_authenticate")), "second step")
        assert "Incorrect code" in sound(client.post(reverse("mfa_authenticate"), {"code": "000000"}), "wrong code")
        client.post(reverse("mfa_authenticate"), {"code": given})
        assert client.get("/account").status_code == 200


def code_in_mail() -> str:
    """Return the code of the last message."""
    found = re.search(r"^[A-Z0-9-]{6,9}$", str(mail.outbox[-1].body), re.MULTILINE)
    assert found
    return found.group()


@pytest.mark.django_db
def test_account_without_a_password_is_deleted_by_a_code_from_its_mail() -> None:
    user = person_create(password=None)
    client = Client()
    client.force_login(user, backend="allauth.account.auth_backends.AuthenticationBackend")
    sound(client.get(reverse("account_set_password"), follow=True), "set a password")
    assert reverse("account_set_password") in sound(client.get("/account"), "account")

    asked = client.get("/account/delete", follow=True)
    sound(asked, "where the code goes")
    sent = client.post(asked.redirect_chain[-1][0], {"recipient": user.email}, follow=True)
    sound(sent, "the code")
    wrong = client.post(sent.redirect_chain[-1][0], {"code": "WRONG-CODE"})
    assert "Incorrect code" in sound(wrong, "wrong code")
    assert User.objects.exists()
    confirmed = client.post(sent.redirect_chain[-1][0], {"code": code_in_mail()})
    assert confirmed.headers["Location"] == "/account/delete"
    assert client.post("/account/delete", {"email": user.email}).headers["Location"] == "/"

    assert not User.objects.exists()


@pytest.fixture
def valkey_away(settings: Settings) -> Iterator[None]:
    """Have nobody listen at the cache's address."""
    caches = {"default": django_settings.CACHES["default"] | {"LOCATION": "redis://127.0.0.1:1/0"}}
    settings.CACHES = caches
    valkey.breaker.closed_until = 0.0
    yield
    valkey.breaker.closed_until = 0.0
    cache.own.clear()


@pytest.mark.usefixtures("valkey_away")
def test_people_sign_up_and_in_while_valkey_is_away(person: User) -> None:
    app = app_add(person)
    new = Client()
    new.post(reverse("account_signup"), {"email": "new@example.com", "password1": PASSWORD})
    found = re.search(r"http://testserver(\S+)", str(mail.outbox[-1].body))
    assert found
    new.post(found.group(1))
    assert new.get("/home").status_code == 200
    for name in STRANGER:
        sound(Client().get(reverse(name)), name)

    reset = Client().post(reverse("account_reset_password"), {"email": person.email})
    client = half_signed_in(person)
    client.post(reverse("mfa_authenticate"), {"code": code_of(app)})
    again = client.post(reverse("account_reauthenticate"), {"password": PASSWORD})
    changed = client.post(
        reverse("account_change_password"),
        {"oldpassword": PASSWORD, "password1": PASSWORD * 2, "password2": PASSWORD * 2},
    )

    assert [reset.status_code, again.status_code, changed.status_code] == [302, 302, 302]
    assert client.get("/account").status_code == 200
    person.refresh_from_db()
    assert person.check_password(PASSWORD * 2)


@pytest.mark.usefixtures("valkey_away")
def test_guessing_is_limited_while_valkey_is_away(person: User) -> None:
    answers = [
        Client().post(reverse("account_login"), {"login": person.email, "password": f"wrong {number}"})
        for number in range(12)
    ]

    assert {answer.status_code for answer in answers} <= {200, 429}
    assert "Too many failed" in answers[-1].content.decode() or answers[-1].status_code == 429
    right = Client().post(reverse("account_login"), {"login": person.email, "password": PASSWORD})
    assert right.status_code in {200, 429}


def test_too_many_tries_are_told_on_a_page_of_ours(person: User) -> None:
    client = signed_in(person)

    answers = [client.post(reverse("account_reauthenticate"), {"password": "wrong"}) for _ in range(12)]

    assert answers[-1].status_code == 429
    check(answers[-1], "429")
    assert "<h1>Too many tries</h1>" in answers[-1].content.decode()
