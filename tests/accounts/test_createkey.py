"""manage.py createkey: a key of every kind from the command line."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.utils import timezone

from accounts.access import Access
from accounts.models import Membership, User
from accounts.permissions import FULL_SCOPES, READ_SCOPES
from apikeys.models import ApiKey
from tests.factories import Api, People, access_of


def createkey(*words: str, email: str = "new@example.com", space: str = "Personal") -> str:
    """Return the key that the command prints, and nothing beside it."""
    out = StringIO()
    call_command("createkey", "--email", email, "--space", space, *words, stdout=out)
    assert out.getvalue().count("\n") == 1
    return out.getvalue().strip()


def made(*words: str) -> Access:
    return access_of(createkey(*words))


@pytest.mark.django_db
def test_makes_person_and_space_when_they_are_absent() -> None:
    first, again = (access_of(createkey()) for _ in range(2))

    assert User.objects.filter(email="new@example.com").count() == 1
    assert first.space_id == again.space_id
    assert (first.role, first.scopes) == ("owner", FULL_SCOPES)


def test_takes_the_space_that_is_there(people: People) -> None:
    access = access_of(createkey(email="owner@example.com", space="Team"))

    assert (access.space_id, access.user_id) == (people.space.pk, people.owner.pk)
    assert Membership.objects.filter(user=people.owner).count() == 1


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("scopes", "given"),
    [
        ("full", FULL_SCOPES), ("read", READ_SCOPES), ("memories:write", {"memories:write"}),
        ("kv:read, kv:write", {"kv:read", "kv:write"}), ("actions:decide", {"actions:decide"}),
        ("read,ai", READ_SCOPES | {"ai"}),
    ],
)  # fmt: skip
def test_scopes(scopes: str, given: set[str]) -> None:
    assert made("--scopes", scopes).scopes == given


@pytest.mark.django_db
def test_limits() -> None:
    access = made(
        "--tool", "cursor", "--read-tools", "cursor, claude", "--namespaces", "project:a", "--types", "semantic",
    )  # fmt: skip

    assert (access.write_tool, access.actor_name) == ("cursor", "cursor")
    assert access.read_tools == frozenset({"cursor", "claude"})
    assert access.namespaces == frozenset({"project:a"})
    assert access.types == frozenset({"semantic"})


@pytest.mark.django_db
def test_quarantine_and_name() -> None:
    access = made("--quarantine", "--name", "Night job")

    assert (access.quarantine, access.actor_name) == (True, "Night job")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("30", timedelta(days=30)), ("3650", timedelta(days=3650)), (" 1 ", timedelta(days=1)),
        ("2126-06-29T12:00:00Z", datetime(2126, 6, 29, 12, tzinfo=UTC)),
        ("2126-06-29T12:00:00+02:00", datetime(2126, 6, 29, 10, tzinfo=UTC)),
    ],
)  # fmt: skip
def test_expiry(given: str, expected: datetime | timedelta) -> None:
    before = timezone.now()

    createkey("--expires", given)

    moment = ApiKey.objects.get().expires_at
    assert moment is not None
    if isinstance(expected, timedelta):
        assert before + expected <= moment <= timezone.now() + expected
    else:
        assert moment == expected


@pytest.mark.django_db
def test_without_an_expiry_it_never_ends_and_with_one_it_does() -> None:
    createkey()
    assert ApiKey.objects.get().expires_at is None
    key = createkey("--expires", "1")
    assert access_of(key).space_id

    ApiKey.objects.exclude(expires_at=None).update(expires_at=timezone.now() - timedelta(seconds=1))

    assert Api(key).get("/v1/me").status_code == 401


@pytest.mark.django_db
@pytest.mark.parametrize(
    "given", ["0", "-1", "3651", "9" * 400, "1.5", "", "soon", "2026-06-29", "2020-06-29T12:00:00Z", "²", "٣٠٠٠٠"]
)
def test_an_expiry_that_is_none_makes_nothing(given: str) -> None:
    with pytest.raises(CommandError, match="--expires takes"):
        createkey(f"--expires={given}")
    assert not User.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--scopes", "everything"], "Unknown scope 'everything'."),
        (["--scopes", "full,actions:decide"], "One key cannot hold both actions:propose and actions:decide"),
    ],
)
def test_what_cannot_be_made(words: list[str], sentence: str) -> None:
    with pytest.raises(CommandError, match=sentence):
        createkey(*words)
    assert not User.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("email", "space"), [("nobody", "Personal"), ("a@example.com", " "), ("a@example.com", "x" * 101)]
)
def test_person_and_space_that_are_none(email: str, space: str) -> None:
    with pytest.raises(CommandError, match=r"\.$"):
        createkey(email=email, space=space)
    assert not User.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--name", "x" * 101], "--name"),
        (["--tool", "x" * 101], "--tool"),
        (["--scopes", ""], "--scopes"),
        (["--types", "emotional"], "--types"),
    ],
)
def test_a_value_that_no_key_can_have_is_told_in_a_sentence(words: list[str], sentence: str) -> None:
    with pytest.raises(CommandError, match=sentence):
        createkey(*words)
    assert not User.objects.exists()
