"""The life of a key: its last use, its end by time and by revocation, and what is kept of it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.access import Access, space_transaction
from accounts.models import Membership
from apikeys.keys import key_digest
from apikeys.models import ApiKey
from apikeys.services import apikey_revoke
from tests.factories import People


def row(people: People, kind: str = "owner") -> ApiKey:
    return ApiKey.objects.get(digest=key_digest(people.keys[kind]))


def test_its_last_use_is_noted(people: People) -> None:
    assert row(people).last_used_at is None

    people.api().get("/v1/me")

    used = row(people).last_used_at
    assert used is not None
    assert timezone.now() - used < timedelta(minutes=5)
    assert row(people, "member").last_used_at is None


def test_revoking_holds_from_the_next_request_on(people: People) -> None:
    assert people.api().get("/v1/me").status_code == 200

    with space_transaction(people.access("member")):
        apikey_revoke(access=people.access("member"), apikey=row(people))

    assert people.api().get("/v1/me").status_code == 401
    events = people.api("member").get("/v1/events", type="apikey.revoked").json()["events"]
    assert [event["object"]["id"] for event in events] == [str(row(people).pk)]


@pytest.mark.parametrize("seconds", [-1, 60])
def test_expiry(people: People, seconds: int) -> None:
    ApiKey.objects.filter(pk=row(people).pk).update(expires_at=timezone.now() + timedelta(seconds=seconds))

    assert people.api().get("/v1/me").status_code == (200 if seconds > 0 else 401)


def test_it_ends_with_the_membership_and_with_the_account(people: People) -> None:
    Membership.objects.filter(user=people.member, space=people.space).delete()
    people.owner.is_active = False
    people.owner.save()

    assert people.api("member").get("/v1/me").status_code == 401
    assert people.api("owner").get("/v1/me").status_code == 401


def test_only_a_digest_and_a_short_prefix_are_kept(people: People) -> None:
    stored = row(people)

    assert bytes(stored.digest) == key_digest(people.keys["owner"])
    assert stored.prefix == people.keys["owner"][:10]
    assert people.keys["owner"] not in str(vars(stored))


def test_making_one_is_in_the_event_log(people: People) -> None:
    events = people.api().get("/v1/events", type="apikey.created", limit=100).json()["events"]

    assert str(row(people).pk) in {event["object"]["id"] for event in events}
    assert {event["actor"]["kind"] for event in events} == {Access.system(1).actor_kind}
