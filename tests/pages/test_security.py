"""What an attacker tries on the pages: forged forms, fixed sessions, guessing accounts, hostile text, frames."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from django.conf import settings
from django.core import mail
from django.test import Client
from pytest_django import Settings

from accounts.models import User
from tests.pages.team import Team, pages, patterns

PAGES = pages()
OPEN_PAGES = ["/", "/accounts/login/", "/accounts/signup/", "/accounts/password/reset/", "/connect", "/no-such-page"]
ACCOUNT_PAGES = ["/account", "/accounts/email/", "/accounts/password/change/", "/accounts/2fa/", "/accounts/sessions/",
                 "/spaces/new"]  # fmt: skip


class Markup(HTMLParser):
    """Collects what a page's markup would run or load."""

    def __init__(self) -> None:
        super().__init__()
        self.problems: list[str] = []
        self.forms_without_token: list[str] = []
        self.form: str | None = None
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        for name in given:
            if name.startswith("on") or name == "style":
                self.problems.append(f"{tag} {name}")
        if tag == "script" and "src" not in given and given.get("type") != "application/json":
            self.problems.append("inline script")
        if tag in {"style", "iframe", "object", "embed", "base"}:
            self.problems.append(tag)
        if tag == "img" and given.get("src") == "x":
            self.problems.append("img of the hostile text")
        for name in ("href", "src", "action", "formaction"):
            if (given.get(name) or "").strip().lower().startswith(("javascript:", "vbscript:", "data:text")):
                self.problems.append(f"{tag} {name}")
        if tag == "form" and (given.get("method") or "").lower() == "post":
            self.form = given.get("action") or "this page"
        if tag == "input" and given.get("name") == "csrfmiddlewaretoken":
            self.form = None

    def handle_endtag(self, tag: str) -> None:
        if tag == "form" and self.form:
            self.forms_without_token.append(self.form)
            self.form = None


def markup(html: str) -> Markup:
    """Return what was found in a page."""
    found = Markup()
    found.feed(html)
    return found


def check(response: object, where: str) -> None:
    """Hold one answer against every rule of this file."""
    headers = response.headers  # type: ignore[attr-defined]
    policy = headers["Content-Security-Policy"]
    assert "unsafe" not in policy, where
    assert "default-src 'self'" in policy, where
    assert "frame-ancestors 'none'" in policy, where
    assert headers["X-Frame-Options"] == "DENY", where
    assert headers["X-Content-Type-Options"] == "nosniff", where
    if response.streaming or not headers["Content-Type"].startswith("text/html"):  # type: ignore[attr-defined]
        return
    html = response.content.decode()  # type: ignore[attr-defined]
    found = markup(html)
    assert found.problems == [], where
    assert found.forms_without_token == [], where
    assert "<script>alert" not in html, where
    assert "{{ 14 }}" not in html, where


def test_hostile_text_stays_text_and_no_page_can_be_framed(team: Team) -> None:
    client = team.client("owner")

    for name in sorted(PAGES):
        check(client.get(team.address(name)), name)


def test_account_pages_hold_the_same_rules(team: Team) -> None:
    client = team.client("owner")

    for path in ACCOUNT_PAGES:
        response = client.get(path)
        assert response.status_code == 200, path
        check(response, path)


@pytest.mark.django_db
@pytest.mark.parametrize("path", OPEN_PAGES)
def test_open_pages_hold_the_same_rules(path: str) -> None:
    check(Client().get(path), path)


def test_hostile_search_stays_text(team: Team) -> None:
    for query in ("<script>alert(1)</script>", '"><img src=x onerror=alert(1)>'):
        check(team.client("owner").get("/memories", {"q": query}), query)
        check(team.client("owner").get("/events", {"actor": query, "object": query}), query)


def test_form_without_token_changes_nothing(team: Team) -> None:
    client = team.client("owner", enforce_csrf_checks=True)

    for name in sorted(PAGES):
        assert client.post(team.address(name)).status_code in {403, 405}, name


def test_forms_of_the_account_need_a_token(team: Team) -> None:
    client = team.client("owner", enforce_csrf_checks=True)

    for path in ("/account", "/account/theme", "/accounts/logout/", "/accounts/email/", "/accounts/password/change/",
                 f"/spaces/{team.space.pk}/open", "/spaces/new", "/accounts/login/", "/accounts/signup/"):  # fmt: skip
        assert client.post(path).status_code == 403, path


@pytest.mark.django_db
def test_signing_in_changes_the_session() -> None:
    user = signed_up("fix@example.com")
    client = Client()
    session = client.session
    session["planted"] = "by somebody else"
    session.save()
    before = session.session_key
    client.cookies[settings.SESSION_COOKIE_NAME] = str(before)

    response = client.post("/accounts/login/", {"login": user.email, "password": PASSWORD})

    assert response.status_code == 302
    after = client.cookies[settings.SESSION_COOKIE_NAME]
    assert after.value != before
    assert after["httponly"]
    assert after["samesite"] == "Lax"


