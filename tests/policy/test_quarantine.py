"""A quarantine key: what it writes waits for the owner, and what cannot wait it may not do."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.permissions import IMMEDIATE_SCOPES
from tests.factories import People

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PUT", "/v1/memories/{id}", {"content": "Poisoned"}),
        ("PATCH", "/v1/memories/{id}", {"tags": ["poisoned"]}),
        ("DELETE", "/v1/memories/{id}", {}),
        ("POST", "/v1/memories/{id}/restore", {"version": 1}),
        ("POST", "/v1/memories/forget", {"ids": ["{id}"]}),
        ("PUT", "/v1/journal/day/2026-01-05", {"summary": "Poisoned"}),
        ("POST", "/v1/records/tasks", {"key": "a", "data": {}}),
        ("PUT", "/v1/kv/prefs/a", {"value": 1}),
        ("PATCH", "/v1/space", {"name": "Poisoned"}),
        ("POST", "/v1/dreams", {}),
    ],
)
def test_it_changes_nothing_that_is_in_use(people: People, method: str, path: str, body: dict[str, Any]) -> None:
    api = people.api()
    made = api.created(content="First")
    api.put(f"/v1/memories/{made['id']}", {"content": "Second"})
    body = {"ids": [made["id"]]} if "ids" in body else body

    response = people.api("quarantine").call(method, path.format(id=made["id"]), body)

    assert (response.status_code, response.json()["error"]) == (403, "forbidden")
    assert api.get(f"/v1/memories/{made['id']}").json()["content"] == "Second"


def test_me_tells_what_it_may(people: People) -> None:
    scopes = people.api("quarantine").get("/v1/me").json()["scopes"]

    assert not IMMEDIATE_SCOPES & set(scopes)
    assert {"memories:write", "import", "actions:propose"} <= set(scopes)


def test_what_waits_is_counted_but_not_shown_before_it_is_forgotten(people: People) -> None:
    people.api("quarantine").created(content="Waiting mango instruction")
    people.api().created(content="Visible mango fact")

    asked = {"query": "mango", "dry_run": True}
    seen = people.api().post("/v1/memories/forget", asked).json()

    assert seen["memories"] == 2
    assert [preview["text"] for preview in seen["previews"]] == ["Visible mango fact"]
    assert people.api().post("/v1/memories/forget", asked | {"dry_run": False}).json()["memories"] == 2
