"""GET and PATCH /v1/space."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract import checked
from tests.factories import People, key_create, member_create


def test_shows_the_settings_by_name(people: People) -> None:
    body = checked(people).get("/v1/space").json()

    assert (body["id"], body["name"], body["timezone"], body["language"]) == (str(people.space.pk), "Team", "UTC", "en")


def test_changes_only_what_is_given(people: People) -> None:
    before = people.api().get("/v1/space").json()

    after = checked(people).patch("/v1/space", {"timezone": "Europe/Berlin", "events_kept_days": 30}).json()

    assert after == before | {"timezone": "Europe/Berlin", "events_kept_days": 30}
    assert people.api("member").get("/v1/space").json() == after


@pytest.mark.parametrize(
    "change",
    [
        {"timezone": "Mars/Olympus"},
        {"timezone": "localtime"},
        {"language": "xx"},
        {"events_kept_days": 0},
        {"name": " "},
        {"nonsense": 1},
    ],
)
def test_refuses_what_does_not_fit(people: People, change: dict[str, Any]) -> None:
    response = checked(people).patch("/v1/space", change)

    assert (response.status_code, list(response.json()["details"]["fields"])) == (422, list(change))


def test_a_member_does_not_change_it(people: People) -> None:
    assert checked(people, "member").patch("/v1/space", {"name": "Mine"}).status_code == 403


def test_a_viewer_reads_and_writes_nothing_even_with_a_full_key(people: People) -> None:
    viewer = member_create(people.space, "viewer@example.com", role="viewer")
    key = key_create(people.space, viewer)
    api = type(people.api())(key)

    assert api.get("/v1/memories").status_code == 200
    assert api.post("/v1/memories", {}).status_code == 403


def test_the_log_names_the_changed_settings(people: People) -> None:
    people.api().patch("/v1/space", {"name": "Crew"})

    event = people.api().get("/v1/events", type="space.updated").json()["events"][0]

    assert event["details"] == {"fields": ["name"]}