PASSWORD = "a plain long password"


def signed_up(email: str) -> User:
    """Return a person with a verified address and a password."""
    from allauth.account.models import EmailAddress

    user = User.objects.create_user(email, PASSWORD)
    EmailAddress.objects.create(user=user, email=email, verified=True, primary=True)
    return user


def shape(response: object) -> str:
    """Return an answer without what differs every time."""
    html = response.content.decode()  # type: ignore[attr-defined]
    return re.sub(r'value="[A-Za-z0-9]{64}"|[a-z]+@example\.com', "", html)


@pytest.mark.django_db
def test_sign_up_does_not_tell_who_has_an_account() -> None:
    signed_up("known@example.com")

    answers = [
        Client().post("/accounts/signup/", {"email": email, "password1": PASSWORD}, follow=True)
        for email in ("known@example.com", "fresh@example.com")
    ]

    assert answers[0].redirect_chain == answers[1].redirect_chain
    assert shape(answers[0]) == shape(answers[1])
    assert len(mail.outbox) == 2
    assert User.objects.count() == 2


@pytest.mark.django_db
def test_reset_does_not_tell_who_has_an_account() -> None:
    signed_up("known@example.com")

    answers = [
        Client().post("/accounts/password/reset/", {"email": email}, follow=True)
        for email in ("known@example.com", "unknown@example.com")
    ]

    assert answers[0].redirect_chain == answers[1].redirect_chain
    assert shape(answers[0]) == shape(answers[1])


@pytest.mark.django_db
def test_sign_in_does_not_tell_who_has_an_account() -> None:
    signed_up("known@example.com")

    answers = [
        Client().post("/accounts/login/", {"login": email, "password": "wrong wrong wrong"})
        for email in ("known@example.com", "unknown@example.com")
    ]

    assert shape(answers[0]) == shape(answers[1])


ELSEWHERE = ["https://evil.example/", "//evil.example/", "/\\evil.example", "javascript:alert(1)", "https:evil.example"]


@pytest.mark.parametrize("target", ELSEWHERE)
def test_no_redirect_leads_elsewhere(team: Team, target: str) -> None:
    signed_up("known@example.com")
    form = {"login": "known@example.com", "password": PASSWORD, "next": target}
    member = team.client("member")

    locations = [
        Client().post("/accounts/login/", form).headers["Location"],
        member.post(f"/spaces/{team.space.pk}/open", {"next": target}).headers["Location"],
        member.post("/account/theme", {"theme": "dark", "next": target}).headers["Location"],
        member.post("/memories/bulk", {"next": target}).headers["Location"],
        member.post(team.address("memory-mark"), {"pinned": "1", "next": target}).headers["Location"],
        member.post("/accounts/logout/", {"next": target}).headers["Location"],
    ]

    for location in locations:
        assert location.startswith("/")
        assert not location.startswith(("//", "/\\"))


def test_pages_are_not_kept_by_caches(team: Team) -> None:
    response = team.client("owner").get("/memories")

    assert "no-store" in response.headers["Cache-Control"]
    assert "private" in response.headers["Cache-Control"]


def test_no_page_is_outside_of_the_guard() -> None:
    """Whoever adds a view for people puts @page on it, or its name on this list with a reason."""
    open_by_design = {
        "landing", "account", "theme", "support", "account-delete", "space-open", "space-new",
        "invitation",  # these check for themselves
        "livez", "readyz", "connect", "mcp",
    }  # fmt: skip
    ours = [
        pattern
        for pattern in patterns()
        if pattern.callback.__module__.startswith(("accounts.pages", "memories.pages", "notebook.pages"))
        or pattern.callback.__module__.split(".")[-1].startswith("pages")
    ]

    unguarded = {p.name for p in ours if not hasattr(p.callback, "page_action")} - open_by_design
    assert unguarded == set()


def test_forwarded_host_does_not_enter_a_mail(team: Team) -> None:
    signed_up("known@example.com")

    Client().post(
        "/accounts/password/reset/", {"email": "known@example.com"}, headers={"X-Forwarded-Host": "evil.test"}
    )

    assert "evil.test" not in mail.outbox[0].body


@pytest.fixture
def production(settings: Settings, db: None) -> None:
    settings.SECURE_SSL_REDIRECT, settings.SECURE_HSTS_SECONDS = True, 31_536_000


@pytest.mark.usefixtures("production")
@pytest.mark.parametrize("path", ["/accounts/login/", "/v1/me", "/mcp"])
def test_plain_http_is_led_to_tls_in_production(path: str) -> None:
    plain, safe = Client().get(path), Client().get(path, secure=True)

    assert (plain.status_code, plain.headers["Location"]) == (301, f"https://testserver{path}")
    assert "Strict-Transport-Security" not in plain.headers
    assert safe.headers["Strict-Transport-Security"].startswith("max-age=31536000")
    assert Client().get("/v1/health").status_code == 200
