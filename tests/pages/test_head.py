"""HEAD asks what GET would answer (RFC 9110, section 9.3.2), on every page; monitors do."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.pages.team import Team
from tests.pages.test_queries import LISTS

OPEN = ["/", "/accounts/login/", "/accounts/signup/", "/v1/docs", "/livez", "/readyz"]


@pytest.mark.parametrize("path", OPEN)
def test_open_page(db: None, path: str) -> None:
    assert Client().head(path).status_code == Client().get(path).status_code == 200


@pytest.mark.parametrize("path", [*LISTS, "/memories/new"])
def test_page_of_a_space(team: Team, path: str) -> None:
    client = team.client("owner")

    assert client.head(path).status_code == client.get(path).status_code == 200
