"""GET /v1/memories/{id}/similar."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from tests.contract import checked
from tests.factories import MISSING_ID, People
from tests.search.support import embed_everything, store


@pytest.fixture
def stored(people: People) -> dict[str, str]:
    """Give the ids of four memories by what they are about, each with its vector."""
    contents = {
        "cat": "My cat sleeps on the sofa all day",
        "kitten": "The kitten naps on the couch",
        "dog": "The dog barks at the postman",
        "tax": "The tax return is due at the end of May",
    }
    made = store(people.access(), *contents.values())
    embed_everything()
    return {name: memory.id for name, memory in zip(contents, made, strict=True)}


def similar(people: People, memory_id: str, **query: Any) -> Any:
    response = checked(people).get(f"/v1/memories/{memory_id}/similar", **query)
    assert response.status_code == 200
    return response.json()


def ids(body: dict[str, Any]) -> list[str]:
    return [memory["id"] for memory in body["memories"]]


def test_lists_the_others_nearest_first(people: People, stored: dict[str, str]) -> None:
    body = similar(people, stored["cat"])

    assert ids(body) == [stored["kitten"], stored["dog"], stored["tax"]]
    assert (body["total"], body["mode_used"]) == (3, "semantic")


def test_lists_as_many_as_asked_for(people: People, stored: dict[str, str]) -> None:
    body = similar(people, stored["cat"], limit=1)

    assert (ids(body), body["total"]) == ([stored["kitten"]], 1)
    assert checked(people).get(f"/v1/memories/{stored['cat']}/similar", limit=0).status_code == 422


def test_the_shape_is_asked_for_as_elsewhere(people: People, stored: dict[str, str]) -> None:
    assert "version" not in similar(people, stored["cat"])["memories"][0]
    assert similar(people, stored["cat"], view="full")["memories"][0]["version"] == 1


def test_what_is_deleted_or_expired_is_not_similar(people: People, stored: dict[str, str]) -> None:
    api = checked(people)
    api.delete(f"/v1/memories/{stored['kitten']}")
    moment = timezone.now() - timedelta(seconds=1)
    api.put(f"/v1/memories/{stored['dog']}", {"expires_at": moment.isoformat()})

    assert ids(similar(people, stored["cat"])) == [stored["tax"]]
    assert api.get(f"/v1/memories/{stored['kitten']}/similar").status_code == 404
    assert api.get(f"/v1/memories/{stored['dog']}/similar").status_code == 404


def test_a_changed_text_is_compared_by_its_new_meaning(people: People, stored: dict[str, str]) -> None:
    checked(people).put(f"/v1/memories/{stored['cat']}", {"content": "I paid the taxes in spring"})

    assert ids(similar(people, stored["cat"]))[0] == stored["tax"]


def test_what_was_just_written_is_compared_at_once(people: People, stored: dict[str, str]) -> None:
    new = people.api().created(content="A cat is asleep on the couch")["id"]

    assert ids(similar(people, stored["kitten"]))[0] == new
    assert set(ids(similar(people, new))[:2]) == {stored["cat"], stored["kitten"]}


def test_another_space_has_none_of_it(people: People, stored: dict[str, str]) -> None:
    store(people.access("outsider"), "The kitten naps on the couch")
    embed_everything()
    foreign, missing = (
        checked(people, "outsider").get(f"/v1/memories/{memory_id}/similar")
        for memory_id in (stored["cat"], MISSING_ID)
    )

    assert (foreign.status_code, foreign.content) == (404, missing.content)
    assert len(ids(similar(people, stored["cat"]))) == 3
