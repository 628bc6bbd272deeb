"""What OAuth leaves behind is cleared away."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone
from oauth2_provider.models import AccessToken, Application, RefreshToken

from grants.models import Grant
from grants.tasks import purge
from tests.factories import People
from tests.mcpserver.client import Mcp
from tests.oauth.flow import Assistant


def test_what_is_in_use_stays(people: People, assistant: Assistant) -> None:
    tokens = assistant.connect(people.space)

    purge()

    assert Mcp(tokens["access_token"]).request("tools/list").status_code == 200
    assert assistant.refresh(tokens["refresh_token"]).status_code == 200


def test_refresh_outlives_the_access_token(people: People, assistant: Assistant) -> None:
    tokens = assistant.connect(people.space)
    AccessToken.objects.update(expires=timezone.now() - timedelta(days=80))

    purge()

    assert assistant.refresh(tokens["refresh_token"]).status_code == 200


def test_grant_whose_tokens_have_lapsed_ends(people: People, assistant: Assistant) -> None:
    assistant.connect(people.space)
    AccessToken.objects.update(expires=timezone.now() - timedelta(days=91))

    purge()

    assert Grant.objects.get().revoked_at is not None
    assert not RefreshToken.objects.filter(revoked=None).exists()


def test_consent_that_was_never_used_goes(people: People, assistant: Assistant) -> None:
    assistant.code(people.space, ["read"])
    Grant.objects.update(created_at=timezone.now() - timedelta(hours=2))

    purge()

    assert not Grant.objects.exists()


@pytest.mark.parametrize(("days", "left"), [(6, 1), (8, 0)])
def test_client_that_nobody_connected_goes_after_a_week(
    people: People, assistant: Assistant, days: int, left: int
) -> None:
    Application.objects.update(created=timezone.now() - timedelta(days=days))

    purge()

    assert Application.objects.count() == left


def test_second_use_of_a_refresh_token_is_noticed_after_a_purge(people: People, assistant: Assistant) -> None:
    tokens = assistant.connect(people.space)
    renewed = assistant.refresh(tokens["refresh_token"]).json()

    purge()

    assert assistant.refresh(tokens["refresh_token"]).json()["error"] == "invalid_grant"
    assert Mcp(renewed["access_token"]).request("tools/list").status_code == 401
