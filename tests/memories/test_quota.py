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


def test_a_batch_that_does_not_fit_is_refused_whole(people: People) -> None:
    response = people.api().post("/v1/memories/batch", {"memories": [memory_body()] * 4})

    assert response.status_code == 403
    assert people.api().get("/v1/memories").json()["total"] == 0


def test_another_space_has_room_of_its_own(people: People) -> None:
    for _ in range(3):
        people.api().created()

    assert people.api("outsider").post("/v1/memories", memory_body()).status_code == 201


def test_quotas_can_be_switched_off(people: People, settings: Settings) -> None:
    settings.QUOTAS_ON = False

    for _ in range(4):
        people.api().created()

    assert people.api().get("/v1/memories").json()["total"] == 4
