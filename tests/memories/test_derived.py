"""Deleting a memory flags or deletes what was derived from it, as asked, through every door."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from accounts.access import space_transaction
from accounts.sessions import SPACE
from memories.models import Memory
from tests.factories import People, memory_make

pytestmark = pytest.mark.django_db


def family(people: People) -> tuple[Memory, Memory, Memory, Memory]:
    """Return a memory, a fact derived from it, one derived from that, and one that has to do with none of them."""
    access = people.access()
    base = memory_make(access, content="The user bought running shoes")
    child = memory_make(access, content="The user runs", source_ref="dream_1", metadata={"evidence": [base.id, "x"]})
    grandchild = memory_make(access, content="The user is fit", source_ref="dream_2", metadata={"evidence": [child.id]})
    other = memory_make(access, content="The user likes tea", source_ref="dream_3", metadata={"evidence": ["y"]})
    return base, child, grandchild, other


def left(people: People) -> dict[str, bool]:
    """Return the texts that are there, and whether each is flagged."""
    with space_transaction(people.access()):
        rows = Memory.objects.visible_to(people.access()).values_list("content", "metadata")
        return {content: "evidence_deleted" in metadata for content, metadata in rows}


def browser(people: People) -> Client:
    client = Client()
    client.force_login(people.owner, backend="allauth.account.auth_backends.AuthenticationBackend")
    session = client.session
    session[SPACE] = people.space.pk
    session.save()
    return client


def by_rest(people: People, memory: Memory, derived: str) -> None:
    query: dict[str, Any] = {"derived": derived} if derived else {}
    assert people.api().delete(f"/v1/memories/{memory.id}", **query).status_code == 204


def by_page(people: People, memory: Memory, derived: str) -> None:
    sent = {"action": "delete", "confirmed": "yes", "id": [memory.id], "derived": derived}
    assert browser(people).post("/memories/bulk", sent).status_code == 200


@pytest.mark.parametrize("door", [by_rest, by_page])
@pytest.mark.parametrize("derived", ["", "flag"])
def test_what_was_derived_is_flagged(people: People, door: Any, derived: str) -> None:
    base, *_ = family(people)

    door(people, base, derived)

    assert left(people) == {"The user runs": True, "The user is fit": True, "The user likes tea": False}


@pytest.mark.parametrize("door", [by_rest, by_page])
def test_or_deleted_when_asked(people: People, door: Any) -> None:
    base, *_ = family(people)

    door(people, base, "delete")

    assert left(people) == {"The user likes tea": False}


def test_a_forget_flags_what_its_words_are_not_in(people: People) -> None:
    family(people)
    assert people.api().post("/v1/memories/forget", {"query": "running shoes"}).json()["memories"] == 1

    assert left(people) == {"The user runs": True, "The user is fit": True, "The user likes tea": False}


def test_the_page_asks_what_shall_become_of_it(people: People) -> None:
    base, _, _, other = family(people)
    client = browser(people)

    asked = client.post("/memories/bulk", {"action": "delete", "id": [base.id]}).content.decode()
    unasked = client.post("/memories/bulk", {"action": "delete", "id": [other.id]}).content.decode()

    assert "Also delete the 2 facts that dreams derived from it" in asked
    assert "Also delete" not in unasked


def test_a_key_that_may_not_change_what_was_derived_deletes_nothing(people: People) -> None:
    access = people.access("tool")
    base = memory_make(access, content="Bound", source={"tool": "claude"})
    source = {"tool": "cursor"}
    memory_make(
        people.access(), content="Derived", source=source, source_ref="dream_1", metadata={"evidence": [base.id]}
    )

    answer = people.api("tool").delete(f"/v1/memories/{base.id}", derived="delete")

    assert answer.status_code == 403
    assert left(people) == {"Bound": False, "Derived": False}


def test_an_unknown_wish_is_refused(people: People) -> None:
    base, *_ = family(people)

    assert people.api().delete(f"/v1/memories/{base.id}", derived="keep").status_code == 422
