"""The demo's data: a life that every page has something of."""

from __future__ import annotations

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
    run = dreams.context["runs"][0]
    html = client.get(f"/dreams/{run.id}").content.decode()
    assert (len(dreams.context["runs"]), run.applied, len(dreams.context["suggestions"])) == (1, 5, 2)
    assert "<del>" in html
    assert "Undo it all" in html
    for path in ("/memories", "/journal", "/records", "/kv?ns=mail", "/conversations", "/actions", "/connections",
                 "/events", "/home"):  # fmt: skip
        assert 'class="empty"' not in client.get(path).content.decode(), path
