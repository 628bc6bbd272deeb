"""The demo's data: a life that every page has something of."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from accounts.services import space_create
from tests.factories import user_create
from tools.demo import demo_fill


@pytest.mark.django_db
def test_every_page_has_something_to_show() -> None:
    user = user_create("ada@example.com", name="Ada")
    space_create(owner=user, name="Mine")
    client = Client()
    client.force_login(user, backend="allauth.account.auth_backends.AuthenticationBackend")

    demo_fill(user)
    demo_fill(user)  # the second time does nothing

    dreams = client.get("/dreams")
    [(run, changes, suggested)] = dreams.context["runs"]
    html = client.get(f"/dreams/{run.id}").content.decode()
    assert (changes, suggested, len(dreams.context["suggestions"])) == (3, 2, 2)
    assert "<del>" in html
    assert "Undo it all" in html
    for path in ("/memories", "/journal", "/records", "/kv?ns=mail", "/conversations", "/actions", "/connections",
                 "/events", "/home"):  # fmt: skip
        assert 'class="empty"' not in client.get(path).content.decode(), path


@pytest.mark.django_db
def test_page_of_a_dream_says_what_moved_and_what_it_suggested() -> None:
    user = user_create("ada@example.com", name="Ada")
    space_create(owner=user, name="Mine")
    client = Client()
    client.force_login(user, backend="allauth.account.auth_backends.AuthenticationBackend")
    demo_fill(user)

    [(run, _, _)] = client.get("/dreams").context["runs"]
    html = client.get(f"/dreams/{run.id}").content.decode()

    assert re.search(r"Forgotten \d+ \w{3}", html)
    assert not re.search(r"\d{4}-\d\d-\d\dT", html.partition("What it changed")[2])
    assert "What it suggested" in html
    assert "Is the staging database still rebuilt on Mondays?" in html
