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
        rows = Memory.objects.visible_to(people.access()).values_list("content", "evidence_deleted")
        return dict(rows)


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


OWN = {f"own{number}": number for number in range(9)}


def flagged(people: People) -> dict[str, Any]:
    """Return, whole, a derived fact of ten keys of metadata, some of whose evidence was deleted."""
    access = people.access()
    base = memory_make(access, content="The user bought running shoes")
    fact = memory_make(access, content="The user runs", source_ref="dream_1", metadata={"evidence": [base.id], **OWN})
    by_rest(people, base, "")
    found: dict[str, Any] = people.api().get(f"/v1/memories/{fact.id}", view="full").json()
    assert (found["evidence_deleted"], len(found["metadata"])) == (True, 10)
    return found


@pytest.mark.parametrize("format", ["json", "ndjson"])
def test_a_flagged_fact_with_all_its_metadata_is_exported_and_imported(people: People, format: str) -> None:
    fact = flagged(people)
    file = b"".join(people.api().get("/v1/export", format=format).streaming_content)
    type = "application/json" if format == "json" else "application/x-ndjson"

    answer = people.api("outsider").post("/v1/import", file, content_type=type)

    assert (answer.json()["imported"], answer.json()["errors"]) == (1, [])
    theirs = people.api("outsider").get(f"/v1/memories/{fact['id']}", view="full").json()
    same = ("content", "metadata", "evidence_deleted", "source_ref")
    assert {name: theirs[name] for name in same} == {name: fact[name] for name in same}


def test_a_flagged_fact_takes_its_own_metadata_and_keeps_the_flag(people: People) -> None:
    fact = flagged(people)

    answer = people.api().patch(
        f"/v1/memories/{fact['id']}",
        {"metadata": fact["metadata"], "pinned": True, "evidence_deleted": False},
        view="full",
    )

    assert answer.status_code == 200
    assert (answer.json()["metadata"], answer.json()["evidence_deleted"]) == (fact["metadata"], True)


def test_a_flagged_fact_is_put_back_as_it_was(people: People) -> None:
    fact = flagged(people)
    client = browser(people)
    assert "Some of what it was derived from was deleted." in client.get(f"/memories/{fact['id']}").content.decode()
    gone = client.post("/memories/bulk", {"action": "delete", "confirmed": "yes", "id": [fact["id"]]})
    assert left(people) == {}

    assert client.post("/memories/put-back", {"receipt": gone.context["receipt"]}).status_code == 302

    back = people.api().get(f"/v1/memories/{fact['id']}", view="full").json()
    assert (back["metadata"], back["evidence_deleted"]) == (fact["metadata"], True)


def test_nobody_flags_a_fact_by_writing_it(people: People) -> None:
    made = people.api().created(evidence_deleted=True)

    assert people.api().get(f"/v1/memories/{made['id']}", view="full").json()["evidence_deleted"] is False


@pytest.mark.parametrize(
    ("kind", "within", "without"),
    [
        ("namespace", {"namespace": "project:a"}, {"namespace": "project:b"}),
        ("type", {"type": "semantic"}, {"type": "episodic"}),
        ("tool", {"source": {"tool": "claude"}}, {"source": {"tool": "zed"}}),
    ],
)
def test_what_a_key_may_not_see_it_flags_and_does_not_delete(
    people: People, kind: str, within: dict[str, Any], without: dict[str, Any]
) -> None:
    access = people.access()
    base = memory_make(access, content="Base", **within)
    hidden = memory_make(
        access, content="Hidden", source_ref="dream_1", metadata={"evidence": [base.id]}, **within | without
    )
    memory_make(access, content="Seen", source_ref="dream_2", metadata={"evidence": [hidden.id]}, **within)
    api = people.api(kind)

    answer = api.delete(f"/v1/memories/{base.id}", derived="delete", receipt="true")

    assert answer.status_code == 200
    assert hidden.id not in answer.content.decode()
    assert left(people) == {"Hidden": True}
    assert hidden.id not in api.get("/v1/events").content.decode()
    assert hidden.id in people.api().get("/v1/events", type="memory.updated").content.decode()


def test_an_unknown_wish_is_refused(people: People) -> None:
    base, *_ = family(people)

    assert people.api().delete(f"/v1/memories/{base.id}", derived="keep").status_code == 422
