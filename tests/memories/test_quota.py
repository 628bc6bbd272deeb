"""How many memories a space may hold."""

from __future__ import annotations

import pytest
from pytest_django import Settings

from config.valkey import client
from tests.factories import People, memory_body


@pytest.fixture(autouse=True)
def small(settings: Settings, people: People) -> None:
    settings.QUOTA_MEMORIES = 3
    client().delete(f"quota:memories:{people.space.pk}", f"quota:memories:{people.other.pk}")


def test_a_full_space_takes_no_more_and_says_so(people: People) -> None:
    for _ in range(3):
        people.api().created()

    response = people.api().post("/v1/memories", memory_body())

    assert response.status_code == 403
    assert response.json()["details"] == {"limit": 3}
    assert people.api().get("/v1/memories").json()["total"] == 3


def test_a_deleted_memory_makes_room(people: People) -> None:
    made = [people.api().created() for _ in range(3)]
    people.api().delete(f"/v1/memories/{made[0]['id']}")

    assert people.api().post("/v1/memories", memory_body()).status_code == 201
    assert people.api().post("/v1/memories", memory_body()).status_code == 403


def test_of_a_batch_goes_in_what_fits_and_the_rest_is_refused_each(people: People) -> None:
    people.api().created()
    bodies = [memory_body(content=f"number {n}") for n in range(4)]

    response = people.api().post("/v1/memories/batch", {"memories": [bodies[0], {}, *bodies[1:]]})

    results = response.json()["results"]
    assert [(result["index"], result["status"]) for result in results] == [
        (0, 201), (1, 422), (2, 201), (3, 403), (4, 403),
    ]  # fmt: skip
    assert [results[index]["memory"]["content"] for index in (0, 2)] == ["number 0", "number 1"]
    assert (results[4]["error"], results[4]["details"]) == ("forbidden", {"limit": 3})
    assert people.api().get("/v1/memories").json()["total"] == 3


def test_of_a_batch_into_a_full_space_each_is_refused(people: People) -> None:
    people.api().post("/v1/memories/batch", {"memories": [memory_body()] * 3})

    response = people.api().post("/v1/memories/batch", {"memories": [memory_body()] * 2})

    assert [result["status"] for result in response.json()["results"]] == [403, 403]
    assert people.api().get("/v1/memories").json()["total"] == 3


def test_what_was_refused_counts_for_nothing(people: People) -> None:
    people.api().created()
    people.api().post("/v1/memories/batch", {"memories": [memory_body()] * 500})

    deleted = people.api().get("/v1/memories").json()["memories"][0]["id"]
    people.api().delete(f"/v1/memories/{deleted}")

    assert people.api().post("/v1/memories", memory_body()).status_code == 201


def test_another_space_has_room_of_its_own(people: People) -> None:
    for _ in range(3):
        people.api().created()

    assert people.api("outsider").post("/v1/memories", memory_body()).status_code == 201


def test_quotas_can_be_switched_off(people: People, settings: Settings) -> None:
    settings.QUOTAS_ON = False

    for _ in range(4):
        people.api().created()

    assert people.api().get("/v1/memories").json()["total"] == 4
