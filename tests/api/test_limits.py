"""Limits of keys and spaces: 429, what its headers say, and whom it spares."""

from __future__ import annotations

import pytest
from pytest_django import Settings

from tests.factories import People


@pytest.fixture
def few(settings: Settings) -> Settings:
    """Give settings under which a key has two requests."""
    settings.RATE_LIMIT_ON, settings.RATE_LIMIT_PER_MINUTE, settings.RATE_LIMIT_BURST = True, 1, 2
    return settings


@pytest.mark.usefixtures("few")
def test_a_key_that_asks_too_often(people: People) -> None:
    passed = [people.api().get("/v1/me") for _ in range(2)]
    refused = people.api().get("/v1/me")

    assert [answer.status_code for answer in passed] == [200, 200]
    assert [answer.headers["RateLimit"] for answer in passed] == ['"key";r=1;t=0', '"key";r=0;t=0']
    assert passed[0].headers["RateLimit-Policy"] == '"key";q=2;w=120'
    body = refused.json()
    assert (refused.status_code, body["error"], set(body)) == (429, "rate_limited", {"error", "message", "details"})
    wait = int(refused.headers["Retry-After"])
    assert 1 <= wait <= 60
    assert body["details"] == {"limit": "key", "per_minute": 1, "retry_after": wait}
    assert refused.headers["RateLimit"] == f'"key";r=0;t={wait}'


@pytest.mark.usefixtures("few")
def test_another_key_has_its_own(people: People) -> None:
    for _ in range(3):
        people.api().get("/v1/me")

    assert people.api("member").get("/v1/me").status_code == 200


@pytest.mark.usefixtures("few")
def test_a_refused_write_writes_nothing(people: People) -> None:
    answers = [people.api().put("/v1/kv/state/a", {"value": number}).status_code for number in range(3)]

    assert answers == [201, 200, 429]
    assert people.api("member").get("/v1/kv/state/a").json()["value"] == 1


def test_all_keys_of_a_space_share_its_quota(people: People, settings: Settings) -> None:
    settings.QUOTAS_ON, settings.QUOTA_REQUESTS_PER_MINUTE = True, 2

    answers = [people.api(kind).get("/v1/me") for kind in ("owner", "member", "tool")]

    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert answers[2].json()["details"]["limit"] == "space"
    assert people.api("outsider").get("/v1/me").status_code == 200


def test_health_says_which_limits_are_off(people: People, settings: Settings) -> None:
    settings.RATE_LIMIT_ON = settings.QUOTAS_ON = True
    assert "switched_off" not in people.api().get("/v1/health").json()

    settings.RATE_LIMIT_ON = settings.QUOTAS_ON = False
    assert people.api().get("/v1/health").json()["switched_off"] == ["rate_limit", "quotas"]
    assert "RateLimit" not in people.api().get("/v1/me").headers
