"""A key that may not read learns nothing from what it writes and deletes."""

from __future__ import annotations

from tests.factories import People


def test_changes_what_it_wrote_itself(people: People) -> None:
    mine = people.api("write").created()

    response = people.api("write").put(f"/v1/memories/{mine['id']}", {"tags": ["new"]})

    assert response.status_code == 200
    assert response.json()["tags"] == ["new"]


def test_cannot_read_another_memory_by_an_empty_change(people: People) -> None:
    theirs = people.api("owner").created()

    response = people.api("write").put(f"/v1/memories/{theirs['id']}", {})

    assert response.status_code == 404
    assert response.json()["error"] == "memory_not_found"


def test_a_delete_only_key_gets_no_receipt(people: People) -> None:
    theirs = people.api("owner").created()

    refused = people.api("delete").delete(f"/v1/memories/{theirs['id']}", receipt="true")
    deleted = people.api("delete").delete(f"/v1/memories/{theirs['id']}")

    assert refused.status_code == 403
    assert refused.json()["details"] == {"scope": "memories:read"}
    assert deleted.status_code == 204
    assert people.api("owner").get(f"/v1/memories/{theirs['id']}").status_code == 404


def test_a_write_that_names_an_unknown_view_is_refused(people: People) -> None:
    response = people.api("owner").post("/v1/memories", {"content": "x", "type": "semantic"}, view="everything")

    assert response.status_code == 422
    assert "view" in response.json()["details"]["fields"]
