"""Which memories an access may see: the queryset's rule, and the same rule for one row."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.access import space_transaction
from memories.models import Memory
from tests.factories import People, memory_make

KINDS = ["owner", "member", "outsider", "read", "tool", "namespace", "type", "nothing", "quarantine"]


def memories_of_every_kind(people: People) -> list[Memory]:
    access = people.access("owner")
    past = timezone.now() - timedelta(seconds=1)
    return [
        memory_make(access),
        memory_make(access, type="episodic", namespace="project:a"),
        memory_make(access, source={"tool": "windsurf"}, namespace="project:a"),
        memory_make(access, source={"tool": "cursor"}, namespace=None, type="procedural"),
        memory_make(access, expires_at=past),
        memory_make(access, expires_at=timezone.now() + timedelta(hours=1)),
        memory_make(people.access("quarantine")),
        memory_make(people.access("outsider")),
    ]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("include_expired", [False, True])
def test_one_row_and_queryset_agree(people: People, kind: str, include_expired: bool) -> None:
    stored = memories_of_every_kind(people)
    access = people.access(kind)

    with space_transaction(access):
        listed = set(Memory.objects.visible_to(access, include_expired=include_expired).values_list("id", flat=True))
        single = {m.id for m in stored if Memory.objects.one(access, m.id, include_expired=include_expired)}

    assert single == listed
    assert (kind == "nothing") == (not listed)


def test_one_row_is_the_row_of_the_queryset(people: People) -> None:
    access = people.access("owner")
    stored = memory_make(access, metadata={"k": [1, {"deep": None}]}, tags=["a", "b"])

    with space_transaction(access):
        one = Memory.objects.one(access, stored.id)
        row = Memory.objects.visible_to(access).get(id=stored.id)

    assert one is not None
    assert {f.name: getattr(one, f.name) for f in Memory._meta.concrete_fields} == {
        f.name: getattr(row, f.name) for f in Memory._meta.concrete_fields
    }


def test_without_an_access_nothing_is_visible(people: People) -> None:
    memory_make(people.access("owner"))

    assert not Memory.objects.visible_to(None).exists()
