"""Keys: what they look like, when they end, who made them, when they were used."""

from __future__ import annotations

import io
import re
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, transaction
from django.utils import timezone

from accounts.models import Membership, User
from apikeys.keys import key_generate
from apikeys.models import ApiKey
from tests.factories import Api, People, key_create


def test_a_key_is_a_prefix_256_bits_and_a_checksum() -> None:
    keys = {key_generate() for _ in range(100)}

    assert len(keys) == 100
    assert all(re.fullmatch(r"om_[A-Za-z0-9_-]{43}[0-9a-f]{6}", key) for key in keys)


def test_only_a_digest_is_stored(people: People) -> None:
    row = ApiKey.objects.get(name="owner")

    assert len(bytes(row.digest)) == 32
    assert people.keys["owner"][:10] == row.prefix
    assert people.keys["owner"] not in str(row.__dict__)


def test_a_revoked_key_is_refused_at_once(people: People) -> None:
    api = people.api()
    assert api.get("/v1/me").status_code == 200

    ApiKey.objects.get(name="owner").revoke()

    assert api.get("/v1/me").status_code == 401


def end_user(people: People) -> None:
    User.objects.filter(pk=people.member.pk).update(is_active=False)


def end_membership(people: People) -> None:
    Membership.objects.filter(user=people.member).delete()


def end_key(people: People) -> None:
    ApiKey.objects.filter(name="member").update(expires_at=timezone.now() - timedelta(seconds=1))


@pytest.mark.parametrize("end", [end_user, end_membership, end_key])
def test_a_key_ends_with_its_person_their_place_and_its_time(people: People, end: Any) -> None:
    assert people.api("member").get("/v1/me").status_code == 200

    end(people)

    assert people.api("member").get("/v1/me").status_code == 401


def test_a_key_is_as_wide_as_the_role_of_its_person_is_now(people: People) -> None:
    Membership.objects.filter(user=people.member).update(role="viewer")

    assert people.api("member").post("/v1/memories", {}).status_code == 403


def test_the_last_use_is_written_at_most_once_a_minute(people: People) -> None:
    people.api().get("/v1/me")
    first = ApiKey.objects.get(name="owner").last_used_at
    people.api().get("/v1/me")
    assert first is not None
    assert ApiKey.objects.get(name="owner").last_used_at == first

    ApiKey.objects.filter(name="owner").update(last_used_at=first - timedelta(minutes=2))
    people.api().get("/v1/me")

    assert ApiKey.objects.get(name="owner").last_used_at != first - timedelta(minutes=2)


def test_no_key_may_both_propose_and_decide(people: People) -> None:
    with pytest.raises(DatabaseError), transaction.atomic():
        key_create(people.space, people.owner, scopes={"actions:propose", "actions:decide"})


class TestCreateKey:
    """manage.py createkey."""

    def created(self, *words: str) -> str:
        out = io.StringIO()
        call_command("createkey", *words, stdout=out)
        return out.getvalue().strip()

    def test_makes_person_space_and_key_and_prints_the_key_alone(self, db: None) -> None:
        key = self.created("--email", "New@example.com", "--space", "Fresh", "--tool", "claude")

        body = Api(key).get("/v1/me").json()
        assert (body["user"]["email"], body["space"]["name"]) == ("new@example.com", "Fresh")
        assert (body["key"]["name"], body["key"]["tool"]) == ("claude", "claude")
        assert "actions:decide" not in body["scopes"]

    def test_says_beside_the_key_that_the_account_or_the_space_is_new(self, people: People) -> None:
        def said(email: str, space: str) -> str:
            out, err = io.StringIO(), io.StringIO()
            call_command("createkey", "--email", email, "--space", space, stdout=out, stderr=err)
            assert len(out.getvalue().split()) == 1
            return err.getvalue()

        assert said("owner@example.com", "Team") == ""
        assert said("owner@example.com", "Taem").startswith("owner@example.com had no space Taem; one is made")
        assert said("owner@example.com", "Taem") == ""
        assert said("onwer@example.com", "Team").startswith("onwer@example.com had no account; one is made")

    def test_takes_scopes_and_limits(self, people: People) -> None:
        words = ["--scopes", "memories:read,export", "--read-tools", "a,b", "--namespaces", "n", "--types", "semantic"]

        body = Api(self.created("--email", "owner@example.com", "--space", "Team", *words)).get("/v1/me").json()

        assert body["space"]["id"] == str(people.space.pk)
        assert body["scopes"] == ["export", "memories:read"]
        assert (body["limits"]["read_tools"], body["limits"]["namespaces"]) == (["a", "b"], ["n"])

    @pytest.mark.parametrize(
        ("words", "sentence"),
        [
            (["--email", "nobody", "--space", "A"], "no e-mail address"),
            (["--email", "a@example.com", "--space", " "], "1 to 100"),
            (["--email", "a@example.com", "--space", "A", "--scopes", "all"], "Unknown scope 'all'"),
            (["--email", "a@example.com", "--space", "A", "--scopes", "full,actions:decide"], "nobody approves"),
        ],
    )
    def test_says_what_is_wrong(self, db: None, words: list[str], sentence: str) -> None:
        with pytest.raises(CommandError, match=sentence):
            self.created(*words)
        assert not ApiKey.objects.exists()
