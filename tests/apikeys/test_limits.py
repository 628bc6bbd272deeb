"""Rate limits: a bucket for each key and one for each space."""

from __future__ import annotations

import pytest
from pytest_django import Settings

from config.valkey import client
from tests.contract import checked
from tests.factories import People


@pytest.fixture(autouse=True)
def small(settings: Settings, people: People) -> None:
    settings.RATE_LIMIT_ON = settings.QUOTAS_ON = True
    settings.RATE_LIMIT_PER_MINUTE, settings.RATE_LIMIT_BURST = 1, 3
    for key in client().scan_iter("rate:*"):
        client().delete(key)


def test_429_with_retry_after_and_ratelimit_headers(people: People) -> None:
    answers = [checked(people).get("/v1/me") for _ in range(4)]

    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert answers[0].headers["RateLimit"].startswith('"key";r=2')
    assert answers[3].json()["error"] == "rate_limited"
    assert 1 <= int(answers[3].headers["Retry-After"]) <= 60
    assert answers[3].headers["RateLimit"].startswith('"key";r=0')


def test_the_bucket_is_the_key_s_own(people: People) -> None:
    for _ in range(4):
        people.api().get("/v1/me")

    assert people.api("member").get("/v1/me").status_code == 200


def test_a_space_has_a_bucket_of_all_its_keys(people: People, settings: Settings) -> None:
    settings.RATE_LIMIT_BURST, settings.QUOTA_REQUESTS_PER_MINUTE = 100, 4
    statuses = [people.api(kind).get("/v1/me").status_code for kind in ("owner", "member") * 3]

    assert statuses == [200] * 4 + [429] * 2
    assert people.api("outsider").get("/v1/me").status_code == 200


def test_a_refused_request_does_nothing(people: People) -> None:
    for _ in range(3):
        people.api().get("/v1/me")

    assert people.api().post("/v1/memories", {"content": "a", "type": "semantic"}).status_code == 429
    assert people.api("member").get("/v1/memories").json()["total"] == 0


def test_limits_can_be_switched_off_and_health_says_so(people: People, settings: Settings) -> None:
    settings.RATE_LIMIT_ON = settings.QUOTAS_ON = False

    answers = [people.api().get("/v1/me") for _ in range(5)]

    assert {answer.status_code for answer in answers} == {200}
    assert "RateLimit" not in answers[0].headers
    assert checked(people).get("/v1/health").json()["switched_off"] == ["rate_limit", "quotas"]
